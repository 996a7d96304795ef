package dev.millrace.agent.core;

import static dev.millrace.agent.core.DiscardReason.DUPLICATE;
import static dev.millrace.agent.core.DiscardReason.NOT_DUE;
import static dev.millrace.agent.core.DiscardReason.NOT_SUSPENDABLE;
import static dev.millrace.agent.core.DiscardReason.NOT_WAITING;
import static dev.millrace.agent.core.DiscardReason.STALE_CALL;
import static dev.millrace.agent.core.DiscardReason.TASK_COMPLETED;
import static dev.millrace.agent.core.DiscardReason.TASK_ENDED;
import static dev.millrace.agent.core.DiscardReason.UNKNOWN_TASK;
import static dev.millrace.agent.core.Transition.to;

import dev.millrace.agent.core.Effect.Append;
import dev.millrace.agent.core.Effect.Discard;
import dev.millrace.agent.core.Effect.FollowUp;
import dev.millrace.agent.core.Effect.Publish;
import dev.millrace.agent.core.Effect.RequestAdmission;
import dev.millrace.agent.core.Effect.SettleModelCall;
import dev.millrace.agent.core.TaskEvent.Admitted;
import dev.millrace.agent.core.TaskEvent.ApprovalDecided;
import dev.millrace.agent.core.TaskEvent.CancelRequested;
import dev.millrace.agent.core.TaskEvent.ChildEnded;
import dev.millrace.agent.core.TaskEvent.FailureDeclared;
import dev.millrace.agent.core.TaskEvent.InputReceived;
import dev.millrace.agent.core.TaskEvent.ModelCallFailed;
import dev.millrace.agent.core.TaskEvent.ModelReplied;
import dev.millrace.agent.core.TaskEvent.QuestionAsked;
import dev.millrace.agent.core.TaskEvent.StepCompleted;
import dev.millrace.agent.core.TaskEvent.Summarised;
import dev.millrace.agent.core.TaskEvent.TaskCreated;
import dev.millrace.agent.core.TaskEvent.TaskResumed;
import dev.millrace.agent.core.TaskEvent.TaskSuspended;
import dev.millrace.agent.core.TaskEvent.TimePassed;
import dev.millrace.agent.core.TaskEvent.ToolReturned;
import dev.millrace.agent.core.TaskState.Absent;
import dev.millrace.agent.core.TaskState.Acting;
import dev.millrace.agent.core.TaskState.Active;
import dev.millrace.agent.core.TaskState.Asking;
import dev.millrace.agent.core.TaskState.Cancelled;
import dev.millrace.agent.core.TaskState.Compacting;
import dev.millrace.agent.core.TaskState.Completed;
import dev.millrace.agent.core.TaskState.Ended;
import dev.millrace.agent.core.TaskState.Existing;
import dev.millrace.agent.core.TaskState.Failed;
import dev.millrace.agent.core.TaskState.Idle;
import dev.millrace.agent.core.TaskState.KeptReply;
import dev.millrace.agent.core.TaskState.Reasoning;
import dev.millrace.agent.core.TaskState.Suspended;
import dev.millrace.agent.core.TranscriptEntry.UserText;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;

/**
 * Decides what one task does next. No clock, no randomness, no I/O: equal arguments give an equal result, so it may be
 * called from any thread and a history can be replayed. {@code docs/task-lifecycle.md} is generated from it. What is
 * legal in which state stands here; {@link Steps} is how a task works, {@link Suspension} how it waits,
 * {@link Delegation} how it has others work for it, {@link Deadlines} when it
 * has waited long enough.
 */
public final class TaskFsm {

    private final MachineLimits limits;
    private final Steps steps;
    private final Suspension suspension;

    public TaskFsm(MachineLimits limits) {
        this.limits = limits;
        this.steps = new Steps(limits);
        this.suspension = new Suspension(steps);
    }

    /** Total over every (state, event) pair: an event that has no business here comes back as a {@link Discard}. */
    public Transition transition(TaskState state, TaskEvent event) {
        return switch (state) {
            case Absent s -> whileAbsent(s, event);
            case Idle s -> whileIdle(s, event);
            case Reasoning s -> whileReasoning(s, event);
            case Compacting s -> whileCompacting(s, event);
            case Acting s -> whileActing(s, event);
            case Suspended s -> whileSuspended(s, event);
            case Completed s -> whileCompleted(s, event);
            case Ended s -> stay(s, event, TASK_ENDED);
        };
    }

    /**
     * When something of the task is late, in Unix milliseconds, if all the time there is somebody who takes answers;
     * empty = it waits for nothing that can be late.
     */
    public static OptionalLong dueAt(TaskState state) {
        return moment(Deadlines.first(state, Deadlines.Watch.UNBROKEN));
    }

    /**
     * When the task has to be told that {@link TaskEvent.TimePassed}, in Unix milliseconds; empty = it waits for
     * nothing that can be late.
     *
     * @param watchedSinceMs see there
     */
    public OptionalLong wakeAt(TaskState state, long watchedSinceMs) {
        return moment(Deadlines.first(state, Deadlines.Watch.since(watchedSinceMs, limits)));
    }

    private static OptionalLong moment(long ms) {
        return ms == Deadlines.NEVER ? OptionalLong.empty() : OptionalLong.of(ms);
    }

    private Transition whileAbsent(Absent s, TaskEvent event) {
        return switch (event) {
            case InputReceived e -> start(e);
            case Admitted e -> stay(s, e, UNKNOWN_TASK);
            case TimePassed e -> stay(s, e, UNKNOWN_TASK);
            case TaskCreated e -> stay(s, e, UNKNOWN_TASK);
            case ModelReplied e -> stay(s, e, UNKNOWN_TASK);
            case Summarised e -> stay(s, e, UNKNOWN_TASK);
            case QuestionAsked e -> stay(s, e, UNKNOWN_TASK);
            case ModelCallFailed e -> stay(s, e, UNKNOWN_TASK);
            case StepCompleted e -> stay(s, e, UNKNOWN_TASK);
            case ToolReturned e -> stay(s, e, UNKNOWN_TASK);
            case ChildEnded e -> stay(s, e, UNKNOWN_TASK);
            case ApprovalDecided e -> stay(s, e, UNKNOWN_TASK);
            case TaskSuspended e -> stay(s, e, UNKNOWN_TASK);
            case TaskResumed e -> stay(s, e, UNKNOWN_TASK);
            case CancelRequested e -> stay(s, e, UNKNOWN_TASK);
            case FailureDeclared e -> stay(s, e, UNKNOWN_TASK);
        };
    }

    private Transition start(InputReceived e) {
        TaskContext context =
                TaskContext.start(e, limits.task().atMost(e.terms().limits()));
        Append input = new Append(0, e.terms().opening().with(e.text()));
        if (e.meta().nowMs() >= e.terms().expiresAtMs()) {
            return Steps.fail(context, TaskError.expired(), List.of(input));
        }
        long maxChars = context.limits().maxTranscriptChars();
        if (context.transcriptChars() > maxChars) {
            return Steps.fail(context, TaskError.transcriptLimit(maxChars, context.transcriptChars()), List.of(input));
        }
        int maxDepth = context.limits().maxCausalDepth();
        if (context.causalDepth() > maxDepth) {
            return Steps.fail(context, TaskError.causalDepthLimit(maxDepth, context.causalDepth()), List.of(input));
        }
        return to(
                new Idle(
                        context,
                        false,
                        e.terms().expiresAtMs(),
                        e.terms().opening().call()),
                input,
                new RequestAdmission());
    }

    private Transition whileIdle(Idle s, TaskEvent event) {
        return switch (event) {
            case Admitted e
            when s.announced() -> steps.callModel(s.context().admitted(e.sessionUse()), e.meta(), List.of());
            case Admitted e ->
                to(
                        new Idle(joined(s.context(), e).admitted(e.sessionUse()), true, Deadlines.NEVER, s.call()),
                        new FollowUp(new Fact.Created(s.context().taskType())));
            case TaskCreated e -> steps.begin(s, e.meta());
            case TimePassed e
            when e.meta().nowMs() >= s.expiresAtMs() -> Steps.fail(s.context(), TaskError.expired(), List.of());
            case TimePassed e when Deadlines.outlived(s, e.meta().nowMs()) -> outlived(s, e);
            case TimePassed e -> stay(s, e, NOT_DUE);
            case InputReceived e -> stay(s, e, repeatedOr(s, e, NOT_WAITING));
            case ModelReplied e -> stay(s, e, STALE_CALL);
            case Summarised e -> stay(s, e, STALE_CALL);
            case QuestionAsked e -> stay(s, e, STALE_CALL);
            case ModelCallFailed e -> stay(s, e, STALE_CALL);
            case StepCompleted e -> stay(s, e, STALE_CALL);
            case ToolReturned e -> stay(s, e, STALE_CALL);
            case ChildEnded e -> stay(s, e, STALE_CALL);
            case ApprovalDecided e -> stay(s, e, STALE_CALL);
            case TaskSuspended e -> stay(s, e, NOT_SUSPENDABLE);
            case TaskResumed e -> stay(s, e, NOT_WAITING);
            case CancelRequested e -> cancel(s, e);
            case FailureDeclared e -> declaredFailed(s, e);
        };
    }

    /** Who brings along what was said before goes on with that, and with nothing that the session has besides. */
    private static TaskContext joined(TaskContext context, Admitted e) {
        boolean bringsItsOwn = context.inputSeq() > 0;
        return e.history() == null || bringsItsOwn ? context : context.joined(e.history());
    }

    private Transition whileReasoning(Reasoning s, TaskEvent event) {
        return switch (event) {
            case ModelReplied e when !e.callId().equals(s.awaiting()) -> stay(s, e, STALE_CALL);
            case ModelReplied e ->
                steps.act(
                        s.context().answered(e.usage(), e.contextWindow()),
                        e.meta(),
                        new KeptReply(e.text(), e.calls(), e.sequential(), e.continuation()),
                        List.of(new SettleModelCall(e.callId())));
            case QuestionAsked e when !e.callId().equals(s.awaiting()) -> stay(s, e, STALE_CALL);
            case QuestionAsked e -> Suspension.ask(s, e, false, "");
            case ModelCallFailed e when !e.callId().equals(s.awaiting()) -> stay(s, e, STALE_CALL);
            case ModelCallFailed e when e.error().isContextOverflow() -> steps.overflowed(s, e);
            case ModelCallFailed e ->
                Steps.fail(s.context().used(e.usage()), e.error(), List.of(new SettleModelCall(e.callId())));
            case Summarised e -> stay(s, e, STALE_CALL);
            case TimePassed e -> timePassed(s, s, true, e);
            case TaskSuspended e -> to(Suspended.byHand(s, e.reason()));
            case CancelRequested e -> cancel(s, e);
            case FailureDeclared e -> declaredFailed(s, e);
            case InputReceived e -> stay(s, e, repeatedOr(s, e, NOT_WAITING));
            case Admitted e -> stay(s, e, DUPLICATE);
            case TaskCreated e -> stay(s, e, DUPLICATE);
            case StepCompleted e -> stay(s, e, STALE_CALL);
            case ToolReturned e -> stay(s, e, STALE_CALL);
            case ChildEnded e -> Delegation.ended(s, e);
            case ApprovalDecided e -> stay(s, e, STALE_CALL);
            case TaskResumed e -> stay(s, e, NOT_WAITING);
        };
    }

    private Transition whileCompacting(Compacting s, TaskEvent event) {
        return switch (event) {
            case Summarised e when !e.callId().equals(s.awaiting()) -> stay(s, e, STALE_CALL);
            case Summarised e -> summarised(s, e);
            case ModelCallFailed e when !e.callId().equals(s.awaiting()) -> stay(s, e, STALE_CALL);
            case ModelCallFailed e ->
                Steps.fail(
                        s.context().used(e.usage()),
                        e.error().ofCompaction(),
                        List.of(new SettleModelCall(e.callId())));
            case TimePassed e -> timePassed(s, s, true, e);
            case TaskSuspended e -> to(Suspended.byHand(s, e.reason()));
            case CancelRequested e -> cancel(s, e);
            case FailureDeclared e -> declaredFailed(s, e);
            case ChildEnded e -> Delegation.ended(s, e);
            case InputReceived e -> stay(s, e, repeatedOr(s, e, NOT_WAITING));
            case Admitted e -> stay(s, e, DUPLICATE);
            case TaskCreated e -> stay(s, e, DUPLICATE);
            case ModelReplied e -> stay(s, e, STALE_CALL);
            case QuestionAsked e -> stay(s, e, STALE_CALL);
            case StepCompleted e -> stay(s, e, STALE_CALL);
            case ToolReturned e -> stay(s, e, STALE_CALL);
            case ApprovalDecided e -> stay(s, e, STALE_CALL);
            case TaskResumed e -> stay(s, e, NOT_WAITING);
        };
    }

    private Transition summarised(Compacting s, Summarised e) {
        List<Effect> effects = new ArrayList<>();
        return steps.callModelAsItIs(Steps.summarised(s, e, effects), e.meta(), effects);
    }

    private Transition whileActing(Acting s, TaskEvent event) {
        return switch (event) {
            case ToolReturned e ->
                s.plan()
                        .awaiting(e.callId())
                        .map(step -> toolReturned(s, step, e))
                        .orElseGet(() -> stay(s, e, STALE_CALL));
            case StepCompleted e ->
                s.plan()
                        .openResponse(e.stepIndex())
                        .map(step -> Steps.responded(s, step))
                        .orElseGet(() -> stay(s, e, STALE_CALL));
            case ChildEnded e -> Delegation.ended(s, e);
            case TimePassed e -> timePassed(s, s, false, e);
            case TaskSuspended e -> to(Suspended.byHand(s, e.reason()));
            case CancelRequested e -> cancel(s, e);
            case FailureDeclared e -> declaredFailed(s, e);
            case InputReceived e -> stay(s, e, repeatedOr(s, e, NOT_WAITING));
            case ApprovalDecided e -> stay(s, e, s.plan().call(e.callId()).isPresent() ? DUPLICATE : STALE_CALL);
            case Admitted e -> stay(s, e, DUPLICATE);
            case TaskCreated e -> stay(s, e, DUPLICATE);
            case ModelReplied e -> stay(s, e, STALE_CALL);
            case Summarised e -> stay(s, e, STALE_CALL);
            case QuestionAsked e -> stay(s, e, STALE_CALL);
            case ModelCallFailed e -> stay(s, e, STALE_CALL);
            case TaskResumed e -> stay(s, e, NOT_WAITING);
        };
    }

    private Transition toolReturned(Acting s, Plan.CallStep step, ToolReturned e) {
        List<Effect> effects = new ArrayList<>();
        Acting after = Steps.record(s, step, e, effects);
        return s.isAllTheWork() ? Steps.ended(after, step, e, effects) : steps.proceed(after, e.meta(), effects);
    }

    private Transition whileSuspended(Suspended s, TaskEvent event) {
        return switch (event) {
            case Admitted e -> s.next() == null ? stay(s, e, DUPLICATE) : suspension.goOn(s, s.next(), e);
            case InputReceived e when repeated(s, e) -> stay(s, e, DUPLICATE);
            case InputReceived e -> Suspension.hear(s, e, e.text());
            case TaskResumed e when e.newInput() != null -> Suspension.hear(s, e, e.newInput());
            case TaskResumed e -> Suspension.resume(s, e);
            case ApprovalDecided e -> Suspension.decided(s, e);
            case ModelReplied e -> Suspension.keep(s, e);
            case QuestionAsked e -> Suspension.question(s, e);
            case Summarised e -> Suspension.summarised(s, e);
            case ModelCallFailed e -> suspension.failed(s, e);
            case ToolReturned e ->
                s.from() instanceof Acting from
                        ? from.plan()
                                .awaiting(e.callId())
                                .map(step -> Suspension.recorded(s, from, step, e))
                                .orElseGet(() -> stay(s, e, STALE_CALL))
                        : stay(s, e, STALE_CALL);
            case ChildEnded e -> Delegation.ended(s, e);
            case TimePassed e -> timePassed(s, s.from(), s.awaitsReply(), e);
            case TaskSuspended e -> Suspension.hold(s, e);
            case CancelRequested e -> cancel(s, e);
            case FailureDeclared e -> declaredFailed(s, e);
            case TaskCreated e -> stay(s, e, DUPLICATE);
            case StepCompleted e -> stay(s, e, STALE_CALL);
        };
    }

    private Transition whileCompleted(Completed s, TaskEvent event) {
        return switch (event) {
            case TaskResumed e
            when e.newInput() != null -> {
                List<TranscriptEntry> entries = List.of(new UserText(e.newInput()));
                TaskContext context = s.context().withNewInput(e.meta().nowMs(), e.more());
                yield to(
                        new Idle(context.appended(entries), true, Deadlines.NEVER),
                        new Append(context.transcriptLength(), entries),
                        new RequestAdmission());
            }
            case TaskResumed e -> stay(s, e, NOT_WAITING);
            case InputReceived e -> stay(s, e, repeatedOr(s, e, TASK_COMPLETED));
            case Admitted e -> stay(s, e, DUPLICATE);
            case TimePassed e -> stay(s, e, NOT_DUE);
            case TaskCreated e -> stay(s, e, DUPLICATE);
            case ModelReplied e -> stay(s, e, STALE_CALL);
            case Summarised e -> stay(s, e, STALE_CALL);
            case QuestionAsked e -> stay(s, e, STALE_CALL);
            case ModelCallFailed e -> stay(s, e, STALE_CALL);
            case StepCompleted e -> stay(s, e, STALE_CALL);
            case ToolReturned e -> stay(s, e, STALE_CALL);
            case ChildEnded e -> stay(s, e, STALE_CALL);
            case ApprovalDecided e -> stay(s, e, STALE_CALL);
            case TaskSuspended e -> stay(s, e, TASK_COMPLETED);
            case CancelRequested e -> stay(s, e, TASK_COMPLETED);
            case FailureDeclared e -> stay(s, e, TASK_COMPLETED);
        };
    }

    private Transition timePassed(Existing s, Active working, boolean awaitsReply, TimePassed e) {
        if (Deadlines.outlived(s, e.meta().nowMs())) {
            return outlived(s, e);
        }
        Deadlines.Watch watch = Deadlines.Watch.since(e.watchedSinceMs(), limits);
        List<Effect> late = Deadlines.late(working, awaitsReply, e.meta().nowMs(), watch);
        return late.isEmpty() ? stay(s, e, NOT_DUE) : new Transition(s, late);
    }

    private static Transition outlived(Existing s, TimePassed e) {
        TaskError error = Deadlines.lifeTimeOver(s.context(), e.meta().nowMs());
        return Steps.fail(s.context(), error, settleOpenCall(s));
    }

    /** The model call that nobody will wait for any longer, if there is one. */
    static List<Effect> settleOpenCall(Existing s) {
        return switch (s) {
            case Asking r -> List.of(new SettleModelCall(r.awaiting()));
            case Suspended p
            when p.from() instanceof Asking r && p.awaitsReply() -> List.of(new SettleModelCall(r.awaiting()));
            case Suspended p -> List.of();
            case Acting a -> List.of();
            case Idle i -> List.of();
            case Completed c -> List.of();
            case Ended ended -> List.of();
        };
    }

    private static Transition cancel(Existing s, CancelRequested e) {
        TaskContext context = s.context();
        Turns.LastWords last = Turns.lastWords(s, e.interruption());
        Cancelled cancelled = new Cancelled(context.appended(last.entries()), e.reason());
        Publish fact = new Publish(new Fact.Cancelled(e.reason(), last.response(), last.notice()));
        return (last.entries().isEmpty()
                        ? to(cancelled, fact)
                        : to(cancelled, new Append(context.transcriptLength(), last.entries()), fact))
                .after(Delegation.cancelAll(s, "its parent task was cancelled"))
                .after(settleOpenCall(s));
    }

    /** The declaration itself is the fact in the journal. */
    private static Transition declaredFailed(Existing s, FailureDeclared e) {
        return new Transition(new Failed(s.context(), e.error()), settleOpenCall(s))
                .after(Delegation.cancelAll(s, "its parent task has failed"));
    }

    /** The event that started the task has the task's id: seen again, it is a double. */
    private static boolean repeated(Existing s, InputReceived e) {
        return e.meta().eventId().equals(s.context().taskId());
    }

    private static DiscardReason repeatedOr(Existing s, InputReceived e, DiscardReason otherwise) {
        return repeated(s, e) ? DUPLICATE : otherwise;
    }

    static Transition stay(TaskState s, TaskEvent e, DiscardReason why) {
        return to(s, new Discard(e.meta().eventId(), why));
    }
}
