package dev.millrace.agent.core;

/**
 * What model calls have used.
 *
 * @param inputTokens tokens of what the model was given, 0 or more
 * @param outputTokens tokens of what it answered, 0 or more
 * @param costMicros what it cost in millionths of a US dollar, 0 or more; 0 also if nobody knows
 */
public record Usage(long inputTokens, long outputTokens, long costMicros) {

    /** Nothing. */
    public static final Usage NONE = new Usage(0, 0, 0);

    public Usage {
        if (inputTokens < 0 || outputTokens < 0 || costMicros < 0) {
            throw new IllegalArgumentException("usage: expected 0 or more, found " + inputTokens + " input tokens, "
                    + outputTokens + " output tokens and " + costMicros + " costMicros");
        }
    }

    /** The sum, or the largest number there is: what a reply claims to have used must not turn a limit off. */
    public Usage plus(Usage other) {
        return new Usage(
                sum(inputTokens, other.inputTokens),
                sum(outputTokens, other.outputTokens),
                sum(costMicros, other.costMicros));
    }

    /** The difference, and nowhere less than nothing. */
    public Usage minus(Usage other) {
        return new Usage(
                Math.max(0, inputTokens - other.inputTokens),
                Math.max(0, outputTokens - other.outputTokens),
                Math.max(0, costMicros - other.costMicros));
    }

    /** Input and output tokens together, or the largest number there is. */
    public long total() {
        return sum(inputTokens, outputTokens);
    }

    private static long sum(long a, long b) {
        long sum = a + b;
        return sum < 0 ? Long.MAX_VALUE : sum; // neither is negative, so a negative sum has overflowed
    }
}
