package dev.millrace.agent.core;

import static dev.millrace.agent.core.TaskBuilder.aTask;
import static dev.millrace.agent.core.TaskBuilder.open;
import static dev.millrace.agent.core.TaskEvents.USAGE;
import static dev.millrace.agent.core.TaskEvents.answered;
import static dev.millrace.agent.core.TaskEvents.callId;
import static dev.millrace.agent.core.TaskEvents.called;
import static dev.millrace.agent.core.TaskEvents.firstInput;
import static dev.millrace.agent.core.TaskEvents.resumeWith;
import static dev.millrace.agent.core.TaskEvents.returned;
import static dev.millrace.agent.core.TaskEvents.run;
import static dev.millrace.agent.core.TransitionRow.row;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.millrace.agent.core.Effect.Append;
import dev.millrace.agent.core.Effect.CallModel;
import dev.millrace.agent.core.Effect.CallTool;
import dev.millrace.agent.core.Effect.FollowUp;
import dev.millrace.agent.core.Effect.Publish;
import dev.millrace.agent.core.Effect.RequestAdmission;
import dev.millrace.agent.core.Effect.SettleModelCall;
import dev.millrace.agent.core.TranscriptEntry.AssistantTurn;
import dev.millrace.agent.core.TranscriptEntry.Call;
import dev.millrace.agent.core.TranscriptEntry.ToolResult;
import dev.millrace.agent.core.TranscriptEntry.UserText;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

/** Each limit at the limit and one past it. */
class TaskFsmLimitsTest {

    private static final Append RESULT = new Append(2, List.of(new ToolResult("p-c1", "search", "{}", false)));

    @ParameterizedTest
    @MethodSource({"iterations", "toolCalls", "transcript", "tokens"})
    void shouldHoldLimit(TransitionRow row) {
        row.check();
    }

    private static TaskLimits iterations(int max) {
        return new TaskLimits(max, 32, 1_000, 1_000);
    }

    private static TaskLimits toolCalls(int max) {
        return new TaskLimits(10, max, 1_000, 1_000);
    }

    private static TaskLimits transcript(int max) {
        return new TaskLimits(10, 32, max, 1_000);
    }

    private static TaskLimits tokens(int max) {
        return new TaskLimits(10, 32, 1_000, max);
    }

    static Stream<TransitionRow> iterations() {
        TaskError error = new TaskError("iteration_limit", "Max cognitive iterations exceeded (3)");
        return Stream.of(
                row(
                        "F-075: iteration 3 of 3 runs",
                        iterations(3),
                        aTask().iteration(2).transcript(2, 20).acting(open(0, "c1", "search")),
                        returned("c1", "{}"),
                        aTask().iteration(3).transcript(3, 22).actions(1).reasoning(callId(3, 0, 3)),
                        RESULT,
                        new CallModel(callId(3, 0, 3), 3)),
                row(
                        "F-075, F-076, X-06: iteration 4 of 3 → FAILED and published; the result is kept",
                        iterations(3),
                        aTask().iteration(3).transcript(2, 20).acting(open(0, "c1", "search")),
                        returned("c1", "{}"),
                        aTask().iteration(3).transcript(3, 22).actions(1).failed(error),
                        RESULT,
                        new Publish(new Fact.Failed(error, 3, Usage.NONE))),
                row(
                        "F-148: a completed task that is resumed has all its iterations again",
                        iterations(3),
                        aTask().iteration(3).transcript(2, 20).completed(),
                        resumeWith("on"),
                        aTask().iteration(1).input(2).transcript(3, 22).reasoning(callId(1, 0, 3)),
                        new Append(2, List.of(new UserText("on"))),
                        new CallModel(callId(1, 0, 3), 1)));
    }

    static Stream<TransitionRow> toolCalls() {
        TaskError error =
                new TaskError("tool_call_limit", "A step may have at most 1 tool calls, the model asked for 2");
        return Stream.of(
                row(
                        "one tool call of one runs",
                        toolCalls(1),
                        aTask().reasoningAt(1),
                        called("m1", null, run("p1", "search", "{}")),
                        aTask().iteration(1)
                                .used(10, 5)
                                .transcript(2, 10)
                                .acting(new Plan.CallStep(0, callId(1, 1, 1), "p1", "search", false)),
                        new SettleModelCall("m1"),
                        new Append(1, List.of(new AssistantTurn(null, List.of(new Call("p1", "search", "{}"))))),
                        new CallTool(callId(1, 1, 1), 0, "p1", "search", "{}", "general", 5_000)),
                row(
                        "two tool calls of one → FAILED, none runs",
                        toolCalls(1),
                        aTask().reasoningAt(1),
                        called("m1", null, run("p1", "search", "{}"), run("p2", "search", "{}")),
                        aTask().iteration(1).used(10, 5).failed(error),
                        new SettleModelCall("m1"),
                        new Publish(new Fact.Failed(error, 1, USAGE))));
    }

    static Stream<TransitionRow> transcript() {
        TaskError input =
                new TaskError("transcript_limit", "The transcript may have at most 2 characters, it would have 3");
        TaskError result =
                new TaskError("transcript_limit", "The transcript may have at most 21 characters, it would have 22");
        return Stream.of(
                row(
                        "an input of 2 characters of 2 starts a task",
                        transcript(2),
                        TaskState.ABSENT,
                        firstInput("Hi"),
                        aTask().idle(),
                        new Append(0, List.of(new UserText("Hi"))),
                        new RequestAdmission()),
                row(
                        "an input of 3 characters of 2 → FAILED and published",
                        transcript(2),
                        TaskState.ABSENT,
                        firstInput("Hi!"),
                        aTask().transcript(1, 3).failed(input),
                        new Append(0, List.of(new UserText("Hi!"))),
                        new Publish(new Fact.Failed(input, 0, Usage.NONE))),
                row(
                        "22 characters of 22: the model is called",
                        transcript(22),
                        aTask().iteration(1).transcript(2, 20).acting(open(0, "c1", "search")),
                        returned("c1", "{}"),
                        aTask().iteration(2).transcript(3, 22).actions(1).reasoning(callId(2, 0, 3)),
                        RESULT,
                        new CallModel(callId(2, 0, 3), 2)),
                row(
                        "22 characters of 21 → FAILED; the result is kept",
                        transcript(21),
                        aTask().iteration(1).transcript(2, 20).acting(open(0, "c1", "search")),
                        returned("c1", "{}"),
                        aTask().iteration(1).transcript(3, 22).actions(1).failed(result),
                        RESULT,
                        new Publish(new Fact.Failed(result, 1, Usage.NONE))));
    }

    static Stream<TransitionRow> tokens() {
        TaskError error = new TaskError("token_limit", "The task may use at most 100 tokens, it has used 100");
        return Stream.of(
                row(
                        "99 tokens of 100: there is one left, the model is called",
                        tokens(100),
                        aTask().iteration(1).used(90, 9).transcript(2, 20).acting(open(0, "c1", "search")),
                        returned("c1", "{}"),
                        aTask().iteration(2)
                                .used(90, 9)
                                .transcript(3, 22)
                                .actions(1)
                                .reasoning(callId(2, 0, 3)),
                        RESULT,
                        new CallModel(callId(2, 0, 3), 2)),
                row(
                        "100 tokens of 100: none left → FAILED",
                        tokens(100),
                        aTask().iteration(1).used(90, 10).transcript(2, 20).acting(open(0, "c1", "search")),
                        returned("c1", "{}"),
                        aTask().iteration(1)
                                .used(90, 10)
                                .transcript(3, 22)
                                .actions(1)
                                .failed(error),
                        RESULT,
                        new Publish(new Fact.Failed(error, 1, new Usage(90, 10)))),
                row(
                        "an answer that took the last tokens is still an answer",
                        tokens(15),
                        aTask().reasoningAt(1),
                        answered("m1", "Hello"),
                        aTask().iteration(1).used(10, 5).transcript(2, 7).acting(TaskBuilder.response("Hello")),
                        new SettleModelCall("m1"),
                        new Append(1, List.of(new AssistantTurn("Hello", List.of()))),
                        new FollowUp(new Fact.StepDone(0, 1))));
    }

    @Test
    @DisplayName("F-076: ten iterations when nothing is configured")
    void shouldAllowTenIterations() {
        assertThat(TaskLimits.DEFAULT.maxIterations()).isEqualTo(10);
    }

    @ParameterizedTest
    @CsvSource({
        "0, 1, 1, 1, max-iterations",
        "1, 0, 1, 1, max-tool-calls-per-step",
        "1, 1, 0, 1, max-transcript-chars",
        "1, 1, 1, -5, max-tokens"
    })
    void shouldNameTheLimitThatIsTooLow(int iterations, int calls, long chars, long tokens, String key) {
        assertThatThrownBy(() -> new TaskLimits(iterations, calls, chars, tokens))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining(key);
    }

    @ParameterizedTest
    @CsvSource({"1, 1, 199, false", "1, 1, 200, true", "2, 1, 0, true", "1, 2, 0, true", "1, 1, 0, false"})
    @DisplayName("F-100, X-18: worth a reflection from two iterations, two actions or 200 characters of result")
    void shouldReflectOnlyOnWhatTeaches(int iterations, int actions, int resultChars, boolean expected) {
        assertThat(Reflection.isWorthwhile(iterations, actions, resultChars)).isEqualTo(expected);
    }
}
