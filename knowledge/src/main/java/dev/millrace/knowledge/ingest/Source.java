package dev.millrace.knowledge.ingest;

import dev.millrace.schemas.Payload;
import java.util.Locale;

/**
 * Where a document is.
 *
 * @param text as it was asked for
 */
public record Source(String text) {

    /** What a source that is the text itself begins with. */
    public static final String TEXT = "text://";

    /** What the source of a document that somebody has sent begins with. */
    public static final String UPLOAD = "upload://";

    private static final int MAX_SHOWN = 200;

    /** Whether it is the text itself. */
    public boolean isText() {
        return text.startsWith(TEXT);
    }

    /** Whether it is on the network. */
    public boolean isUrl() {
        String lower = text.toLowerCase(Locale.ROOT);
        return lower.startsWith("http://") || lower.startsWith("https://");
    }

    /** The id of the document from here in a collection: the same for the same source. */
    public String documentId(String collection) {
        return Payload.RagIngest.documentId(collection, text);
    }

    /** What is shown of it. */
    public String shown() {
        if (!isText()) {
            return text;
        }
        String line = text.replaceAll("\\s+", " ");
        if (line.length() <= MAX_SHOWN) {
            return line;
        }
        int end = Character.isHighSurrogate(line.charAt(MAX_SHOWN - 1)) ? MAX_SHOWN - 1 : MAX_SHOWN;
        return line.substring(0, end) + '…';
    }
}
