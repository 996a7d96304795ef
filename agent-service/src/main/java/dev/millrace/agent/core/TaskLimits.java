package dev.millrace.agent.core;

/**
 * What one task may use. A task that reaches a limit ends as {@link TaskState.Failed} with an error that names it.
 *
 * @param maxIterations model calls since the start or the last resume of a completed task, 1 or more (F-075)
 * @param maxToolCallsPerStep tool calls in one reply of the model, 1 or more
 * @param maxTranscriptChars characters of all messages and tool results together, 1 or more
 * @param maxTokens input and output tokens of all model calls together, 1 or more
 */
public record TaskLimits(int maxIterations, int maxToolCallsPerStep, long maxTranscriptChars, long maxTokens) {

    /** What holds when nothing is configured: 10 iterations (F-076), 32 tool calls, 4 million characters, 2 million tokens. */
    public static final TaskLimits DEFAULT = new TaskLimits(10, 32, 4_000_000, 2_000_000);

    public TaskLimits {
        requirePositive("max-iterations", maxIterations);
        requirePositive("max-tool-calls-per-step", maxToolCallsPerStep);
        requirePositive("max-transcript-chars", maxTranscriptChars);
        requirePositive("max-tokens", maxTokens);
    }

    private static void requirePositive(String key, long value) {
        if (value < 1) {
            throw new IllegalArgumentException("millrace.agent.task." + key + ": expected 1 or more, found " + value);
        }
    }
}
