package dev.millrace.agent.topology;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import dev.millrace.agent.AgentPin;
import dev.millrace.agent.core.Children;
import dev.millrace.agent.core.ContextWindow;
import dev.millrace.agent.core.Deadlines;
import dev.millrace.agent.core.TaskContext;
import dev.millrace.agent.core.TaskLimits;
import dev.millrace.agent.core.TaskState;
import dev.millrace.agent.core.Usage;
import dev.millrace.agent.topology.AdmissionSettings.Policy;
import dev.millrace.schemas.Event;
import dev.millrace.schemas.KnownEventType;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.processor.api.MockProcessorContext;
import org.apache.kafka.streams.state.KeyValueStore;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@Tag("slow")
class AdmissionTest {

    private static final AdmissionSettings ONE = new AdmissionSettings(1, Policy.QUEUE);
    private static final Instant NOW = Instant.parse("2026-11-22T12:00:00Z");

    private KeyValueStore<String, AdmissionRow> store;

    @BeforeEach
    @SuppressWarnings("NullAway") // a field of a test
    void open() {
        KeyValueStore<Bytes, byte[]> rows = org.apache.kafka.streams.state.Stores.keyValueStoreBuilder(
                        org.apache.kafka.streams.state.Stores.inMemoryKeyValueStore(TaskStores.ROWS),
                        Serdes.Bytes(),
                        Serdes.ByteArray())
                .withLoggingDisabled()
                .build();
        MockProcessorContext<Void, Void> context = new MockProcessorContext<>();
        rows.init(context.getStateStoreContext(), rows);
        store = TaskStores.ADMISSION.in(rows);
    }

    @Test
    @DisplayName(
            "after a restart everything is as it was: order, places, open questions, the number of the next, draining")
    void shouldSurviveARestart() {
        // given
        Admission before = new Admission(store, ONE);
        arrive(before, "t1", "s1", 100);
        StoredTask asking = admitFirst(before);
        before.take(asking.with(suspendedOnQuestion(asking), 0), event("x"));
        arrive(before, "t2", "s2", 200);
        StoredTask working = admitFirst(before);
        arrive(before, "t3", null, 300);
        arrive(before, "t4", null, 100);
        arrive(before, "t5", "s1", 50);
        before.drain(new Drain("an upgrade", "ada", 7));
        before.settle();

        // when
        Admission after = new Admission(store, ONE);

        // then
        assertThat(after.active()).isEqualTo(1);
        assertThat(after.waiting()).isEqualTo(3);
        assertThat(after.next()).as("draining").isEmpty();
        assertThat(after.drain()).isEqualTo(new Drain("an upgrade", "ada", 7));
        assertThat(after.answerable("session s1").map(AdmissionRow.Holding::taskId))
                .contains("t1");
        after.drain(null);
        assertThat(after.next()).as("no place").isEmpty();
        after.take(working.with(new TaskState.Completed(context(working)), 0), event("y"));
        assertThat(after.next().map(AdmissionRow.Line::taskKey)).contains("t4");
        assertThat(after.cause(after.next().orElseThrow())).isEqualTo(event("t4"));
        assertThat(arrive(after, "t6", null, 100).arrival()).isEqualTo(6);
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 11, 12, 13, 24, 25, 48, 49, 200})
    @DisplayName("after a restart nobody in line is forgotten, however many there are")
    void shouldForgetNobodyAtARestart(int tasks) {
        // given
        Admission before = new Admission(store, ONE);
        for (int i = 0; i < tasks; i++) {
            arrive(before, "t" + i, null, 100);
        }
        before.settle();

        // when
        Admission after = new Admission(store, ONE);
        int admitted = 0;
        while (after.next().isPresent()) {
            StoredTask working = admitFirst(after);
            after.take(working.with(new TaskState.Completed(context(working)), 0), event("y"));
            admitted++;
        }

        // then
        assertThat(admitted).isEqualTo(tasks);
    }

    @Test
    @DisplayName("after a restart a namespace has no more places than its quota allows")
    void shouldKnowTheQuotasAfterARestart() {
        AdmissionSettings settings =
                new AdmissionSettings(5, Policy.QUEUE, Map.of("*", new AdmissionSettings.Quota(1, 1)));
        Admission before = new Admission(store, settings);
        arrive(before, "t1", null, 100);
        StoredTask working = admitFirst(before);
        arrive(before, "t2", null, 100);
        before.settle();

        Admission after = new Admission(store, settings);

        assertThat(after.next()).isEmpty();
        assertThat(after.turnsAway(working)).isPresent();
        after.take(working.with(new TaskState.Completed(context(working)), 0), event("y"));
        assertThat(after.next().map(AdmissionRow.Line::taskKey)).contains("t2");
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    @DisplayName("a quota that lets nobody work is no quota")
    void shouldRefuseQuotasBelowTheLeast(boolean active) {
        AdmissionSettings.Quota quota =
                active ? new AdmissionSettings.Quota(0, null) : new AdmissionSettings.Quota(null, -1);

        assertThatIllegalArgumentException()
                .isThrownBy(() -> new AdmissionSettings(5, Policy.QUEUE, Map.of("acme", quota)))
                .withMessageMatching("millrace.agent.quotas.acme.(active|queued)-tasks: expected . or more, found .+");
    }

    @Test
    @DisplayName("who need not wait beyond the transaction is not written down")
    void shouldNotWriteWhoNeedNotWait() {
        Admission admission = new Admission(store, ONE);
        arrive(admission, "t1", null, 100);
        admitFirst(admission);
        admission.settle();

        assertThat(store.get("waiting/t1")).isNull();
        assertThat(store.get("holding/t1")).isNotNull();
    }

    @Test
    @Timeout(value = 60, unit = TimeUnit.SECONDS)
    @DisplayName("100 000 tasks in line, half of them of one session: each is found quickly and in its order")
    void shouldFindTheNextAmongMany() {
        // given
        Admission admission = new Admission(store, ONE);
        Random random = new Random(7);
        Map<String, StoredTask> rows = new HashMap<>();
        for (int i = 0; i < 100_000; i++) {
            String taskId = "t" + i;
            rows.put(taskId, arrive(admission, taskId, i % 2 == 0 ? "big" : null, 100 + random.nextInt(400)));
        }
        admission.settle();

        // when
        List<AdmissionRow.Line> admitted = new ArrayList<>();
        long begun = System.nanoTime();
        for (Optional<AdmissionRow.Line> next = admission.next(); next.isPresent(); next = admission.next()) {
            admitted.add(next.get());
            StoredTask row = Objects.requireNonNull(rows.get(next.get().taskKey()));
            StoredTask working = admission.take(row.with(reasoning(context(row)), 0), event("x"));
            admission.take(working.with(new TaskState.Completed(context(row)), 0), event("y"));
            admission.settle();
        }

        // then
        assertThat(admitted).hasSize(100_000).isSorted();
        assertThat(System.nanoTime() - begun).as("nanoseconds for all").isLessThan(TimeUnit.SECONDS.toNanos(20));
        assertThat(admission.waiting()).isZero();
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    @DisplayName(
            "10 000 tasks of one namespace delay the first of another by less than two places, also after a restart")
    void shouldLetNamespacesTakeTurns(boolean restarted) {
        // given
        Admission before = new Admission(store, ONE);
        Map<String, StoredTask> rows = new HashMap<>();
        for (int i = 0; i < 10_000; i++) {
            StoredTask task = arrive(before, "big", "t" + i, null, 200);
            rows.put(task.key(), task);
        }
        before.settle();
        for (int i = 0; i < 3; i++) {
            workAndEnd(before, rows);
        }
        for (int i = 0; i < 3; i++) {
            StoredTask task = arrive(before, "small", "t" + i, null, 200);
            rows.put(task.key(), task);
        }
        before.settle();

        // when
        Admission after = restarted ? new Admission(store, ONE) : before;
        List<String> order = new ArrayList<>();
        for (int i = 0; i < 8; i++) {
            order.add(workAndEnd(after, rows).replaceAll("/.*", ""));
        }

        // then
        List<String> turns = List.of("small", "big", "small", "big", "small", "big", "big", "big");
        assertThat(order)
                .isEqualTo(restarted ? List.of("big", "small", "big", "small", "big", "small", "big", "big") : turns);
    }

    @Test
    @DisplayName("a higher priority goes first, whoever's turn it would be")
    void shouldPutPriorityBeforeTurns() {
        Admission admission = new Admission(store, ONE);
        Map<String, StoredTask> rows = new HashMap<>();
        for (StoredTask task : List.of(
                arrive(admission, "big", "t1", null, 100),
                arrive(admission, "big", "t2", null, 100),
                arrive(admission, "small", "t3", null, 200))) {
            rows.put(task.key(), task);
        }

        assertThat(List.of(workAndEnd(admission, rows), workAndEnd(admission, rows), workAndEnd(admission, rows)))
                .containsExactly("big/t1", "big/t2", "small/t3");
    }

    private static String workAndEnd(Admission admission, Map<String, StoredTask> rows) {
        String key = admission.next().orElseThrow().taskKey();
        StoredTask row = Objects.requireNonNull(rows.get(key));
        StoredTask working = admission.take(row.with(reasoning(context(row)), 0), event("x"));
        admission.take(working.with(new TaskState.Completed(context(row)), 0), event("y"));
        admission.settle();
        return key;
    }

    private static StoredTask arrive(Admission admission, String taskId, @Nullable String session, int priority) {
        return arrive(admission, "default", taskId, session, priority);
    }

    private static StoredTask arrive(
            Admission admission, String namespace, String taskId, @Nullable String session, int priority) {
        return admission.take(
                new StoredTask(
                        namespace,
                        taskId,
                        session,
                        taskId,
                        null,
                        null,
                        taskId,
                        0,
                        0,
                        0,
                        AgentPin.NONE,
                        new TaskState.Idle(context(taskId, priority), false, Deadlines.NEVER),
                        null),
                event(taskId));
    }

    private static StoredTask admitFirst(Admission admission) {
        AdmissionRow.Line line = admission.next().orElseThrow();
        String session = line.session().startsWith("session ") ? line.session().substring(8) : null;
        return admission.take(
                new StoredTask(
                        "default",
                        line.taskKey(),
                        session,
                        line.taskKey(),
                        null,
                        null,
                        line.taskKey(),
                        line.arrival(),
                        0,
                        0,
                        AgentPin.NONE,
                        reasoning(context(line.taskKey(), line.priority())),
                        null),
                event("admitted"));
    }

    private static TaskState suspendedOnQuestion(StoredTask task) {
        return new TaskState.Suspended(
                (TaskState.Active) task.state(),
                "",
                false,
                null,
                new TaskState.Question("how many?", null, List.of()),
                null);
    }

    private static TaskContext context(String taskId, int priority) {
        return new TaskContext(
                taskId,
                "general",
                priority,
                0,
                new TaskContext.Progress(0, 0, 0, 1, 1),
                new TaskContext.Budget(TaskLimits.DEFAULT, Deadlines.NEVER, Usage.NONE, Usage.NONE),
                Children.NONE,
                ContextWindow.EMPTY);
    }

    private static TaskState reasoning(TaskContext context) {
        return new TaskState.Reasoning(context, "call", Deadlines.NEVER);
    }

    private static TaskContext context(StoredTask task) {
        return ((TaskState.Existing) task.state()).context();
    }

    private static Event event(String id) {
        return Event.root(id, KnownEventType.MESSAGE_RECEIVED, NOW)
                .payload(Map.of("text", id))
                .build();
    }
}
