package dev.millrace.agent.projection;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.millrace.api.QueueItem;
import dev.millrace.schemas.Event;
import dev.millrace.schemas.EventCodec;
import dev.millrace.schemas.EventType;
import dev.millrace.schemas.HeaderNames;
import dev.millrace.schemas.KnownEventType;
import dev.millrace.schemas.Topics;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Random;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.streams.TestInputTopic;
import org.apache.kafka.streams.TopologyTestDriver;
import org.apache.kafka.streams.test.TestRecord;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Everything that was accepted has a status, which is found without looking at all. */
@Tag("slow")
class QueueReaderTest {

    private static final Topics TOPICS = new Topics("test.");
    private static final Instant NOW = Instant.parse("2026-02-01T00:00:00Z");
    private static final Duration MOST = Duration.ofMillis(100);

    private TopologyTestDriver driver;
    private TestInputTopic<byte[], byte[]> journal;

    @SuppressWarnings("NullAway.Init") // JUnit calls open before anything else
    QueueReaderTest() {}

    @BeforeEach
    void open(@TempDir Path folder) {
        Properties config = new Properties();
        config.putAll(
                Map.of("application.id", "queue-test", "bootstrap.servers", "none:9", "state.dir", folder.toString()));
        driver = new TopologyTestDriver(
                ProjectionTopology.build(TOPICS, new AppliedOffsets(), Duration.ofDays(3650)), config, NOW);
        journal = driver.createInputTopic(TOPICS.journal(), new ByteArraySerializer(), new ByteArraySerializer());
    }

    @AfterEach
    void close() {
        driver.close();
    }

    @Test
    @DisplayName("F-283, F-284: each status, with all fields")
    void shouldTellEachStatus() {
        // given
        write(task("pending", 1).events());
        write(task("working", 2).created().events());
        write(task("done", 3).created().answered().events());
        write(task("late", 4)
                .then(KnownEventType.TASK_FAILED, Map.of("error", "too late", "code", "expired"))
                .events());
        write(task("broken", 5)
                .created()
                .then(KnownEventType.TASK_FAILED, Map.of("error", "no key", "code", "llm_error"))
                .events());
        write(task("replaced", 6)
                .then(KnownEventType.TASK_CANCELLED, Map.of("reason", "overwritten by processor gate"))
                .events());
        write(task("stopped", 7)
                .then(KnownEventType.TASK_CANCELLED, Map.of("reason", "never mind"))
                .events());
        write(alone("noted", 8), null);
        write(alone("old", 9), "expired");
        write(alone("refused", 10), "processor_failed");
        write(alone("held", 11), "overwritten");

        // then
        Map<String, List<String>> expected = Map.of(
                "pending", List.of("pending"),
                "processing", List.of("working"),
                "completed", List.of("noted", "done"),
                "failed", List.of("refused", "broken"),
                "expired", List.of("old", "late"),
                "overwritten", List.of("held", "replaced"),
                "cancelled", List.of("stopped"));
        expected.forEach((status, ids) -> {
            assertThat(ids(page(status, null, 50, null))).as(status).isEqualTo(ids);
            ids.forEach(id -> assertThat(reader().item("default", id))
                    .as(id)
                    .hasValueSatisfying(item -> assertThat(item.status()).isEqualTo(status)));
        });
        QueueItem failed = page("failed", null, 1, null).items().getFirst();
        assertThat(failed)
                .isEqualTo(new QueueItem(
                        "refused",
                        "s",
                        "order.placed",
                        Map.of("n", 10),
                        "failed",
                        1_000 - EventType.of("order.placed").code(),
                        60_000L,
                        "refused",
                        "root",
                        "default",
                        at(10).toEpochMilli(),
                        at(10).toEpochMilli(),
                        null,
                        null,
                        "processor_failed",
                        null,
                        null));
        assertThat(reader().item("default", "nobody")).isEmpty();
        assertThat(reader().item("acme", "noted")).isEmpty();
        assertThatThrownBy(() -> page("lost", null, 1, null))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("status: expected one of cancelled, completed");
    }

    @Test
    @DisplayName("F-286, F-288: tasks and other events in one order, page by page, of all or of one session")
    void shouldPageThroughAll() {
        // given
        List<String> newestFirst = new ArrayList<>();
        List<String> ofSession = new ArrayList<>();
        for (int i = 1; i <= 40; i++) {
            String id = "e" + i;
            if (i % 3 == 0) {
                write(alone(id, i), null);
                ofSession.addFirst(id);
            } else {
                write(Histories.startedBy(id, at(i), i % 3 == 1 ? "s" : null, "default")
                        .events());
                if (i % 3 == 1) {
                    ofSession.addFirst(id);
                }
            }
            newestFirst.addFirst(id);
        }

        // then
        assertThat(all(null, null, 7)).isEqualTo(newestFirst);
        assertThat(all(null, "s", 4)).isEqualTo(ofSession);
        assertThat(all("pending", "s", 4))
                .containsExactlyElementsOf(ofSession.stream()
                        .filter(id -> Integer.parseInt(id.substring(1)) % 3 == 1)
                        .toList());
    }

    @Test
    @DisplayName("F-285, F-286: what waits in a session in the order of work, page by page; what has begun has left")
    void shouldTellWhatIsNext() {
        // given: the later ones have dates before the earlier ones, which somebody else may give them
        List<Integer> priorities = List.of(300, 100, 300, 200, 100, 200);
        for (int i = 0; i < priorities.size(); i++) {
            write(started("e" + i, 100 - i, priorities.get(i)), null);
        }
        write(Histories.startedBy("elsewhere", at(1), "t", "default").events());
        write(alone("noted", 1), null);

        // then
        assertThat(inLine(2)).containsExactly("e1", "e4", "e3", "e5", "e0", "e2");

        // when
        write(
                started("e1", 99, 100)
                        .derive(KnownEventType.TASK_STATE_CHANGED, 0, at(101))
                        .payload(Histories.whole(
                                KnownEventType.TASK_STATE_CHANGED, Map.of("fromState", "idle", "toState", "reasoning")))
                        .build(),
                null);

        // then
        assertThat(inLine(200)).containsExactly("e4", "e3", "e5", "e0", "e2");
        assertThatThrownBy(() -> new QueueQuery("default", "failed", "s", QueueQuery.Order.WORK, 1, null))
                .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> new QueueQuery("default", null, null, QueueQuery.Order.WORK, 1, null))
                .isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    @DisplayName("an answer to a task has the status of having been taken")
    void shouldTellOfWhatATaskHasTaken() {
        // given
        write(task("t", 1)
                .created()
                .then(KnownEventType.MESSAGE_RECEIVED, Map.of("text", "the blue one"))
                .events());
        String answer = page(null, "s", 1, null).items().getFirst().id();
        List<Event> events = Histories.startedBy("u", at(2), "s", "default")
                .created()
                .then(KnownEventType.MESSAGE_RECEIVED, Map.of("text", "the blue one"))
                .events();
        write(events);

        // then
        assertThat(answer).isEqualTo("t");
        assertThat(reader().item("default", events.getLast().id())).hasValueSatisfying(item -> {
            assertThat(item.status()).isEqualTo("completed");
            assertThat(item.taskId()).isEqualTo("u");
        });
    }

    @Test
    @DisplayName("listing and status answer in less than 100 ms at the 95th percentile, with"
            + " -Dmillrace.queue.items=1000000 as with two thousand")
    void shouldAnswerSoonHoweverManyThereAre() {
        // given
        int items = Integer.getInteger("millrace.queue.items", 2_000);
        Random random = new Random(7);
        for (int i = 0; i < items; i++) {
            Histories task = Histories.startedBy("t" + i, at(i), "s" + i % 1_000, "default");
            switch (i % 10) {
                case 0 -> write(alone("t" + i, i, "s" + i % 1_000), null);
                case 1, 2, 3 -> write(task.events());
                case 4 -> write(task.moved("idle", "reasoning").events());
                case 5 ->
                    write(task.then(KnownEventType.TASK_FAILED, Map.of("error", "e", "code", "llm_error"))
                            .events());
                default ->
                    write(task.then(KnownEventType.TASK_CANCELLED, Map.of("reason", "r"))
                            .events());
            }
        }

        // when
        List<@Nullable String> statuses = Arrays.asList(null, "pending", "processing", "completed", "failed");
        long[] nanos = new long[500];
        for (int i = 0; i < nanos.length; i++) {
            String id = "t" + random.nextInt(items);
            String status = statuses.get(i % statuses.size());
            String session = i % 4 == 1 ? "s" + random.nextInt(1_000) : null;
            long start = System.nanoTime();
            boolean found = i % 2 == 0
                    ? reader().item("default", id).isPresent()
                    : page(session == null ? status : null, session, 50, null)
                                    .items()
                                    .size()
                            > 0;
            nanos[i] = System.nanoTime() - start;
            assertThat(found).as("%s %s %s", id, status, session).isTrue();
        }

        // then
        Arrays.sort(nanos);
        Duration p95 = Duration.ofNanos(nanos[nanos.length * 95 / 100]);
        System.out.println(items + " queue items: p50 " + nanos[nanos.length / 2] / 1_000 + " µs, p95 "
                + p95.toNanos() / 1_000 + " µs");
        assertThat(p95).isLessThan(MOST);
    }

    private List<String> all(@Nullable String status, @Nullable String session, int limit) {
        List<String> ids = new ArrayList<>();
        String next = null;
        do {
            QueueItem.Page page = page(status, session, limit, next);
            assertThat(page.items()).hasSizeLessThanOrEqualTo(limit);
            ids.addAll(ids(page));
            next = page.next();
        } while (next != null);
        return ids;
    }

    private List<String> inLine(int limit) {
        List<String> ids = new ArrayList<>();
        String next = null;
        do {
            QueueItem.Page page =
                    reader().items(new QueueQuery("default", null, "s", QueueQuery.Order.WORK, limit, next));
            ids.addAll(ids(page));
            next = page.next();
        } while (next != null);
        return ids;
    }

    private static Event started(String id, int second, int priority) {
        return Event.root(id, KnownEventType.MESSAGE_RECEIVED, at(second))
                .source("shop")
                .taskId(id)
                .sessionId("s")
                .priority(priority)
                .payload(Map.of("text", "hello"))
                .build();
    }

    private static List<String> ids(QueueItem.Page page) {
        return page.items().stream().map(QueueItem::id).toList();
    }

    private QueueItem.Page page(@Nullable String status, @Nullable String session, int limit, @Nullable String before) {
        return reader().items(new QueueQuery("default", status, session, QueueQuery.Order.NEWEST, limit, before));
    }

    private QueueReader reader() {
        return new QueueReader(driver.getKeyValueStore(ProjectionTopology.STORE));
    }

    private static Instant at(int second) {
        return NOW.minusSeconds(2_000_000).plusSeconds(second);
    }

    private static Histories task(String id, int second) {
        return Histories.startedBy(id, at(second), "s", "default");
    }

    private static Event alone(String id, int second) {
        return alone(id, second, "s");
    }

    private static Event alone(String id, int second, String session) {
        return Event.root(id, EventType.of("order.placed"), at(second))
                .source("shop")
                .sessionId(session)
                .parentEventId("root")
                .expiry(at(second).plusSeconds(60))
                .payload(Map.of("n", second))
                .build();
    }

    private void write(List<Event> events) {
        events.forEach(event -> write(event, null));
    }

    private void write(Event event, @Nullable String outcome) {
        ProducerRecord<String, byte[]> produced = EventCodec.toRecord(TOPICS.journal(), event);
        if (outcome != null) {
            produced.headers().add(HeaderNames.OUTCOME, outcome.getBytes(StandardCharsets.UTF_8));
        }
        journal.pipeInput(new TestRecord<>(
                produced.key().getBytes(StandardCharsets.UTF_8),
                produced.value(),
                produced.headers(),
                event.timestamp()));
    }
}
