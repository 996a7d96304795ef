package dev.millrace.agent.core;

import dev.millrace.agent.core.Effect.FollowUp;
import dev.millrace.agent.core.Plan.Deciding;
import dev.millrace.agent.core.Plan.Requested;
import dev.millrace.agent.core.TaskState.Absent;
import dev.millrace.agent.core.TaskState.Acting;
import dev.millrace.agent.core.TaskState.Active;
import dev.millrace.agent.core.TaskState.Asking;
import dev.millrace.agent.core.TaskState.Completed;
import dev.millrace.agent.core.TaskState.Ended;
import dev.millrace.agent.core.TaskState.Existing;
import dev.millrace.agent.core.TaskState.Idle;
import dev.millrace.agent.core.TaskState.Suspended;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.LongStream;

/** Nothing waits for ever: what of a task can be late, when, and what follows if it is. */
public final class Deadlines {

    /** The moment that does not come. */
    public static final long NEVER = Long.MAX_VALUE;

    private Deadlines() {}

    /**
     * How long somebody has taken answers without a break. After an outage the answers that came meanwhile are still to
     * be read, and calls that broke with it are made again: so nothing that was asked of others is late before it has
     * had its time once more.
     *
     * @param modelCallsFromMs no model call is late before this moment, in Unix milliseconds
     * @param toolCallsFromMs no tool call is
     * @param modelCallTimeoutMs how long a model call may take, in milliseconds
     */
    record Watch(long modelCallsFromMs, long toolCallsFromMs, long modelCallTimeoutMs) {

        /** Since ever. */
        static final Watch UNBROKEN = new Watch(Long.MIN_VALUE, Long.MIN_VALUE, 0);

        static Watch since(long sinceMs, MachineLimits limits) {
            return new Watch(
                    after(sinceMs, limits.modelCallTimeoutMs()),
                    after(sinceMs, limits.toolCallGraceMs()),
                    limits.modelCallTimeoutMs());
        }

        long due(Asking call) {
            return Math.max(call.deadlineMs(), modelCallsFromMs);
        }

        long due(Requested call) {
            return Math.max(call.deadlineMs(), toolCallsFromMs);
        }
    }

    /** So much later, or never if that is too far away to count. */
    static long after(long nowMs, long ms) {
        return ms > NEVER - nowMs ? NEVER : nowMs + ms;
    }

    /** The first moment at which something of this task is late; {@link #NEVER} = nothing of it can be. */
    static long first(TaskState state, Watch watch) {
        return switch (state) {
            case Absent s -> NEVER;
            case Idle s -> Math.min(s.context().budget().expiresAtMs(), s.expiresAtMs());
            case Asking s -> Math.min(s.context().budget().expiresAtMs(), watch.due(s));
            case Acting s -> Math.min(s.context().budget().expiresAtMs(), first(s, watch));
            case Suspended s ->
                Math.min(
                        s.context().budget().expiresAtMs(),
                        switch (s.from()) {
                            case Asking from -> s.awaitsReply() ? watch.due(from) : NEVER;
                            case Acting from -> first(from, watch);
                        });
            case Completed s -> NEVER;
            case Ended s -> NEVER;
        };
    }

    private static long first(Acting s, Watch watch) {
        return s.plan().calls().stream()
                .flatMapToLong(step -> LongStream.of(due(step, watch)))
                .min()
                .orElse(NEVER);
    }

    private static long due(Plan.CallStep step, Watch watch) {
        return switch (step.standing()) {
            case Plan.Held held -> NEVER;
            case Deciding deciding -> deciding.expiresAtMs();
            case Requested requested -> watch.due(requested);
            case Plan.Delegated delegated -> NEVER;
            case Plan.Done done -> NEVER;
        };
    }

    /** What is late by now; empty = nothing. Its answers, which come from elsewhere in vain, are made up here. */
    static List<Effect> late(Active s, boolean awaitsReply, long nowMs, Watch watch) {
        List<Effect> late = new ArrayList<>();
        switch (s) {
            case Asking r -> {
                if (awaitsReply && nowMs >= watch.due(r)) {
                    late.add(new FollowUp(new Fact.ModelTimedOut(r.awaiting(), watch.modelCallTimeoutMs())));
                }
            }
            case Acting a ->
                a.plan().calls().stream()
                        .filter(step -> nowMs >= due(step, watch))
                        .map(Deadlines::answer)
                        .forEach(fact -> late.add(new FollowUp(fact)));
        }
        return late;
    }

    private static Fact.Consequence answer(Plan.CallStep step) {
        return switch (step.standing()) {
            case Requested requested -> new Fact.ToolTimedOut(step.callId(), step.toolName(), requested.timeoutMs());
            case Deciding deciding ->
                new Fact.ApprovalExpired(
                        step.callId(),
                        deciding.run().approval() != null
                                && deciding.run().approval().approveOnExpiry());
            case Plan.Held held -> throw new IllegalStateException("a call is late that nobody was asked for");
            case Plan.Delegated delegated -> throw new IllegalStateException("a child is late that has no deadline");
            case Plan.Done done -> throw new IllegalStateException("a call is late that is done");
        };
    }

    /** Whether the task's life time is over. */
    static boolean outlived(Existing s, long nowMs) {
        return nowMs >= s.context().budget().expiresAtMs();
    }

    static TaskError lifeTimeOver(TaskContext context, long nowMs) {
        long max = context.limits().maxLifeTimeMs();
        return TaskError.taskTimeout(max, after(max, nowMs - context.budget().expiresAtMs()));
    }
}
