package dev.millrace.agent.kafka;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.millrace.agent.kafka.ToolsetWatch.Reading;
import dev.millrace.kafka.ClientSettings;
import dev.millrace.schemas.Topics;
import dev.millrace.testing.RequiresBroker;
import dev.millrace.testing.TestBroker;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Set;
import java.util.UUID;
import org.apache.kafka.clients.admin.AlterConfigOp;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.KafkaShareConsumer;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.junit.jupiter.api.Test;

/** Who reads a request topic, and how far, as a real broker says it. */
@RequiresBroker
class RequestReadersIT {

    private static final Duration LIMIT = Duration.ofSeconds(30);

    @Test
    void shouldSeeMembersOfOrdinaryGroupsAndWhatTheyLeave(TestBroker broker) throws Exception {
        // given
        Topics topics = topics(broker);
        ask(broker, topics, 4);
        try (RequestReaders readers = new RequestReaders(kafka(broker), topics)) {
            assertThat(readers.ask(Set.of("orders", "nowhere")))
                    .containsEntry("orders", new Reading(0, OptionalLong.of(4)))
                    .containsEntry("nowhere", new Reading(0, OptionalLong.empty()));
            for (String protocol : List.of("classic", "consumer")) {
                String group = protocol + UUID.randomUUID();

                // when: somebody does one of them
                try (KafkaConsumer<byte[], byte[]> worker = new KafkaConsumer<>(
                        Map.of(
                                "bootstrap.servers",
                                broker.bootstrapServers(),
                                "group.id",
                                group,
                                "group.protocol",
                                protocol,
                                "auto.offset.reset",
                                "earliest",
                                "enable.auto.commit",
                                false,
                                "max.poll.records",
                                1),
                        new ByteArrayDeserializer(),
                        new ByteArrayDeserializer())) {
                    worker.subscribe(List.of(topics.requests("orders")));
                    await().atMost(LIMIT)
                            .until(() -> !worker.poll(Duration.ofMillis(200)).isEmpty());
                    worker.commitSync();

                    // then
                    await().atMost(LIMIT)
                            .untilAsserted(() -> assertThat(readers.ask(Set.of("orders")))
                                    .containsEntry("orders", new Reading(1, OptionalLong.of(3))));
                }

                // and: when it is gone, what it has left
                await().atMost(LIMIT)
                        .untilAsserted(() -> assertThat(readers.ask(Set.of("orders")))
                                .containsEntry("orders", new Reading(0, OptionalLong.of(3))));
            }
            // and: one who did not see them finds out
            try (RequestReaders later = new RequestReaders(kafka(broker), topics)) {
                assertThat(later.ask(Set.of("orders"))).containsEntry("orders", new Reading(0, OptionalLong.of(3)));
            }
        }
    }

    @Test
    void shouldSeeMembersOfShareGroups(TestBroker broker) throws Exception {
        // given
        Topics topics = topics(broker);
        ask(broker, topics, 2);
        String group = "share" + UUID.randomUUID();
        broker.admin()
                .incrementalAlterConfigs(Map.of(
                        new ConfigResource(ConfigResource.Type.GROUP, group),
                        List.of(new AlterConfigOp(
                                new ConfigEntry("share.auto.offset.reset", "earliest"), AlterConfigOp.OpType.SET))))
                .all()
                .get();
        try (RequestReaders readers = new RequestReaders(kafka(broker), topics)) {
            // when
            try (KafkaShareConsumer<byte[], byte[]> worker = new KafkaShareConsumer<>(
                    Map.of("bootstrap.servers", broker.bootstrapServers(), "group.id", group),
                    new ByteArrayDeserializer(),
                    new ByteArrayDeserializer())) {
                worker.subscribe(List.of(topics.requests("orders")));
                await().atMost(LIMIT)
                        .until(() -> !worker.poll(Duration.ofMillis(200)).isEmpty());
                worker.commitSync();
                await().atMost(LIMIT)
                        .untilAsserted(() -> assertThat(readers.ask(Set.of("orders")))
                                .containsEntry("orders", new Reading(1, OptionalLong.of(0))));
            }
            ask(broker, topics, 1);

            // then
            await().atMost(LIMIT)
                    .untilAsserted(() -> assertThat(readers.ask(Set.of("orders")))
                            .containsEntry("orders", new Reading(0, OptionalLong.of(1))));
        }
    }

    private static Topics topics(TestBroker broker) throws Exception {
        Topics topics = new Topics("r" + UUID.randomUUID().toString().substring(0, 8) + ".");
        broker.admin()
                .createTopics(List.of(new NewTopic(topics.requests("orders"), 1, (short) 1)))
                .all()
                .get();
        return topics;
    }

    private static void ask(TestBroker broker, Topics topics, int calls) {
        for (int i = 0; i < calls; i++) {
            broker.produceRaw(topics.requests("orders"), "c" + i, Map.of(), "{}".getBytes(StandardCharsets.UTF_8));
        }
    }

    private static ClientSettings kafka(TestBroker broker) {
        return ClientSettings.at(broker.bootstrapServers());
    }
}
