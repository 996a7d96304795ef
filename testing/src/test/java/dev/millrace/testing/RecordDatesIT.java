package dev.millrace.testing;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.kafka.TopicSettings;
import dev.millrace.kafka.TopicSetup;
import dev.millrace.schemas.Event;
import dev.millrace.schemas.KnownEventType;
import dev.millrace.schemas.Topics;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** Who dates what stands on topics. Lies here for the same reason as {@link TopicSetupIT}. */
@RequiresBroker
class RecordDatesIT {
    private static final Duration DEADLINE = Duration.ofSeconds(20);

    private final Topics topics =
            new Topics("dates" + UUID.randomUUID().toString().substring(0, 8) + ".");

    @Test
    @DisplayName("whatever date a sender writes, into the event or onto the record, the broker dates it")
    void shouldDateRecordsByTheBroker(TestBroker broker) {
        // given
        TopicSetup.ensure(broker.admin(), topics, new TopicSettings(1, TopicSettings.BROKER_DEFAULT, true), DEADLINE);
        long begin = System.currentTimeMillis();

        // when
        for (String time : List.of("1970-01-01T00:00:00Z", "9999-01-01T00:00:00Z")) {
            broker.produce(
                    topics,
                    Event.root(time, KnownEventType.MESSAGE_RECEIVED, Instant.parse(time))
                            .build());
        }
        for (long date : new long[] {0, Instant.parse("9999-01-01T00:00:00Z").toEpochMilli()}) {
            broker.produce(
                    new ProducerRecord<>(topics.journal(), 0, date, null, "{}".getBytes(StandardCharsets.UTF_8)));
        }

        // then
        assertThat(dates(broker, "events.external"))
                .hasSize(2)
                .allSatisfy(date -> assertThat(date).isBetween(begin - 1_000, begin + 60_000));
        assertThat(dates(broker, "journal"))
                .hasSize(2)
                .allSatisfy(date -> assertThat(date).isBetween(begin - 1_000, begin + 60_000));
    }

    @Test
    @DisplayName(
            "topics of an older version are switched at the start where topics may be made, and their records stay")
    void shouldSwitchTopicsOfBefore(TestBroker broker) throws Exception {
        // given
        NewTopic lane = new NewTopic(topics.prefix() + "events.external", Optional.of(1), Optional.empty())
                .configs(Map.of("cleanup.policy", "delete", "message.timestamp.type", "CreateTime"));
        broker.admin().createTopics(List.of(lane)).all().get();
        broker.produce(new ProducerRecord<>(lane.name(), 0, null, null, "old".getBytes(StandardCharsets.UTF_8)));

        // when
        TopicSetup.ensure(broker.admin(), topics, new TopicSettings(1, TopicSettings.BROKER_DEFAULT, true), DEADLINE);

        // then: brokers hear of it a moment after their controller
        long deadline = System.nanoTime() + DEADLINE.toNanos();
        do {
            broker.produce(new ProducerRecord<>(lane.name(), 0, 0L, null, "new".getBytes(StandardCharsets.UTF_8)));
        } while (dates(broker, "events.external").getLast() == 0 && System.nanoTime() < deadline);
        assertThat(dates(broker, "events.external").getFirst()).isPositive();
        assertThat(dates(broker, "events.external").getLast()).isPositive();
    }

    private List<Long> dates(TestBroker broker, String topic) {
        TopicPartition partition = new TopicPartition(topics.prefix() + topic, 0);
        try (KafkaConsumer<byte[], byte[]> consumer = new KafkaConsumer<>(
                Map.of("bootstrap.servers", broker.bootstrapServers()),
                new ByteArrayDeserializer(),
                new ByteArrayDeserializer())) {
            consumer.assign(List.of(partition));
            consumer.seekToBeginning(List.of(partition));
            long end = consumer.endOffsets(List.of(partition)).getOrDefault(partition, 0L);
            List<Long> dates = new ArrayList<>();
            while (consumer.position(partition) < end) {
                for (ConsumerRecord<byte[], byte[]> found : consumer.poll(Duration.ofMillis(200))) {
                    dates.add(found.timestamp());
                }
            }
            return dates;
        }
    }
}
