package dev.millrace.agent.core;

import static dev.millrace.agent.core.TaskBuilder.aTask;
import static dev.millrace.agent.core.TaskBuilder.limits;
import static dev.millrace.agent.core.TaskBuilder.open;
import static dev.millrace.agent.core.TaskBuilder.requested;
import static dev.millrace.agent.core.TaskEvents.USAGE;
import static dev.millrace.agent.core.TaskEvents.admittedWith;
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
    @MethodSource({"iterations", "toolCalls", "transcript", "tokens", "cost", "depth", "waiting"})
    void shouldHoldLimit(TransitionRow row) {
        row.check();
    }

    private static TaskLimits iterations(int max) {
        return limits(max, 32, 1_000, 1_000);
    }

    private static TaskLimits toolCalls(int max) {
        return limits(10, max, 1_000, 1_000);
    }

    private static TaskLimits transcript(int max) {
        return limits(10, 32, max, 1_000);
    }

    private static TaskLimits tokens(int max) {
        return limits(10, 32, 1_000, max);
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
                        aTask().iteration(0).input(2).transcript(3, 22).announced(),
                        new Append(2, List.of(new UserText("on"))),
                        new RequestAdmission()));
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
                                .acting(new Plan.CallStep(0, callId(1, 1, 1), "p1", "search", requested(null))),
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
                        new Publish(new Fact.Failed(error, 1, new Usage(90, 10, 0)))),
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

    private static TaskLimits cost(long max) {
        return new TaskLimits(10, 32, 1_000, 1_000, max, TaskLimits.DEFAULT.maxLifeTimeMs(), 8);
    }

    static Stream<TransitionRow> cost() {
        TaskError error = new TaskError(
                "cost_limit",
                "The task may cost at most 100 millionths of a US dollar, it has cost 100 millionths of a US dollar");
        return Stream.of(
                row(
                        "99 of 100 spent: the model is called",
                        cost(100),
                        aTask().iteration(1)
                                .used(new Usage(1, 1, 99))
                                .transcript(2, 20)
                                .acting(open(0, "c1", "search")),
                        returned("c1", "{}"),
                        aTask().iteration(2)
                                .used(new Usage(1, 1, 99))
                                .transcript(3, 22)
                                .actions(1)
                                .reasoning(callId(2, 0, 3)),
                        RESULT,
                        new CallModel(callId(2, 0, 3), 2)),
                row(
                        "100 of 100 spent → FAILED",
                        cost(100),
                        aTask().iteration(1)
                                .used(new Usage(1, 1, 100))
                                .transcript(2, 20)
                                .acting(open(0, "c1", "search")),
                        returned("c1", "{}"),
                        aTask().iteration(1)
                                .used(new Usage(1, 1, 100))
                                .transcript(3, 22)
                                .actions(1)
                                .failed(error),
                        RESULT,
                        new Publish(new Fact.Failed(error, 1, new Usage(1, 1, 100)))));
    }

    static Stream<TransitionRow> depth() {
        TaskError error = new TaskError(
                "causal_depth_limit", "At most 8 tasks may lead to a task, each starting the next; to this one 9 led");
        TaskContext from = aTask().context();
        TaskContext deep =
                new TaskContext("t1", "general", 100, 8, from.progress(), from.budget(), Children.NONE, from.window());
        TaskContext tooDeep =
                new TaskContext("t1", "general", 100, 9, deep.progress(), deep.budget(), Children.NONE, deep.window());
        return Stream.of(
                row(
                        "a task to which 8 of 8 led starts",
                        TaskState.ABSENT,
                        firstInput("Hi", new TaskEvent.Terms(8, Deadlines.NEVER, TaskLimits.UNLIMITED)),
                        new TaskState.Idle(deep, false, Deadlines.NEVER),
                        new Append(0, List.of(new UserText("Hi"))),
                        new RequestAdmission()),
                row(
                        "X-25: a task to which 9 of 8 led → FAILED: what triggers itself ends",
                        TaskState.ABSENT,
                        firstInput("Hi", new TaskEvent.Terms(9, Deadlines.NEVER, TaskLimits.UNLIMITED)),
                        new TaskState.Failed(tooDeep, error),
                        new Append(0, List.of(new UserText("Hi"))),
                        new Publish(new Fact.Failed(error, 0, Usage.NONE))));
    }

    static Stream<TransitionRow> waiting() {
        TaskError error =
                new TaskError("transcript_limit", "The transcript may have at most 21 characters, it would have 22");
        return Stream.of(row(
                "what is said to a suspended task counts at once → FAILED, the call is aborted",
                transcript(21),
                TaskBuilder.suspended(aTask().iteration(1).transcript(2, 20).reasoning("m1")),
                resumeWith("on"),
                aTask().iteration(1).transcript(2, 20).failed(error),
                new SettleModelCall("m1"),
                new Publish(new Fact.Failed(error, 1, Usage.NONE))));
    }

    @Test
    @DisplayName("the tasks of a session together: at the limit none goes on, and the error says limit and use")
    void shouldHoldTheLimitsOfASession() {
        // given
        TaskFsm machine = new TaskFsm(new MachineLimits(TaskLimits.DEFAULT, 100, 1_000, 1, 1));
        TaskState acting = aTask().iteration(1)
                .used(new Usage(5, 4, 999))
                .sessionUsed(new Usage(60, 30, 0))
                .acting(open(0, "c1", "search"));

        // when
        TaskState below = machine.transition(acting, returned("c1", "{}")).next();
        TaskState tokens = machine.transition(
                        aTask().used(new Usage(5, 5, 0)).announced(), admittedWith(new Usage(60, 40, 0)))
                .next();
        TaskState cost = machine.transition(
                        aTask().used(new Usage(5, 5, 900)).announced(), admittedWith(new Usage(5, 5, 1_000)))
                .next();

        // then
        assertThat(below).isInstanceOf(TaskState.Reasoning.class);
        assertThat(tokens)
                .isInstanceOfSatisfying(
                        TaskState.Failed.class,
                        failed -> assertThat(failed.error())
                                .isEqualTo(
                                        new TaskError(
                                                "session_token_limit",
                                                "The tasks of the session may use at most 100 tokens together, they have used 100")));
        assertThat(cost)
                .isInstanceOfSatisfying(
                        TaskState.Failed.class,
                        failed -> assertThat(failed.error().code()).isEqualTo("session_cost_limit"));
    }

    @Test
    @DisplayName("an agent may allow its tasks less than the configuration does, and not more")
    void shouldNarrowLimits() {
        // given
        TaskLimits agent = new TaskLimits(3, 64, 5_000_000, 1_000, 50, 1_000, 2);

        // when
        TaskState started = new TaskFsm(MachineLimits.DEFAULT)
                .transition(TaskState.ABSENT, firstInput("Hi", new TaskEvent.Terms(0, Deadlines.NEVER, agent)))
                .next();

        // then
        assertThat(started).isInstanceOfSatisfying(TaskState.Idle.class, idle -> {
            assertThat(idle.context().budget().limits())
                    .isEqualTo(new TaskLimits(3, 32, 4_000_000, 1_000, 50, 1_000, 2));
            assertThat(idle.context().budget().expiresAtMs()).isEqualTo(TaskEvents.NOW_MS + 1_000);
        });
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
        assertThatThrownBy(() -> limits(iterations, calls, chars, tokens))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining(key);
    }

    @ParameterizedTest
    @CsvSource({"1, 1, 199, false", "1, 1, 200, true", "2, 1, 0, true", "1, 2, 0, true", "1, 1, 0, false"})
    @DisplayName("F-100, X-18: worth a reflection from two iterations, two actions or 200 characters of result")
    void shouldReflectOnlyOnWhatTeaches(int iterations, int actions, int resultChars, boolean expected) {
        assertThat(ReflectionRule.isWorthwhile(iterations, actions, resultChars))
                .isEqualTo(expected);
    }
}
