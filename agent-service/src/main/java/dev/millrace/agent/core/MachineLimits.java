package dev.millrace.agent.core;

/**
 * What the machine is told from outside.
 *
 * @param task what each task may use, unless its agent or its parent allows less
 * @param maxSessionTokens tokens of all tasks of one session together, 1 or more; {@link TaskLimits#NONE} = no limit
 * @param maxSessionCostMicros the same for cost, in millionths of a US dollar
 * @param modelCallTimeoutMs how long a task waits for a model's reply, in milliseconds, 1 or more; longer than the
 *     caller of models may take, so that its own answer comes first
 * @param toolCallGraceMs how long a task waits for a tool's result beyond the tool's own time-out, in milliseconds, 1
 *     or more: queues, retries and the takeover of what a dead worker held lie in it
 * @param compaction when a conversation is compacted
 */
public record MachineLimits(
        TaskLimits task,
        long maxSessionTokens,
        long maxSessionCostMicros,
        long modelCallTimeoutMs,
        long toolCallGraceMs,
        ContextWindow.Rules compaction) {

    /**
     * What holds when nothing is configured: no limits per session, 15 minutes for models, 10 minutes of grace for
     * tools.
     */
    public static final MachineLimits DEFAULT = of(TaskLimits.DEFAULT);

    public MachineLimits {
        requirePositive("session.max-tokens", maxSessionTokens);
        requirePositive("session.max-cost-micros", maxSessionCostMicros);
        requirePositive("task.model-call-timeout", modelCallTimeoutMs);
        requirePositive("task.tool-call-grace", toolCallGraceMs);
    }

    /** These limits, with compaction as by default. */
    public MachineLimits(
            TaskLimits task,
            long maxSessionTokens,
            long maxSessionCostMicros,
            long modelCallTimeoutMs,
            long toolCallGraceMs) {
        this(
                task,
                maxSessionTokens,
                maxSessionCostMicros,
                modelCallTimeoutMs,
                toolCallGraceMs,
                ContextWindow.Rules.DEFAULT);
    }

    /** These limits of a task, the rest as by default. */
    public static MachineLimits of(TaskLimits task) {
        return new MachineLimits(task, TaskLimits.NONE, TaskLimits.NONE, 900_000, 600_000);
    }

    private static void requirePositive(String key, long value) {
        if (value < 1) {
            throw new IllegalArgumentException("millrace.agent." + key + ": expected 1 or more, found " + value);
        }
    }
}
