package dev.millrace.reflection.core;

import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The memory tools: what a call returns, and what it changes. Equal arguments give equal results. */
public final class MemoryTools {

    /** The largest document of facts, in bytes: many of them are read before each reflection. */
    public static final long MAX_FACTS_BYTES = 15 * 1024;
    /** The largest document of episodes, in bytes: it is read as one result of a tool. */
    public static final long MAX_EPISODES_BYTES = 100 * 1024;

    /** Lists documents. */
    public static final String LIST = "memory_list";
    /** Reads one. */
    public static final String READ = "memory_read";
    /** Writes one whole. */
    public static final String WRITE = "memory_write";
    /** Replaces a text in one. */
    public static final String PATCH = "memory_patch";
    /** Adds to the end of one. */
    public static final String APPEND = "memory_append";

    /** All of them. */
    public static final Set<String> NAMES = Set.of(LIST, READ, WRITE, PATCH, APPEND);

    private MemoryTools() {}

    /**
     * What came of a call.
     *
     * @param result for the model: a text, or records to be written as JSON
     * @param change what is to be written; {@code null} = nothing
     */
    public record Outcome(@Nullable Object result, @Nullable Change change) {}

    /** What the model is told of a document that was written. */
    record Written(String path, long size) {}

    /** A document that has this content from now on. */
    public record Change(MemoryPath path, String content) {}

    /**
     * Works out a call. Changes nothing itself.
     *
     * @param params JSON values, as a model gave them
     * @throws MemoryException if memory says no, in words for the model
     */
    public static Outcome call(String tool, Map<String, ? extends @Nullable Object> params, Documents documents)
            throws MemoryException {
        return switch (tool) {
            case LIST -> new Outcome(DocumentPage.of(params, documents), null);
            case READ -> new Outcome(read(path(params), documents), null);
            case WRITE -> changed(path(params), text(params, "content"));
            case PATCH -> patch(params, documents);
            case APPEND -> append(params, documents);
            default -> throw new MemoryException("tool_not_found", "Tool \"" + tool + "\" not found");
        };
    }

    /**
     * Checks that a document may have this content.
     *
     * @throws MemoryException {@code document_too_large} if not
     */
    public static Change change(MemoryPath path, String content) throws MemoryException {
        long size = Markdown.size(content);
        long limit = path.isFact() ? MAX_FACTS_BYTES : MAX_EPISODES_BYTES;
        if (size > limit) {
            throw new MemoryException(
                    "document_too_large",
                    path + " would have " + Markdown.shownSize(size) + ", and may have at most "
                            + Markdown.shownSize(limit) + ". Nothing was written. Condense it: "
                            + (path.isFact()
                                    ? "write the whole document anew with memory_write, merge what belongs together,"
                                            + " leave out what is outdated or can be found elsewhere, and keep what is"
                                            + " still true and of use."
                                    : "keep an entry to what would help the next time."));
        }
        return new Change(path, content);
    }

    private static String read(MemoryPath path, Documents documents) throws MemoryException {
        String content = documents.content(path);
        if (content == null) {
            throw new MemoryException(
                    "document_not_found", "No document " + path + " in memory; memory_list shows those that there are");
        }
        return content;
    }

    private static Outcome patch(Map<String, ? extends @Nullable Object> params, Documents documents)
            throws MemoryException {
        MemoryPath path = path(params);
        String oldText = text(params, "old_str");
        String newText = text(params, "new_str");
        if (oldText.isEmpty()) {
            throw new MemoryException("invalid_arguments", "old_str: expected a text, found an empty one");
        }
        String content = read(path, documents);
        int at = content.indexOf(oldText);
        if (at < 0) {
            throw new MemoryException("string_not_found", "String not found in " + path);
        }
        if (content.indexOf(oldText, at + 1) >= 0) {
            throw new MemoryException(
                    "string_not_unique",
                    "String appears multiple times in " + path + " — provide more context to make it unique");
        }
        return changed(path, content.substring(0, at) + newText + content.substring(at + oldText.length()));
    }

    private static Outcome append(Map<String, ? extends @Nullable Object> params, Documents documents)
            throws MemoryException {
        MemoryPath path = path(params);
        String entry = text(params, "entry");
        Object summary = params.get("summary");
        String before = documents.content(path);
        StringBuilder content = new StringBuilder(before == null ? "" : before);
        if (!content.isEmpty() && content.charAt(content.length() - 1) != '\n') {
            content.append('\n');
        }
        content.append(entry);
        if (!entry.endsWith("\n")) {
            content.append('\n');
        }
        String appended = content.toString();
        return changed(
                path,
                summary instanceof String line && !line.isBlank() ? Markdown.withSummary(appended, line) : appended);
    }

    private static Outcome changed(MemoryPath path, String content) throws MemoryException {
        Change change = change(path, content);
        return new Outcome(new Written(path.text(), Markdown.size(content)), change);
    }

    private static MemoryPath path(Map<String, ? extends @Nullable Object> params) throws MemoryException {
        return MemoryPath.parse(text(params, "path"));
    }

    private static String text(Map<String, ? extends @Nullable Object> params, String name) throws MemoryException {
        if (params.get(name) instanceof String text) {
            return text;
        }
        throw new MemoryException(
                "invalid_arguments",
                name + ": expected a text, found " + (params.get(name) == null ? "none" : "something else"));
    }
}
