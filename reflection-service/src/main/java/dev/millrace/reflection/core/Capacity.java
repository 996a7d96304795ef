package dev.millrace.reflection.core;

/**
 * How much a namespace may remember. What is there already may be read, made smaller and taken away, also when it is
 * more than that.
 *
 * @param documents at most so many, 1 or more
 * @param bytes of all contents together, as UTF-8, 1 or more
 */
public record Capacity(long documents, long bytes) {

    /** Code of a refusal: there is no room. */
    public static final String MEMORY_FULL = "memory_full";

    public Capacity {
        if (documents < 1) {
            throw new IllegalArgumentException(
                    "millrace.reflection.max-documents: expected 1 or more, found " + documents);
        }
        if (bytes < 1) {
            throw new IllegalArgumentException("millrace.reflection.max-bytes: expected 1 or more, found " + bytes);
        }
    }

    /**
     * Checks that there is room for a change.
     *
     * @throws MemoryException {@link #MEMORY_FULL} if not
     */
    public void check(Documents.Extent before, Documents.Extent after) throws MemoryException {
        if (after.documents() > documents && after.documents() > before.documents()) {
            throw new MemoryException(
                    MEMORY_FULL,
                    "Memory has " + before.documents() + " documents, and may have at most " + documents
                            + ". Nothing was written. Write into a document that is there; people can take some away.");
        }
        if (after.bytes() > bytes && after.bytes() > before.bytes()) {
            throw new MemoryException(
                    MEMORY_FULL,
                    "Memory would have " + Markdown.shownSize(after.bytes())
                            + " in all documents together, and may have"
                            + " at most " + Markdown.shownSize(bytes) + ". Nothing was written. Condense documents that"
                            + " are there with memory_write; people can take some away.");
        }
    }
}
