package dev.millrace.llm;

import java.util.Locale;

/** Why a model stopped. */
public enum FinishReason {
    /** It had said everything. */
    STOP,
    /** It waits for the results of its tool calls. */
    TOOL_CALLS,
    /** It ran into a limit of tokens; the text is cut. */
    LENGTH,
    /** The provider's filter stopped it. */
    CONTENT_FILTER,
    /** Anything else, or not said. */
    OTHER;

    private final String wireName = name().toLowerCase(Locale.ROOT);

    /** The name in JSON, lower snake case. */
    public String wireName() {
        return wireName;
    }
}
