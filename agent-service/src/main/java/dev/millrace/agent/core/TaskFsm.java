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
import dev.millrace.agent.core.Effect.CallModel;
import dev.millrace.agent.core.Effect.CallTool;
import dev.millrace.agent.core.Effect.Discard;
import dev.millrace.agent.core.Effect.FollowUp;
import dev.millrace.agent.core.Effect.Publish;
import dev.millrace.agent.core.Effect.SettleModelCall;
import dev.millrace.agent.core.TaskEvent.Admitted;
import dev.millrace.agent.core.TaskEvent.CancelRequested;
import dev.millrace.agent.core.TaskEvent.FailureDeclared;
import dev.millrace.agent.core.TaskEvent.InputReceived;
import dev.millrace.agent.core.TaskEvent.ModelCallFailed;
import dev.millrace.agent.core.TaskEvent.ModelReplied;
import dev.millrace.agent.core.TaskEvent.QuestionAsked;
import dev.millrace.agent.core.TaskEvent.StepCompleted;
import dev.millrace.agent.core.TaskEvent.TaskCreated;
import dev.millrace.agent.core.TaskEvent.TaskResumed;
import dev.millrace.agent.core.TaskEvent.TaskSuspended;
import dev.millrace.agent.core.TaskEvent.TimePassed;
import dev.millrace.agent.core.TaskEvent.ToolReturned;
import dev.millrace.agent.core.TaskState.Absent;
import dev.millrace.agent.core.TaskState.Acting;
import dev.millrace.agent.core.TaskState.Cancelled;
import dev.millrace.agent.core.TaskState.Completed;
import dev.millrace.agent.core.TaskState.Ended;
import dev.millrace.agent.core.TaskState.Existing;
import dev.millrace.agent.core.TaskState.Failed;
import dev.millrace.agent.core.TaskState.Idle;
import dev.millrace.agent.core.TaskState.KeptReply;
import dev.millrace.agent.core.TaskState.Question;
import dev.millrace.agent.core.TaskState.Reasoning;
import dev.millrace.agent.core.TaskState.Suspended;
import dev.millrace.agent.core.TranscriptEntry.AssistantTurn;
import dev.millrace.agent.core.TranscriptEntry.ToolResult;
import dev.millrace.agent.core.TranscriptEntry.UserText;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/**
 * Decides what one task does next. No clock, no randomness, no I/O: equal arguments give an equal result, so it may be
 * called from any thread and a history can be replayed. {@code docs/task-lifecycle.md} is generated from it.
 */
public final class TaskFsm {

    private final TaskLimits limits;

    public TaskFsm(TaskLimits limits) {
        this.limits = limits;
    }

    /** Total over every (state, event) pair: an event that has no business here comes back as a {@link Discard}. */
    public Transition transition(TaskState state, TaskEvent event) {
        return switch (state) {
            case Absent s -> whileAbsent(s, event);
            case Idle s -> whileIdle(s, event);
            case Reasoning s -> whileReasoning(s, event);
            case Acting s -> whileActing(s, event);
            case Suspended s -> whileSuspended(s, event);
            case Completed s -> whileCompleted(s, event);
            case Ended s -> stay(s, event, TASK_ENDED);
        };
    }

    /** When the task has to be told that {@link TaskEvent.TimePassed}, in Unix milliseconds; empty = it waits for nothing that can be late. */
    public static OptionalLong wakeAt(TaskState state) {
        return OptionalLong.empty();
    }

    private Transition whileAbsent(Absent s, TaskEvent event) {
        return switch (event) {
            case InputReceived e -> {
                TaskContext context = TaskContext.start(e);
                yield context.transcriptChars() > limits.maxTranscriptChars()
                        ? fail(
                                context,
                                TaskError.transcriptLimit(limits.maxTranscriptChars(), context.transcriptChars()),
                                List.of(new Append(0, List.of(new UserText(e.text())))))
                        : to(
                                new Idle(context),
                                new Append(0, List.of(new UserText(e.text()))),
                                new Effect.RequestAdmission());
            }
            case Admitted e -> stay(s, e, UNKNOWN_TASK);
            case TimePassed e -> stay(s, e, UNKNOWN_TASK);
            case TaskCreated e -> stay(s, e, UNKNOWN_TASK);
            case ModelReplied e -> stay(s, e, UNKNOWN_TASK);
            case QuestionAsked e -> stay(s, e, UNKNOWN_TASK);
            case ModelCallFailed e -> stay(s, e, UNKNOWN_TASK);
            case StepCompleted e -> stay(s, e, UNKNOWN_TASK);
            case ToolReturned e -> stay(s, e, UNKNOWN_TASK);
            case TaskSuspended e -> stay(s, e, UNKNOWN_TASK);
            case TaskResumed e -> stay(s, e, UNKNOWN_TASK);
            case CancelRequested e -> stay(s, e, UNKNOWN_TASK);
            case FailureDeclared e -> stay(s, e, UNKNOWN_TASK);
        };
    }

    private Transition whileIdle(Idle s, TaskEvent event) {
        return switch (event) {
            case Admitted e -> to(s, new FollowUp(new Fact.Created(s.context().taskType())));
            case TimePassed e -> stay(s, e, NOT_DUE);
            case TaskCreated e -> callModel(s.context(), e.meta(), List.of());
            case InputReceived e -> stay(s, e, repeatedOr(s, e, NOT_WAITING));
            case ModelReplied e -> stay(s, e, STALE_CALL);
            case QuestionAsked e -> stay(s, e, STALE_CALL);
            case ModelCallFailed e -> stay(s, e, STALE_CALL);
            case StepCompleted e -> stay(s, e, STALE_CALL);
            case ToolReturned e -> stay(s, e, STALE_CALL);
            case TaskSuspended e -> stay(s, e, NOT_SUSPENDABLE);
            case TaskResumed e -> stay(s, e, NOT_WAITING);
            case CancelRequested e -> cancel(s, e);
            case FailureDeclared e -> to(new Failed(s.context(), e.error()));
        };
    }

    private Transition whileReasoning(Reasoning s, TaskEvent event) {
        return switch (event) {
            case ModelReplied e when !e.callId().equals(s.awaiting()) -> stay(s, e, STALE_CALL);
            case ModelReplied e ->
                act(
                        s.context().used(e.usage()),
                        e.meta(),
                        e.text(),
                        e.calls(),
                        List.of(new SettleModelCall(e.callId())));
            case QuestionAsked e when !e.callId().equals(s.awaiting()) -> stay(s, e, STALE_CALL);
            case QuestionAsked e -> ask(s, e, "");
            case ModelCallFailed e when !e.callId().equals(s.awaiting()) -> stay(s, e, STALE_CALL);
            case ModelCallFailed e -> fail(s.context(), e.error(), List.of(new SettleModelCall(e.callId())));
            case TaskSuspended e -> to(new Suspended(s, e.reason(), null, null));
            case CancelRequested e -> cancel(s, e);
            case FailureDeclared e -> to(new Failed(s.context(), e.error()), new SettleModelCall(s.awaiting()));
            case InputReceived e -> stay(s, e, repeatedOr(s, e, NOT_WAITING));
            case Admitted e -> stay(s, e, DUPLICATE);
            case TimePassed e -> stay(s, e, NOT_DUE);
            case TaskCreated e -> stay(s, e, DUPLICATE);
            case StepCompleted e -> stay(s, e, STALE_CALL);
            case ToolReturned e -> stay(s, e, STALE_CALL);
            case TaskResumed e -> stay(s, e, NOT_WAITING);
        };
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
                        .map(step -> responded(s, step))
                        .orElseGet(() -> stay(s, e, STALE_CALL));
            case TaskSuspended e -> to(new Suspended(s, e.reason(), null, null));
            case CancelRequested e -> cancel(s, e);
            case FailureDeclared e -> to(new Failed(s.context(), e.error()));
            case InputReceived e -> stay(s, e, repeatedOr(s, e, NOT_WAITING));
            case Admitted e -> stay(s, e, DUPLICATE);
            case TimePassed e -> stay(s, e, NOT_DUE);
            case TaskCreated e -> stay(s, e, DUPLICATE);
            case ModelReplied e -> stay(s, e, STALE_CALL);
            case QuestionAsked e -> stay(s, e, STALE_CALL);
            case ModelCallFailed e -> stay(s, e, STALE_CALL);
            case TaskResumed e -> stay(s, e, NOT_WAITING);
        };
    }

    private Transition whileSuspended(Suspended s, TaskEvent event) {
        return switch (event) {
            case InputReceived e when repeated(s, e) -> stay(s, e, DUPLICATE);
            case InputReceived e -> goOnWith(s, e.text(), e.meta());
            case TaskResumed(Meta meta, String newInput) when newInput != null -> goOnWith(s, newInput, meta);
            case TaskResumed e -> goOn(s, e.meta());
            case ModelReplied e -> replyWhileSuspended(s, e);
            case QuestionAsked e ->
                s.from() instanceof Reasoning from && from.awaiting().equals(e.callId()) && isOpen(s)
                        ? ask(from, e, s.reason())
                        : stay(s, e, STALE_CALL);
            case ModelCallFailed e ->
                s.from() instanceof Reasoning from && from.awaiting().equals(e.callId()) && isOpen(s)
                        ? fail(s.context(), e.error(), List.of(new SettleModelCall(e.callId())))
                        : stay(s, e, STALE_CALL);
            case ToolReturned e ->
                s.from() instanceof Acting from
                        ? from.plan()
                                .awaiting(e.callId())
                                .map(step -> recordWhileSuspended(s, from, step, e))
                                .orElseGet(() -> stay(s, e, STALE_CALL))
                        : stay(s, e, STALE_CALL);
            case CancelRequested e -> cancel(s, e);
            case FailureDeclared e -> new Transition(new Failed(s.context(), e.error()), settleOpenCall(s));
            case Admitted e -> stay(s, e, DUPLICATE);
            case TimePassed e -> stay(s, e, NOT_DUE);
            case TaskCreated e -> stay(s, e, DUPLICATE);
            case StepCompleted e -> stay(s, e, STALE_CALL);
            case TaskSuspended e -> stay(s, e, NOT_SUSPENDABLE);
        };
    }

    private Transition whileCompleted(Completed s, TaskEvent event) {
        return switch (event) {
            case TaskResumed(Meta meta, String newInput)
            when newInput != null -> {
                List<TranscriptEntry> entries = List.of(new UserText(newInput));
                TaskContext context = s.context().withNewInput();
                yield callModel(
                        context.appended(entries), meta, List.of(new Append(context.transcriptLength(), entries)));
            }
            case TaskResumed e -> stay(s, e, NOT_WAITING);
            case InputReceived e -> stay(s, e, repeatedOr(s, e, TASK_COMPLETED));
            case Admitted e -> stay(s, e, DUPLICATE);
            case TimePassed e -> stay(s, e, NOT_DUE);
            case TaskCreated e -> stay(s, e, DUPLICATE);
            case ModelReplied e -> stay(s, e, STALE_CALL);
            case QuestionAsked e -> stay(s, e, STALE_CALL);
            case ModelCallFailed e -> stay(s, e, STALE_CALL);
            case StepCompleted e -> stay(s, e, STALE_CALL);
            case ToolReturned e -> stay(s, e, STALE_CALL);
            case TaskSuspended e -> stay(s, e, TASK_COMPLETED);
            case CancelRequested e -> stay(s, e, TASK_COMPLETED);
            case FailureDeclared e -> stay(s, e, TASK_COMPLETED);
        };
    }

    /** Starts the next iteration, unless a limit is reached. */
    private Transition callModel(TaskContext before, Meta cause, List<Effect> earlier) {
        TaskContext context = before.nextIteration();
        if (context.iteration() > limits.maxIterations()) {
            return fail(before, TaskError.iterationLimit(limits.maxIterations()), earlier);
        }
        if (context.transcriptChars() > limits.maxTranscriptChars()) {
            return fail(
                    before, TaskError.transcriptLimit(limits.maxTranscriptChars(), context.transcriptChars()), earlier);
        }
        if (context.usage().total() >= limits.maxTokens()) {
            return fail(
                    before,
                    TaskError.tokenLimit(limits.maxTokens(), context.usage().total()),
                    earlier);
        }
        String callId = context.callId(0, cause);
        return to(new Reasoning(context, callId), new CallModel(callId, context.iteration()))
                .after(earlier);
    }

    /** Turns a reply into a plan and starts it: all tool calls at once, joined into one next model call. */
    private Transition act(
            TaskContext before, Meta cause, @Nullable String text, List<ToolCall> calls, List<Effect> earlier) {
        if (calls.size() > limits.maxToolCallsPerStep()) {
            return fail(before, TaskError.toolCallLimit(limits.maxToolCallsPerStep(), calls.size()), earlier);
        }
        List<TranscriptEntry> turn = List.of(new AssistantTurn(text, asTranscript(calls)));
        Plan plan = Plan.of(before, cause, text, calls);
        List<Effect> effects = new ArrayList<>(earlier);
        effects.add(new Append(before.transcriptLength(), turn));
        TaskContext context = before.appended(turn);
        if (calls.isEmpty()) {
            effects.add(new FollowUp(new Fact.StepDone(0, context.actionsCount() + 1)));
            return new Transition(new Acting(context, plan), effects);
        }
        for (int i = 0; i < calls.size(); i++) {
            effects.add(start(plan.openCalls().get(i), calls.get(i)));
        }
        return new Transition(new Acting(context, plan), effects);
    }

    private static Effect start(Plan.CallStep step, ToolCall call) {
        return switch (call.route()) {
            case ToolCall.Run run ->
                new CallTool(
                        step.callId(),
                        step.index(),
                        step.toolCallId(),
                        step.toolName(),
                        call.arguments(),
                        run.toolset(),
                        run.timeoutMs());
            case ToolCall.Refuse refuse ->
                new FollowUp(new Fact.ToolRefused(step.callId(), step.toolName(), refuse.code(), refuse.message()));
        };
    }

    private Transition toolReturned(Acting s, Plan.CallStep step, ToolReturned e) {
        List<Effect> effects = new ArrayList<>();
        Acting after = record(s, step, e, effects);
        // any tool step means that the model must see the results, also when the tool failed (F-130)
        return after.plan().done() ? callModel(after.context(), e.meta(), effects) : new Transition(after, effects);
    }

    private static Acting record(Acting s, Plan.CallStep step, ToolReturned e, List<Effect> effects) {
        String content = e.isError() ? "Error: " + e.content() : e.content();
        List<TranscriptEntry> result =
                List.of(new ToolResult(step.toolCallId(), step.toolName(), content, e.isError()));
        effects.add(new Append(s.context().transcriptLength(), result));
        if (e.notification() != null && !e.isError()) {
            effects.add(new Publish(new Fact.Notified(e.notification())));
        }
        return new Acting(s.context().appended(result).actionDone(), s.plan().markDone(step.index()));
    }

    private static Transition responded(Acting s, Plan.RespondStep step) {
        TaskContext context = s.context().actionDone();
        return to(
                new Completed(context),
                new Publish(new Fact.Completed(
                        context.inputSeq(),
                        step.response(),
                        context.iteration(),
                        context.actionsCount(),
                        context.usage())));
    }

    private static Transition ask(Reasoning s, QuestionAsked e, String reason) {
        List<TranscriptEntry.Call> calls = asTranscript(e.calls());
        // an answer to a tool call that the reply does not have would be a result without a call
        String toolCallId = calls.stream()
                .map(TranscriptEntry.Call::toolCallId)
                .filter(id -> id.equals(e.toolCallId()))
                .findFirst()
                .orElse(null);
        List<TranscriptEntry> turn =
                List.of(new AssistantTurn(e.text() == null && toolCallId == null ? e.question() : e.text(), calls));
        TaskContext context = s.context().used(e.usage());
        List<TranscriptEntry.Call> others = calls.stream()
                .filter(call -> !call.toolCallId().equals(toolCallId))
                .toList();
        return to(
                new Suspended(
                        new Reasoning(context.appended(turn), s.awaiting()),
                        reason,
                        null,
                        new Question(e.question(), toolCallId, others)),
                new SettleModelCall(e.callId()),
                new Append(context.transcriptLength(), turn),
                new Publish(new Fact.Asked(e.question())));
    }

    /** A suspended task goes on from where it stopped (F-131); what came meanwhile counts. */
    private Transition goOn(Suspended s, Meta cause) {
        Question question = s.question();
        if (question != null) {
            return answer(s, question, "(resumed without an answer)", cause);
        }
        return switch (s.from()) {
            case Reasoning from -> {
                KeptReply kept = s.kept();
                yield kept == null ? to(from) : act(from.context(), cause, kept.text(), kept.calls(), List.of());
            }
            case Acting from -> from.plan().done() ? callModel(from.context(), cause, List.of()) : to(from);
        };
    }

    /** A suspended task goes on with something new to think about (F-132, X-10). */
    private Transition goOnWith(Suspended s, String text, Meta cause) {
        Question question = s.question();
        if (question != null) {
            return answer(s, question, text, cause);
        }
        List<TranscriptEntry> entries = new ArrayList<>();
        switch (s.from()) {
            case Reasoning from -> {
                KeptReply kept = s.kept();
                if (kept != null) {
                    entries.add(new AssistantTurn(kept.text(), asTranscript(kept.calls())));
                    asTranscript(kept.calls()).forEach(call -> entries.add(notRun(call)));
                }
            }
            case Acting from ->
                from.plan()
                        .openCalls()
                        .forEach(step -> entries.add(
                                notRun(new TranscriptEntry.Call(step.toolCallId(), step.toolName(), "{}"))));
        }
        entries.add(new UserText(text));
        return append(s, entries, cause);
    }

    private Transition answer(Suspended s, Question question, String text, Meta cause) {
        List<TranscriptEntry> entries = new ArrayList<>();
        String toolCallId = question.toolCallId();
        entries.add(toolCallId == null ? new UserText(text) : new ToolResult(toolCallId, "ask_user", text, false));
        question.otherCalls().forEach(call -> entries.add(notRun(call)));
        if (toolCallId == null) {
            // results belong to the assistant's turn, so they go before the person's message
            entries.add(entries.removeFirst());
        }
        return append(s, entries, cause);
    }

    private Transition append(Suspended s, List<TranscriptEntry> entries, Meta cause) {
        List<Effect> effects = new ArrayList<>(settleOpenCall(s));
        effects.add(new Append(s.context().transcriptLength(), entries));
        return callModel(s.context().appended(entries), cause, effects);
    }

    private static TranscriptEntry notRun(TranscriptEntry.Call call) {
        return new ToolResult(
                call.toolCallId(),
                call.toolName(),
                "{\"cancelled\":true,\"reason\":\"interrupted by the user\"}",
                true);
    }

    private static Transition replyWhileSuspended(Suspended s, ModelReplied e) {
        if (!(s.from() instanceof Reasoning from) || !from.awaiting().equals(e.callId()) || !isOpen(s)) {
            return stay(s, e, STALE_CALL);
        }
        return to(
                new Suspended(
                        new Reasoning(from.context().used(e.usage()), from.awaiting()),
                        s.reason(),
                        new KeptReply(e.text(), e.calls()),
                        null),
                new SettleModelCall(e.callId()));
    }

    private static Transition recordWhileSuspended(Suspended s, Acting from, Plan.CallStep step, ToolReturned e) {
        List<Effect> effects = new ArrayList<>();
        Acting after = record(from, step, e, effects);
        return new Transition(new Suspended(after, s.reason(), null, null), effects);
    }

    /** Whether the model call that the task was suspended in is still out. */
    private static boolean isOpen(Suspended s) {
        return s.kept() == null && s.question() == null;
    }

    private static List<Effect> settleOpenCall(Existing s) {
        return switch (s) {
            case Reasoning r -> List.of(new SettleModelCall(r.awaiting()));
            case Suspended p
            when p.from() instanceof Reasoning r && isOpen(p) -> List.of(new SettleModelCall(r.awaiting()));
            case Suspended p -> List.of();
            case Acting a -> List.of();
            case Idle i -> List.of();
            case Completed c -> List.of();
            case Ended ended -> List.of();
        };
    }

    private static Transition cancel(Existing s, CancelRequested e) {
        return to(new Cancelled(s.context(), e.reason()), new Publish(new Fact.Cancelled(e.reason())))
                .after(settleOpenCall(s));
    }

    private static Transition fail(TaskContext context, TaskError error, List<Effect> earlier) {
        return to(new Failed(context, error), new Publish(new Fact.Failed(error, context.iteration(), context.usage())))
                .after(earlier);
    }

    private static List<TranscriptEntry.Call> asTranscript(List<ToolCall> calls) {
        return calls.stream()
                .map(call -> new TranscriptEntry.Call(call.toolCallId(), call.toolName(), call.arguments()))
                .toList();
    }

    /** The event that started the task has the task's id: seen again, it is a double (F-189). */
    private static boolean repeated(Existing s, InputReceived e) {
        return e.meta().eventId().equals(s.context().taskId());
    }

    private static DiscardReason repeatedOr(Existing s, InputReceived e, DiscardReason otherwise) {
        return repeated(s, e) ? DUPLICATE : otherwise;
    }

    private static Transition stay(TaskState s, TaskEvent e, DiscardReason why) {
        return to(s, new Discard(e.meta().eventId(), why));
    }
}
