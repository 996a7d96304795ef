package dev.millrace.knowledge.index;

import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * What is looked for.
 *
 * @param namespace nothing of another one is ever found
 * @param collection {@code null} = all of the namespace
 * @param text in words
 * @param limit at most so many hits, 1 to {@value #MAX_LIMIT}
 * @param threshold chunks that are less similar are not found by their vectors; {@code null} = as the model has it
 */
public record IndexQuestion(
        String namespace,
        @Nullable String collection,
        String text,
        int limit,
        Mode mode,
        @Nullable Double threshold) {

    /** The most hits. */
    public static final int MAX_LIMIT = 50;

    /** How it is looked for. */
    public enum Mode {
        /** By words and by meaning, by the rank in both. */
        HYBRID,
        /** By words alone (BM25). */
        TEXT,
        /** By meaning alone. */
        VECTOR;

        /** Its name in requests. */
        public String wireName() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    public IndexQuestion {
        if (limit < 1 || limit > MAX_LIMIT) {
            throw new IllegalArgumentException("limit: expected 1 to " + MAX_LIMIT + ", found " + limit);
        }
        if (text.isBlank()) {
            throw new IllegalArgumentException("query: expected a text that is not blank");
        }
    }
}
