package dev.millrace.agent.core;

import static dev.millrace.agent.core.Transition.to;

import dev.millrace.agent.core.Effect.Append;
import dev.millrace.agent.core.Effect.CallModel;
import dev.millrace.agent.core.Effect.CallTool;
import dev.millrace.agent.core.Effect.FollowUp;
import dev.millrace.agent.core.Effect.Publish;
import dev.millrace.agent.core.Effect.SettleModelCall;
import dev.millrace.agent.core.Plan.Deciding;
import dev.millrace.agent.core.Plan.Requested;
import dev.millrace.agent.core.TaskEvent.ToolReturned;
import dev.millrace.agent.core.TaskState.Acting;
import dev.millrace.agent.core.TaskState.Compacting;
import dev.millrace.agent.core.TaskState.Completed;
import dev.millrace.agent.core.TaskState.Failed;
import dev.millrace.agent.core.TaskState.Reasoning;
import dev.millrace.agent.core.TaskState.Suspended;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** How a task works: calls the model within its limits, turns a reply into a plan, carries the plan out. */
final class Steps {

    /** Of the result of a call that was all the work so much is the task's answer, in characters. */
    static final int MAX_RESPONSE = 100_000;

    private final MachineLimits limits;

    Steps(MachineLimits limits) {
        this.limits = limits;
    }

    /** Starts the next iteration, unless a limit is reached. */
    Transition callModel(TaskContext before, Meta cause, List<Effect> earlier) {
        return callModel(before, cause, earlier, true);
    }

    private Transition callModel(TaskContext before, Meta cause, List<Effect> earlier, boolean mayCompact) {
        if (!before.children().news().isEmpty()) {
            return callModel(told(before), cause, Turns.news(before, earlier), mayCompact);
        }
        TaskContext context = before.nextIteration();
        Optional<TaskError> reached = limitReached(context);
        if (reached.isPresent()) {
            return fail(before, reached.get(), earlier);
        }
        Optional<ContextWindow.Turn> cut = mayCompact
                ? before.window()
                        .due(
                                limits.compaction(),
                                before.transcriptChars(),
                                before.limits().maxTranscriptChars())
                : Optional.empty();
        if (cut.isPresent()) {
            return summarise(before, cut.get(), cause, earlier);
        }
        String callId = context.callId(0, cause);
        long deadlineMs = Deadlines.after(cause.nowMs(), limits.modelCallTimeoutMs());
        return to(new Reasoning(context, callId, deadlineMs), new CallModel(callId, context.iteration()))
                .after(earlier);
    }

    /** Asks for the summary that the next iteration needs, unless a limit is reached. */
    Transition compact(TaskContext before, ContextWindow.Turn cut, Meta cause, List<Effect> earlier) {
        Optional<TaskError> reached = limitReached(before.nextIteration());
        return reached.isPresent() ? fail(before, reached.get(), earlier) : summarise(before, cut, cause, earlier);
    }

    private Transition summarise(TaskContext before, ContextWindow.Turn cut, Meta cause, List<Effect> earlier) {
        TaskContext next = before.nextIteration();
        String callId = next.summaryCallId(cause);
        long deadlineMs = Deadlines.after(cause.nowMs(), limits.modelCallTimeoutMs());
        return to(
                        Compacting.asked(before, callId, deadlineMs, cut),
                        new Effect.Summarise(callId, next.iteration(), cut.seq()))
                .after(earlier);
    }

    /** Takes a summary into the transcript; nothing follows from it yet. */
    static TaskContext summarised(Compacting s, TaskEvent.Summarised e, List<Effect> effects) {
        TaskContext context = s.context().used(e.usage());
        TranscriptEntry summary = new TranscriptEntry.Summary(
                e.summary(), context.inputSeq() < s.cut().seq() ? e.request() : null);
        effects.add(new SettleModelCall(e.callId()));
        effects.add(new Append(context.transcriptLength(), List.of(summary)));
        return context.compacted(s.cut(), summary);
    }

    /**
     * The first step: the call that came along, or a call of the model. For that, what the session has said before may
     * have to be made shorter; what is new is as it is.
     */
    Transition begin(TaskState.Idle s, Meta cause) {
        TaskContext context = s.context();
        ToolCall call = s.call();
        return call == null
                ? callModel(context, cause, List.of(), context.window().shownPrefix() != null)
                : act(context, cause, new TaskState.KeptReply(null, List.of(call), false), List.of());
    }

    /** The call that was all the work has come to something, and so has the task, also while it is suspended. */
    static Transition ended(Acting s, Plan.CallStep step, ToolReturned e, List<Effect> effects) {
        return e.isError()
                ? fail(s.context(), TaskError.toolCallFailed(step.toolName(), e.content()), effects)
                : to(new Completed(s.context()), new Publish(completed(s.context(), cut(e.content()))))
                        .after(effects);
    }

    private static String cut(String result) {
        return result.length() <= MAX_RESPONSE ? result : result.substring(0, MAX_RESPONSE) + "…";
    }

    /** The same with the conversation as it is: it is new, or has been made as short as it can be. */
    Transition callModelAsItIs(TaskContext before, Meta cause, List<Effect> earlier) {
        return callModel(before, cause, earlier, false);
    }

    /**
     * The model has said that the conversation is too long: once more with a shorter one, if it can be made shorter.
     */
    Transition overflowed(Reasoning s, TaskEvent.ModelCallFailed e) {
        List<Effect> settled = List.of(new SettleModelCall(e.callId()));
        return shortened(s)
                .map(cut -> compact(s.context().used(e.usage()).sameIteration(), cut, e.meta(), settled))
                .orElseGet(() -> fail(s.context().used(e.usage()), e.error(), settled));
    }

    /** Where to cut what was too long; empty = it cannot be made shorter. */
    Optional<ContextWindow.Turn> shortened(Reasoning s) {
        return s.context().window().overflowing(limits.compaction(), s.context().transcriptLength());
    }

    private static TaskContext told(TaskContext before) {
        return before.appended(Turns.news(before)).with(before.children().withoutNews());
    }

    private Optional<TaskError> limitReached(TaskContext context) {
        TaskLimits task = context.limits();
        Usage used = context.usage();
        Usage ofSession = context.budget().sessionUsage();
        if (context.iteration() > task.maxIterations()) {
            return Optional.of(TaskError.iterationLimit(task.maxIterations()));
        }
        if (context.ownChars() > task.maxTranscriptChars()) {
            return Optional.of(TaskError.transcriptLimit(task.maxTranscriptChars(), context.ownChars()));
        }
        Children children = context.children();
        if (left(task.maxTokens(), used.total(), children.tokens()) < 1) {
            return Optional.of(TaskError.tokenLimit(task.maxTokens(), used.total(), children.tokens()));
        }
        if (left(task.maxCostMicros(), used.costMicros(), children.costMicros()) < 1) {
            return Optional.of(TaskError.costLimit(task.maxCostMicros(), used.costMicros(), children.costMicros()));
        }
        if (ofSession.total() >= limits.maxSessionTokens()) {
            return Optional.of(TaskError.sessionTokenLimit(limits.maxSessionTokens(), ofSession.total()));
        }
        if (ofSession.costMicros() >= limits.maxSessionCostMicros()) {
            return Optional.of(TaskError.sessionCostLimit(limits.maxSessionCostMicros(), ofSession.costMicros()));
        }
        return Optional.empty();
    }

    /** Turns a reply into a plan and starts it: all tool calls are joined into one next model call. */
    Transition act(TaskContext before, Meta cause, TaskState.KeptReply reply, List<Effect> earlier) {
        List<ToolCall> calls = reply.calls();
        int max = before.limits().maxToolCallsPerStep();
        if (calls.size() > max) {
            return fail(before, TaskError.toolCallLimit(max, calls.size()), earlier);
        }
        List<TranscriptEntry> turn = List.of(Turns.ofModel(reply));
        List<Effect> effects = new ArrayList<>(earlier);
        effects.add(new Append(before.transcriptLength(), turn));
        TaskContext context = before.appended(turn);
        if (calls.isEmpty()) {
            effects.add(new FollowUp(new Fact.StepDone(0, context.actionsCount() + 1)));
            return new Transition(new Acting(context, Plan.response(reply.text())), effects);
        }
        // the ids of the calls are made from the position of the turn that asks for them
        Plan plan = Plan.of(before, cause, calls, reply.sequential());
        return proceed(new Acting(context, plan), cause, effects);
    }

    /** Starts what can be started; what comes then depends on what is left to wait for. */
    Transition proceed(Acting s, Meta cause, List<Effect> earlier) {
        List<Effect> effects = new ArrayList<>(earlier);
        Acting after = s;
        for (Plan.CallStep step : s.plan().startable()) {
            after = start(after, step, (Plan.Held) step.standing(), cause.nowMs(), effects);
        }
        Plan plan = after.plan();
        if (plan.done()) {
            // any tool step means that the model must see the results, also when a tool failed
            return callModel(after.context(), cause, effects);
        }
        if (!plan.undecided().isEmpty()) {
            return new Transition(Suspended.forApproval(after), effects);
        }
        // who waits for children gives its place away, or they might wait for it
        return new Transition(plan.waitsForChildren() ? Suspended.forChildren(after) : after, effects);
    }

    private Acting start(Acting s, Plan.CallStep step, Plan.Held held, long nowMs, List<Effect> effects) {
        return switch (held.route()) {
            case ToolCall.Spawn spawn -> Delegation.spawn(s, step, spawn, nowMs, effects);
            case ToolCall.Resume resume -> Delegation.resume(s, step, resume, nowMs, effects);
            case ToolCall.Stop stop -> Delegation.stop(s, step, stop, effects);
            case ToolCall.Run run ->
                new Acting(s.context(), s.plan().with(step, request(step, held, run, nowMs, effects)));
            case ToolCall.Refuse refuse -> refuse(s, step, refuse.code(), refuse.message(), effects);
        };
    }

    static Acting refuse(Acting s, Plan.CallStep step, String code, String message, List<Effect> effects) {
        effects.add(new FollowUp(new Fact.ToolRefused(step.callId(), step.toolName(), code, message)));
        return new Acting(s.context(), s.plan().with(step, Requested.OF_NOBODY));
    }

    private Plan.Standing request(
            Plan.CallStep step, Plan.Held held, ToolCall.Run route, long nowMs, List<Effect> effects) {
        return switch (route) {
            case ToolCall.Run run
            when run.approval() != null -> {
                long expiresAtMs = Deadlines.after(nowMs, run.approval().expiryMs());
                effects.add(new Publish(new Fact.ApprovalRequested(
                        step.callId(),
                        step.toolCallId(),
                        step.toolName(),
                        held.arguments(),
                        expiresAtMs,
                        run.approval().reason())));
                yield new Deciding(held.arguments(), run, expiresAtMs);
            }
            case ToolCall.Run run -> {
                effects.add(new CallTool(
                        step.callId(),
                        step.index(),
                        step.toolCallId(),
                        step.toolName(),
                        held.arguments(),
                        run.toolset(),
                        run.timeoutMs()));
                long patienceMs = Deadlines.after(run.timeoutMs(), limits.toolCallGraceMs());
                yield new Requested(
                        run.timeoutMs(), Deadlines.after(nowMs, patienceMs), held.edited() ? held.arguments() : null);
            }
        };
    }

    /** Takes a result into the transcript; nothing follows from it yet. */
    static Acting record(Acting s, Plan.CallStep step, ToolReturned e, List<Effect> effects) {
        List<TranscriptEntry> result = List.of(Turns.result(step, e));
        effects.add(new Append(s.context().transcriptLength(), result));
        if (e.notification() != null && !e.isError() && e.notification().isOf(step.toolName())) {
            effects.add(new Publish(new Fact.Notified(e.notification())));
        }
        TaskContext context = s.context().appended(result).actionDone();
        if (step.standing() instanceof Plan.Delegated) {
            context = context.used(e.usage()).with(context.children().ended(step.callId()));
        }
        return new Acting(context, s.plan().with(step, new Plan.Done()));
    }

    static Transition responded(Acting s, Plan.RespondStep step) {
        TaskContext context = s.context().actionDone();
        if (context.children().anyInBackground() || !context.children().news().isEmpty()) {
            return Delegation.answeredTooEarly(new Acting(context, Plan.responded(step)), step.response());
        }
        return to(new Completed(context), new Publish(completed(context, step.response())));
    }

    private static Fact completed(TaskContext context, @Nullable String response) {
        return new Fact.Completed(
                context.inputSeq(), response, context.iteration(), context.actionsCount(), context.usage());
    }

    static Transition fail(TaskContext context, TaskError error, List<Effect> earlier) {
        return to(new Failed(context, error), new Publish(new Fact.Failed(error, context.iteration(), context.usage())))
                .after(Delegation.cancelAll(context, "its parent task has failed"))
                .after(earlier);
    }

    /** What is left of a limit, when so much was used and so much is set aside. */
    static long left(long max, long used, long setAside) {
        return max == TaskLimits.NONE ? TaskLimits.NONE : max - used - setAside;
    }
}
