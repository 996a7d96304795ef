package dev.millrace.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.millrace.schemas.DeadLetters;
import dev.millrace.schemas.Segment;
import dev.millrace.schemas.Topics;
import dev.millrace.testing.RequiresBroker;
import dev.millrace.testing.TestBroker;
import dev.millrace.testing.TopicReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.config.TopicConfig;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.Topology;
import org.apache.kafka.streams.processor.PunctuationType;
import org.apache.kafka.streams.processor.api.Processor;
import org.apache.kafka.streams.processor.api.ProcessorContext;
import org.apache.kafka.streams.processor.api.Record;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What no unit of work foresees: a machine on a real broker that does with records what their values say. */
@RequiresBroker
class BrokenRecordIT {

    private static final Duration LIMIT = Duration.ofSeconds(40);
    /** A topic of somebody's toolset, which takes less than the catalogue says. */
    private static final String NARROW = "narrow";

    private static final String STORE = "rows";
    private static final Bytes LATER = Bytes.wrap(bytes("later"));

    @TempDir
    Path state;

    @Test
    @DisplayName(
            "a record whose consequences a broker refuses, or that breaks the machine outside of its unit, is put aside")
    void shouldGoOnWithoutTheRecord(TestBroker broker) throws Exception {
        // given
        Topics topics = broker.createTopics(1);
        createNarrowTopic(broker, topics);
        String lane = topics.lane(Segment.EXTERNAL);
        try (MachineRunner runner = runner(broker, topics);
                TopicReader out = broker.read(topics.journal());
                TopicReader dead = broker.read(topics.deadLetters())) {
            runner.start();
            await().atMost(LIMIT)
                    .untilAsserted(() -> assertThat(runner.notReady()).isEmpty());

            // when
            for (String value : List.of("copy 1", "refuse", "copy 2", "throw", "copy 3")) {
                broker.produceRaw(lane, "key", Map.of(), bytes(value));
            }

            // then
            assertThat(out.untilCount(3, LIMIT))
                    .extracting(record -> text(record.value()))
                    .containsExactly("copy 1", "copy 2", "copy 3");
            assertThat(dead.untilCount(2, LIMIT))
                    .extracting(record -> text(record.value()) + ": " + header(record, DeadLetters.REASON))
                    .containsExactly("refuse: record_too_large", "throw: internal_error");
            assertThat(runner.fatal()).isEmpty();
        }
    }

    @Test
    @DisplayName("a request that a broker refuses is not blamed on the record that comes next, nor sent for ever")
    void shouldBlameTheRequestThatATimerSends(TestBroker broker) throws Exception {
        // given
        Topics topics = broker.createTopics(1);
        createNarrowTopic(broker, topics);
        String lane = topics.lane(Segment.EXTERNAL);
        try (MachineRunner runner = runner(broker, topics);
                TopicReader out = broker.read(topics.journal())) {
            runner.start();

            // when: a timer sends it, while records are taken
            broker.produceRaw(lane, "key", Map.of(), bytes("later"));
            for (int i = 0; i < 20; i++) {
                broker.produceRaw(lane, "key", Map.of(), bytes("copy " + i));
            }

            // then
            assertThat(out.untilCount(21, LIMIT))
                    .extracting(record -> text(record.value()))
                    .containsExactlyInAnyOrderElementsOf(Stream.concat(
                                    Stream.of("given up: record_too_large"),
                                    IntStream.range(0, 20).mapToObj(i -> "copy " + i))
                            .toList());
            assertThat(runner.fatal()).isEmpty();
        }
        try (TopicReader dead = broker.read(topics.deadLetters())) {
            assertThatThrownBy(() -> dead.untilCount(1, Duration.ofSeconds(1))).isInstanceOf(AssertionError.class);
        }
    }

    @Test
    @DisplayName("a row of another version stops the instance in words that help, and costs no record")
    void shouldStopAtARowOfAnotherVersion(TestBroker broker) throws Exception {
        // given
        Topics topics = broker.createTopics(1);
        String lane = topics.lane(Segment.EXTERNAL);
        try (MachineRunner runner = runner(broker, topics);
                TopicReader out = broker.read(topics.journal())) {
            runner.start();

            // when
            broker.produceRaw(lane, "key", Map.of(), bytes("copy 1"));
            out.untilCount(1, LIMIT);
            broker.produceRaw(lane, "key", Map.of(), bytes("unreadable"));

            // then
            await().atMost(LIMIT).until(() -> runner.fatal().isPresent());
            assertThat(runner.fatal().orElseThrow())
                    .hasMessageContaining("expected a stored Row of this version of Millrace")
                    .hasMessageContaining("run the newest version");
            assertThat(runner.notReady()).isPresent();
        }
        // then: it waits for who can read it
        assertThat(committed(broker, topics)).isOne();
        try (TopicReader dead = broker.read(topics.deadLetters())) {
            assertThatThrownBy(() -> dead.untilCount(1, Duration.ofSeconds(1))).isInstanceOf(AssertionError.class);
        }
    }

    private static void createNarrowTopic(TestBroker broker, Topics topics) throws Exception {
        broker.admin()
                .createTopics(List.of(new NewTopic(topics.requests(NARROW), 1, (short) 1)
                        .configs(Map.of(TopicConfig.MAX_MESSAGE_BYTES_CONFIG, "500"))))
                .all()
                .get();
    }

    private static long committed(TestBroker broker, Topics topics) throws Exception {
        TopicPartition lane = new TopicPartition(topics.lane(Segment.EXTERNAL), 0);
        OffsetAndMetadata committed = broker.admin()
                .listConsumerGroupOffsets(topics.prefix() + "machine")
                .partitionsToOffsetAndMetadata()
                .get()
                .get(lane);
        return committed == null ? 0 : committed.offset();
    }

    private MachineRunner runner(TestBroker broker, Topics topics) {
        return TestRunner.of(broker, topics, state, () -> topology(topics));
    }

    private static Topology topology(Topics topics) {
        Topology topology = new Topology()
                .addSource(
                        "lane", new ByteArrayDeserializer(), new ByteArrayDeserializer(), topics.lane(Segment.EXTERNAL))
                .addProcessor("obey", () -> new Obedient(topics), "lane")
                .addStateStore(StoreSection.store(STORE), "obey");
        Sender.addSink(topology, "out", "obey");
        return topology;
    }

    /** Does what records say. */
    private static final class Obedient implements Processor<byte[], byte[], byte[], Outgoing> {

        private final Topics topics;
        private ProcessorContext<byte[], Outgoing> context;
        private UnitOfWork unit;
        private Sender sender;

        @SuppressWarnings("NullAway.Init") // Kafka Streams calls init before anything else
        Obedient(Topics topics) {
            this.topics = topics;
        }

        @Override
        public void init(ProcessorContext<byte[], Outgoing> processorContext) {
            context = processorContext;
            unit = new UnitOfWork(context, topics, context.getStateStore(STORE), () -> {});
            sender = new Sender(context, topics, unit);
            context.schedule(Duration.ofMillis(20), PunctuationType.WALL_CLOCK_TIME, nowMs -> sendLater());
        }

        private void sendLater() {
            if (unit.rows().get(LATER) != null) {
                unit.attempt(() -> later(topics.requests(NARROW), new byte[1_000]))
                        .ifPresent(why ->
                                unit.attempt(() -> later(topics.journal(), bytes("given up: " + why.reason()))));
            }
        }

        private void later(String topic, byte[] value) {
            send(topic, value);
            unit.rows().delete(LATER);
        }

        @Override
        public void process(Record<byte[], byte[]> record) {
            String what = text(record.value());
            Optional<UnitOfWork.Undone> undone = unit.attempt(() -> {
                sender.requireBearable(record.value());
                switch (what) {
                    case "refuse" -> send(topics.requests(NARROW), new byte[1_000]);
                    case "later" -> unit.rows().put(LATER, record.value());
                    case "throw" ->
                        unit.whenKept(() -> {
                            throw new IllegalStateException("outside of the unit");
                        });
                    case "unreadable" ->
                        throw new UnreadableRowException("Row", new IllegalStateException("a kind of the future"));
                    default -> {
                        unit.rows().put(Bytes.wrap(bytes(what)), record.value());
                        send(topics.journal(), record.value());
                    }
                }
            });
            undone.ifPresent(why -> unit.attempt(
                    () -> sender.deadLetter(record, record.value(), record.timestamp(), why.reason(), why.detail())));
        }

        private void send(String topic, byte[] value) {
            sender.forward(
                    bytes("key"),
                    new Outgoing(topic, value),
                    Instant.ofEpochMilli(context.currentSystemTimeMs()),
                    new RecordHeaders());
        }
    }

    private static String header(ConsumerRecord<?, ?> record, String name) {
        return text(record.headers().lastHeader(name).value());
    }

    private static String text(byte[] value) {
        return new String(value, StandardCharsets.UTF_8);
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }
}
