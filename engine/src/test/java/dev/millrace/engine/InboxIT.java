package dev.millrace.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.millrace.kafka.ClientSettings;
import dev.millrace.schemas.Segment;
import dev.millrace.schemas.Topics;
import dev.millrace.testing.RequiresBroker;
import dev.millrace.testing.TestBroker;
import dev.millrace.testing.TopicReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.ObjLongConsumer;
import java.util.stream.IntStream;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.KafkaStreams;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.Topology;
import org.apache.kafka.streams.processor.PunctuationType;
import org.apache.kafka.streams.processor.api.Processor;
import org.apache.kafka.streams.processor.api.ProcessorContext;
import org.apache.kafka.streams.processor.api.Record;
import org.apache.kafka.streams.state.KeyValueStore;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A machine on a real broker that passes on what its lane brings and what it is handed. */
@RequiresBroker
class InboxIT {

    private static final Duration LIMIT = Duration.ofSeconds(40);
    /** A poll takes a second here ({@link TestRunner}); without a wake-up most of that is what one waits. */
    private static final long SOON_MS = 300;

    private static final String ROWS = "rows";

    @TempDir
    Path state;

    private final Inbox<String> inbox = new Inbox<>();
    /** What counts as handed over before, if it comes as a record. */
    private final Set<String> handed = ConcurrentHashMap.newKeySet();
    /** What the machine has taken as records. */
    private final List<String> taken = new CopyOnWriteArrayList<>();
    /** How often the machine has looked for what is handed over, and how long it is busy each time. */
    private final AtomicInteger turns = new AtomicInteger();

    /** Is told of everything that the machine takes from hand to hand, on its thread, with the time as Streams says it. */
    private volatile ObjLongConsumer<String> onHanded = (text, nowMs) -> {};

    private volatile int turnOfLast;
    private volatile long busyMs;
    /** As the machine says it: with none, it waits for records alone. */
    private volatile int underWay;

    @Test
    @DisplayName("what is handed over is taken at once, although the machine waits for records")
    void shouldWakeThePoll(TestBroker broker) throws Exception {
        Topics topics = broker.createTopics(1);
        try (MachineRunner runner = runner(broker, topics);
                TopicReader out = broker.read(topics.journal())) {
            awaitReady(runner);
            List<Long> took = new ArrayList<>();
            for (int i = 0; i < 21; i++) {
                Thread.sleep(150 + i); // deep in a poll
                long begun = System.nanoTime();
                assertThat(inbox.offer(0, "handed " + i)).isTrue();
                out.untilCount(i + 1, LIMIT);
                took.add(Duration.ofNanos(System.nanoTime() - begun).toMillis());
            }

            took.sort(null);
            // the commit and the reader's own fetch are in it
            assertThat(took.get(took.size() / 2)).isLessThan(SOON_MS);
        }
    }

    @Test
    @DisplayName("what is handed over in the millisecond of a punctuation need not wait for the next one")
    void shouldNotWaitForTheNextMillisecond(TestBroker broker) throws Exception {
        Topics topics = broker.createTopics(1);
        underWay = 50; // so that no commit comes between the two
        List<Long> ahead = new CopyOnWriteArrayList<>();
        try (MachineRunner runner = runner(broker, topics)) {
            awaitReady(runner);
            onHanded = (text, nowMs) -> {
                if (text.equals("answer")) {
                    ahead.add(nowMs - System.currentTimeMillis());
                } else {
                    Thread.ofVirtual().start(() -> {
                        LockSupport.parkNanos(100_000); // not in the same punctuation
                        inbox.offer(0, "answer");
                    });
                }
            };
            long end = System.nanoTime() + LIMIT.toNanos();
            // a busy machine seldom answers within the millisecond
            while (ahead.stream().noneMatch(ms -> ms > 0) && System.nanoTime() < end) {
                int asked = ahead.size() + 1;
                inbox.offer(0, "question");
                await().atMost(LIMIT).pollInterval(Duration.ofMillis(1)).until(() -> ahead.size() == asked);
            }

            assertThat(ahead).anyMatch(ms -> ms > 0).allMatch(ms -> ms <= CommitTimes.AHEAD_MS);
        }
    }

    @ParameterizedTest(name = "with {0} under way")
    @ValueSource(ints = {0, 1})
    @DisplayName("records and what is handed over beside them are all taken, once each")
    void shouldLoseNothing(int things, TestBroker broker) throws Exception {
        underWay = things;
        Topics topics = broker.createTopics(1);
        int each = 2_000;
        try (MachineRunner runner = runner(broker, topics);
                TopicReader out = broker.read(topics.journal())) {
            awaitReady(runner);

            Thread hands = Thread.ofPlatform().start(() -> {
                for (int i = 0; i < each; i++) {
                    assertThat(inbox.offer(0, "handed " + i)).isTrue();
                    if (i % 10 == 0) {
                        sleep(1);
                    }
                }
            });
            for (int i = 0; i < each; i++) {
                broker.produceRaw(
                        topics.lane(Segment.EXTERNAL),
                        "key",
                        Map.of(),
                        ("record " + i).getBytes(StandardCharsets.UTF_8));
            }
            hands.join();

            List<String> both = out.untilCount(2 * each, LIMIT).stream()
                    .map(record -> new String(record.value(), StandardCharsets.UTF_8))
                    .toList();
            for (String kind : List.of("handed ", "record ")) {
                assertThat(both.stream().filter(text -> text.startsWith(kind)))
                        .containsExactlyElementsOf(
                                IntStream.range(0, each).mapToObj(i -> kind + i).toList());
            }
            assertThat(runner.fatal()).isEmpty();
        }
        assertThat(inbox.offer(0, "late")).isFalse();
    }

    @ParameterizedTest(name = "with {0} under way")
    @ValueSource(ints = {0, 1})
    @DisplayName("of four thousand wake-ups none strikes anything but the poll that it is for")
    void shouldNotBeStruckByItsWakeUps(int things, TestBroker broker) throws Exception {
        underWay = things;
        Topics topics = broker.createTopics(1);
        int times = 4_000;
        Random random = new Random(31);
        try (MachineRunner runner = runner(broker, topics);
                TopicReader out = broker.read(topics.journal())) {
            awaitReady(runner);

            for (int i = 0; i < times && runner.fatal().isEmpty(); i++) {
                inbox.offer(0, "handed " + i);
                LockSupport.parkNanos(random.nextInt(2_000_000));
            }

            assertThat(runner.fatal()).isEmpty();
            assertThat(out.untilCount(times, LIMIT)).hasSize(times);
        }
    }

    @Test
    @DisplayName("what a transaction writes goes in one request, whichever partition of the machine it is of")
    void shouldWriteInOneRequest(TestBroker broker) {
        int partitions = 4;
        Topics topics = broker.createTopics(partitions);
        int times = 40;
        try (MachineRunner runner = TestRunner.of(broker, topics, partitions, state, () -> topology(topics));
                TopicReader out = broker.read(topics.journal())) {
            awaitReady(runner);
            assertThat(inbox.offer(0, "warm")).isTrue();
            out.untilCount(1, LIMIT);
            double before = requests(runner);

            for (int i = 0; i < times; i++) {
                assertThat(inbox.offer(i % partitions, "handed " + i)).isTrue();
                out.untilCount(i + 2, LIMIT);
            }

            // what is written and the end, no offsets, since no record was taken; and now and then one of no
            // transaction
            assertThat((requests(runner) - before) / times).isLessThan(2.25);
            assertThat(runner.fatal()).isEmpty();
        }
    }

    @Test
    @DisplayName("of records that have been handed over before few come to the machine, and its offsets go on")
    void shouldLeaveOutWhatWasHandedOver(TestBroker broker) throws Exception {
        Topics topics = broker.createTopics(1);
        TopicPartition lane = new TopicPartition(topics.lane(Segment.EXTERNAL), 0);
        int times = 100;
        try (MachineRunner runner = runner(broker, topics)) {
            awaitReady(runner);
            for (int i = 0; i < times; i++) {
                handed.add("twice " + i);
            }

            sendTogether(broker, lane, times);

            await().atMost(LIMIT)
                    .untilAsserted(
                            () -> assertThat(committed(broker, topics, lane)).isEqualTo(times));
            assertThat(taken).contains("twice " + (times - 1)).hasSizeLessThan(times / 4);
        }
    }

    @Test
    @DisplayName(
            "a busy machine reads on where records have been handed over before: it falls behind no more than others")
    void shouldCatchUpWithWhatWasHandedOver(TestBroker broker) throws Exception {
        Topics topics = broker.createTopics(1);
        TopicPartition lane = new TopicPartition(topics.lane(Segment.EXTERNAL), 0);
        int times = 3_000;
        ClientSettings kafka = ClientSettings.at(broker.bootstrapServers())
                .with(StreamsConfig.mainConsumerPrefix(ConsumerConfig.MAX_POLL_RECORDS_CONFIG), 50)
                .with(StreamsConfig.mainConsumerPrefix(ConsumerConfig.MAX_PARTITION_FETCH_BYTES_CONFIG), 1_024);
        try (MachineRunner runner = TestRunner.of(kafka, topics, 1, state, () -> topology(topics))) {
            awaitReady(runner);
            for (int i = 0; i < times; i++) {
                handed.add("twice " + i);
            }
            busyMs = 10;
            int before = turns.get();

            sendTogether(broker, lane, times);

            await().atMost(LIMIT).untilAsserted(() -> assertThat(taken).contains("twice " + (times - 1)));
            // fifty at most of each poll that Streams asks for
            assertThat(turnOfLast - before).isLessThan(times / 50 / 2);
        }
    }

    @Test
    @DisplayName("a partition goes to another thread of the process, and nothing is lost or taken twice meanwhile")
    void shouldGoOnWithAnotherThread(TestBroker broker) throws Exception {
        int partitions = 2;
        Topics topics = broker.createTopics(partitions);
        int records = 400;
        ClientSettings kafka = ClientSettings.at(broker.bootstrapServers());
        try (MachineRunner runner = TestRunner.of(kafka, topics, partitions, 2, state, () -> topology(topics));
                TopicReader out = broker.read(topics.journal())) {
            awaitReady(runner);
            KafkaStreams streams = runner.streams().get();
            await().atMost(LIMIT)
                    .untilAsserted(() -> assertThat(streams.metadataForLocalThreads())
                            .hasSize(2)
                            .allSatisfy(
                                    thread -> assertThat(thread.activeTasks()).hasSize(1)));

            Thread sender = Thread.ofPlatform().start(() -> {
                for (int i = 0; i < records; i++) {
                    broker.produceRaw(
                            topics.lane(Segment.EXTERNAL),
                            "key " + i,
                            Map.of(),
                            ("record " + i).getBytes(StandardCharsets.UTF_8));
                    sleep(5);
                }
            });
            out.untilCount(10, LIMIT);
            assertThat(streams.removeStreamThread()).isPresent();
            await().atMost(LIMIT)
                    .untilAsserted(() -> assertThat(streams.metadataForLocalThreads())
                            .singleElement()
                            .satisfies(
                                    thread -> assertThat(thread.activeTasks()).hasSize(partitions)));
            for (int i = 0; i < partitions; i++) {
                int partition = i;
                await().atMost(LIMIT).until(() -> inbox.offer(partition, "handed " + partition));
            }
            sender.join();

            List<String> texts = out.untilCount(records + partitions, LIMIT).stream()
                    .map(record -> new String(record.value(), StandardCharsets.UTF_8))
                    .toList();
            assertThat(texts.stream().filter(text -> text.startsWith("record ")))
                    .containsExactlyInAnyOrderElementsOf(IntStream.range(0, records)
                            .mapToObj(i -> "record " + i)
                            .toList());
            assertThat(texts)
                    .containsAll(IntStream.range(0, partitions)
                            .mapToObj(i -> "handed " + i)
                            .toList());
            assertThat(runner.fatal()).isEmpty();
        }
    }

    private static void sendTogether(TestBroker broker, TopicPartition lane, int times) throws Exception {
        Map<String, Object> settings = Map.of(
                ProducerConfig.BOOTSTRAP_SERVERS_CONFIG,
                broker.bootstrapServers(),
                ProducerConfig.LINGER_MS_CONFIG,
                1_000);
        try (Producer<byte[], byte[]> producer =
                new KafkaProducer<>(settings, new ByteArraySerializer(), new ByteArraySerializer())) {
            List<Future<RecordMetadata>> sent = IntStream.range(0, times)
                    .mapToObj(i -> producer.send(new ProducerRecord<>(
                            lane.topic(), lane.partition(), null, ("twice " + i).getBytes(StandardCharsets.UTF_8))))
                    .toList();
            producer.flush();
            sent.getLast().get();
        }
    }

    /** The machine's offset, -1 = none. */
    private static long committed(TestBroker broker, Topics topics, TopicPartition lane) throws Exception {
        OffsetAndMetadata offset = broker.admin()
                .listConsumerGroupOffsets(topics.prefix() + "machine")
                .partitionsToOffsetAndMetadata()
                .get()
                .get(lane);
        return offset == null ? -1 : offset.offset();
    }

    private boolean isSecond(ConsumerRecord<byte[], byte[]> polled) {
        return handed.contains(new String(polled.value(), StandardCharsets.UTF_8));
    }

    private static double requests(MachineRunner runner) {
        return runner.streams().get().metrics().values().stream()
                .filter(metric -> metric.metricName().group().equals("producer-metrics")
                        && metric.metricName().name().equals("request-total"))
                .mapToDouble(metric -> (double) metric.metricValue())
                .sum();
    }

    private static void sleep(long ms) {
        try {
            Thread.sleep(ms);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private static void awaitReady(MachineRunner runner) {
        runner.start();
        await().atMost(LIMIT).untilAsserted(() -> assertThat(runner.notReady()).isEmpty());
    }

    private MachineRunner runner(TestBroker broker, Topics topics) {
        return TestRunner.of(broker, topics, state, () -> topology(topics));
    }

    private Topology topology(Topics topics) {
        Topology topology = new Topology();
        topology.addSource(
                "lane", new ByteArrayDeserializer(), new ByteArrayDeserializer(), topics.lane(Segment.EXTERNAL));
        topology.addProcessor("machine", () -> new PassingOn(topics), "lane");
        topology.addStateStore(StoreSection.store(ROWS), "machine");
        Sender.addSink(topology, "out", "machine");
        return topology;
    }

    private final class PassingOn implements Processor<byte[], byte[], byte[], Outgoing> {
        private final Topics topics;
        private ProcessorContext<byte[], Outgoing> context;
        private KeyValueStore<Bytes, byte[]> rows;
        private CommitTiming commits;
        private Inbox.Box<String> box;

        @SuppressWarnings("NullAway.Init") // Kafka Streams calls init before anything else
        PassingOn(Topics topics) {
            this.topics = topics;
        }

        @Override
        public void init(ProcessorContext<byte[], Outgoing> machine) {
            context = machine;
            box = inbox.open(machine.taskId().partition(), InboxIT.this::isSecond);
            rows = machine.getStateStore(ROWS);
            commits = CommitTiming.of(machine, rows, () -> underWay);
            machine.schedule(Duration.ofMillis(1), PunctuationType.WALL_CLOCK_TIME, nowMs -> {
                turns.incrementAndGet();
                sleep(busyMs);
                for (String text = box.poll(); text != null; text = box.poll()) {
                    onHanded.accept(text, nowMs);
                    pass(text.getBytes(StandardCharsets.UTF_8));
                }
            });
        }

        @Override
        public void process(Record<byte[], byte[]> record) {
            taken.add(new String(record.value(), StandardCharsets.UTF_8));
            turnOfLast = turns.get();
            pass(record.value());
        }

        private void pass(byte[] value) {
            commits.taken(context.currentSystemTimeMs());
            rows.put(Bytes.wrap(value), value);
            context.forward(new Record<>(
                    null, new Outgoing(topics.journal(), value), Instant.now().toEpochMilli(), new RecordHeaders()));
            commits.awaited();
        }

        @Override
        public void close() {
            box.close();
            commits.close();
        }
    }
}
