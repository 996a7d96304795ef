package dev.millrace.reflection.core;

import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * What a person wants a document to be, and how it has to be before.
 *
 * @param content the whole document; {@code null} = it is to be gone
 */
public record Edit(MemoryPath path, @Nullable String content, Condition condition) {

    /** Code of a refusal: the document is not there, and is to be taken away. */
    public static final String NOT_FOUND = "document_not_found";
    /** Code of a refusal: the document is not as it has to be. */
    public static final String PRECONDITION_FAILED = "precondition_failed";

    /**
     * How a document has to be; each part for itself, and all of them together. What a tag is only the caller knows.
     *
     * @param exists whether it has to be there; {@code null} = either will do
     * @param anyOf it has to be there with one of these tags; {@code null} = any will do
     * @param noneOf it must not have one of these tags
     */
    public record Condition(
            @Nullable Boolean exists, @Nullable Set<String> anyOf, Set<String> noneOf) {

        public Condition {
            anyOf = anyOf == null ? null : Set.copyOf(anyOf);
            noneOf = Set.copyOf(noneOf);
        }

        /** Whether a document of this tag is as it has to be; {@code null} = it is not there. */
        public boolean holds(@Nullable String tag) {
            return (exists == null || exists == (tag != null))
                    && (anyOf == null || (tag != null && anyOf.contains(tag)))
                    && (tag == null || !noneOf.contains(tag));
        }
    }

    /**
     * Judges the edit. What would be refused whatever the condition is comes before the condition, as HTTP has it.
     *
     * @param tag of the document as it is; {@code null} = it is not there
     * @throws MemoryException {@link #NOT_FOUND}, {@code document_too_large} or {@link #PRECONDITION_FAILED}
     */
    public void check(@Nullable String tag) throws MemoryException {
        if (content == null && tag == null) {
            throw new MemoryException(NOT_FOUND, "No document " + path + " in memory");
        }
        if (content != null) {
            MemoryTools.change(path, content);
        }
        if (!condition.holds(tag)) {
            throw new MemoryException(PRECONDITION_FAILED, path + " is not as it has to be for this edit");
        }
    }
}
