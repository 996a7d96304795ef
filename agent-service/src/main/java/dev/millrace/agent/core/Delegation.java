package dev.millrace.agent.core;

import static dev.millrace.agent.core.DiscardReason.STALE_CALL;
import static dev.millrace.agent.core.TaskFsm.stay;
import static dev.millrace.agent.core.Transition.to;

import dev.millrace.agent.core.Children.Child;
import dev.millrace.agent.core.Effect.CancelChild;
import dev.millrace.agent.core.Effect.FollowUp;
import dev.millrace.agent.core.Effect.Publish;
import dev.millrace.agent.core.Effect.RequestAdmission;
import dev.millrace.agent.core.Effect.ResumeChild;
import dev.millrace.agent.core.Effect.StartChild;
import dev.millrace.agent.core.Plan.Delegated;
import dev.millrace.agent.core.Plan.Requested;
import dev.millrace.agent.core.TaskEvent.ChildEnded;
import dev.millrace.agent.core.TaskState.Acting;
import dev.millrace.agent.core.TaskState.Active;
import dev.millrace.agent.core.TaskState.Continuation;
import dev.millrace.agent.core.TaskState.Existing;
import dev.millrace.agent.core.TaskState.Suspended;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * How a task has others work for it: a child is a task like any other, with a share of what its parent has left. Its
 * answer is the result of the tool call that started it, or, in the background, news before the parent's next model
 * call.
 */
final class Delegation {

    private Delegation() {}

    static Acting spawn(Acting s, Plan.CallStep step, ToolCall.Spawn spawn, long nowMs, List<Effect> effects) {
        TaskContext context = s.context();
        int maxDepth = context.limits().maxCausalDepth();
        if (context.causalDepth() >= maxDepth) {
            return Steps.refuse(
                    s,
                    step,
                    "causal_depth_limit",
                    "At most " + maxDepth + " tasks may lead to a task, and " + context.causalDepth()
                            + " led to this one: it can start none",
                    effects);
        }
        Optional<TaskLimits> share = share(s, nowMs);
        if (share.isEmpty()) {
            return nothingLeft(s, step, effects);
        }
        String childId = Children.idOf(step.callId());
        ToolCall.Errand errand = spawn.errand();
        TaskLimits limits = errand == null ? share.get() : share.get().livingAtMost(errand.timeoutMs());
        effects.add(new StartChild(
                step.callId(), childId, spawn.taskType(), spawn.input(), spawn.background(), limits, errand));
        if (spawn.background()) {
            effects.add(new FollowUp(
                    new Fact.ChildAccepted(step.callId(), step.toolName(), childId, errand == null ? null : childId)));
        }
        return started(s, step, childId, spawn.background(), limits);
    }

    /** It is asked to end; that it has ended is told like any other end. */
    static Acting stop(Acting s, Plan.CallStep step, ToolCall.Stop stop, List<Effect> effects) {
        boolean works = s.context().children().out().stream()
                .anyMatch(child -> child.background() && child.taskId().equals(stop.taskId()));
        if (!works) {
            return Steps.refuse(
                    s,
                    step,
                    "unknown_task",
                    "Task " + stop.taskId() + " is none that works for this one in the background",
                    effects);
        }
        effects.add(new CancelChild(stop.taskId(), "stopped by the task that started it"));
        effects.add(new FollowUp(new Fact.ChildStopping(step.callId(), step.toolName(), stop.taskId())));
        return new Acting(s.context(), s.plan().with(step, Requested.OF_NOBODY));
    }

    static Acting resume(Acting s, Plan.CallStep step, ToolCall.Resume resume, long nowMs, List<Effect> effects) {
        Optional<TaskLimits> share = share(s, nowMs);
        if (share.isEmpty()) {
            return nothingLeft(s, step, effects);
        }
        effects.add(new ResumeChild(step.callId(), resume.taskId(), resume.input(), share.get()));
        return started(s, step, resume.taskId(), false, share.get());
    }

    private static Acting started(Acting s, Plan.CallStep step, String childId, boolean background, TaskLimits share) {
        Child child = new Child(childId, step.callId(), background, share.maxTokens(), share.maxCostMicros());
        return new Acting(
                s.context().with(s.context().children().started(child)),
                s.plan().with(step, background ? Requested.OF_NOBODY : new Delegated(childId)));
    }

    private static Acting nothingLeft(Acting s, Plan.CallStep step, List<Effect> effects) {
        return Steps.refuse(
                s,
                step,
                "token_limit",
                "Nothing is left of the task's tokens, cost or life time that a sub-task could use",
                effects);
    }

    /**
     * What the next child may use: of what is left, an equal share for each child that is about to be started and one
     * for the task itself, which has to work with their answers. Empty = nothing is left.
     */
    private static Optional<TaskLimits> share(Acting s, long nowMs) {
        TaskContext context = s.context();
        TaskLimits limits = context.limits();
        Children children = context.children();
        long shares = 1
                + s.plan().startable().stream().filter(Delegation::startsChild).count();
        long tokens = Steps.left(limits.maxTokens(), context.usage().total(), children.tokens());
        long cost = Steps.left(limits.maxCostMicros(), context.usage().costMicros(), children.costMicros());
        long expiresAtMs = context.budget().expiresAtMs();
        long lifeMs = expiresAtMs == Deadlines.NEVER ? TaskLimits.NONE : expiresAtMs - nowMs;
        if (part(tokens, shares) < 1 || part(cost, shares) < 1 || lifeMs < 1) {
            return Optional.empty();
        }
        return Optional.of(new TaskLimits(
                Integer.MAX_VALUE,
                Integer.MAX_VALUE,
                TaskLimits.NONE,
                part(tokens, shares),
                part(cost, shares),
                lifeMs,
                limits.maxCausalDepth()));
    }

    private static boolean startsChild(Plan.CallStep step) {
        return step.standing() instanceof Plan.Held held
                && (held.route() instanceof ToolCall.Spawn || held.route() instanceof ToolCall.Resume);
    }

    private static long part(long whole, long shares) {
        return whole == TaskLimits.NONE ? TaskLimits.NONE : whole / shares;
    }

    /** It has answered while children work in the background: it tells its owner so much, and waits for them. */
    static Transition answeredTooEarly(Acting s, @Nullable String response) {
        List<Effect> effects = new ArrayList<>();
        if (response != null && !response.isBlank()) {
            effects.add(new Publish(new Fact.Notified(response)));
        }
        return goOnIfChildrenAreIn(Suspended.forChildren(s), effects);
    }

    /** A suspended task goes on when nothing but children kept it from that, and they have ended. */
    static Transition goOnIfChildrenAreIn(Suspended s, List<Effect> earlier) {
        List<Effect> effects = new ArrayList<>(earlier);
        if (s.waitsFor().isPresent()) {
            return new Transition(s, effects);
        }
        effects.add(new RequestAdmission());
        return new Transition(s.goingOn(Continuation.ON), effects);
    }

    /** A child in the background has ended, whatever the task does at the moment. */
    static Transition ended(Active s, ChildEnded e) {
        return told(s.context(), e).map(context -> to(s.with(context))).orElseGet(() -> stay(s, e, STALE_CALL));
    }

    static Transition ended(Suspended s, ChildEnded e) {
        return told(s.context(), e)
                .map(context -> goOnIfChildrenAreIn(s.from(s.from().with(context)), List.of()))
                .orElseGet(() -> stay(s, e, STALE_CALL));
    }

    private static Optional<TaskContext> told(TaskContext context, ChildEnded e) {
        Children children = context.children();
        return children.out().stream()
                        .anyMatch(child -> child.background() && child.callId().equals(e.callId()))
                ? Optional.of(
                        context.used(e.usage()).with(children.ended(e.callId()).told(e.news())))
                : Optional.empty();
    }

    /** Nobody waits for any child any more. */
    static List<Effect> cancelAll(TaskContext context, String reason) {
        return context.children().out().stream()
                .<Effect>map(child -> new CancelChild(child.taskId(), reason))
                .toList();
    }

    /** Nobody waits any more for the children whose answers would be results of the plan's calls. */
    static Active interrupted(Suspended s, List<Effect> effects) {
        Active from = s.from();
        TaskContext context = from.context();
        for (Child child : context.children().out()) {
            if (!child.background()) {
                effects.add(new CancelChild(child.taskId(), "interrupted by the user"));
                context = context.with(context.children().ended(child.callId()));
            }
        }
        return from.with(context);
    }

    static List<Effect> cancelAll(Existing s, String reason) {
        return cancelAll(s.context(), reason);
    }
}
