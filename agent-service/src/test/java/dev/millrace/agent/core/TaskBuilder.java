package dev.millrace.agent.core;

import dev.millrace.agent.core.TaskContext.Budget;
import dev.millrace.agent.core.TaskContext.Progress;
import dev.millrace.agent.core.TaskState.Acting;
import dev.millrace.agent.core.TaskState.Active;
import dev.millrace.agent.core.TaskState.Cancelled;
import dev.millrace.agent.core.TaskState.Compacting;
import dev.millrace.agent.core.TaskState.Completed;
import dev.millrace.agent.core.TaskState.Continuation;
import dev.millrace.agent.core.TaskState.Failed;
import dev.millrace.agent.core.TaskState.Idle;
import dev.millrace.agent.core.TaskState.KeptReply;
import dev.millrace.agent.core.TaskState.Question;
import dev.millrace.agent.core.TaskState.Reasoning;
import dev.millrace.agent.core.TaskState.Said;
import dev.millrace.agent.core.TaskState.Suspended;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Tasks in any state, for tests: {@code aTask().reasoningAt(3)}. A task starts as {@code t1}, type {@code general}, with
 * the two characters {@code Hi} as its only transcript entry. Immutable.
 */
record TaskBuilder(TaskContext context) {

    static final String TASK_ID = "t1";

    /** The id of the call that {@link #reasoningAt} waits for. */
    static String model(int iteration) {
        return "m" + iteration;
    }

    /** When a task's life time is over if it began at {@link TaskEvents#NOW_MS}. */
    static final long EXPIRES_AT_MS = TaskEvents.NOW_MS + TaskLimits.DEFAULT.maxLifeTimeMs();
    /** When a model's reply is late that was asked for at {@link TaskEvents#NOW_MS}. */
    static final long MODEL_DEADLINE_MS = TaskEvents.NOW_MS + MachineLimits.DEFAULT.modelCallTimeoutMs();
    /** When the result of a tool with five seconds is late that was asked for at {@link TaskEvents#NOW_MS}. */
    static final long TOOL_DEADLINE_MS = TaskEvents.NOW_MS + 5_000 + MachineLimits.DEFAULT.toolCallGraceMs();

    static TaskBuilder aTask() {
        return new TaskBuilder(new TaskContext(
                TASK_ID,
                "general",
                100,
                0,
                new Progress(0, 0, 0, 1, 2),
                new Budget(TaskLimits.DEFAULT, EXPIRES_AT_MS, Usage.NONE, Usage.NONE),
                Children.NONE,
                ContextWindow.EMPTY));
    }

    /** Limits of a task that a test is about; the rest as by default. */
    static TaskLimits limits(int maxIterations, int maxToolCallsPerStep, long maxTranscriptChars, long maxTokens) {
        TaskLimits d = TaskLimits.DEFAULT;
        return new TaskLimits(
                maxIterations,
                maxToolCallsPerStep,
                maxTranscriptChars,
                maxTokens,
                d.maxCostMicros(),
                d.maxLifeTimeMs(),
                d.maxCausalDepth());
    }

    private TaskBuilder with(Progress progress) {
        TaskContext c = context;
        return new TaskBuilder(new TaskContext(
                c.taskId(),
                c.taskType(),
                c.priority(),
                c.causalDepth(),
                progress,
                c.budget(),
                c.children(),
                c.window()));
    }

    private TaskBuilder with(Budget budget) {
        TaskContext c = context;
        return new TaskBuilder(new TaskContext(
                c.taskId(),
                c.taskType(),
                c.priority(),
                c.causalDepth(),
                c.progress(),
                budget,
                c.children(),
                c.window()));
    }

    TaskBuilder iteration(int iteration) {
        Progress p = context.progress();
        return with(new Progress(iteration, p.actionsCount(), p.inputSeq(), p.transcriptLength(), p.transcriptChars()));
    }

    TaskBuilder actions(int actionsCount) {
        Progress p = context.progress();
        return with(new Progress(p.iteration(), actionsCount, p.inputSeq(), p.transcriptLength(), p.transcriptChars()));
    }

    /** The input that the task works on now is at this position. */
    TaskBuilder input(int seq) {
        Progress p = context.progress();
        return with(new Progress(p.iteration(), p.actionsCount(), seq, p.transcriptLength(), p.transcriptChars()));
    }

    /** So many entries, so many characters. */
    TaskBuilder transcript(int length, long chars) {
        Progress p = context.progress();
        return with(new Progress(p.iteration(), p.actionsCount(), p.inputSeq(), length, chars));
    }

    TaskBuilder used(long inputTokens, long outputTokens) {
        return used(new Usage(inputTokens, outputTokens, 0));
    }

    TaskBuilder used(Usage usage) {
        Budget b = context.budget();
        return with(new Budget(b.limits(), b.expiresAtMs(), usage, b.sessionBefore()));
    }

    /** What the other tasks of the session had used when it was admitted. */
    TaskBuilder sessionUsed(Usage before) {
        Budget b = context.budget();
        return with(new Budget(b.limits(), b.expiresAtMs(), b.usage(), before));
    }

    TaskBuilder limits(TaskLimits limits) {
        Budget b = context.budget();
        return with(new Budget(limits, b.expiresAtMs(), b.usage(), b.sessionBefore()));
    }

    TaskBuilder children(Children.Child... out) {
        return children(new Children(List.of(out), List.of()));
    }

    TaskBuilder children(Children children) {
        return new TaskBuilder(context.with(children));
    }

    TaskBuilder expiresAt(long expiresAtMs) {
        Budget b = context.budget();
        return with(new Budget(b.limits(), expiresAtMs, b.usage(), b.sessionBefore()));
    }

    /** A task that waits for its first admission. */
    Idle idle() {
        return idle(Deadlines.NEVER);
    }

    /** The same, wanted until then. */
    Idle idle(long expiresAtMs) {
        return new Idle(context, false, expiresAtMs);
    }

    /** A task that waits for its first admission, to make this call and nothing else. */
    Idle idle(ToolCall call) {
        return new Idle(context, false, Deadlines.NEVER, call);
    }

    /** A task that waits for admission and that everyone knows of. */
    Idle announced() {
        return new Idle(context, true, Deadlines.NEVER);
    }

    Reasoning reasoning(String awaiting) {
        return new Reasoning(context, awaiting, MODEL_DEADLINE_MS);
    }

    Reasoning reasoningAt(int iteration) {
        return iteration(iteration).reasoning(model(iteration));
    }

    TaskBuilder window(ContextWindow window) {
        return new TaskBuilder(context.with(window));
    }

    /**
     * A window of 1000 tokens of which the last prompt filled 850, and the transcript 800: 500 before the turn at 3, 700
     * before the turn at 5.
     */
    TaskBuilder crowded() {
        return window(new ContextWindow(
                1_000,
                850,
                800,
                800,
                null,
                List.of(new ContextWindow.Turn(3, 500, 20), new ContextWindow.Turn(5, 700, 28))));
    }

    /** It waits for a summary of what stands before the turn at 3. */
    Compacting compacting(String awaiting) {
        return Compacting.asked(context, awaiting, MODEL_DEADLINE_MS, new ContextWindow.Turn(3, 500, 20));
    }

    Acting acting(Plan.Step... steps) {
        return new Acting(context, new Plan(List.of(steps), false));
    }

    /** The same, one call after the other. */
    Acting actingInOrder(Plan.Step... steps) {
        return new Acting(context, new Plan(List.of(steps), true));
    }

    Completed completed() {
        return new Completed(context);
    }

    Failed failed(TaskError error) {
        return new Failed(context, error);
    }

    Cancelled cancelled(String reason) {
        return new Cancelled(context, reason);
    }

    static Suspended suspended(Active from) {
        return new Suspended(from, "lunch", true, null, null, null);
    }

    static Suspended keeping(Active from, KeptReply kept) {
        return new Suspended(from, "lunch", true, kept, null, null);
    }

    static Suspended asking(Active from, Question question) {
        return new Suspended(from, "", false, null, question, null);
    }

    /** It waits for decisions on the calls of its plan that want one. */
    static Suspended deciding(Active from) {
        return new Suspended(from, "waiting for approval", false, null, null, null);
    }

    /** It has what it waited for, and waits for admission. */
    static Suspended goingOn(Suspended s, Said... said) {
        return new Suspended(s.from(), s.reason(), false, s.kept(), s.question(), new Continuation(List.of(said)));
    }

    /** The same, after event {@code e} has brought this. */
    static Suspended goingOn(Suspended s, String text) {
        return goingOn(s, new Said(TaskEvents.EVENT_ID, text));
    }

    /** It waits for the children that it has out. */
    static Suspended forChildren(Acting from) {
        return new Suspended(from, "waiting for sub-tasks", false, null, null, null);
    }

    /** A call that a child works on; the child of call {@code c1} is {@code child-c1}. */
    static Plan.CallStep delegated(int index, String callId) {
        return step(index, callId, "spawn_task", new Plan.Delegated("child-" + callId));
    }

    /** A child of this call with no limits. */
    static Children.Child child(String callId, boolean background) {
        return new Children.Child("child-" + callId, callId, background, TaskLimits.NONE, TaskLimits.NONE);
    }

    /** A step that waits for a tool with five seconds; the provider's id of call {@code c1} is {@code p-c1}. */
    static Plan.CallStep open(int index, String callId, String toolName) {
        return step(index, callId, toolName, requested(null));
    }

    static Plan.CallStep done(int index, String callId, String toolName) {
        return step(index, callId, toolName, new Plan.Done());
    }

    /** A step whose turn has not come, or that was approved, with the arguments <code>{}</code>. */
    static Plan.CallStep held(int index, String callId, String toolName) {
        return step(index, callId, toolName, new Plan.Held("{}", TaskEvents.RUN, false));
    }

    /** A step that a person has to decide on within a minute, with the arguments <code>{}</code>. */
    static Plan.CallStep undecided(int index, String callId, String toolName) {
        return step(
                index,
                callId,
                toolName,
                new Plan.Deciding("{}", TaskEvents.RUN_IF_APPROVED, TaskEvents.NOW_MS + 60_000));
    }

    /** A step whose result the machine itself is about to give. */
    static Plan.CallStep answered(int index, String callId, String toolName) {
        return step(index, callId, toolName, Plan.Requested.OF_NOBODY);
    }

    static Plan.CallStep step(int index, String callId, String toolName, Plan.Standing standing) {
        return new Plan.CallStep(index, callId, "p-" + callId, toolName, standing);
    }

    static Plan.Requested requested(@Nullable String editedArguments) {
        return new Plan.Requested(5_000, TOOL_DEADLINE_MS, editedArguments);
    }

    static Plan.RespondStep response(@Nullable String text) {
        return new Plan.RespondStep(0, text, false);
    }

    /** The same state of a task that may use this. */
    static TaskState limited(TaskState state, TaskLimits limits) {
        return switch (state) {
            case TaskState.Absent s -> s;
            case Idle s -> new Idle(limited(s.context(), limits), s.announced(), s.expiresAtMs(), s.call());
            case Active s -> limited(s, limits);
            case Suspended s ->
                new Suspended(limited(s.from(), limits), s.reason(), s.byHand(), s.kept(), s.question(), s.next());
            case Completed s -> new Completed(limited(s.context(), limits));
            case Failed s -> new Failed(limited(s.context(), limits), s.error());
            case Cancelled s -> new Cancelled(limited(s.context(), limits), s.reason());
        };
    }

    /** The same state of a task whose context window is of no matter. */
    static TaskState withoutWindow(TaskState state) {
        return switch (state) {
            case TaskState.Absent s -> s;
            case Idle s -> new Idle(withoutWindow(s.context()), s.announced(), s.expiresAtMs(), s.call());
            case Active s -> s.with(withoutWindow(s.context()));
            case Suspended s -> s.from(s.from().with(withoutWindow(s.context())));
            case Completed s -> new Completed(withoutWindow(s.context()));
            case Failed s -> new Failed(withoutWindow(s.context()), s.error());
            case Cancelled s -> new Cancelled(withoutWindow(s.context()), s.reason());
        };
    }

    private static TaskContext withoutWindow(TaskContext context) {
        return context.with(ContextWindow.EMPTY);
    }

    private static Active limited(Active state, TaskLimits limits) {
        return state.with(limited(state.context(), limits));
    }

    private static TaskContext limited(TaskContext context, TaskLimits limits) {
        return new TaskBuilder(context).limits(limits).context();
    }
}
