package dev.millrace.agent.core;

/**
 * What one task may use; chosen when it starts. A task that reaches a limit ends as {@link TaskState.Failed} with an
 * error that names the limit, its value and the use.
 *
 * @param maxIterations model calls since the start or the last resume of a completed task, 1 or more
 * @param maxToolCallsPerStep tool calls in one reply of the model, 1 or more
 * @param maxTranscriptChars characters of all messages and tool results together that the model is shown, 1 or more;
 *     what a summary stands for does not count any more
 * @param maxTokens input and output tokens of all model calls together, 1 or more
 * @param maxCostMicros cost of all model calls together in millionths of a US dollar, 1 or more; the largest number =
 *     none
 * @param maxLifeTimeMs milliseconds from the start, or the last resume of a completed task, to the end, 1 or more
 * @param maxCausalDepth how many tasks may lead to this one, each starting the next, 1 or more
 */
public record TaskLimits(
        int maxIterations,
        int maxToolCallsPerStep,
        long maxTranscriptChars,
        long maxTokens,
        long maxCostMicros,
        long maxLifeTimeMs,
        int maxCausalDepth) {

    /** A limit that is none. */
    public static final long NONE = Long.MAX_VALUE;

    /** No limits at all: what {@link #atMost} leaves as it is. */
    public static final TaskLimits UNLIMITED =
            new TaskLimits(Integer.MAX_VALUE, Integer.MAX_VALUE, NONE, NONE, NONE, NONE, Integer.MAX_VALUE);

    /**
     * What holds when nothing is configured: 10 iterations, 32 tool calls, 4 million characters, 2 million tokens,
     * any cost, 7 days, depth 8.
     */
    public static final TaskLimits DEFAULT = new TaskLimits(10, 32, 4_000_000, 2_000_000, NONE, 604_800_000, 8);

    public TaskLimits {
        requirePositive("max-iterations", maxIterations);
        requirePositive("max-tool-calls-per-step", maxToolCallsPerStep);
        requirePositive("max-transcript-chars", maxTranscriptChars);
        requirePositive("max-tokens", maxTokens);
        requirePositive("max-cost-micros", maxCostMicros);
        requirePositive("max-life-time", maxLifeTimeMs);
        requirePositive("max-causal-depth", maxCausalDepth);
    }

    /** The smaller of each limit: these, narrowed by what an agent or a parent task allows. */
    public TaskLimits atMost(TaskLimits other) {
        return new TaskLimits(
                Math.min(maxIterations, other.maxIterations),
                Math.min(maxToolCallsPerStep, other.maxToolCallsPerStep),
                Math.min(maxTranscriptChars, other.maxTranscriptChars),
                Math.min(maxTokens, other.maxTokens),
                Math.min(maxCostMicros, other.maxCostMicros),
                Math.min(maxLifeTimeMs, other.maxLifeTimeMs),
                Math.min(maxCausalDepth, other.maxCausalDepth));
    }

    /** The same for a task that may live no longer than this, in milliseconds. */
    TaskLimits livingAtMost(long lifeTimeMs) {
        return new TaskLimits(
                maxIterations,
                maxToolCallsPerStep,
                maxTranscriptChars,
                maxTokens,
                maxCostMicros,
                Math.min(maxLifeTimeMs, lifeTimeMs),
                maxCausalDepth);
    }

    /** The same, but for tokens, cost and life time, of which a task that has used so much may use so much more. */
    TaskLimits after(Usage used, TaskLimits more) {
        return new TaskLimits(
                maxIterations,
                maxToolCallsPerStep,
                maxTranscriptChars,
                more.maxTokens == NONE ? maxTokens : Deadlines.after(used.total(), more.maxTokens),
                more.maxCostMicros == NONE ? maxCostMicros : Deadlines.after(used.costMicros(), more.maxCostMicros),
                more.maxLifeTimeMs == NONE ? maxLifeTimeMs : more.maxLifeTimeMs,
                maxCausalDepth);
    }

    private static void requirePositive(String key, long value) {
        if (value < 1) {
            throw new IllegalArgumentException("millrace.agent.task." + key + ": expected 1 or more, found " + value);
        }
    }
}
