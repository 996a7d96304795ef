package dev.millrace.reflection.core;

import org.jspecify.annotations.Nullable;

/** The documents of one namespace as they are now. */
public interface Documents {

    /**
     * One of them.
     *
     * @param updatedAtMs when it was changed, in Unix milliseconds
     */
    record Document(MemoryPath path, String content, long updatedAtMs) {}

    /**
     * How much there is.
     *
     * @param documents how many
     * @param bytes of their contents, as UTF-8
     */
    record Extent(long documents, long bytes) {

        /** Nothing at all. */
        public static final Extent NONE = new Extent(0, 0);

        /** The same with so much more, or less. */
        public Extent plus(long moreDocuments, long moreBytes) {
            return new Extent(documents + moreDocuments, bytes + moreBytes);
        }
    }

    /** Takes documents one by one. */
    @FunctionalInterface
    interface Taker {
        /** Whether it takes the next one, too. */
        boolean take(Document document);
    }

    /** The content of one; {@code null} = there is none. */
    @Nullable
    String content(MemoryPath path);

    /**
     * Hands them over by path, for as long as the taker goes on. No more than one is in memory at a time.
     *
     * @param after only those behind this path; {@code null} = from the first on
     */
    void each(@Nullable MemoryPath after, Taker taker);

    /** How much there is, without reading it. */
    Extent extent();
}
