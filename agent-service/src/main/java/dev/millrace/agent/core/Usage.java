package dev.millrace.agent.core;

/**
 * Tokens of model calls.
 *
 * @param inputTokens tokens of what the model was given, 0 or more
 * @param outputTokens tokens of what it answered, 0 or more
 */
public record Usage(long inputTokens, long outputTokens) {

    /** No tokens. */
    public static final Usage NONE = new Usage(0, 0);

    public Usage {
        if (inputTokens < 0 || outputTokens < 0) {
            throw new IllegalArgumentException("usage: expected 0 or more tokens, found " + inputTokens + " input and "
                    + outputTokens + " output");
        }
    }

    /** The sum, or the largest number there is: what a reply claims to have used must not turn a limit off. */
    public Usage plus(Usage other) {
        return new Usage(sum(inputTokens, other.inputTokens), sum(outputTokens, other.outputTokens));
    }

    /** Input and output together, or the largest number there is. */
    public long total() {
        return sum(inputTokens, outputTokens);
    }

    private static long sum(long a, long b) {
        long sum = a + b;
        return sum < 0 ? Long.MAX_VALUE : sum; // neither is negative, so a negative sum has overflowed
    }
}
