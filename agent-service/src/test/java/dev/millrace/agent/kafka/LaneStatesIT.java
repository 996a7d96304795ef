package dev.millrace.agent.kafka;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.millrace.api.SystemView;
import dev.millrace.kafka.ClientSettings;
import dev.millrace.schemas.Segment;
import dev.millrace.schemas.Topics;
import dev.millrace.testing.FreePort;
import dev.millrace.testing.RequiresBroker;
import dev.millrace.testing.TestBroker;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** How far a group is with the lanes, as a real broker says it. */
@RequiresBroker
class LaneStatesIT {

    private static final int PARTITIONS = 2;
    private static final int LARGE = 200_000;

    @Test
    @DisplayName("what waits in each lane, how old it is, and where the lane ends; a large record is no hindrance")
    void shouldTellWhatWaits(TestBroker broker) throws Exception {
        // given: four records on one lane, of which a group has committed one; two on another, of which it knows
        // nothing
        Topics topics = new Topics("l" + UUID.randomUUID().toString().substring(0, 8) + ".");
        broker.admin()
                .createTopics(topics.lanes().stream()
                        .map(lane -> new NewTopic(lane, PARTITIONS, (short) 1))
                        .toList())
                .all()
                .get();
        String tool = topics.lane(Segment.TOOL);
        String group = topics.prefix() + "agent";
        long begun = System.currentTimeMillis();
        for (int i = 0; i < 4; i++) {
            broker.produceRaw(tool, "one key", Map.of(), new byte[LARGE]);
        }
        for (int i = 0; i < 2; i++) {
            broker.produceRaw(topics.lane(Segment.EXTERNAL), "k" + i, Map.of(), "{}".getBytes(StandardCharsets.UTF_8));
        }
        commit(broker, group, tool);
        ClientSettings kafka = ClientSettings.at(broker.bootstrapServers());

        try (LaneStates states =
                new LaneStates(kafka, topics, group, Clock.offset(Clock.systemUTC(), Duration.ofMinutes(1)))) {
            // when
            List<SystemView.Lane> lanes = states.look();

            // then
            assertThat(lanes)
                    .extracting(SystemView.Lane::segment)
                    .containsExactly("system", "external", "task", "cognitive", "tool", "background");
            assertThat(lanes).allSatisfy(lane -> {
                boolean used = List.of("external", "tool").contains(lane.segment());
                assertThat(lane.partitions()).isEqualTo(PARTITIONS);
                assertThat(lane.oldestMs() == null).isEqualTo(!used);
                if (lane.oldestMs() != null) {
                    assertThat(lane.oldestMs()).isBetween(59_000L, System.currentTimeMillis() - begun + 61_000);
                }
            });
            assertThat(lanes).extracting(SystemView.Lane::end).containsExactly(0L, 2L, 0L, 0L, 4L, 0L);
            assertThat(lanes).extracting(SystemView.Lane::backlog).containsExactly(0L, 2L, 0L, 0L, 3L, 0L);
            assertThat(states.look()).as("within a second").isSameAs(lanes);
        }
    }

    @Test
    @DisplayName("brokers that are away are waited for once, not by each who asks")
    void shouldWaitOnce() {
        ClientSettings nowhere = ClientSettings.at("127.0.0.1:" + FreePort.find());
        try (LaneStates states = new LaneStates(nowhere, new Topics("nowhere."), "nobody", Clock.systemUTC())) {
            assertThatThrownBy(states::look).isInstanceOf(IOException.class).hasMessageContaining("brokers");

            long begun = System.nanoTime();
            assertThatThrownBy(states::look).isInstanceOf(IOException.class);
            assertThat(Duration.ofNanos(System.nanoTime() - begun)).isLessThan(Duration.ofSeconds(1));
        }
    }

    /** One record of the partition that has some. */
    private static void commit(TestBroker broker, String group, String topic) {
        try (KafkaConsumer<byte[], byte[]> consumer = new KafkaConsumer<>(
                Map.of("bootstrap.servers", broker.bootstrapServers(), "group.id", group),
                new ByteArrayDeserializer(),
                new ByteArrayDeserializer())) {
            List<TopicPartition> partitions = consumer.partitionsFor(topic).stream()
                    .map(partition -> new TopicPartition(topic, partition.partition()))
                    .toList();
            consumer.assign(partitions);
            consumer.endOffsets(partitions).entrySet().stream()
                    .filter(end -> end.getValue() > 0)
                    .forEach(end -> consumer.commitSync(Map.of(end.getKey(), new OffsetAndMetadata(1))));
        }
    }
}
