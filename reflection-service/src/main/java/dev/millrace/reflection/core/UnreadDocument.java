package dev.millrace.reflection.core;

/** How a document is shown that has not been read yet. */
public final class UnreadDocument {

    private UnreadDocument() {}

    /** {@code - <path> (<size>): <summary>}. */
    public static String line(String path, long bytes, String summary) {
        return "- " + path + " (" + Markdown.shownSize(bytes) + "): " + summary;
    }
}
