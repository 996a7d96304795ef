package dev.millrace.gateway.kafka;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.millrace.broker.EmbeddedBroker;
import dev.millrace.gateway.kafka.ListenerDroppedException.Reason;
import dev.millrace.kafka.ClientSettings;
import dev.millrace.kafka.TopicEnds;
import dev.millrace.kafka.TopicSettings;
import dev.millrace.kafka.TopicSetup;
import dev.millrace.schemas.Event;
import dev.millrace.schemas.EventCodec;
import dev.millrace.schemas.ForgetScope;
import dev.millrace.schemas.Forgotten;
import dev.millrace.schemas.JournalEntry;
import dev.millrace.schemas.KnownEventType;
import dev.millrace.schemas.Topics;
import dev.millrace.testing.RequiresBroker;
import dev.millrace.testing.TestBroker;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import javax.management.JMException;
import javax.management.ObjectName;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.common.serialization.StringSerializer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@RequiresBroker
class JournalTailIT {
    private static final Duration LIMIT = Duration.ofSeconds(30);
    private static final String MINE = "mine";

    private final List<JournalTail.Shared> shared = new ArrayList<>();

    @AfterEach
    void close() {
        for (JournalTail.Shared one : shared) {
            one.forgotten().close();
            one.ends().close();
        }
    }

    @Test
    void shouldTellEachEntryOnceToAClientThatDropsFiftyTimesAndComesBackToAnotherInstance(TestBroker broker)
            throws Exception {
        // given
        long seed = 20_260_101L;
        Random random = new Random(seed);
        Topics topics = broker.createTopics(1);
        int count = 2_000;
        try (JournalTail one = tail(broker, topics, Duration.ofMillis(50));
                JournalTail other = tail(broker, topics, Duration.ZERO);
                ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
            Future<?> writing = threads.submit(() -> write(broker, topics, count, seed));

            // when
            List<String> got = new ArrayList<>();
            long next = 0;
            int connects = 0;
            while (got.size() < count) {
                JournalTail instance = connects++ % 2 == 0 ? one : other;
                int take = connects > 50 ? Integer.MAX_VALUE : 1 + random.nextInt(count / 40);
                try (JournalListener listener = instance.listen(0, next, JournalFilter.task("default", MINE))) {
                    for (int i = 0; i < take && got.size() < count; i++) {
                        JournalEntry entry = listener.next(LIMIT);
                        assertThat(entry)
                                .as("entry %d, seed %d", got.size(), seed)
                                .isNotNull();
                        got.add(entry.event().id());
                        next = entry.cursor().offset() + 1;
                    }
                }
            }

            // then
            writing.get(LIMIT.toSeconds(), TimeUnit.SECONDS);
            assertThat(connects).as("seed %d", seed).isEqualTo(51);
            assertThat(got).as("seed %d", seed).containsExactlyElementsOf(expected(count));
        }
    }

    @Test
    void shouldHandOverFromBackfillToTailUnderLoadWithoutGapOrDouble(TestBroker broker) throws Exception {
        // given
        Topics topics = broker.createTopics(1);
        int before = 6_000; // further back than a tail begins
        int count = 3_000;
        int listeners = 12;
        fill(broker, topics, before);
        try (JournalTail tail = tail(broker, topics, LIMIT);
                ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
                JournalListener first = tail.listen(0, tail.end(0, LIMIT), JournalFilter.task("default", "none"))) {
            assertThat(first.next(Duration.ofMillis(1))).isNull();
            Future<?> writing = threads.submit(() -> write(broker, topics, count, 7));

            // when
            List<Future<List<String>>> reading = IntStream.range(0, listeners)
                    .mapToObj(i -> threads.submit(() -> {
                        Thread.sleep(Duration.ofMillis(40L * i)); // they begin one after the other, while it is written
                        return take(tail, 0, count);
                    }))
                    .toList();

            // then
            for (Future<List<String>> one : reading) {
                assertThat(one.get(60, TimeUnit.SECONDS)).containsExactlyElementsOf(expected(count));
            }
            writing.get(LIMIT.toSeconds(), TimeUnit.SECONDS);
            assertThat(tail.backfills()).isPositive();
        }
    }

    @Test
    void shouldListenToManyPartitionsAndToWhatComesAfterNow(TestBroker broker) throws Exception {
        // given
        Topics topics = broker.createTopics(3);
        IntStream.range(0, 30).forEach(i -> broker.produce(topics.journal(), event("old" + i, "old" + i)));
        try (JournalTail tail = tail(broker, topics, LIMIT, 3)) {
            Map<Integer, Long> ends = Map.of(0, tail.end(0, LIMIT), 1, tail.end(1, LIMIT), 2, tail.end(2, LIMIT));
            try (JournalListener listener = tail.listen(ends, labels -> true)) {

                // when
                List<String> ids =
                        IntStream.range(0, 30).mapToObj(i -> "new" + i).toList();
                ids.forEach(id -> broker.produce(topics.journal(), event(id, id)));

                // then
                List<String> got = new ArrayList<>();
                while (got.size() < ids.size()) {
                    JournalEntry entry = listener.next(LIMIT);
                    assertThat(entry).isNotNull();
                    assertThat(entry.cursor().partition())
                            .isEqualTo(tail.partitionOf(entry.event().sessionKey()));
                    got.add(entry.event().id());
                }
                assertThat(got).containsExactlyInAnyOrderElementsOf(ids);
                assertThat(tail.assignedPartitions()).isEqualTo(3);
            }
        }
    }

    @Test
    void shouldAskTheBrokersOnceForManyThatBeginAtTheSameTime(TestBroker broker) throws Exception {
        // given
        Topics topics = broker.createTopics(1);
        int many = 500;
        broker.produce(topics.journal(), event("e1", "t1"));
        try (JournalTail tail = tail(broker, topics, LIMIT, 1);
                ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
            assertThat(tail.end(0, LIMIT)).isOne();
            double before = requestsOfEnds();

            // when
            List<Future<Long>> ends = IntStream.range(0, many)
                    .mapToObj(i -> threads.submit(() -> tail.end(0, LIMIT)))
                    .toList();

            // then
            assertThat(ends).allSatisfy(end -> assertThat(end.get()).isOne());
            assertThat(requestsOfEnds() - before).isBetween(1.0, many / 4.0);
            broker.produce(topics.journal(), event("e2", "t1"));
            assertThat(tail.end(0, LIMIT)).isEqualTo(2);
        }
    }

    /** How often the client that asks for ends has asked. */
    private static double requestsOfEnds() throws JMException {
        return (double) ManagementFactory.getPlatformMBeanServer()
                .getAttribute(
                        new ObjectName("kafka.admin.client:type=admin-client-metrics,client-id=ends"), "request-total");
    }

    @Test
    void shouldReadOnlyPartitionsThatSomebodyListensTo(TestBroker broker) throws Exception {
        // given
        Topics topics = broker.createTopics(2);
        try (JournalTail tail = tail(broker, topics, Duration.ofMillis(100), 2)) {
            assertThat(tail.assignedPartitions()).isZero();
            JournalListener listener = tail.listen(1, 0, labels -> true);
            await().atMost(LIMIT).until(() -> tail.assignedPartitions() == 1);
            assertThat(tail.listeners()).isEqualTo(1);

            // when
            listener.close();

            // then
            await().atMost(LIMIT).until(() -> tail.assignedPartitions() == 0);
            assertThat(tail.listeners()).isZero();
        }
    }

    @Test
    void shouldDropASlowListenerAndLetItGoOnFromItsLastEntry(TestBroker broker) throws Exception {
        // given
        Topics topics = broker.createTopics(1);
        int count = 600; // some 512 bytes each, against a mailbox of 64 KiB
        try (JournalTail tail = tail(
                ClientSettings.at(broker.bootstrapServers()),
                topics,
                settings(1, TailSettings.MIN_MAILBOX_BYTES, LIMIT))) {
            JournalListener slow = tail.listen(0, tail.end(0, LIMIT), JournalFilter.task("default", MINE));
            JournalListener quick = tail.listen(0, tail.end(0, LIMIT), JournalFilter.task("default", "other"));
            fill(broker, topics, count, MINE);
            broker.produce(topics.journal(), event("last", "other"));
            assertThat(quick.next(LIMIT)).isNotNull();

            // when
            List<String> got = new ArrayList<>();
            long next = 0;
            ListenerDroppedException dropped = null;
            while (dropped == null) {
                try {
                    JournalEntry entry = slow.next(LIMIT);
                    assertThat(entry).isNotNull();
                    got.add(entry.event().id());
                    next = entry.cursor().offset() + 1;
                } catch (ListenerDroppedException e) {
                    dropped = e;
                }
            }

            // then
            assertThat(dropped.reason()).isEqualTo(Reason.TOO_SLOW);
            assertThat(got).hasSizeLessThan(count);
            got.addAll(take(tail, next, count - got.size()));
            assertThat(got).containsExactlyElementsOf(expected(count));
        }
    }

    @Test
    void shouldTellItsListenersThatItWasClosed(TestBroker broker) throws Exception {
        // given
        Topics topics = broker.createTopics(1);
        JournalTail tail = tail(broker, topics, LIMIT);
        JournalListener listener = tail.listen(0, 0, labels -> true);

        // when
        tail.close();

        // then
        assertThatThrownBy(() -> listener.next(LIMIT))
                .isInstanceOfSatisfying(
                        ListenerDroppedException.class,
                        dropped -> assertThat(dropped.reason()).isEqualTo(Reason.CLOSED));
        assertThatThrownBy(() -> tail.listen(0, 0, labels -> true).next(LIMIT))
                .isInstanceOf(ListenerDroppedException.class);
    }

    @Test
    void shouldRefuseAPartitionThatThereIsNot(TestBroker broker) {
        try (JournalTail tail = tail(broker, broker.createTopics(1), LIMIT)) {
            assertThatThrownBy(() -> tail.listen(1, 0, labels -> true)).isInstanceOf(IllegalArgumentException.class);
        }
    }

    @Test
    void shouldGoOnAfterARestartOfTheBroker(@TempDir Path folder) throws Exception {
        // given
        Topics topics = new Topics("restart.");
        EmbeddedBroker broker = EmbeddedBroker.start(folder, 0);
        String servers = broker.bootstrapServers();
        int port = Integer.parseInt(servers.substring(servers.lastIndexOf(':') + 1));
        ClientSettings kafka = ClientSettings.at(servers);
        TopicSetup.ensure(kafka, topics, new TopicSettings(1, TopicSettings.BROKER_DEFAULT, true), LIMIT);
        try (JournalTail tail = tail(kafka, topics, settings(1, 4 * 1024 * 1024, LIMIT));
                JournalListener listener = tail.listen(0, 0, labels -> true);
                KafkaProducer<String, byte[]> producer =
                        new KafkaProducer<>(kafka.values(), new StringSerializer(), new ByteArraySerializer())) {
            producer.send(EventCodec.toRecord(topics.journal(), event("before", MINE)))
                    .get();
            assertThat(listener.next(LIMIT))
                    .extracting(entry -> entry.event().id())
                    .isEqualTo("before");

            // when
            broker.close();
            broker = EmbeddedBroker.start(folder, port);
            producer.send(EventCodec.toRecord(topics.journal(), event("after", MINE)))
                    .get();

            // then
            assertThat(listener.next(LIMIT))
                    .extracting(entry -> entry.event().id())
                    .isEqualTo("after");
            assertThat(listener.next(Duration.ofMillis(200))).isNull();
        } finally {
            broker.close();
        }
    }

    @Test
    void shouldNotLetAQuietPartitionHoldUpThoseWhoBeginToListenToOthers(TestBroker broker) throws Exception {
        // given: a fetch of a partition on which nothing comes is always under way
        int partitions = 12;
        Topics topics = broker.createTopics(partitions);
        try (JournalTail tail = tail(broker, topics, LIMIT, partitions);
                JournalListener quiet = tail.listen(0, tail.end(0, LIMIT), labels -> true)) {
            assertThat(quiet.next(Duration.ofMillis(500))).isNull();

            // when
            long begun = System.nanoTime();
            for (int partition = 1; partition < partitions; partition++) {
                try (JournalListener listener = tail.listen(partition, tail.end(partition, LIMIT), labels -> true)) {
                    assertThat(tail.logEnd(partition, LIMIT)).isZero();
                    ProducerRecord<String, byte[]> record =
                            EventCodec.toRecord(topics.journal(), event("new" + partition, MINE));
                    broker.produce(new ProducerRecord<>(
                            record.topic(), partition, new byte[0], record.value(), record.headers()));
                    assertThat(listener.next(LIMIT)).isNotNull();
                }
            }

            // then: each has waited for 100 ms at most, and not three times for 500, which were 16 s
            assertThat(Duration.ofNanos(System.nanoTime() - begun)).isLessThan(Duration.ofSeconds(4));
        }
    }

    @Test
    void shouldTellATopicThatWasMadeAgainFromItsBeginning(TestBroker broker) throws Exception {
        // given
        Topics topics = broker.createTopics(1);
        ClientSettings kafka = ClientSettings.at(broker.bootstrapServers());
        fill(broker, topics, 50);
        try (JournalTail tail = tail(broker, topics, LIMIT);
                JournalListener listener = tail.listen(0, 50, JournalFilter.task("default", MINE));
                Admin admin = Admin.create(kafka.values())) {
            broker.produce(topics.journal(), event("before", MINE));
            assertThat(listener.next(LIMIT))
                    .extracting(entry -> entry.event().id())
                    .isEqualTo("before");
            assertThat(tail.end(0, LIMIT)).isEqualTo(51);

            // when
            admin.deleteTopics(List.of(topics.journal())).all().get();
            await().atMost(LIMIT).until(() -> !admin.listTopics().names().get().contains(topics.journal()));
            TopicSetup.ensure(kafka, topics, new TopicSettings(1, TopicSettings.BROKER_DEFAULT, true), LIMIT);
            write(broker, topics, 20, 3);

            // then
            for (String id : expected(20)) {
                assertThat(listener.next(LIMIT))
                        .extracting(entry -> entry.event().id())
                        .isEqualTo(id);
            }
            assertThat(tail.end(0, LIMIT)).isLessThanOrEqualTo(tail.logEnd(0, LIMIT));
        }
    }

    @Test
    void shouldLetNobodyWaitForListenersThatDoNotTakeTheirOldEntries(TestBroker broker) throws Exception {
        // given: as many as may read old records at the same time, and none of them takes anything
        Topics topics = broker.createTopics(1);
        int count = 600; // against a mailbox of 64 KiB
        fill(broker, topics, count, MINE);
        try (JournalTail tail = tail(
                ClientSettings.at(broker.bootstrapServers()),
                topics,
                settings(1, TailSettings.MIN_MAILBOX_BYTES, LIMIT))) {
            JournalListener live = tail.listen(0, tail.end(0, LIMIT), JournalFilter.task("default", "none"));
            fill(broker, topics, count, "filler"); // what the tail has kept is not enough for those who begin at 0
            await().atMost(LIMIT).until(() -> tail.end(0, LIMIT) == 2L * count);
            List<JournalListener> slow = IntStream.range(0, 8)
                    .mapToObj(i -> tail.listen(0, 0, JournalFilter.task("default", MINE)))
                    .toList();
            await().atMost(LIMIT).until(() -> tail.backfills() == slow.size());
            Thread.sleep(500);

            // when
            long begun = System.nanoTime();
            List<String> got = take(tail, 0, count);

            // then
            assertThat(got).containsExactlyElementsOf(expected(count));
            assertThat(Duration.ofNanos(System.nanoTime() - begun)).isLessThan(LIMIT.dividedBy(2));
            slow.forEach(JournalListener::close);
            live.close();
        }
    }

    private static List<String> take(JournalTail tail, long from, int count) throws Exception {
        List<String> got = new ArrayList<>();
        try (JournalListener listener = tail.listen(0, from, JournalFilter.task("default", MINE))) {
            while (got.size() < count) {
                JournalEntry entry = listener.next(LIMIT);
                if (entry == null) {
                    throw new AssertionError("nothing more after " + got.size() + " of " + count);
                }
                got.add(entry.event().id());
            }
        }
        return got;
    }

    /** In small transactions like the machine's, one in ten aborted, with other tasks' events between. */
    private static void write(TestBroker broker, Topics topics, int count, long seed) {
        Random random = new Random(seed);
        Map<String, Object> config = Map.of(
                "bootstrap.servers",
                broker.bootstrapServers(),
                "transactional.id",
                topics.prefix() + seed,
                "linger.ms",
                0);
        try (KafkaProducer<String, byte[]> producer =
                new KafkaProducer<>(config, new StringSerializer(), new ByteArraySerializer())) {
            producer.initTransactions();
            int written = 0;
            while (written < count) {
                int size = Math.min(count - written, 1 + random.nextInt(20));
                boolean abort = random.nextInt(10) == 0;
                producer.beginTransaction();
                List<Future<RecordMetadata>> sent = new ArrayList<>();
                for (int i = 0; i < size; i++) {
                    sent.add(producer.send(toPartitionZero(topics, event("e" + (written + i), MINE))));
                    sent.add(producer.send(toPartitionZero(topics, event("x" + (written + i), "other"))));
                }
                producer.flush();
                assertThat(sent).allMatch(Future::isDone);
                if (abort) {
                    producer.abortTransaction();
                } else {
                    producer.commitTransaction();
                    written += size;
                }
            }
        }
    }

    private static void fill(TestBroker broker, Topics topics, int count) {
        fill(broker, topics, count, "filler");
    }

    private static void fill(TestBroker broker, Topics topics, int count, String taskId) {
        try (KafkaProducer<String, byte[]> producer = new KafkaProducer<>(
                Map.of("bootstrap.servers", broker.bootstrapServers(), "request.timeout.ms", 5_000),
                new StringSerializer(),
                new ByteArraySerializer())) {
            List<Future<RecordMetadata>> sent = IntStream.range(0, count)
                    .mapToObj(i -> producer.send(toPartitionZero(topics, event("e" + i, taskId))))
                    .toList();
            producer.flush();
            assertThat(sent).allSatisfy(one -> assertThat(one.get().hasOffset()).isTrue());
        }
    }

    private static ProducerRecord<String, byte[]> toPartitionZero(Topics topics, Event event) {
        ProducerRecord<String, byte[]> produced = EventCodec.toRecord(topics.journal(), event);
        return new ProducerRecord<>(
                produced.topic(), 0, produced.timestamp(), produced.key(), produced.value(), produced.headers());
    }

    private static List<String> expected(int count) {
        return IntStream.range(0, count).mapToObj(i -> "e" + i).toList();
    }

    private static Event event(String id, String taskId) {
        return Event.root(id, KnownEventType.TASK_NOTIFY, Instant.now())
                .taskId(taskId)
                .payload(Map.of("message", "x"))
                .build();
    }

    @Test
    void shouldNotTellWhatIsForgotten(TestBroker broker) throws Exception {
        // given
        Topics topics = broker.createTopics(1);
        broker.produce(topics.journal(), event("before", MINE));
        broker.produce(topics.journal(), event("else", "other"));
        ForgetScope mine = new ForgetScope(ForgetScope.Kind.TASK, "default", MINE);
        broker.produce(new ProducerRecord<>(topics.forgotten(), null, new Forgotten(mine, 0).toJson()));

        // when
        try (JournalTail tail = tail(broker, topics, LIMIT)) {
            JournalListener listener = tail.listen(0, 0, JournalFilter.types(Set.of()));

            // then
            JournalEntry first = Objects.requireNonNull(listener.next(LIMIT));
            assertThat(first.event().id()).isEqualTo("else");
        }
    }

    private JournalTail tail(TestBroker broker, Topics topics, Duration linger) {
        return tail(broker, topics, linger, 1);
    }

    private JournalTail tail(TestBroker broker, Topics topics, Duration linger, int partitions) {
        return tail(
                ClientSettings.at(broker.bootstrapServers()), topics, settings(partitions, 4 * 1024 * 1024, linger));
    }

    private JournalTail tail(ClientSettings kafka, Topics topics, TailSettings settings) {
        JournalTail.Shared one = new JournalTail.Shared(
                new MailboxBudget(64 * 1024 * 1024),
                new ForgottenTopic(new Cluster(kafka, topics)),
                new TopicEnds(kafka, "ends"));
        shared.add(one);
        return new JournalTail(new Cluster(kafka, topics), settings, one);
    }

    private static TailSettings settings(int partitions, int mailboxBytes, Duration linger) {
        return new TailSettings(partitions, mailboxBytes, LIMIT, linger, 4);
    }
}
