package dev.millrace.agent.core;

import static dev.millrace.agent.core.DiscardReason.DUPLICATE;
import static dev.millrace.agent.core.DiscardReason.NOT_SUSPENDABLE;
import static dev.millrace.agent.core.DiscardReason.NOT_WAITING;
import static dev.millrace.agent.core.DiscardReason.STALE_CALL;
import static dev.millrace.agent.core.TaskFsm.stay;
import static dev.millrace.agent.core.Transition.to;

import dev.millrace.agent.core.Effect.Append;
import dev.millrace.agent.core.Effect.FollowUp;
import dev.millrace.agent.core.Effect.Publish;
import dev.millrace.agent.core.Effect.RequestAdmission;
import dev.millrace.agent.core.Effect.SettleModelCall;
import dev.millrace.agent.core.Plan.Deciding;
import dev.millrace.agent.core.Plan.Held;
import dev.millrace.agent.core.Plan.Requested;
import dev.millrace.agent.core.TaskEvent.ApprovalDecided;
import dev.millrace.agent.core.TaskEvent.ModelCallFailed;
import dev.millrace.agent.core.TaskEvent.ModelReplied;
import dev.millrace.agent.core.TaskEvent.QuestionAsked;
import dev.millrace.agent.core.TaskEvent.Summarised;
import dev.millrace.agent.core.TaskEvent.TaskResumed;
import dev.millrace.agent.core.TaskEvent.TaskSuspended;
import dev.millrace.agent.core.TaskEvent.ToolReturned;
import dev.millrace.agent.core.TaskState.Acting;
import dev.millrace.agent.core.TaskState.Active;
import dev.millrace.agent.core.TaskState.Asking;
import dev.millrace.agent.core.TaskState.Compacting;
import dev.millrace.agent.core.TaskState.Continuation;
import dev.millrace.agent.core.TaskState.KeptReply;
import dev.millrace.agent.core.TaskState.Question;
import dev.millrace.agent.core.TaskState.Reasoning;
import dev.millrace.agent.core.TaskState.Said;
import dev.millrace.agent.core.TaskState.Suspended;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * How a task waits and goes on: what comes meanwhile is kept; when it has a reason to go on, it asks to be admitted
 * again, since it has given its place away; once admitted, it goes on with everything that has come.
 */
final class Suspension {

    private final Steps steps;

    Suspension(Steps steps) {
        this.steps = steps;
    }

    /** The model asks the person something. */
    static Transition ask(Reasoning s, QuestionAsked e, boolean byHand, String reason) {
        List<TranscriptEntry.Call> calls = Turns.asTranscript(e.calls());
        // an answer to a tool call that the reply does not have would be a result without a call
        String toolCallId = calls.stream()
                .map(TranscriptEntry.Call::toolCallId)
                .filter(id -> id.equals(e.toolCallId()))
                .findFirst()
                .orElse(null);
        List<TranscriptEntry> turn = List.of(new TranscriptEntry.AssistantTurn(
                e.text() == null && toolCallId == null ? e.question() : e.text(), calls, e.continuation()));
        TaskContext context = s.context().answered(e.usage(), e.contextWindow());
        List<TranscriptEntry.Call> others = calls.stream()
                .filter(call -> !call.toolCallId().equals(toolCallId))
                .toList();
        return to(
                new Suspended(
                        new Reasoning(context.appended(turn), s.awaiting(), s.deadlineMs()),
                        reason,
                        byHand,
                        null,
                        new Question(e.question(), toolCallId, others),
                        null),
                new SettleModelCall(e.callId()),
                new Append(context.transcriptLength(), turn),
                new Publish(new Fact.Asked(e.question())));
    }

    /** The question of a model whose call was out when the task was suspended. */
    static Transition question(Suspended s, QuestionAsked e) {
        if (!awaits(s, e.callId()) || !(s.from() instanceof Reasoning from)) {
            return stay(s, e, STALE_CALL);
        }
        if (s.next() == null || s.next().said().isEmpty()) {
            return ask(from, e, s.byHand(), s.reason());
        }
        // somebody has said something else meanwhile: the question is part of the conversation, and overtaken
        KeptReply overtaken =
                new KeptReply(e.text() == null ? e.question() : e.text(), e.calls(), false, e.continuation());
        return keep(s, from, overtaken, from.context().answered(e.usage(), e.contextWindow()));
    }

    /** Somebody wants it to wait, whatever else it waits for. */
    static Transition hold(Suspended s, TaskSuspended e) {
        return s.byHand() || (s.next() != null && !s.next().said().isEmpty())
                ? stay(s, e, NOT_SUSPENDABLE)
                : to(new Suspended(s.from(), e.reason(), true, s.kept(), s.question(), null));
    }

    /** Nobody wants it to wait any longer, but that is neither an answer nor a decision. */
    static Transition resume(Suspended s, TaskResumed e) {
        if (!s.byHand()) {
            return stay(s, e, NOT_WAITING);
        }
        Suspended released = s.heldByHand(false, "");
        return switch (released.waitsFor().orElse(null)) {
            case Wait.Approval approval -> to(s.heldByHand(false, Suspended.FOR_APPROVAL));
            case Wait.Children children -> to(s.heldByHand(false, Suspended.FOR_CHILDREN));
            case null -> to(s.goingOn(Continuation.ON), new RequestAdmission());
            default -> to(released);
        };
    }

    /** Somebody says something: the answer to a question, or something new to think about. */
    static Transition hear(Suspended s, TaskEvent e, String text) {
        Continuation before = s.next() == null ? Continuation.ON : s.next();
        if (before.said().stream()
                .anyMatch(said -> said.eventId().equals(e.meta().eventId()))) {
            return stay(s, e, DUPLICATE);
        }
        Continuation next = before.and(new Said(e.meta().eventId(), text));
        long chars = s.context().ownChars()
                + next.texts().stream().mapToLong(String::length).sum();
        long max = s.context().limits().maxTranscriptChars();
        if (chars > max) {
            return Steps.fail(s.context(), TaskError.transcriptLimit(max, chars), TaskFsm.settleOpenCall(s));
        }
        List<Effect> effects = new ArrayList<>();
        Suspended heard = withdrawApprovals(s, effects).goingOn(next);
        if (s.next() == null) {
            effects.add(new RequestAdmission());
        }
        return new Transition(heard, effects);
    }

    /** Calls that wait for a decision are not run, now that there is something else to do. */
    private static Suspended withdrawApprovals(Suspended s, List<Effect> effects) {
        if (!(s.from() instanceof Acting from)) {
            return s;
        }
        Plan plan = from.plan();
        for (Plan.CallStep step : plan.undecided()) {
            plan = plan.with(step, Requested.OF_NOBODY);
            effects.add(new Publish(new Fact.ApprovalWithdrawn(step.callId())));
        }
        return s.from(new Acting(from.context(), plan));
    }

    /** A person has decided on a call: the stored call will run exactly as approved, without asking the model again. */
    static Transition decided(Suspended s, ApprovalDecided e) {
        Optional<Plan.CallStep> call =
                s.from() instanceof Acting from ? from.plan().call(e.callId()) : Optional.empty();
        if (call.isEmpty()) {
            return stay(s, e, STALE_CALL);
        }
        Plan.CallStep step = call.get();
        if (!(s.from() instanceof Acting from) || !(step.standing() instanceof Deciding deciding)) {
            return stay(s, e, DUPLICATE);
        }
        List<Effect> effects = new ArrayList<>();
        Plan plan = from.plan().with(step, e.approved() ? approved(deciding, e) : Requested.OF_NOBODY);
        if (!e.approved()) {
            effects.add(new FollowUp(
                    new Fact.ToolRefused(step.callId(), step.toolName(), "approval_rejected", rejection(e))));
        }
        Suspended after = s.from(new Acting(from.context(), plan));
        if (!after.byHand() && plan.undecided().isEmpty()) {
            after = after.goingOn(Continuation.ON);
            effects.add(new RequestAdmission());
        }
        return new Transition(after, effects);
    }

    private static Held approved(Deciding deciding, ApprovalDecided e) {
        ToolCall.Run run =
                new ToolCall.Run(deciding.run().toolset(), deciding.run().timeoutMs(), null);
        String arguments = e.arguments();
        return arguments == null || arguments.equals(deciding.arguments())
                ? new Held(deciding.arguments(), run, false)
                : new Held(arguments, run, true);
    }

    private static String rejection(ApprovalDecided e) {
        return "rejected by "
                + (e.decidedBy() == null ? "a person" : e.decidedBy())
                + (e.reason() == null ? "" : ": " + e.reason());
    }

    /** The reply that it was suspended in: paid for, so kept. */
    static Transition keep(Suspended s, ModelReplied e) {
        return awaits(s, e.callId()) && s.from() instanceof Reasoning from
                ? keep(
                        s,
                        from,
                        new KeptReply(e.text(), e.calls(), e.sequential(), e.continuation()),
                        from.context().answered(e.usage(), e.contextWindow()))
                : stay(s, e, STALE_CALL);
    }

    private static Transition keep(Suspended s, Reasoning from, KeptReply kept, TaskContext answered) {
        return to(
                new Suspended(from.with(answered), s.reason(), s.byHand(), kept, null, s.next()),
                new SettleModelCall(from.awaiting()));
    }

    /** The summary that it was suspended in: paid for, so it is taken. */
    static Transition summarised(Suspended s, Summarised e) {
        if (!awaits(s, e.callId()) || !(s.from() instanceof Compacting from)) {
            return stay(s, e, STALE_CALL);
        }
        List<Effect> effects = new ArrayList<>();
        return new Transition(s.from(from.done(Steps.summarised(from, e, effects))), effects);
    }

    /** The model call that it was suspended in has failed. */
    Transition failed(Suspended s, ModelCallFailed e) {
        if (!awaits(s, e.callId())) {
            return stay(s, e, STALE_CALL);
        }
        List<Effect> settled = TaskFsm.settleOpenCall(s);
        return switch (s.from()) {
            case Reasoning from
            when e.error().isContextOverflow() ->
                steps.shortened(from)
                        .map(cut -> new Transition(
                                s.from(Compacting.wanted(
                                        from.context().used(e.usage()).sameIteration(), cut)),
                                settled))
                        .orElseGet(() -> Steps.fail(s.context().used(e.usage()), e.error(), settled));
            case Compacting from ->
                Steps.fail(s.context().used(e.usage()), e.error().ofCompaction(), settled);
            case Active from -> Steps.fail(s.context().used(e.usage()), e.error(), settled);
        };
    }

    /** Whether it was suspended in this model call, and the reply is still to come. */
    static boolean awaits(Suspended s, String callId) {
        return s.awaitsReply()
                && s.from() instanceof Asking from
                && from.awaiting().equals(callId);
    }

    static Transition recorded(Suspended s, Acting from, Plan.CallStep step, ToolReturned e) {
        List<Effect> effects = new ArrayList<>();
        Acting after = Steps.record(from, step, e, effects);
        if (from.isAllTheWork()) {
            return Steps.ended(after, step, e, effects);
        }
        return Delegation.goOnIfChildrenAreIn(s.from(after), effects);
    }

    /** Admitted again: goes on from where it stopped, or with what was said. */
    Transition goOn(Suspended s, Continuation next, TaskEvent.Admitted e) {
        Question question = s.question();
        Meta cause = e.meta();
        List<Effect> effects = new ArrayList<>();
        if (next.said().isEmpty()) {
            return switch (s.from()) {
                case Reasoning from -> {
                    TaskContext context = from.context().admitted(e.sessionUse());
                    KeptReply kept = s.kept();
                    yield kept == null
                            ? to(new Reasoning(context, from.awaiting(), from.deadlineMs()))
                            : steps.act(context, cause, kept, effects);
                }
                case Compacting from -> goOn(from.with(from.context().admitted(e.sessionUse())), cause);
                case Acting from ->
                    steps.proceed(new Acting(from.context().admitted(e.sessionUse()), from.plan()), cause, effects);
            };
        }
        List<TranscriptEntry> entries = question != null
                ? Turns.answer(question, next.texts())
                : switch (s.from()) {
                    case Asking from -> Turns.interruption(s.kept(), next.texts());
                    case Acting from -> Turns.interruption(from.plan(), next.texts());
                };
        effects.addAll(TaskFsm.settleOpenCall(s));
        TaskContext context = Delegation.interrupted(s, effects).context();
        effects.add(new Append(context.transcriptLength(), entries));
        return steps.callModel(context.admitted(e.sessionUse()).appended(entries), cause, effects);
    }

    private Transition goOn(Compacting s, Meta cause) {
        return switch (s.stage()) {
            case WANTED -> steps.compact(s.context(), s.cut(), cause, List.of());
            case ASKED -> to(s);
            case DONE -> steps.callModelAsItIs(s.context(), cause, List.of());
        };
    }
}
