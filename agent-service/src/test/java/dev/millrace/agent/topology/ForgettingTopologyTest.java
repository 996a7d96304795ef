package dev.millrace.agent.topology;

import static dev.millrace.agent.topology.TestMachine.event;
import static dev.millrace.agent.topology.TestMachine.message;
import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.agent.core.DiscardReason;
import dev.millrace.agent.topology.AdmissionSettings.Policy;
import dev.millrace.engine.Rehoming;
import dev.millrace.engine.Sender;
import dev.millrace.engine.StoreSection;
import dev.millrace.schemas.Event;
import dev.millrace.schemas.EventSchemas;
import dev.millrace.schemas.KnownEventType;
import dev.millrace.schemas.Segment;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.IntStream;
import org.apache.kafka.streams.state.KeyValueIterator;
import org.apache.kafka.streams.test.TestRecord;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Forgetting, as the task machine does it. */
class ForgettingTopologyTest {

    private static final Set<StoreSection<?>> ROWS = Set.of(
            TaskStores.TASKS,
            TaskStores.TRANSCRIPTS,
            TaskStores.CALLS,
            TaskStores.ADMISSION,
            TaskStores.SESSIONS,
            TaskStores.TIMERS);

    @TempDir
    Path stateDir;

    private TestMachine machine;

    @BeforeEach
    @SuppressWarnings("NullAway") // fields of a test
    void start() {
        machine = new TestMachine(stateDir, new AdmissionSettings(1, Policy.QUEUE));
    }

    @AfterEach
    void stop() {
        machine.close();
    }

    @Test
    @DisplayName("a session is forgotten whole, running and waiting tasks too, and no other")
    void shouldForgetASession() {
        // given: one that has ended, one that works, one that stands in line, and somebody else's
        machine.send(message("m1").sessionId("ada"));
        machine.answer("m1");
        machine.send(message("m2").sessionId("ada"));
        machine.send(message("m3").sessionId("ada"));
        machine.send(message("m4").sessionId("bob"));
        machine.journal();

        // when
        machine.send(forget("f1", "session").sessionId("ada").payload(scope("session", "sessionId", "ada")));

        // then
        List<Event> journal = machine.journal();
        assertThat(journal).extracting(event -> event.type().wireName()).contains("TASK_CANCELLED", "FORGET_REQUESTED");
        assertThat(journal)
                .allSatisfy(told -> assertThat(EventSchemas.problems(told)).isEmpty());
        assertThat(of(journal, KnownEventType.TASKS_FORGOTTEN)).satisfies(done -> {
            assertThat(done.taskId()).isEqualTo("f1");
            assertThat(done.parentEventId()).isEqualTo("f1");
            assertThat(done.fields())
                    .containsEntry("tasks", 3)
                    .containsEntry("cancelled", 2)
                    .containsEntry("partition", 0)
                    .containsEntry("partitions", 1);
        });
        assertThat(keys())
                .isNotEmpty()
                .allMatch(key -> key.contains("m4") || key.contains("bob") || key.equals("gate"));
        assertThat(machine.model.settled).extracting(OutstandingCall::taskId).contains("m2");
        assertThat(machine.called()).as("its place is free").endsWith("m4");
        assertThat(machine.output(TestMachine.TOPICS.reflectionRequests()).readRecordsToList())
                .as("the memory machine is told")
                .hasSize(1);
        assertThat(variables())
                .containsExactly("{\"namespace\":\"default\",\"kind\":\"session\",\"id\":\"ada\",\"forgottenAt\":"
                        + TestMachine.START.toEpochMilli() + "}");
    }

    @Test
    @DisplayName("what was sent before and comes afterwards is kept out; what is sent afterwards is not")
    void shouldKeepOutWhatIsOlder() {
        // given
        machine.send(message("m1").sessionId("ada"));
        Event reply = reply("m1", List.of(), 0);
        Event late = reply("m1", List.of(), 9);
        machine.driver.advanceWallClockTime(Duration.ofSeconds(10));
        machine.send(forget("f1", "session").sessionId("ada").payload(scope("session", "sessionId", "ada")), second(5));
        machine.journal();

        // when
        machine.send(message("m2").sessionId("ada").payload(Map.of("text", "Ada")), second(4));
        machine.send(reply, second(4));
        machine.send(late, second(9));
        machine.send(message("m3").sessionId("ada").payload(Map.of("text", "Bob")), second(6));

        // then
        assertThat(machine.discards())
                .containsExactly(DiscardReason.UNKNOWN_TASK, DiscardReason.UNKNOWN_TASK, DiscardReason.UNKNOWN_TASK);
        List<Event> journal = machine.journal();
        assertThat(journal)
                .filteredOn(told -> told.type() == KnownEventType.MODEL_CALL_ABANDONED)
                .as("what was paid for stays counted, for nobody")
                .hasSize(2)
                .allSatisfy(told -> {
                    assertThat(told.taskId()).isNull();
                    assertThat(told.sessionId()).isNull();
                    assertThat(told.fields()).doesNotContainKey("response");
                });
        assertThat(journal).filteredOn(told -> "m3".equals(told.taskId())).isNotEmpty();
        assertThat(journal).noneMatch(told -> "m2".equals(told.id()) || "m1".equals(told.taskId()));
    }

    @Test
    @DisplayName(
            "a request that says it comes from the year 9998 means what came before it, and keeps nothing later out")
    void shouldNotBelieveTheTimeOfARequest() {
        // given
        machine.send(message("m1").namespace("people"));
        machine.driver.advanceWallClockTime(Duration.ofSeconds(10));

        // when
        machine.send(
                dated("9998-01-01T00:00:00Z", "f1", KnownEventType.FORGET_REQUESTED)
                        .namespace("people")
                        .payload(scope("namespace", null, null)),
                second(5));
        machine.send(message("m2").namespace("people"), second(6));

        // then
        assertThat(machine.called()).endsWith("m2");
        List<Event> journal = machine.journal();
        assertThat(of(journal, KnownEventType.TASKS_FORGOTTEN).fields())
                .containsEntry("tasks", 1)
                .containsEntry("requestedAt", second(5).toEpochMilli());
    }

    @Test
    @DisplayName(
            "what comes after a request is taken, also if it says that it comes from 1970; what came before is not, whatever"
                    + " it says and wherever it stood")
    void shouldNotBelieveTheTimeOfAMessage() {
        // given
        machine.driver.advanceWallClockTime(Duration.ofSeconds(10));
        machine.send(forget("f1", "namespace").namespace("people").payload(scope("namespace", null, null)), second(5));

        // when
        machine.send(
                dated("1970-01-01T00:00:00Z", "m1", KnownEventType.MESSAGE_RECEIVED)
                        .namespace("people")
                        .payload(Map.of("text", "hello")),
                second(6));
        machine.send(
                dated("9998-01-01T00:00:00Z", "m2", KnownEventType.MESSAGE_RECEIVED)
                        .namespace("people")
                        .payload(Map.of("text", "old")),
                second(4));
        machine.sendOn(message("m3").namespace("people").build(), second(7), Sender.REROUTED, second(4));

        // then
        assertThat(machine.called()).containsExactly("m1");
        assertThat(machine.discards()).containsExactly(DiscardReason.UNKNOWN_TASK, DiscardReason.UNKNOWN_TASK);
    }

    @Test
    @DisplayName("a request that an older version took from the year 9998 keeps nothing out any more")
    void shouldRepairWhatAnOlderVersionHasTaken() {
        // given
        Event old = dated("9998-01-01T00:00:00Z", "f1", KnownEventType.FORGET_REQUESTED)
                .namespace("people")
                .payload(scope("namespace", null, null))
                .build();
        TaskForgetting.Row row = new TaskForgetting.Row(old, second(-60).toEpochMilli(), null, null, true, 0, 0, 0);

        // then
        assertThat(row.askedAtMs()).isEqualTo(second(-60).toEpochMilli());
    }

    @Test
    @DisplayName("a request to cancel a task that has not come is forgotten with its reason")
    void shouldForgetEarlyCancels() {
        // given
        machine.send(event("c1", KnownEventType.TASK_CANCEL_REQUESTED)
                .taskId("m1")
                .sessionId("ada")
                .payload(Map.of("reason", "Lovelace said so")));
        machine.send(event("c2", KnownEventType.TASK_CANCEL_REQUESTED)
                .taskId("m2")
                .sessionId("bob")
                .payload(Map.of("reason", "Babbage said so")));
        assertThat(machine.cancels()).hasSize(2);

        // when
        machine.send(forget("f1", "session").sessionId("ada").payload(scope("session", "sessionId", "ada")));

        // then
        assertThat(machine.cancels()).extracting(Event::id).containsExactly("c2");
    }

    @Test
    @DisplayName("a namespace of many tasks is forgotten a bounded number at a time, and how far is in the store")
    void shouldForgetInSlices() {
        // given
        int tasks = 3 * TaskForgetting.TASKS_AT_ONCE + 10;
        for (int i = 0; i < tasks; i++) {
            machine.send(message("m" + i).namespace("people"));
        }
        machine.journal();

        // when
        machine.send(forget("f1", "namespace").namespace("people").payload(scope("namespace", null, null)));

        // then
        assertThat(tasksLeft(machine)).isEqualTo(tasks - TaskForgetting.TASKS_AT_ONCE);
        assertThat(machine.rows(TaskStores.FORGOTTEN).get("people/f1")).satisfies(row -> {
            assertThat(row.done()).isFalse();
            assertThat(row.nextKey()).as("where a crash goes on").startsWith("people/m");
        });
        for (int turn = 0; turn < 3; turn++) {
            machine.driver.advanceWallClockTime(Duration.ofMillis(200));
        }
        assertThat(tasksLeft(machine)).isZero();
        assertThat(of(machine.journal(), KnownEventType.TASKS_FORGOTTEN).fields())
                .containsEntry("tasks", tasks);
    }

    private static int tasksLeft(TestMachine machine) {
        int left = 0;
        try (KeyValueIterator<String, StoredTask> rows =
                machine.rows(TaskStores.TASKS).all()) {
            while (rows.hasNext()) {
                rows.next();
                left++;
            }
        }
        return left;
    }

    @Test
    @DisplayName("a task that has not been read yet is forgotten before it begins")
    void shouldForgetWhatIsStillOnTheLane() {
        // when
        machine.send(forget("f1", "task").taskId("m1").payload(scope("task", "taskId", "m1")));
        machine.send(message("m1"));

        // then
        assertThat(machine.called()).isEmpty();
        assertThat(machine.discards()).containsExactly(DiscardReason.UNKNOWN_TASK);
        assertThat(machine.journal()).noneMatch(told -> told.id().equals("m1"));
    }

    @Test
    @DisplayName("the tasks that a task has started are forgotten with it, each on its own partition")
    void shouldForgetChildren() {
        // given
        machine.send(message("boss"));
        machine.send(reply("boss", List.of(spawn()), 0));
        String child = machine.called().getLast();
        machine.journal();

        // when
        machine.send(forget("f1", "task").taskId("boss").payload(scope("task", "taskId", "boss")));

        // then
        List<Event> done = machine.journal().stream()
                .filter(told -> told.type() == KnownEventType.TASKS_FORGOTTEN)
                .toList();
        assertThat(done).extracting(told -> told.text("taskId")).containsExactly("boss", child);
        assertThat(done).extracting(told -> told.fields().get("forgetId")).containsOnly("f1");
        assertThat(done.getFirst().fields()).containsEntry("children", 1);
        assertThat(keys()).allMatch(key -> key.equals("gate"));
    }

    @Test
    @DisplayName("a namespace is forgotten on every partition, and the request is in the journal once")
    void shouldForgetANamespace() {
        // given
        machine.send(message("m1").namespace("people"));
        machine.send(message("m2"));
        machine.journal();

        // when
        machine.send(forget("f1", "namespace").namespace("people").payload(scope("namespace", null, null)));

        // then
        assertThat(machine.journal())
                .filteredOn(told -> told.type() == KnownEventType.FORGET_REQUESTED)
                .hasSize(1);
        assertThat(keys()).isNotEmpty().noneMatch(key -> key.contains("people/"));
    }

    @Test
    @DisplayName("a task that is not here and whose session nobody knows is looked for on every partition")
    void shouldAskEveryPartition() {
        // given: three partitions, of which the driver has the first
        machine.close();
        machine = new TestMachine(stateDir.resolve("three"), new AdmissionSettings(1, Policy.QUEUE), 3);
        String task = IntStream.iterate(0, i -> i + 1)
                .mapToObj(i -> "m" + i)
                .filter(id -> Rehoming.home(id, 3) == 0)
                .findFirst()
                .orElseThrow();

        // when
        machine.send(forget("f1", "task").taskId(task).payload(scope("task", "taskId", task)));

        // then
        assertThat(machine.sent(Segment.SYSTEM))
                .as("in one record, for two partitions")
                .extracting(Event::id)
                .contains("f1");
        List<Event> journal = machine.journal();
        assertThat(journal)
                .extracting(told -> told.type().wireName())
                .containsExactly("FORGET_REQUESTED", "TASKS_FORGOTTEN");
        assertThat(of(journal, KnownEventType.TASKS_FORGOTTEN).fields())
                .as("it is done when they have said so as well")
                .containsEntry("children", 2)
                .containsEntry("tasks", 0);
    }

    @Test
    @DisplayName("who finds the task, or knows that its session is here, asks no other partition")
    void shouldAskNobodyInVain() {
        // given: three partitions, of which the driver has the first
        machine.close();
        machine = new TestMachine(stateDir.resolve("three"), new AdmissionSettings(1, Policy.QUEUE), 3);
        List<String> here = IntStream.range(0, 100)
                .mapToObj(i -> "m" + i)
                .filter(id -> Rehoming.home(id, 3) == 0)
                .toList();
        machine.send(message(here.get(0)));
        machine.sessions.put(here.get(1), here.get(2));
        machine.journal();

        // when
        for (String task : here.subList(0, 2)) {
            machine.send(forget("f-" + task, "task").taskId(task).payload(scope("task", "taskId", task)));
        }

        // then
        assertThat(machine.journal())
                .filteredOn(told -> told.type() == KnownEventType.TASKS_FORGOTTEN)
                .extracting(told -> told.fields().get("children"))
                .containsExactly(0, 0);
        assertThat(machine.sent(Segment.SYSTEM)).isEmpty();
    }

    @Test
    @DisplayName("a request that does not say what it means is put aside")
    void shouldPutAsideWhatIsUnclear() {
        machine.send(message("m1").sessionId("ada"));
        machine.send(forget("f1", "session").sessionId("bob").payload(scope("session", "sessionId", "ada")));

        assertThat(machine.deadLetters()).containsExactly("bad_payload");
        assertThat(keys()).anyMatch(key -> key.contains("m1"));
    }

    private static Event.Builder forget(String id, String scope) {
        return event(id, KnownEventType.FORGET_REQUESTED).source("user").payload(scope(scope, null, null));
    }

    private static Event.Builder dated(String time, String id, KnownEventType type) {
        return Event.root(id, type, Instant.parse(time)).source("user");
    }

    private static Instant second(long number) {
        return TestMachine.START.plusSeconds(number);
    }

    private static Map<String, @Nullable Object> scope(String scope, @Nullable String field, @Nullable String id) {
        Map<String, @Nullable Object> payload = new LinkedHashMap<>();
        payload.put("scope", scope);
        if (field != null && id != null) {
            payload.put(field, id);
        }
        return payload;
    }

    private static Map<String, Object> spawn() {
        return Map.of(
                "toolCallId", "p1", "toolName", "spawn_task", "arguments", Map.of("input", "look", "type", "explore"));
    }

    /** What the model says to the newest call of a task, with what it used. */
    private Event reply(String taskId, List<Map<String, Object>> calls, long seconds) {
        OutstandingCall call = machine.model.requested.stream()
                .filter(one -> one.taskId().equals(taskId))
                .reduce((first, second) -> second)
                .orElseThrow();
        Map<String, @Nullable Object> payload = new LinkedHashMap<>();
        payload.put("callId", call.callId());
        payload.put("response", calls.isEmpty() ? "Ada" : null);
        payload.put("toolCalls", calls);
        payload.put("model", "test");
        payload.put("usage", Map.of("inputTokens", 3, "outputTokens", 2));
        return call.reply(KnownEventType.REASON_DONE, TestMachine.START.plusSeconds(seconds))
                .payload(payload)
                .build();
    }

    private static Event of(List<Event> journal, KnownEventType type) {
        return journal.stream().filter(told -> told.type() == type).findFirst().orElseThrow();
    }

    private List<String> keys() {
        List<String> keys = new ArrayList<>();
        for (StoreSection<?> section : ROWS) {
            try (KeyValueIterator<String, ?> rows = machine.rows(section).all()) {
                rows.forEachRemaining(row -> keys.add(row.key));
            }
        }
        return keys;
    }

    private List<String> variables() {
        return machine.output(TestMachine.TOPICS.variables()).readRecordsToList().stream()
                .map(TestRecord::value)
                .map(value -> new String(value, StandardCharsets.UTF_8))
                .toList();
    }
}
