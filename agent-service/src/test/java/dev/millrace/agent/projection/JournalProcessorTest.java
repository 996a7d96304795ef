package dev.millrace.agent.projection;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.api.Task;
import dev.millrace.schemas.Event;
import dev.millrace.schemas.EventCodec;
import dev.millrace.schemas.EventType;
import dev.millrace.schemas.JournalCursor;
import dev.millrace.schemas.KnownEventType;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Predicate;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.processor.api.MockProcessorContext;
import org.apache.kafka.streams.processor.api.Record;
import org.apache.kafka.streams.state.KeyValueIterator;
import org.apache.kafka.streams.state.KeyValueStore;
import org.apache.kafka.streams.state.Stores;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

class JournalProcessorTest {

    private static final String STORE = "rows";
    private static final String CALL = "m1/1/0";
    private static final Duration RETENTION = Duration.ofDays(30);

    @Test
    @DisplayName("whoever reads between any two writes finds a call that waits for its decision, or the decision")
    void shouldNeverShowACallThatNeitherWaitsNorWasDecided() {
        // given
        List<String> seen = new ArrayList<>();
        MockProcessorContext<Void, Void> context = new MockProcessorContext<>();
        KeyValueStore<Bytes, byte[]> rows = Stores.keyValueStoreBuilder(
                        Stores.inMemoryKeyValueStore(STORE), Serdes.Bytes(), Serdes.ByteArray())
                .withLoggingDisabled()
                .build();
        rows.init(context.getStateStoreContext(), rows);
        context.addStateStore(watched(
                rows,
                JournalProcessorTest::writes,
                () -> new ProjectionReader(rows)
                        .approval(Event.DEFAULT_NAMESPACE, CALL)
                        .ifPresent(found ->
                                seen.add(found.open() ? "open" : found.decided() == null ? "lost" : "decided"))));
        JournalProcessor processor = new JournalProcessor(STORE, new AppliedOffsets(), Duration.ofDays(30));
        processor.init(context);
        List<Event> history = Histories.startedBy("m1")
                .created()
                .moved("reasoning", "suspended")
                .then(KnownEventType.APPROVAL_REQUESTED, Map.of("callId", CALL, "toolName", "http_get"))
                .then(KnownEventType.APPROVAL_DECIDED, Map.of("callId", CALL, "decision", "approve"))
                .events();

        // when
        for (int offset = 0; offset < history.size(); offset++) {
            context.setRecordMetadata("journal", 0, offset);
            context.setCurrentSystemTimeMs(history.get(offset).timestamp().toEpochMilli());
            processor.process(record(history.get(offset)));
        }

        // then
        assertThat(seen).startsWith("open").endsWith("decided").doesNotContain("lost");
    }

    @Test
    @DisplayName("what one poll brings of a task is shown at once, and its row is written once")
    void shouldWriteTheRowsOfAPollOnce() {
        // given
        MockProcessorContext<Void, Void> context = new MockProcessorContext<>();
        KeyValueStore<Bytes, byte[]> rows = rows(context);
        List<Integer> told = new ArrayList<>();
        AppliedOffsets applied = new AppliedOffsets();
        context.addStateStore(watched(
                rows,
                JournalProcessorTest::writes,
                () -> new ProjectionReader(rows)
                        .details("default", "m1")
                        .ifPresent(found -> told.add(found.history().size()))));
        JournalProcessor processor = new JournalProcessor(STORE, applied, Duration.ofDays(30));
        processor.init(context);
        List<Event> history = Histories.startedBy("m1")
                .created()
                .moved("reasoning", "suspended")
                .events();

        // when: the poll has one record more, which Kafka Streams passes over
        processor.begins();
        processor.brought(history.size() + 1);
        take(context, processor, 0, history);
        Optional<Task.Details> before = new ProjectionReader(rows).details("default", "m1");
        processor.begins();

        // then
        assertThat(before).isEmpty();
        assertThat(new ProjectionReader(rows).details("default", "m1")).isPresent();
        assertThat(told.stream().distinct()).hasSize(1);
        assertThat(applied.appliedCount()).isEqualTo(history.size());
    }

    @Test
    @DisplayName(
            "what happens under a task's id on another partition changes nothing of what the task's owner is shown")
    void shouldKeepATaskToThePartitionOfItsStart() {
        // given: somebody names the task before it is there; it comes, and the same id starts another one elsewhere
        MockProcessorContext<Void, Void> context = new MockProcessorContext<>();
        KeyValueStore<Bytes, byte[]> rows = rows(context);
        JournalProcessor processor = processor(context, rows, new AppliedOffsets());
        Event stray = Event.root("stray", EventType.of("file.changed"), Histories.START)
                .taskId("m1")
                .build();
        List<Event> mine = Histories.startedBy("m1", Histories.START, "a", "default")
                .created()
                .events();
        List<Event> others = Histories.startedBy("m1", Histories.START, "b", "default")
                .created()
                .then(KnownEventType.TASK_CANCELLED, Map.of("reason", "not yours"))
                .events();

        // when
        take(context, processor, 1, List.of(stray));
        take(context, processor, 0, mine);
        take(context, processor, 1, others);

        // then
        ProjectionReader reader = new ProjectionReader(rows);
        Task view = reader.details("default", "m1").orElseThrow().task();
        assertThat(view.sessionId()).isEqualTo("a");
        assertThat(view.state()).isEqualTo("reasoning");
        assertThat(view.partition()).isZero();
        assertThat(reader.events("default", "m1", new JournalCursor(0, 0), 100, 1_000_000)
                        .orElseThrow()
                        .events())
                .noneMatch(entry -> entry.event().type() == KnownEventType.TASK_CANCELLED);
        assertThat(reader.tasks(new TaskQuery("default", null, "b", null, 10, null))
                        .tasks())
                .isEmpty();
    }

    @Test
    @DisplayName(
            "what becomes of a request to forget is told on every partition, but not in place of a task of that id")
    void shouldTellOfForgettingOnEveryPartition() {
        // given
        MockProcessorContext<Void, Void> context = new MockProcessorContext<>();
        KeyValueStore<Bytes, byte[]> rows = rows(context);
        JournalProcessor processor = processor(context, rows, new AppliedOffsets());
        List<Event> onOne = List.of(
                forgetting("f1", "request", KnownEventType.FORGET_REQUESTED),
                forgetting("f1", "first", KnownEventType.TASKS_FORGOTTEN));
        List<Event> onTheOther = List.of(forgetting("f1", "second", KnownEventType.TASKS_FORGOTTEN));
        List<Event> task = Histories.startedBy("m1", Histories.START, "a", "default")
                .created()
                .events();

        // when
        take(context, processor, 0, onOne);
        take(context, processor, 1, onTheOther);
        take(context, processor, 0, task);
        take(context, processor, 1, List.of(forgetting("m1", "of a task", KnownEventType.TASKS_FORGOTTEN)));

        // then
        ProjectionReader reader = new ProjectionReader(rows);
        assertThat(reader.events("default", "f1", null, 100, 1_000_000)
                        .orElseThrow()
                        .events())
                .extracting(entry -> entry.event().id())
                .containsExactlyInAnyOrder("request", "first", "second");
        assertThat(reader.events("default", "m1", null, 100, 1_000_000)
                        .orElseThrow()
                        .events())
                .extracting(entry -> entry.event().id())
                .doesNotContain("of a task");
    }

    private static Event forgetting(String forgetId, String id, KnownEventType type) {
        return Event.root(id, type, Histories.START)
                .taskId(forgetId)
                .payload(Histories.whole(type, Map.of("scope", "namespace", "forgetId", forgetId)))
                .build();
    }

    @Test
    @DisplayName("a defect on one record of the journal costs that record, and no other")
    void shouldLeaveOutWhatADefectKeepsFromBeingTaken() throws InterruptedException {
        // given
        MockProcessorContext<Void, Void> context = new MockProcessorContext<>();
        AtomicBoolean broken = new AtomicBoolean();
        KeyValueStore<Bytes, byte[]> rows = watched(rows(context), "get"::equals, () -> {
            if (broken.getAndSet(false)) {
                throw new IllegalStateException("a defect");
            }
        });
        AppliedOffsets applied = new AppliedOffsets();
        JournalProcessor processor = processor(context, rows, applied);
        List<Event> first = Histories.startedBy("m1").created().events();
        List<Event> second = Histories.startedBy("m2").created().events();

        // when
        take(context, processor, 0, first);
        broken.set(true);
        take(context, processor, 1, second.subList(0, 1));
        take(context, processor, 2, second);

        // then
        assertThat(applied.skippedCount()).isEqualTo(1);
        assertThat(applied.await(new JournalCursor(1, 0), Duration.ZERO)).isTrue();
        ProjectionReader reader = new ProjectionReader(rows);
        assertThat(reader.details("default", "m1")).isPresent();
        assertThat(reader.details("default", "m2")).isPresent();
    }

    @Test
    @DisplayName(
            "what 300 tasks a second leave behind is removed at more than 300 a second, a bounded number at a time")
    void shouldRemoveAsFastAsTasksCome() {
        // given
        MockProcessorContext<Void, Void> context = new MockProcessorContext<>();
        KeyValueStore<Bytes, byte[]> rows = rows(context);
        JournalProcessor processor = processor(context, rows, new AppliedOffsets());
        Instant start = Instant.parse("2026-10-01T12:00:00Z");
        int tasks = 900;
        for (int i = 0; i < tasks; i++) {
            take(
                    context,
                    processor,
                    0,
                    Histories.startedBy("m" + i, start, null, "default")
                            .created()
                            .answered()
                            .events());
        }
        assertThat(tasksIn(rows)).isEqualTo(tasks);

        // when: three seconds, in each of which the projection looks as often as it polls
        int before = tasks;
        for (int poll = 0; poll < 30; poll++) {
            Instant now = start.plus(RETENTION).plusSeconds(1).plusMillis(poll * RetentionSweep.EVERY_MS);
            take(
                    context,
                    processor,
                    0,
                    List.of(Event.root("beat" + poll, KnownEventType.HEARTBEAT, now)
                            .build()));
            int left = tasksIn(rows);
            assertThat(before - left).as("one run").isLessThanOrEqualTo(RetentionSweep.MAX_TASKS);
            before = left;
        }

        // then
        assertThat(before).isZero();
    }

    private static int tasksIn(KeyValueStore<Bytes, byte[]> rows) {
        int tasks = 0;
        try (KeyValueIterator<Bytes, byte[]> all = rows.all()) {
            while (all.hasNext()) {
                String key = new String(all.next().key.get(), StandardCharsets.ISO_8859_1);
                // the beats have rows of their own
                tasks += key.startsWith("T") && !key.contains("beat") ? 1 : 0;
            }
        }
        return tasks;
    }

    private static KeyValueStore<Bytes, byte[]> rows(MockProcessorContext<Void, Void> context) {
        KeyValueStore<Bytes, byte[]> rows = Stores.keyValueStoreBuilder(
                        Stores.inMemoryKeyValueStore(STORE), Serdes.Bytes(), Serdes.ByteArray())
                .withLoggingDisabled()
                .build();
        rows.init(context.getStateStoreContext(), rows);
        return rows;
    }

    private static JournalProcessor processor(
            MockProcessorContext<Void, Void> context, KeyValueStore<Bytes, byte[]> rows, AppliedOffsets applied) {
        context.addStateStore(rows);
        JournalProcessor processor = new JournalProcessor(STORE, applied, RETENTION);
        processor.init(context);
        return processor;
    }

    private static void take(
            MockProcessorContext<Void, Void> context, JournalProcessor processor, int partition, List<Event> events) {
        for (int offset = 0; offset < events.size(); offset++) {
            context.setRecordMetadata("journal", partition, offset);
            context.setCurrentSystemTimeMs(events.get(offset).timestamp().toEpochMilli());
            processor.process(record(events.get(offset)));
        }
    }

    private static Record<byte[], byte[]> record(Event event) {
        ProducerRecord<String, byte[]> produced = EventCodec.toRecord("journal", event);
        return new Record<>(
                produced.key().getBytes(StandardCharsets.UTF_8),
                produced.value(),
                event.timestamp().toEpochMilli(),
                produced.headers());
    }

    private static boolean writes(String method) {
        return method.startsWith("put") || method.equals("delete");
    }

    /** The store, with somebody who looks after each call of these methods. */
    @SuppressWarnings("unchecked")
    private static KeyValueStore<Bytes, byte[]> watched(
            KeyValueStore<Bytes, byte[]> rows, Predicate<String> methods, Runnable look) {
        return (KeyValueStore<Bytes, byte[]>) Proxy.newProxyInstance(
                JournalProcessorTest.class.getClassLoader(),
                new Class<?>[] {KeyValueStore.class},
                (proxy, method, args) -> {
                    try {
                        Object result = method.invoke(rows, args);
                        if (methods.test(method.getName())) {
                            look.run();
                        }
                        return result;
                    } catch (InvocationTargetException e) {
                        throw e.getTargetException();
                    }
                });
    }
}
