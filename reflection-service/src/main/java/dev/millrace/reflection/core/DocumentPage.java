package dev.millrace.reflection.core;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** What {@code memory_list} returns: documents by path, a page at a time. */
final class DocumentPage {

    /** Documents of a page if the call does not say how many. */
    static final int DEFAULT_LIMIT = 200;
    /** The most that a call may ask for. */
    static final int MAX_LIMIT = 1_000;
    /**
     * Characters of paths and summaries of a page; it ends before the document that would pass it. In the worst
     * encoding that is a quarter of a megabyte.
     */
    static final int MAX_CHARS = 40_000;

    /** What a document takes beside its path and its summary. */
    private static final int FRAME = 40;

    private static final Pattern CURSOR = Pattern.compile("([0-9]{1,9}) (.+)");

    /**
     * Where a page begins.
     *
     * @param shown how many documents were on the pages before, as they were then
     * @param after the last of them; {@code null} = this is the first page
     */
    private record Start(long shown, @Nullable MemoryPath after) {}

    /** What stands on a page. */
    sealed interface Item {}

    /** A document. */
    record Listed(String path, String summary, long size) implements Item {}

    /** How many documents are left, and the cursor that gives the next page. */
    record Rest(long more, String cursor) implements Item {}

    private DocumentPage() {}

    static List<Item> of(Map<String, ? extends @Nullable Object> params, Documents documents) throws MemoryException {
        int limit = limit(params.get("limit"));
        Start start = start(params.get("cursor"));
        List<Item> page = new ArrayList<>();
        int[] chars = {0};
        boolean[] complete = {true};
        @Nullable MemoryPath[] last = {null};
        documents.each(start.after(), document -> {
            String summary = Markdown.summary(document.content());
            chars[0] += document.path().text().length() + summary.length() + FRAME;
            complete[0] = page.size() < limit && (page.isEmpty() || chars[0] <= MAX_CHARS);
            if (complete[0]) {
                page.add(new Listed(document.path().text(), summary, Markdown.size(document.content())));
                last[0] = document.path();
            }
            return complete[0];
        });
        if (!complete[0]) {
            long shown = start.shown() + page.size();
            page.add(new Rest(Math.max(1, documents.extent().documents() - shown), shown + " " + last[0]));
        }
        return page;
    }

    private static int limit(@Nullable Object given) throws MemoryException {
        if (given == null) {
            return DEFAULT_LIMIT;
        }
        if (given instanceof Integer limit && limit >= 1 && limit <= MAX_LIMIT) {
            return limit;
        }
        throw new MemoryException(
                "invalid_arguments", "limit: expected a whole number from 1 to " + MAX_LIMIT + ", found another value");
    }

    private static Start start(@Nullable Object given) throws MemoryException {
        if (given == null || "".equals(given)) {
            return new Start(0, null);
        }
        Matcher cursor = CURSOR.matcher(given instanceof String text ? text : "");
        if (!cursor.matches()) {
            throw new MemoryException(
                    "invalid_arguments",
                    "cursor: expected what memory_list said for the next page, found another value");
        }
        return new Start(Long.parseLong(cursor.group(1)), MemoryPath.parse(cursor.group(2)));
    }
}
