package dev.millrace.agent.core;

import static dev.millrace.agent.core.DiscardReason.NOT_DUE;
import static dev.millrace.agent.core.TaskBuilder.EXPIRES_AT_MS;
import static dev.millrace.agent.core.TaskBuilder.MODEL_DEADLINE_MS;
import static dev.millrace.agent.core.TaskBuilder.TOOL_DEADLINE_MS;
import static dev.millrace.agent.core.TaskBuilder.aTask;
import static dev.millrace.agent.core.TaskBuilder.answered;
import static dev.millrace.agent.core.TaskBuilder.asking;
import static dev.millrace.agent.core.TaskBuilder.deciding;
import static dev.millrace.agent.core.TaskBuilder.done;
import static dev.millrace.agent.core.TaskBuilder.goingOn;
import static dev.millrace.agent.core.TaskBuilder.held;
import static dev.millrace.agent.core.TaskBuilder.keeping;
import static dev.millrace.agent.core.TaskBuilder.open;
import static dev.millrace.agent.core.TaskBuilder.suspended;
import static dev.millrace.agent.core.TaskBuilder.undecided;
import static dev.millrace.agent.core.TaskEvents.ERROR;
import static dev.millrace.agent.core.TaskEvents.NOW_MS;
import static dev.millrace.agent.core.TaskEvents.firstInput;
import static dev.millrace.agent.core.TaskEvents.timePassed;
import static dev.millrace.agent.core.TransitionRow.discard;
import static dev.millrace.agent.core.TransitionRow.row;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import dev.millrace.agent.core.Effect.FollowUp;
import dev.millrace.agent.core.Effect.Publish;
import dev.millrace.agent.core.Effect.SettleModelCall;
import dev.millrace.agent.core.TaskState.KeptReply;
import dev.millrace.agent.core.TaskState.Question;
import java.util.List;
import java.util.OptionalLong;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** nothing waits for ever. Each deadline one millisecond before it and at it. */
class TaskFsmDeadlineTest {

    private static final TaskError OVER =
            new TaskError("task_timeout", "The task may take at most 604800 s, it has not ended after 604800 s");

    @ParameterizedTest
    @MethodSource({"calls", "lives"})
    void shouldMove(TransitionRow row) {
        row.check();
    }

    static Stream<TransitionRow> calls() {
        return Stream.of(
                discard(
                        "REASONING, the reply still has a millisecond",
                        aTask().reasoningAt(1),
                        timePassed(MODEL_DEADLINE_MS - 1),
                        NOT_DUE),
                row(
                        "REASONING, the reply is late → a failure follows, as if the caller had said so",
                        aTask().reasoningAt(1),
                        timePassed(MODEL_DEADLINE_MS),
                        aTask().reasoningAt(1),
                        new FollowUp(new Fact.ModelTimedOut("m1", 900_000))),
                row(
                        "SUSPENDED with a call out, the reply is late → the same",
                        suspended(aTask().reasoningAt(1)),
                        timePassed(MODEL_DEADLINE_MS),
                        suspended(aTask().reasoningAt(1)),
                        new FollowUp(new Fact.ModelTimedOut("m1", 900_000))),
                discard(
                        "SUSPENDED with the reply kept: nothing is late",
                        keeping(aTask().reasoningAt(1), new KeptReply("Hello", List.of(), false)),
                        timePassed(MODEL_DEADLINE_MS),
                        NOT_DUE),
                discard(
                        "ACTING, the result still has a millisecond",
                        aTask().acting(open(0, "c1", "search")),
                        timePassed(TOOL_DEADLINE_MS - 1),
                        NOT_DUE),
                row(
                        "ACTING, two of three results are late → the model will be told of each",
                        aTask().acting(open(0, "c1", "search"), done(1, "c2", "fetch"), open(2, "c3", "sleep")),
                        timePassed(TOOL_DEADLINE_MS),
                        aTask().acting(open(0, "c1", "search"), done(1, "c2", "fetch"), open(2, "c3", "sleep")),
                        new FollowUp(new Fact.ToolTimedOut("c1", "search", 5_000)),
                        new FollowUp(new Fact.ToolTimedOut("c3", "sleep", 5_000))),
                row(
                        "SUSPENDED for a decision, another call's result is late → the model will be told",
                        deciding(aTask().expiresAt(Deadlines.NEVER)
                                .acting(answered(0, "c1", "pay"), open(1, "c2", "search"))),
                        timePassed(TOOL_DEADLINE_MS),
                        deciding(aTask().expiresAt(Deadlines.NEVER)
                                .acting(answered(0, "c1", "pay"), open(1, "c2", "search"))),
                        new FollowUp(new Fact.ToolTimedOut("c2", "search", 5_000))),
                discard(
                        "X-17: REASONING, late only because nobody was there to take the reply",
                        aTask().reasoningAt(1),
                        timePassed(MODEL_DEADLINE_MS + 900_000 - 1, MODEL_DEADLINE_MS),
                        NOT_DUE),
                row(
                        "X-17: REASONING, late although the call had its time once more",
                        aTask().reasoningAt(1),
                        timePassed(MODEL_DEADLINE_MS + 900_000, MODEL_DEADLINE_MS),
                        aTask().reasoningAt(1),
                        new FollowUp(new Fact.ModelTimedOut("m1", 900_000))),
                discard(
                        "X-17: ACTING, late only because nobody was there to take the result",
                        aTask().acting(open(0, "c1", "search")),
                        timePassed(TOOL_DEADLINE_MS + 600_000 - 1, TOOL_DEADLINE_MS),
                        NOT_DUE),
                row(
                        "X-17: ACTING, late although the worker had its time once more",
                        aTask().acting(open(0, "c1", "search")),
                        timePassed(TOOL_DEADLINE_MS + 600_000, TOOL_DEADLINE_MS),
                        aTask().acting(open(0, "c1", "search")),
                        new FollowUp(new Fact.ToolTimedOut("c1", "search", 5_000))),
                discard(
                        "a call whose turn has not come is never late",
                        aTask().actingInOrder(open(0, "c1", "search"), held(1, "c2", "fetch")),
                        timePassed(TOOL_DEADLINE_MS - 1),
                        NOT_DUE));
    }

    @Test
    @DisplayName("F-287: a message that expires at the moment in which it is taken is a task that has failed")
    void shouldFailWhatHasExpired() {
        TaskFsm machine = new TaskFsm(MachineLimits.DEFAULT);

        Transition late = machine.transition(TaskState.ABSENT, firstInput("Hi", expiringAt(NOW_MS)));
        Transition inTime = machine.transition(TaskState.ABSENT, firstInput("Hi", expiringAt(NOW_MS + 1)));

        assertThat(late.next())
                .isInstanceOfSatisfying(
                        TaskState.Failed.class,
                        failed -> assertThat(failed.error()).isEqualTo(TaskError.expired()));
        assertThat(late.effects()).noneMatch(Effect.RequestAdmission.class::isInstance);
        assertThat(inTime.next()).isInstanceOf(TaskState.Idle.class);
        assertThat(inTime.effects()).anyMatch(Effect.RequestAdmission.class::isInstance);
    }

    private static TaskEvent.Terms expiringAt(long expiresAtMs) {
        return new TaskEvent.Terms(0, expiresAtMs, TaskLimits.UNLIMITED, TaskEvent.Opening.NONE);
    }

    static Stream<TransitionRow> lives() {
        TaskError expired =
                new TaskError("expired", "The task was to start before its expiry time, and its turn did not come");
        return Stream.of(
                discard(
                        "IDLE, wanted for a millisecond more",
                        aTask().idle(NOW_MS + 10),
                        timePassed(NOW_MS + 9),
                        NOT_DUE),
                row(
                        "F-287: IDLE, not admitted before its expiry time → FAILED",
                        aTask().idle(NOW_MS + 10),
                        timePassed(NOW_MS + 10),
                        aTask().failed(expired),
                        new Publish(new Fact.Failed(expired, 0, Usage.NONE))),
                row(
                        "IDLE, its life time is over → FAILED",
                        aTask().idle(),
                        timePassed(EXPIRES_AT_MS),
                        aTask().failed(OVER),
                        new Publish(new Fact.Failed(OVER, 0, Usage.NONE))),
                discard(
                        "a millisecond of life is left",
                        aTask().acting(answered(0, "c1", "search")),
                        timePassed(EXPIRES_AT_MS - 1),
                        NOT_DUE),
                row(
                        "REASONING, its life time is over → FAILED, the call is aborted",
                        aTask().reasoningAt(2),
                        timePassed(EXPIRES_AT_MS),
                        aTask().iteration(2).failed(OVER),
                        new SettleModelCall("m2"),
                        new Publish(new Fact.Failed(OVER, 2, Usage.NONE))),
                row(
                        "ACTING, its life time is over → FAILED",
                        aTask().iteration(1).acting(open(0, "c1", "search")),
                        timePassed(EXPIRES_AT_MS),
                        aTask().iteration(1).failed(OVER),
                        new Publish(new Fact.Failed(OVER, 1, Usage.NONE))),
                row(
                        "SUSPENDED for an answer that does not come, its life time is over → FAILED",
                        asking(aTask().reasoningAt(1), new Question("Which?", null, List.of())),
                        timePassed(EXPIRES_AT_MS),
                        aTask().iteration(1).failed(OVER),
                        new Publish(new Fact.Failed(OVER, 1, Usage.NONE))),
                discard("COMPLETED has all the time", aTask().completed(), timePassed(EXPIRES_AT_MS), NOT_DUE));
    }

    static Stream<Arguments> wakeUps() {
        return Stream.of(
                arguments(TaskState.ABSENT, null),
                arguments(aTask().idle(), EXPIRES_AT_MS),
                arguments(aTask().idle(NOW_MS + 10), NOW_MS + 10),
                arguments(aTask().reasoningAt(1), MODEL_DEADLINE_MS),
                arguments(aTask().expiresAt(5).reasoningAt(1), 5L),
                arguments(aTask().acting(open(0, "c1", "search")), TOOL_DEADLINE_MS),
                arguments(aTask().acting(answered(0, "c1", "search")), EXPIRES_AT_MS),
                arguments(
                        deciding(aTask().acting(undecided(0, "c1", "pay"), open(1, "c2", "search"))), NOW_MS + 60_000),
                arguments(suspended(aTask().reasoningAt(1)), MODEL_DEADLINE_MS),
                arguments(keeping(aTask().reasoningAt(1), new KeptReply(null, List.of(), false)), EXPIRES_AT_MS),
                arguments(goingOn(suspended(aTask().acting(held(0, "c1", "search")))), EXPIRES_AT_MS),
                arguments(aTask().completed(), null),
                arguments(aTask().failed(ERROR), null));
    }

    @ParameterizedTest
    @MethodSource("wakeUps")
    @DisplayName("X-43: the machine is woken at the first of its deadlines")
    void shouldWakeAtTheFirstDeadline(TaskState state, @Nullable Long expected) {
        OptionalLong moment = expected == null ? OptionalLong.empty() : OptionalLong.of(expected);
        assertThat(TaskFsm.dueAt(state)).isEqualTo(moment);
        assertThat(new TaskFsm(MachineLimits.DEFAULT).wakeAt(state, 0)).isEqualTo(moment);
    }

    @Test
    @DisplayName("X-17: after an outage whoever was asked has its time once more; a person's time and a life go on")
    void shouldWakeLaterAfterAnOutage() {
        TaskFsm fsm = new TaskFsm(MachineLimits.DEFAULT);
        long back = TOOL_DEADLINE_MS + 1;

        assertThat(fsm.wakeAt(aTask().reasoningAt(1), back)).hasValue(back + 900_000);
        assertThat(fsm.wakeAt(aTask().acting(open(0, "c1", "search")), back)).hasValue(back + 600_000);
        assertThat(fsm.wakeAt(deciding(aTask().acting(undecided(0, "c1", "pay"))), back))
                .hasValue(NOW_MS + 60_000);
        assertThat(fsm.wakeAt(aTask().idle(), EXPIRES_AT_MS + 1)).hasValue(EXPIRES_AT_MS);
    }
}
