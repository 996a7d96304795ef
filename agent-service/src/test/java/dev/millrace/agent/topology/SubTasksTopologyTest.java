package dev.millrace.agent.topology;

import static dev.millrace.agent.topology.TestMachine.event;
import static dev.millrace.agent.topology.TestMachine.message;
import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.agent.core.Children;
import dev.millrace.agent.core.TranscriptEntry;
import dev.millrace.agent.topology.AdmissionSettings.Policy;
import dev.millrace.schemas.Event;
import dev.millrace.schemas.EventType;
import dev.millrace.schemas.KnownEventType;
import dev.millrace.schemas.Segment;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.kafka.streams.state.KeyValueStore;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tasks that start tasks, with one place for all of them: who waits for another must not hold it. */
class SubTasksTopologyTest {

    @TempDir
    Path stateDir;

    private final List<Event> read = new ArrayList<>();
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
    @DisplayName("F-168: a child's answer is the result of the call, and what it used counts for its parent")
    void shouldTakeTheAnswerOfAChild() {
        // given
        machine.send(message("boss").sessionId("s1"));
        calls("boss", List.of(spawn("p1", false)));
        String child = last(machine.called());

        // when
        machine.answer(child);

        // then
        assertThat(machine.called()).containsExactly("boss", child, "boss");
        assertThat(transcript("boss", 2))
                .isEqualTo(new TranscriptEntry.ToolResult(
                        "p1", "spawn_task", "{\"task_id\":\"" + child + "\",\"response\":\"done\"}", false));
        assertThat(started(child)).satisfies(event -> {
            assertThat(event.causalDepth()).isEqualTo(1);
            assertThat(event.correlationId()).isEqualTo("boss");
            assertThat(event.text("taskType")).isEqualTo("explore");
            assertThat(event.sessionId()).isNull();
        });
        assertThat(waits("boss")).contains("children");
        assertThat(task("boss").usage().total()).isEqualTo(5);
    }

    @Test
    @DisplayName(
            "F-168, X-45: three children in the background, one fails; the parent answers early, waits, and is called once")
    void shouldWaitForChildrenInTheBackground() {
        // given
        machine.send(message("boss"));
        calls("boss", List.of(spawn("p1", true), spawn("p2", true), spawn("p3", true)));
        List<String> children = childrenOf("boss");
        machine.answer("boss");
        assertThat(journalled(KnownEventType.TASK_NOTIFY))
                .extracting(event -> event.text("message"))
                .containsExactly("done");
        assertThat(journalled(KnownEventType.TASK_COMPLETED)).isEmpty();

        // when
        machine.answer(children.get(0));
        machine.send(event("f", KnownEventType.TASK_FAILED)
                .taskId(children.get(1))
                .payload(Map.of("error", "no luck", "code", "declared_failed")));
        long before = machine.called().stream().filter("boss"::equals).count();
        machine.answer(children.get(2));
        long after = machine.called().stream().filter("boss"::equals).count();
        machine.answer("boss");

        // then
        assertThat(before).isEqualTo(2);
        assertThat(after).isEqualTo(3);
        assertThat(Arrays.asList(transcript("boss", 6), transcript("boss", 7), transcript("boss", 8)))
                .containsExactly(
                        new TranscriptEntry.UserText("Background task " + children.get(0) + " completed: done"),
                        new TranscriptEntry.UserText("Background task failed: Task " + children.get(1)
                                + " failed: no luck (declared_failed)"),
                        new TranscriptEntry.UserText("Background task " + children.get(2) + " completed: done"));
        assertThat(journalled(KnownEventType.TASK_COMPLETED))
                .extracting(Event::taskId)
                .endsWith("boss");
        assertThat(journalled(EventType.of("background_task.completed"))).hasSize(2);
        assertThat(journalled(EventType.of("background_task.failed"))).hasSize(1);
    }

    @Test
    @DisplayName("F-253: a delegated task is accepted at once, has a session of its own, and its end is told")
    void shouldDelegate() {
        // given
        machine.send(message("boss").sessionId("s1"));

        // when
        calls("boss", List.of(delegate("p1", Map.of("background", true))));
        String child = childrenOf("boss").getFirst();
        machine.answer("boss");
        machine.answer(child);

        // then
        assertThat(journalled(KnownEventType.TOOL_CALL_COMPLETED)
                        .getFirst()
                        .fields()
                        .get("result"))
                .isEqualTo(Map.of("status", "accepted", "task_id", child, "session_id", child));
        assertThat(transcript("boss", 2))
                .isEqualTo(new TranscriptEntry.ToolResult(
                        "p1",
                        "delegate_task",
                        "{\"status\":\"accepted\",\"task_id\":\"" + child + "\",\"session_id\":\"" + child + "\"}",
                        false));
        assertThat(started(child)).satisfies(event -> {
            assertThat(event.sessionId()).isEqualTo(child);
            assertThat(event.text("taskType")).isEqualTo("explore");
        });
        assertThat(journalled(EventType.of("background_task.completed")))
                .singleElement()
                .satisfies(end -> {
                    assertThat(end.sessionId()).isEqualTo("s1");
                    assertThat(end.fields())
                            .containsEntry("taskSessionId", child)
                            .containsEntry("state", "completed");
                });
        assertThat(transcript("boss", 4))
                .isEqualTo(new TranscriptEntry.UserText("Background task " + child + " completed: done"));
        machine.answer("boss");
        assertThat(journalled(KnownEventType.TASK_COMPLETED))
                .extracting(Event::taskId)
                .containsExactly(child, "boss");
    }

    @Test
    @DisplayName("F-252: how far a delegated task is, is told every two minutes; after its time-out it has ended")
    void shouldTellProgressAndTheTimeout() {
        // given
        machine.send(message("boss").sessionId("s1"));
        calls("boss", List.of(delegate("p1", Map.of("background", true, "timeout", 300)), spawn("p2", true)));
        String child = childrenOf("boss").getFirst();
        machine.answer("boss"); // and waits for them

        // when
        machine.driver.advanceWallClockTime(Duration.ofSeconds(119));
        int early = journalled(EventType.of("background_task.progress")).size();
        machine.driver.advanceWallClockTime(Duration.ofSeconds(2));
        machine.driver.advanceWallClockTime(Duration.ofMinutes(2));

        // then
        assertThat(early).isZero();
        assertThat(journalled(EventType.of("background_task.progress")))
                .hasSize(2)
                .allSatisfy(told -> {
                    assertThat(told.taskId()).isEqualTo("boss");
                    assertThat(told.sessionId()).isEqualTo("s1");
                    assertThat(told.fields())
                            .containsEntry("taskId", child)
                            .containsEntry("description", "a look")
                            .containsEntry("state", "running")
                            .containsEntry("iterations", 1);
                });

        // when
        machine.driver.advanceWallClockTime(Duration.ofSeconds(60));
        machine.driver.advanceWallClockTime(Duration.ofMinutes(4));

        // then
        assertThat(journalled(EventType.of("background_task.timeout")))
                .singleElement()
                .satisfies(end -> assertThat(end.fields()).containsEntry("state", "timeout"));
        assertThat(journalled(EventType.of("background_task.progress"))).hasSize(2);
        assertThat(task(child).state().label()).isEqualTo("failed");
    }

    @Test
    @DisplayName("F-253: stop_task ends a task in the background, and no other; with cleanup nothing of it is left")
    void shouldStopADelegatedTask() {
        // given
        machine.send(message("boss").sessionId("s1"));
        calls("boss", List.of(delegate("p1", Map.of("background", true, "cleanup", "delete"))));
        String child = childrenOf("boss").getFirst();
        String nobody = "0".repeat(32);

        // when
        calls("boss", List.of(stop("p2", child), stop("p3", nobody)));

        // then
        assertThat(transcript("boss", 4))
                .isEqualTo(new TranscriptEntry.ToolResult(
                        "p2", "stop_task", "{\"status\":\"stopping\",\"task_id\":\"" + child + "\"}", false));
        assertThat(transcript("boss", 5)).isInstanceOfSatisfying(TranscriptEntry.ToolResult.class, refused -> {
            assertThat(refused.isError()).isTrue();
            assertThat(refused.content()).contains(nobody + " is none that works for this one");
        });
        assertThat(journalled(EventType.of("background_task.stopped")))
                .singleElement()
                .satisfies(end -> assertThat(end.fields()).containsEntry("state", "stopped"));
        assertThat(journalled(KnownEventType.TASK_CANCELLED))
                .extracting(Event::taskId)
                .containsExactly(child);
        assertThat(machine.rows(TaskStores.TASKS).get(child)).isNull();
        machine.answer("boss");
        machine.answer("boss");
        assertThat(task("boss").state().label()).isEqualTo("completed");
    }

    @Test
    @DisplayName("F-253: who works for another task delegates no further")
    void shouldNotDelegateFurther() {
        // given
        machine.send(message("boss"));
        calls("boss", List.of(call("p1", "delegate_task", Map.of("description", "d", "prompt", "go"))));
        String child = last(machine.called());

        // when
        calls(child, List.of(delegate("p2", Map.of())));

        // then
        assertThat(started(child).text("taskType")).isEqualTo("general");
        assertThat(journalled(KnownEventType.TOOL_CALL_FAILED))
                .singleElement()
                .satisfies(refused -> assertThat(refused.text("code")).isEqualTo("tool_not_allowed"));
    }

    @Test
    @DisplayName("a cancel goes down to the children, and to theirs")
    void shouldCancelChildren() {
        // given
        machine.send(message("boss"));
        calls("boss", List.of(spawnGeneral("p1")));
        String child = last(machine.called());
        calls(child, List.of(spawn("p2", false)));
        String grandchild = last(machine.called());

        // when
        machine.send(event("cancel", KnownEventType.TASK_CANCEL_REQUESTED)
                .taskId("boss")
                .payload(Map.of("reason", "enough")));

        // then
        assertThat(journalled(KnownEventType.TASK_CANCELLED))
                .extracting(Event::taskId)
                .containsExactly("boss", child, grandchild);
        assertThat(machine.occupancy.active()).isZero();
    }

    @Test
    @DisplayName("F-117, F-168: a child that has completed goes on with something new; who is no child does not")
    void shouldResumeAChild() {
        // given
        machine.send(message("stranger"));
        machine.answer("stranger");
        machine.send(message("boss"));
        calls("boss", List.of(spawn("p1", false)));
        String child = last(machine.called());
        machine.answer(child);

        // when
        calls("boss", List.of(resume("p2", child), resume("p3", "00000000000000000000000000000000")));
        machine.answer(child);

        // then
        assertThat(journalled(KnownEventType.TASK_RESUMED))
                .extracting(Event::taskId)
                .containsExactly(child);
        assertThat(List.of(String.valueOf(transcript("boss", 4)), String.valueOf(transcript("boss", 5))))
                .anySatisfy(result -> assertThat(result).contains("\"response\":\"done\""))
                .anySatisfy(result ->
                        assertThat(result).contains("Error: Task 00000000000000000000000000000000 not found"));
        assertThat(task("boss").usage().total()).isEqualTo(5 * 2);
        assertThat(last(machine.called())).isEqualTo("boss");
    }

    @Test
    @DisplayName("what a stranger says of a parent is passed over: nobody gets a result that was not asked for")
    void shouldNotTakeAStrangersParent() {
        // given
        machine.send(message("boss"));
        Map<String, Object> parent = Map.of("taskId", "boss", "callId", "boss/1/1-1-00000000");

        // when
        machine.send(message("boss2").payload(Map.of("text", "hi", "parent", parent)));
        machine.answer("boss");
        machine.answer("boss2");
        machine.send(event("b", EventType.of("background_task.completed"))
                .taskId("boss")
                .payload(Map.of("taskId", "x", "callId", "boss/1/1-1-00000000", "result", Map.of())));

        // then
        assertThat(task("boss2").parent()).isNull();
        assertThat(journalled(KnownEventType.TOOL_CALL_COMPLETED)).isEmpty();
        assertThat(journalled(EventType.of("background_task.completed"))).isEmpty();
        assertThat(machine.deadLetters()).isEmpty();
    }

    @Test
    @DisplayName("X-25: a chain of tasks that each start the next ends at the limit, as a result of the call")
    void shouldEndChains() {
        machine.send(message("boss").causalDepth(8));
        calls("boss", List.of(spawn("p1", false)));

        assertThat(String.valueOf(transcript("boss", 2))).contains("Error: At most 8 tasks may lead to a task");
        assertThat(machine.called()).containsExactly("boss", "boss");
    }

    @Test
    @DisplayName("who needs an approval does not get round it by way of a child, or a child's child")
    void shouldAskAsTheParentWould() {
        // given
        machine.serve("write_file");
        machine.use("careful", """
                ---
                description: d
                tools: ["*"]
                approval: { write_file: { expiry: 10m } }
                subAgents: "*"
                ---
                p
                """);
        machine.send(message("boss").payload(Map.of("text", "go", "taskType", "careful")));
        calls("boss", List.of(spawnGeneral("p1")));
        String child = last(machine.called());
        calls(child, List.of(spawnGeneral("p2")));
        String grandchild = last(machine.called());
        machine.use("careful", "---\ndescription: d\ntools: \"*\"\nsubAgents: \"*\"\n---\nIn a hurry.");

        // when
        calls(grandchild, List.of(call("w", "write_file", Map.of("path", "todo.txt"))));

        // then
        assertThat(journalled(KnownEventType.APPROVAL_REQUESTED))
                .singleElement()
                .satisfies(asked -> {
                    assertThat(asked.taskId()).isEqualTo(grandchild);
                    assertThat(asked.text("expiresAt")).isEqualTo("2026-11-21T12:10:00Z");
                });
        assertThat(journalled(KnownEventType.TOOL_CALL_REQUESTED)).isEmpty();
        assertThat(task(grandchild).agent().above())
                .hasSize(2)
                .last()
                .asString()
                .startsWith("careful@");
    }

    @Test
    @DisplayName("a child has no tool that its parent lacks, also when it is resumed from outside")
    void shouldHaveNoMoreThanItsParent() {
        // given
        machine.serve("write_file");
        machine.use("reader", "---\ndescription: d\ntools: [read_file]\nsubAgents: [general]\n---\np");
        machine.send(message("boss").payload(Map.of("text", "go", "taskType", "reader")));
        calls("boss", List.of(spawnGeneral("p1")));
        String child = last(machine.called());
        machine.answer(child);
        machine.answer("boss");
        machine.send(event("again", KnownEventType.TASK_RESUMED).taskId(child).payload(Map.of("newInput", "write")));

        // when
        calls(child, List.of(call("w", "write_file", Map.of()), call("s", "spawn_task", Map.of("input", "write"))));

        // then
        assertThat(journalled(KnownEventType.TOOL_CALL_REQUESTED)).isEmpty();
        assertThat(journalled(KnownEventType.TOOL_CALL_FAILED))
                .filteredOn(event -> child.equals(event.taskId()))
                .extracting(event -> event.text("error"))
                .containsExactly(
                        "Tool \"write_file\" is not available for task type \"reader\", for which this task does a part"
                                + " of the work");
        assertThat(last(machine.called())).isNotEqualTo(child);
    }

    @Test
    @DisplayName("a child whose agent is gone when it comes is told to its parent, in front and behind")
    void shouldTellTheParentThatTheAgentIsGone() {
        // when
        machine.send(startOf("boss/1/1", false));
        machine.send(startOf("boss/1/2", true));

        // then
        assertThat(machine.output(TestMachine.TOPICS.lane(Segment.TOOL)).readRecordsToList())
                .singleElement()
                .satisfies(answer -> assertThat(new String(answer.value(), StandardCharsets.UTF_8))
                        .contains("\"callId\":\"boss/1/1\"", "sub_task_failed")
                        .contains("was not started: expected the name of an agent, found short; there are: explore,"
                                + " general, plan"));
        assertThat(machine.output(TestMachine.TOPICS.lane(Segment.EXTERNAL)).readRecordsToList())
                .singleElement()
                .satisfies(answer -> assertThat(new String(answer.value(), StandardCharsets.UTF_8))
                        .contains("\"callId\":\"boss/1/2\"", "was not started"));
        assertThat(machine.called()).isEmpty();
    }

    private static Event.Builder startOf(String callId, boolean background) {
        Map<String, Object> parent = Map.of("taskId", "boss", "callId", callId, "background", background);
        return message(Children.idOf(callId)).payload(Map.of("text", "go", "taskType", "short", "parent", parent));
    }

    private List<String> childrenOf(String taskId) {
        return journalled(KnownEventType.TOOL_CALL_COMPLETED).stream()
                .filter(event -> taskId.equals(event.taskId()))
                .map(event -> Children.idOf(String.valueOf(event.text("callId"))))
                .toList();
    }

    private Event started(String child) {
        return journalled(KnownEventType.MESSAGE_RECEIVED).stream()
                .filter(event -> event.id().equals(child))
                .findFirst()
                .orElseThrow();
    }

    /** Everything that this task has waited for. */
    private List<String> waits(String taskId) {
        return journalled(KnownEventType.TASK_STATE_CHANGED).stream()
                .filter(event -> taskId.equals(event.taskId()))
                .map(event -> event.fields().get("waitingFor") instanceof Map<?, ?> waiting
                        ? String.valueOf(waiting.get("kind"))
                        : "")
                .toList();
    }

    private List<Event> journalled(EventType type) {
        read.addAll(machine.journal());
        return read.stream().filter(event -> event.type().equals(type)).toList();
    }

    private StoredTask task(String taskId) {
        KeyValueStore<String, StoredTask> tasks = machine.rows(TaskStores.TASKS);
        return tasks.get(taskId);
    }

    private @Nullable TranscriptEntry transcript(String taskId, int seq) {
        KeyValueStore<String, TranscriptEntry> entries = machine.rows(TaskStores.TRANSCRIPTS);
        return entries.get(TaskStores.transcriptKey(taskId, seq));
    }

    private static <T> T last(List<T> list) {
        return list.getLast();
    }

    /** Lets the model of a task call these. */
    private void calls(String taskId, List<Map<String, Object>> calls) {
        OutstandingCall call = machine.model.requested.stream()
                .filter(candidate -> candidate.taskId().equals(taskId))
                .reduce((first, second) -> second)
                .orElseThrow();
        Map<String, @Nullable Object> payload = new LinkedHashMap<>();
        payload.put("callId", call.callId());
        payload.put("response", null);
        payload.put("toolCalls", calls);
        machine.send(call.reply(KnownEventType.REASON_DONE, TestMachine.START).payload(payload));
    }

    private static Map<String, Object> delegate(String toolCallId, Map<String, Object> more) {
        Map<String, Object> arguments = new LinkedHashMap<>(more);
        arguments.put("description", "a look");
        arguments.put("prompt", "look");
        arguments.put("subagent_type", "explore");
        return call(toolCallId, "delegate_task", arguments);
    }

    private static Map<String, Object> stop(String toolCallId, String taskId) {
        return call(toolCallId, "stop_task", Map.of("task_id", taskId));
    }

    private static Map<String, Object> spawn(String toolCallId, boolean background) {
        return call(toolCallId, "spawn_task", Map.of("input", "look", "type", "explore", "background", background));
    }

    private static Map<String, Object> spawnGeneral(String toolCallId) {
        return call(toolCallId, "spawn_task", Map.of("input", "look"));
    }

    private static Map<String, Object> resume(String toolCallId, String taskId) {
        return call(toolCallId, "resume_task", Map.of("input", "look again", "task_id", taskId));
    }

    private static Map<String, Object> call(String toolCallId, String toolName, Map<String, Object> arguments) {
        return Map.of("toolCallId", toolCallId, "toolName", toolName, "arguments", arguments);
    }
}
