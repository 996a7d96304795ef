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

    /** The sum. */
    public Usage plus(Usage other) {
        return new Usage(inputTokens + other.inputTokens, outputTokens + other.outputTokens);
    }

    /** Input and output together. */
    public long total() {
        return inputTokens + outputTokens;
    }
}
