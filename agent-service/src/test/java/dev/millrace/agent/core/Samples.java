package dev.millrace.agent.core;

import static dev.millrace.agent.core.TaskBuilder.aTask;
import static dev.millrace.agent.core.TaskBuilder.asking;
import static dev.millrace.agent.core.TaskBuilder.child;
import static dev.millrace.agent.core.TaskBuilder.deciding;
import static dev.millrace.agent.core.TaskBuilder.delegated;
import static dev.millrace.agent.core.TaskBuilder.done;
import static dev.millrace.agent.core.TaskBuilder.forChildren;
import static dev.millrace.agent.core.TaskBuilder.goingOn;
import static dev.millrace.agent.core.TaskBuilder.held;
import static dev.millrace.agent.core.TaskBuilder.keeping;
import static dev.millrace.agent.core.TaskBuilder.open;
import static dev.millrace.agent.core.TaskBuilder.response;
import static dev.millrace.agent.core.TaskBuilder.step;
import static dev.millrace.agent.core.TaskBuilder.suspended;
import static dev.millrace.agent.core.TaskBuilder.undecided;
import static dev.millrace.agent.core.TaskEvents.refused;
import static dev.millrace.agent.core.TaskEvents.run;

import dev.millrace.agent.core.TaskState.Acting;
import dev.millrace.agent.core.TaskState.KeptReply;
import dev.millrace.agent.core.TaskState.Question;
import dev.millrace.agent.core.TranscriptEntry.Call;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** States and events that together lead to every outcome: all pairs of them are tried. */
final class Samples {

    /** Small, so that samples can be at a limit. */
    static final TaskLimits LIMITS = TaskBuilder.limits(3, 2, 500, 1_000);

    private static final MachineLimits MACHINE = new MachineLimits(
            LIMITS,
            10_000,
            TaskLimits.NONE,
            MachineLimits.DEFAULT.modelCallTimeoutMs(),
            MachineLimits.DEFAULT.toolCallGraceMs());

    private static final Acting LAST_CALL_OPEN =
            aTask().iteration(1).transcript(3, 30).acting(open(0, "c1", "notify"), done(1, "c2", "fetch"));
    private static final Acting ALL_DONE =
            aTask().iteration(1).transcript(4, 30).acting(done(0, "c1", "search"), done(1, "c2", "fetch"));
    private static final Acting ALL_DONE_AT_LIMIT =
            aTask().iteration(3).transcript(4, 30).acting(done(0, "c1", "search"));
    private static final Plan.Step IF_APPROVED =
            step(1, "c2", "fetch", new Plan.Held("{}", TaskEvents.RUN_IF_APPROVED, false));
    private static final Question QUESTION = new Question("Which?", "p1", List.of(new Call("p2", "search", "{}")));

    private static final List<TaskState> TASKS = List.of(
            TaskState.ABSENT,
            aTask().idle(),
            aTask().idle(TaskEvents.NOW_MS + 1_000),
            aTask().idle(run("p1", "search", "{}")),
            aTask().idle(TaskEvents.ifApproved("p1", "pay", "{}")),
            aTask().idle(refused("p1", "shell", "tool_not_found", "no")),
            aTask().announced(),
            aTask().used(600, 400).announced(),
            aTask().sessionUsed(new Usage(10_000, 0, 0)).idle(),
            aTask().iteration(1).reasoning("m1"),
            aTask().iteration(1).transcript(6, 40).crowded().reasoning("m1"),
            aTask().iteration(1).transcript(6, 40).crowded().compacting("m1"),
            aTask().iteration(1).transcript(6, 40).crowded().used(600, 390).compacting("m1"),
            aTask().iteration(1)
                    .transcript(6, 40)
                    .crowded()
                    .children(child("b1", true))
                    .compacting("m1"),
            aTask().iteration(1).acting(open(0, "c1", "notify"), open(1, "c2", "fetch")),
            aTask().iteration(1).transcript(6, 40).crowded().acting(open(0, "c1", "notify")),
            LAST_CALL_OPEN,
            aTask().iteration(3).transcript(2, 20).acting(open(0, "c1", "notify")),
            aTask().iteration(1).transcript(2, 7).acting(response("Hello")),
            aTask().transcript(2, 20).acting(open(0, "c1", "notify")),
            aTask().transcript(2, 20).acting(open(0, "c2", "search")),
            suspended(aTask().transcript(2, 20).acting(open(0, "c1", "notify"))),
            suspended(aTask().transcript(2, 20).acting(open(0, "c2", "search"))),
            deciding(aTask().transcript(2, 20).acting(undecided(0, "c1", "pay"))),
            suspended(aTask().iteration(1).reasoning("m1")),
            suspended(aTask().iteration(3).reasoning("m1")),
            keeping(aTask().iteration(1).reasoning("m1"), new KeptReply("Hello", List.of(), false)),
            keeping(
                    aTask().iteration(1).reasoning("m1"),
                    new KeptReply(null, List.of(run("p1", "search", "{}")), false)),
            keeping(
                    aTask().iteration(1).reasoning("m1"),
                    new KeptReply(null, List.of(refused("p1", "shell", "tool_not_found", "no")), false)),
            asking(aTask().iteration(1).transcript(2, 20).reasoning("m1"), QUESTION),
            asking(aTask().iteration(3).transcript(2, 20).reasoning("m1"), QUESTION),
            suspended(aTask().iteration(1).transcript(6, 40).crowded().reasoning("m1")),
            suspended(aTask().iteration(1).transcript(6, 40).crowded().compacting("m1")),
            goingOn(suspended(aTask().iteration(1).transcript(6, 40).crowded().compacting("m1"))),
            goingOn(suspended(aTask().iteration(1).transcript(6, 40).crowded().compacting("m1")), "Wait"),
            aTask().transcript(6, 40).crowded().announced(),
            suspended(LAST_CALL_OPEN),
            suspended(ALL_DONE),
            suspended(ALL_DONE_AT_LIMIT),
            aTask().iteration(1).actingInOrder(open(0, "c1", "notify"), held(1, "c2", "fetch")),
            aTask().iteration(1).actingInOrder(open(0, "c1", "notify"), IF_APPROVED),
            deciding(aTask().iteration(1).acting(undecided(0, "c1", "search"), open(1, "c2", "fetch"))),
            deciding(aTask().iteration(1).acting(undecided(0, "c1", "search"), undecided(1, "c2", "fetch"))),
            aTask().iteration(1).children(child("b1", true)).reasoning("m1"),
            aTask().iteration(1).children(child("b1", true)).acting(open(0, "c1", "notify")),
            aTask().iteration(1).children(child("b1", true)).transcript(2, 7).acting(response("Hello")),
            aTask().iteration(1).children(child("c2", false)).acting(open(0, "c1", "notify"), delegated(1, "c2")),
            forChildren(aTask().iteration(1).children(child("c1", false)).acting(delegated(0, "c1"))),
            forChildren(
                    aTask().iteration(1).children(child("b1", true)).acting(new Plan.RespondStep(0, "Hello", true))),
            goingOn(suspended(aTask().iteration(1).reasoning("m1"))),
            goingOn(suspended(aTask().iteration(1).reasoning("m1")), "Wait"),
            goingOn(suspended(ALL_DONE)),
            goingOn(suspended(ALL_DONE_AT_LIMIT)),
            goingOn(suspended(LAST_CALL_OPEN)),
            goingOn(suspended(aTask().iteration(1).acting(done(0, "c1", "search"), IF_APPROVED))),
            goingOn(asking(aTask().iteration(1).transcript(2, 20).reasoning("m1"), QUESTION), "Both"),
            aTask().iteration(2).transcript(4, 40).completed(),
            aTask().iteration(2).transcript(4, 40).used(600, 400).completed(),
            aTask().iteration(3).failed(TaskEvents.ERROR),
            aTask().iteration(1).cancelled("enough"));

    static final List<TaskState> STATES =
            TASKS.stream().map(state -> TaskBuilder.limited(state, LIMITS)).toList();

    static final List<TaskEvent> EVENTS = List.of(
            TaskEvents.firstInput("Hi"),
            TaskEvents.input("One more thing"),
            TaskEvents.input("x".repeat(501)),
            TaskEvents.admitted(),
            TaskEvents.admittedWith(new Usage(5_000, 0, 0)),
            TaskEvents.timePassed(),
            TaskEvents.timePassed(TaskBuilder.TOOL_DEADLINE_MS),
            TaskEvents.timePassed(TaskBuilder.MODEL_DEADLINE_MS),
            TaskEvents.timePassed(TaskBuilder.EXPIRES_AT_MS),
            TaskEvents.approved("c1"),
            TaskEvents.rejected("c1", null, null),
            TaskEvents.rejected("c9", null, null),
            TaskEvents.called("m1", null, TaskEvents.ifApproved("p1", "pay", "{}")),
            TaskEvents.firstInput("Hi", new TaskEvent.Terms(9, Deadlines.NEVER, TaskLimits.UNLIMITED)),
            TaskEvents.firstInput("Call search", TaskEvents.opening(run("p1", "search", "{}"))),
            TaskEvents.created(),
            TaskEvents.answered("m1", "Hello"),
            TaskEvents.answered("m0", "old"),
            TaskEvents.called("m1", null, run("p1", "search", "{}"), refused("p2", "shell", "tool_not_found", "no")),
            TaskEvents.called("m1", null, run("p1", "a", "{}"), run("p2", "b", "{}"), run("p3", "c", "{}")),
            TaskEvents.asked("m1", "Which?"),
            TaskEvents.asked("m1", "Which?", "p1", run("p1", "ask_user", "{}"), run("p2", "search", "{}")),
            TaskEvents.asked("m0", "old?"),
            TaskEvents.modelFailed("m1"),
            TaskEvents.modelFailed("m0"),
            TaskEvents.overflowed("m1"),
            TaskEvents.summarised("m1"),
            TaskEvents.summarised("m0"),
            TaskEvents.stepCompleted(0),
            TaskEvents.returned("c1", "{}"),
            TaskEvents.toolFailed("c2", "no"),
            TaskEvents.notified("c1", "halfway"),
            TaskEvents.childEnded("b1"),
            TaskEvents.childReturned("c1"),
            TaskEvents.called("m1", null, TaskEvents.spawn("p1", false), TaskEvents.spawn("p2", true)),
            TaskEvents.called("m1", null, TaskEvents.resumeChild("p1", "child")),
            TaskEvents.called("m1", null, TaskEvents.stopChild("p1", "child-b1")),
            TaskEvents.suspend("lunch"),
            TaskEvents.resume(),
            TaskEvents.resumeWith("And now?"),
            TaskEvents.resumeWith("x".repeat(501)),
            TaskEvents.cancel("enough"),
            TaskEvents.declareFailed());

    /** One pair and the machine's answer. */
    record Outcome(TaskState state, TaskEvent event, Transition transition) {}

    private Samples() {}

    /** Every state with every event. */
    static List<Outcome> outcomes() {
        TaskFsm fsm = new TaskFsm(MACHINE);
        List<Outcome> outcomes = new ArrayList<>();
        for (TaskState state : STATES) {
            for (TaskEvent event : EVENTS) {
                outcomes.add(new Outcome(state, event, fsm.transition(state, event)));
            }
        }
        return outcomes;
    }

    /** The records of a sealed hierarchy, in the order of their declaration. */
    static List<Class<?>> kindsOf(Class<?> sealed) {
        return sealed.isSealed()
                ? Arrays.stream(sealed.getPermittedSubclasses())
                        .flatMap(kind -> kindsOf(kind).stream())
                        .distinct()
                        .toList()
                : List.of(sealed);
    }
}
