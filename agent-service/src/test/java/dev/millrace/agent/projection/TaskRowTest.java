package dev.millrace.agent.projection;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.api.Task;
import dev.millrace.api.Task.Budget;
import dev.millrace.api.Task.Usage;
import dev.millrace.api.Task.WaitingFor;
import dev.millrace.schemas.Event;
import dev.millrace.schemas.JournalCursor;
import dev.millrace.schemas.JournalEntry;
import dev.millrace.schemas.KnownEventType;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

class TaskRowTest {

    @Test
    void shouldShowTheAnswerOfACompletedTask() {
        // given
        List<Event> history = Histories.startedBy("m1").created().answered().events();

        // when
        Task view = view(history);

        // then
        assertThat(view)
                .isEqualTo(new Task(
                        "m1",
                        "default",
                        null,
                        "explore",
                        "explore",
                        null,
                        "completed",
                        "What time is it?",
                        "user",
                        100,
                        Histories.START.toEpochMilli(),
                        Histories.START.toEpochMilli() + 10L * (history.size() - 1),
                        2,
                        "Noon.",
                        null,
                        null,
                        null,
                        new Usage(250, 30),
                        null,
                        null,
                        null,
                        5,
                        3,
                        "3:0",
                        "3:" + (history.size() - 1),
                        null,
                        null,
                        null,
                        null,
                        null));
    }

    @Test
    void shouldShowWhatWasSaidUnderItsOtherName() {
        Event message = Histories.startedBy("m1").events().getFirst().toBuilder()
                .payload(Map.of("content", "Hello"))
                .build();

        assertThat(view(List.of(message)).inputText()).isEqualTo("Hello");
    }

    @Test
    @DisplayName("F-098: what the reflection came to is on the task, until it is at work again")
    void shouldTellWhatTheReflectionCameTo() {
        // given
        List<Event> done = Histories.startedBy("m1").created().answered().events();
        List<Event> reflected = new ArrayList<>(done);
        reflected.add(done.getLast()
                .derive(KnownEventType.REFLECTION_COMPLETE, 0, Histories.START.plusSeconds(60))
                .payload(Map.of(
                        "factsWritten", 1, "hasEpisode", false, "toolCallsCount", 2, "assessment", "Worth a fact."))
                .build());

        // then
        assertThat(view(done).postReflection()).isNull();
        assertThat(view(reflected).postReflection()).isEqualTo(new Task.PostReflection("Worth a fact.", 2));
        assertThat(view(reflected).response()).isEqualTo("Noon.");
        assertThat(TaskRow.fromJson(after(reflected).toJson()).view()).isEqualTo(view(reflected));
    }

    @Test
    void shouldNameTheTaskThatItIsAPartOf() {
        // given
        Event root = Event.root("child", KnownEventType.MESSAGE_RECEIVED, Histories.START)
                .taskId("child")
                .payload(Map.of("text", "tell a tale", "parent", Map.of("taskId", "boss", "callId", "c1")))
                .build();

        // then
        assertThat(view(List.of(root)).parentTaskId()).isEqualTo("boss");
        assertThat(TaskRow.fromJson(after(List.of(root)).toJson()).view()).isEqualTo(view(List.of(root)));
    }

    @Test
    void shouldBeNoTaskIfItBelongsToNone() {
        // given
        Event stray = Event.root("e1", KnownEventType.MESSAGE_RECEIVED, Histories.START)
                .payload(Map.of("text", "too late"))
                .build();

        // when
        TaskRow row = after(List.of(stray));

        // then
        assertThat(row.view()).isNull();
    }

    @Test
    @DisplayName("F-287: what came too late is among the events of the task, and changes nothing else")
    void shouldNotGoOnWithWhatCameTooLate() {
        // given
        List<Event> history = Histories.startedBy("m1")
                .created()
                .moved("reasoning", "suspended")
                .then(KnownEventType.MESSAGE_RECEIVED, Map.of("text", "too late"))
                .events();
        TaskRow suspended = after(history.subList(0, history.size() - 1));
        JournalEntry late = entry(history.getLast(), history.size() - 1);

        // when
        TaskRow row = TaskRow.afterNothing(suspended, late, 1);

        // then
        assertThat(Objects.requireNonNull(row.view()).waitingFor())
                .isEqualTo(Objects.requireNonNull(suspended.view()).waitingFor())
                .isNotEqualTo(
                        Objects.requireNonNull(TaskRow.after(suspended, late, 1).view())
                                .waitingFor());
        assertThat(row.view().lastCursor()).isEqualTo(late.cursor().toString());
        assertThat(TaskRow.afterNothing(null, late, 1).view()).isNull();
    }

    @Test
    @DisplayName("X-13: a task that waits for its turn is there and says so")
    void shouldWaitForAdmissionFromTheFirstEventOn() {
        // when
        Task waiting = view(Histories.startedBy("m1").events());

        // then
        assertThat(waiting.state()).isEqualTo("idle");
        assertThat(waiting.waitingFor())
                .isEqualTo(new WaitingFor("admission", List.of(), null, Histories.START.toEpochMilli(), null));
    }

    @Test
    void shouldBeIdleOnceCreated() {
        // when
        Task view = view(Histories.startedBy("m1")
                .then(KnownEventType.TASK_CREATED, Map.of("inputText", "x", "taskType", "plan"))
                .events());

        // then
        assertThat(view.state()).isEqualTo("idle");
    }

    @Test
    @DisplayName("the agent is the one that works on the task, and none before there is one")
    void shouldShowTheAgentThatReallyRuns() {
        // given
        Histories asked = Histories.startedBy("m1");

        // when
        Task before = view(asked.events());
        Task after = view(asked.then(
                        KnownEventType.TASK_CREATED,
                        Map.of("inputText", "x", "taskType", "plan", "agentVersion", "0123456789ab"))
                .events());

        // then
        assertThat(before.agent()).isNull();
        assertThat(after)
                .extracting(Task::agent, Task::agentVersion, Task::taskType)
                .containsExactly("plan", "0123456789ab", "plan");
    }

    @Test
    void shouldSayWhatItWaitsForAndSinceWhen() {
        // given
        Histories history = Histories.startedBy("m1")
                .created()
                .then(
                        KnownEventType.TASK_STATE_CHANGED,
                        Map.of(
                                "fromState",
                                "reasoning",
                                "toState",
                                "acting",
                                "waitingFor",
                                Map.of("kind", "tools", "callIds", List.of("a", "b"), "until", "2026-01-02T03:05:05Z"),
                                "budget",
                                Map.of("iterations", 1, "maxIterations", 10)));
        long moved = history.events().getLast().timestamp().toEpochMilli();

        // when
        Task both = view(history.events());
        Task one = view(history.then(KnownEventType.TOOL_CALL_COMPLETED, Map.of("callId", "a"))
                .events());

        // then
        assertThat(both.waitingFor())
                .isEqualTo(new WaitingFor("tools", List.of("a", "b"), null, moved, "2026-01-02T03:05:05Z"));
        assertThat(both.budget()).isEqualTo(new Budget(1L, 10L, null, null, null, null, null, null));
        assertThat(one.waitingFor())
                .isEqualTo(new WaitingFor("tools", List.of("b"), null, moved, "2026-01-02T03:05:05Z"));
    }

    @Test
    void shouldWorkOutWhatItWaitsForIfTheJournalDoesNotTell() {
        // given
        Histories history = Histories.startedBy("m1").created();

        // then
        assertThat(Objects.requireNonNull(view(history.events()).waitingFor()))
                .returns("model", WaitingFor::kind)
                .returns(List.of("c1"), WaitingFor::callIds);

        // and when
        history.moved("reasoning", "acting").then(KnownEventType.TOOL_CALL_REQUESTED, Map.of("callId", "t1"));

        // then
        assertThat(Objects.requireNonNull(view(history.events()).waitingFor()))
                .returns("tools", WaitingFor::kind)
                .returns(List.of("t1"), WaitingFor::callIds);

        // and when
        history.then(KnownEventType.TASK_SUSPENDED, Map.of("reason", "by hand")).moved("acting", "suspended");

        // then
        assertThat(Objects.requireNonNull(view(history.events()).waitingFor())).returns("resume", WaitingFor::kind);

        // and when
        history.then(KnownEventType.TASK_RESUMED, Map.of());

        // then
        assertThat(Objects.requireNonNull(view(history.events()).waitingFor())).returns("admission", WaitingFor::kind);

        // and when
        history.moved("suspended", "completed");

        // then
        assertThat(view(history.events()).waitingFor()).isNull();
    }

    @Test
    void shouldStillWaitForTheAnswerIfItIsMerelyResumed() {
        // given
        Histories history = Histories.startedBy("m1")
                .created()
                .then(KnownEventType.TASK_SUSPENDED, Map.of("reason", "by hand"))
                .moved("reasoning", "suspended")
                .then(KnownEventType.NEED_MORE_INFO, Map.of("question", "Where?"));

        // when
        Task resumed = view(history.then(KnownEventType.TASK_RESUMED, Map.of()).events());
        Task answered = view(history.then(KnownEventType.TASK_RESUMED, Map.of("newInput", "Here"))
                .events());

        // then
        assertThat(Objects.requireNonNull(resumed.waitingFor()))
                .returns("answer", WaitingFor::kind)
                .returns("Where?", WaitingFor::question);
        assertThat(Objects.requireNonNull(answered.waitingFor())).returns("admission", WaitingFor::kind);
    }

    @Test
    void shouldWaitForEachApprovalAndThenForItsTurn() {
        // given
        Histories history = Histories.startedBy("m1")
                .created()
                .moved("reasoning", "suspended")
                .then(KnownEventType.APPROVAL_REQUESTED, approval("a"))
                .then(KnownEventType.APPROVAL_REQUESTED, approval("b"));

        // then
        assertThat(Objects.requireNonNull(view(history.events()).waitingFor()))
                .returns("approval", WaitingFor::kind)
                .returns(List.of("a", "b"), WaitingFor::callIds)
                .returns("2026-01-03T00:00:00Z", WaitingFor::until);

        // and when
        history.then(KnownEventType.APPROVAL_DECIDED, Map.of("callId", "a", "decision", "approve"));

        // then
        assertThat(Objects.requireNonNull(view(history.events()).waitingFor()))
                .returns("approval", WaitingFor::kind)
                .returns(List.of("b"), WaitingFor::callIds);

        // and when
        history.then(KnownEventType.APPROVAL_DECIDED, Map.of("callId", "b", "decision", "reject"));

        // then
        assertThat(Objects.requireNonNull(view(history.events()).waitingFor()))
                .returns("admission", WaitingFor::kind)
                .returns(List.of(), WaitingFor::callIds);
    }

    @Test
    void shouldKeepNoApprovalOpenOnceTheTaskGoesOnOrEnds() {
        // given
        Histories history = Histories.startedBy("m1")
                .created()
                .moved("reasoning", "suspended")
                .then(KnownEventType.APPROVAL_REQUESTED, approval("a"));

        // when
        TaskRow cancelled = after(Histories.startedBy("m2")
                .created()
                .moved("reasoning", "suspended")
                .then(KnownEventType.APPROVAL_REQUESTED, approval("a"))
                .then(KnownEventType.TASK_CANCELLED, Map.of())
                .events());
        TaskRow goesOn = after(history.then(KnownEventType.MESSAGE_RECEIVED, Map.of("text", "never mind"))
                .events());

        // then
        assertThat(cancelled.progress().waits()).isEqualTo(Waits.FOR_NOTHING);
        assertThat(goesOn.progress().waits().approvals()).isEmpty();
    }

    @Test
    void shouldSumTheTokensOfARunningTask() {
        // when
        Task view = view(Histories.startedBy("m1")
                .created()
                .then(KnownEventType.REASON_DONE, Map.of("usage", Map.of("inputTokens", 7, "outputTokens", 3)))
                .then(KnownEventType.NEED_MORE_INFO, Map.of("usage", Map.of("inputTokens", 5), "question", "Where?"))
                .events());

        // then
        assertThat(view.usage()).isEqualTo(new Usage(12, 3));
    }

    @Test
    void shouldAskWhileSuspendedAndForgetTheQuestionWhenItGoesOn() {
        // given
        Histories suspended = Histories.startedBy("m1")
                .created()
                .then(KnownEventType.NEED_MORE_INFO, Map.of("question", "Where?"))
                .moved("reasoning", "suspended")
                .then(KnownEventType.TASK_SUSPENDED, Map.of("question", "Where?"));
        Task asking = view(suspended.events());

        // when
        Task goingOn = view(suspended
                .then(KnownEventType.MESSAGE_RECEIVED, Map.of("text", "Here"))
                .moved("suspended", "reasoning")
                .events());

        // then
        assertThat(asking.question()).isEqualTo("Where?");
        assertThat(asking.state()).isEqualTo("suspended");
        assertThat(Objects.requireNonNull(asking.waitingFor()))
                .returns("answer", WaitingFor::kind)
                .returns("Where?", WaitingFor::question);
        assertThat(goingOn.question()).isNull();
        assertThat(goingOn.state()).isEqualTo("reasoning");
    }

    @Test
    void shouldSayWhyATaskFailedOrWasCancelled() {
        // when
        Task failed = view(Histories.startedBy("m1")
                .created()
                .moved("reasoning", "failed")
                .then(
                        KnownEventType.TASK_FAILED,
                        Map.of("error", "too many", "code", "max_iterations", "iterations", 10))
                .events());
        Task cancelled = view(Histories.startedBy("m2")
                .created()
                .then(KnownEventType.TASK_CANCELLED, Map.of("reason", "changed my mind"))
                .events());

        // then
        assertThat(failed.state()).isEqualTo("failed");
        assertThat(failed.error()).isEqualTo("too many");
        assertThat(failed.errorCode()).isEqualTo("max_iterations");
        assertThat(failed.iterations()).isEqualTo(10);
        assertThat(cancelled.state()).isEqualTo("cancelled");
        assertThat(cancelled.error()).isEqualTo("changed my mind");
    }

    @Test
    void shouldForgetTheAnswerWhenACompletedTaskGoesOn() {
        // when
        Task view = view(Histories.startedBy("m1")
                .created()
                .answered()
                .then(KnownEventType.TASK_RESUMED, Map.of("newInput", "And now?"))
                .moved("completed", "reasoning")
                .events());

        // then
        assertThat(view.response()).isNull();
        assertThat(view.state()).isEqualTo("reasoning");
    }

    @Test
    void shouldNotChangeWhenAnEventComesAgain() {
        // given
        List<Event> history = Histories.startedBy("m1").created().answered().events();
        TaskRow row = after(history);

        // when
        TaskRow again = row;
        for (int offset = 3; offset < history.size(); offset++) {
            again = TaskRow.after(again, entry(history.get(offset), offset), 2);
        }

        // then
        assertThat(again).isEqualTo(row);
    }

    @Test
    void shouldCutLongInputAtTheLimit() {
        // when
        Task atLimit = view(started("x".repeat(Task.MAX_INPUT)));
        Task longer = view(started("x".repeat(Task.MAX_INPUT) + "y"));

        // then
        assertThat(atLimit.inputText()).hasSize(Task.MAX_INPUT);
        assertThat(longer.inputText()).isEqualTo("x".repeat(Task.MAX_INPUT));
    }

    @Test
    void shouldReadWhatItWrote() {
        // given
        TaskRow row = after(Histories.startedBy("m1", Histories.START, "s1", "acme")
                .created()
                .then(KnownEventType.NEED_MORE_INFO, Map.of("question", "Where?"))
                .moved("reasoning", "suspended")
                .then(KnownEventType.APPROVAL_REQUESTED, approval("a"))
                .events());

        // when
        TaskRow read = TaskRow.fromJson(row.toJson());

        // then
        assertThat(read).isEqualTo(row);
    }

    private static Map<String, ?> approval(String callId) {
        return Map.of(
                "callId",
                callId,
                "toolCallId",
                "call_" + callId,
                "toolName",
                "write_file",
                "params",
                Map.of("path", callId),
                "expiresAt",
                "2026-01-03T00:00:00Z");
    }

    private static List<Event> started(String text) {
        return Histories.startedBy("m1")
                .then(KnownEventType.TASK_CREATED, Map.of("inputText", text))
                .events();
    }

    private static Task view(List<Event> history) {
        return Objects.requireNonNull(after(history).view());
    }

    private static TaskRow after(List<Event> history) {
        @Nullable TaskRow row = null;
        for (int offset = 0; offset < history.size(); offset++) {
            row = TaskRow.after(row, entry(history.get(offset), offset), 1);
        }
        return Objects.requireNonNull(row);
    }

    private static JournalEntry entry(Event event, long offset) {
        return new JournalEntry(new JournalCursor(3, offset), event);
    }
}
