package dev.millrace.agent.core;

import org.jspecify.annotations.Nullable;

/**
 * About how many tokens a text has, for any model: the provider counts what it is sent, this only bridges what came
 * since. Four characters of English or JSON make a token, two of another alphabet, and one of Chinese, Japanese or
 * Korean.
 */
public final class TokenEstimate {

    /** What a message costs beside its text. */
    static final long PER_MESSAGE = 4;

    private static final int QUARTERS = 4;
    private static final char FIRST_BEYOND_ASCII = 0x80;
    private static final char FIRST_IDEOGRAPHIC = 0x2E80;

    private TokenEstimate() {}

    /** About how many characters so many tokens have. */
    static long charsOf(long tokens) {
        return tokens * QUARTERS;
    }

    /** 0 for no text. */
    public static long of(@Nullable String text) {
        if (text == null) {
            return 0;
        }
        long quarters = 0;
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            quarters += c < FIRST_BEYOND_ASCII ? 1 : c < FIRST_IDEOGRAPHIC ? 2 : QUARTERS;
        }
        return (quarters + QUARTERS - 1) / QUARTERS;
    }
}
