package dev.millrace.agent.core;

import static dev.millrace.agent.core.DiscardReason.NOT_WAITING;
import static dev.millrace.agent.core.DiscardReason.STALE_CALL;
import static dev.millrace.agent.core.TaskBuilder.aTask;
import static dev.millrace.agent.core.TaskBuilder.child;
import static dev.millrace.agent.core.TaskBuilder.delegated;
import static dev.millrace.agent.core.TaskBuilder.done;
import static dev.millrace.agent.core.TaskBuilder.forChildren;
import static dev.millrace.agent.core.TaskBuilder.goingOn;
import static dev.millrace.agent.core.TaskBuilder.open;
import static dev.millrace.agent.core.TaskBuilder.response;
import static dev.millrace.agent.core.TaskEvents.USAGE;
import static dev.millrace.agent.core.TaskEvents.admitted;
import static dev.millrace.agent.core.TaskEvents.callId;
import static dev.millrace.agent.core.TaskEvents.called;
import static dev.millrace.agent.core.TaskEvents.cancel;
import static dev.millrace.agent.core.TaskEvents.childEnded;
import static dev.millrace.agent.core.TaskEvents.childReturned;
import static dev.millrace.agent.core.TaskEvents.resume;
import static dev.millrace.agent.core.TaskEvents.returned;
import static dev.millrace.agent.core.TaskEvents.spawn;
import static dev.millrace.agent.core.TaskEvents.stepCompleted;
import static dev.millrace.agent.core.TransitionRow.discard;
import static dev.millrace.agent.core.TransitionRow.row;
import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.agent.core.Effect.Append;
import dev.millrace.agent.core.Effect.CallModel;
import dev.millrace.agent.core.Effect.CancelChild;
import dev.millrace.agent.core.Effect.FollowUp;
import dev.millrace.agent.core.Effect.Publish;
import dev.millrace.agent.core.Effect.RequestAdmission;
import dev.millrace.agent.core.Effect.StartChild;
import dev.millrace.agent.core.TaskState.Acting;
import dev.millrace.agent.core.TranscriptEntry.ToolResult;
import dev.millrace.agent.core.TranscriptEntry.UserText;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Tasks that have other tasks work for them (F-168). */
class TaskFsmDelegationTest {

    private static final String NEWS = "Background task completed: found";

    /** It has answered, and a child in the background is out. */
    private static final Acting ANSWERED = aTask().iteration(1)
            .children(child("b1", true))
            .transcript(2, 7)
            .actions(1)
            .acting(new Plan.RespondStep(0, "Hello", true));

    @ParameterizedTest
    @MethodSource({"inTheForeground", "inTheBackground", "ends"})
    void shouldMove(TransitionRow row) {
        row.check();
    }

    static Stream<TransitionRow> inTheForeground() {
        Acting one = aTask().iteration(1)
                .children(child("c1", false))
                .transcript(2, 20)
                .acting(delegated(0, "c1"));
        return Stream.of(
                row(
                        "the last tool has returned and a child works on → SUSPENDED: it needs no place to wait for it",
                        aTask().iteration(1)
                                .children(child("c2", false))
                                .transcript(2, 20)
                                .acting(open(0, "c1", "search"), delegated(1, "c2")),
                        returned("c1", "{}"),
                        forChildren(aTask().iteration(1)
                                .children(child("c2", false))
                                .transcript(3, 22)
                                .actions(1)
                                .acting(done(0, "c1", "search"), delegated(1, "c2"))),
                        new Append(2, List.of(new ToolResult("p-c1", "search", "{}", false)))),
                row(
                        "the child has answered → its use counts, and the task asks for admission",
                        forChildren(one),
                        childReturned("c1"),
                        goingOn(forChildren(aTask().iteration(1)
                                .used(USAGE)
                                .transcript(3, 22)
                                .actions(1)
                                .acting(done(0, "c1", "spawn_task")))),
                        new Append(2, List.of(new ToolResult("p-c1", "spawn_task", "{}", false))),
                        new RequestAdmission()),
                discard("a plain resume while a child works", forChildren(one), resume(), NOT_WAITING),
                row(
                        "admitted with a message → the child that nobody waits for any more is cancelled",
                        goingOn(forChildren(one), "Wait!"),
                        admitted(),
                        aTask().iteration(2).transcript(4, 20 + 53 + 5).reasoning(callId(2, 0, 4)),
                        new CancelChild("child-c1", "interrupted by the user"),
                        new Append(
                                2,
                                List.of(
                                        new ToolResult(
                                                "p-c1",
                                                "spawn_task",
                                                "{\"cancelled\":true,\"reason\":\"interrupted by the user\"}",
                                                true),
                                        new UserText("Wait!"))),
                        new CallModel(callId(2, 0, 4), 2)));
    }

    static Stream<TransitionRow> inTheBackground() {
        Children news = new Children(List.of(), List.of(NEWS));
        return Stream.of(
                row(
                        "REASONING, a child has ended → kept until the next model call",
                        aTask().iteration(1).children(child("b1", true)).reasoning("m1"),
                        childEnded("b1"),
                        aTask().iteration(1).used(USAGE).children(news).reasoning("m1")),
                row(
                        "the last result is in → the model is told the news after it, and called once",
                        aTask().iteration(1).children(news).transcript(2, 20).acting(open(0, "c1", "search")),
                        returned("c1", "{}"),
                        aTask().iteration(2)
                                .transcript(4, 22 + NEWS.length())
                                .actions(1)
                                .reasoning(callId(2, 0, 4)),
                        new Append(2, List.of(new ToolResult("p-c1", "search", "{}", false))),
                        new Append(3, List.of(new UserText(NEWS))),
                        new CallModel(callId(2, 0, 4), 2)),
                row(
                        "it answers while a child is out → the owner is told so much, it does not complete",
                        aTask().iteration(1)
                                .children(child("b1", true))
                                .transcript(2, 7)
                                .acting(response("Hello")),
                        stepCompleted(0),
                        forChildren(ANSWERED),
                        new Publish(new Fact.Notified("Hello"))),
                row(
                        "it answers without having seen the news → it goes on with them",
                        aTask().iteration(1).children(news).transcript(2, 7).acting(response(null)),
                        stepCompleted(0),
                        goingOn(forChildren(aTask().iteration(1)
                                .children(news)
                                .transcript(2, 7)
                                .actions(1)
                                .acting(new Plan.RespondStep(0, null, true)))),
                        new RequestAdmission()),
                row(
                        "the last child has ended → the task asks for admission",
                        forChildren(ANSWERED),
                        childEnded("b1"),
                        goingOn(forChildren(aTask().iteration(1)
                                .used(USAGE)
                                .children(news)
                                .transcript(2, 7)
                                .actions(1)
                                .acting(new Plan.RespondStep(0, "Hello", true)))),
                        new RequestAdmission()),
                discard("news of a child that is not out", forChildren(ANSWERED), childEnded("b2"), STALE_CALL),
                discard(
                        "news of a child whose answer is a result",
                        forChildren(aTask().children(child("c1", false)).acting(delegated(0, "c1"))),
                        childEnded("c1"),
                        STALE_CALL));
    }

    static Stream<TransitionRow> ends() {
        return Stream.of(row(
                "cancelled → its children, too",
                forChildren(ANSWERED),
                cancel("enough"),
                aTask().iteration(1)
                        .children(child("b1", true))
                        .transcript(2, 7)
                        .actions(1)
                        .cancelled("enough"),
                new CancelChild("child-b1", "its parent task was cancelled"),
                new Publish(new Fact.Cancelled("enough"))));
    }

    @Test
    @DisplayName("a child gets a share of what is left, and one share stays with its parent")
    void shouldShareTheBudget() {
        // given
        TaskLimits limits = TaskBuilder.limits(10, 32, 100_000, 1_010);
        TaskState reasoning = TaskBuilder.limited(aTask().reasoningAt(1), limits);

        // when
        Transition transition = new TaskFsm(MachineLimits.of(limits))
                .transition(reasoning, called("m1", null, spawn("p1", false), spawn("p2", true)));

        // then: 995 are left after this call
        assertThat(transition.effects())
                .filteredOn(StartChild.class::isInstance)
                .extracting(effect -> ((StartChild) effect).limits().maxTokens())
                .containsExactly(331L, 332L);
        assertThat(transition.effects())
                .filteredOn(effect -> effect instanceof FollowUp(Fact.Consequence fact)
                        && fact instanceof Fact.ChildAccepted accepted
                        && accepted.childId().equals(Children.idOf(accepted.callId())))
                .hasSize(1);
        assertThat(transition.effects())
                .filteredOn(StartChild.class::isInstance)
                .extracting(effect -> ((StartChild) effect).limits().maxLifeTimeMs())
                .containsOnly(TaskLimits.DEFAULT.maxLifeTimeMs());
    }

    @Test
    @DisplayName("nothing is left for a child: that is the result of the call")
    void shouldRefuseAChildThatCouldUseNothing() {
        // given
        TaskLimits limits = TaskBuilder.limits(10, 32, 100_000, 16);

        // when
        Transition transition = new TaskFsm(MachineLimits.of(limits))
                .transition(
                        TaskBuilder.limited(aTask().reasoningAt(1), limits), called("m1", null, spawn("p1", false)));

        // then
        assertThat(transition.effects().getLast())
                .isInstanceOfSatisfying(
                        FollowUp.class,
                        followUp -> assertThat(followUp.fact())
                                .isInstanceOfSatisfying(
                                        Fact.ToolRefused.class,
                                        refused -> assertThat(refused.code()).isEqualTo("token_limit")));
    }

    @Test
    @DisplayName("X-13: who waits for a child holds no place, and its session only if the answer is a result")
    void shouldHoldNoPlaceWhileChildrenWork() {
        TaskState foreground = forChildren(aTask().children(child("c1", false)).acting(delegated(0, "c1")));

        assertThat(foreground.holdsPlace()).isFalse();
        assertThat(foreground.holdsSession()).isTrue();
        assertThat(forChildren(ANSWERED).holdsPlace()).isFalse();
        assertThat(forChildren(ANSWERED).holdsSession()).isFalse();
    }
}
