package dev.millrace.knowledge.ingest;

import java.util.concurrent.CancellationException;

/** What one document may come to while it is read. For the thread that reads it. */
final class TextBudget {

    private final int maxChars;
    private long taken;

    /** Of so many characters, 1 or more. */
    TextBudget(int maxChars) {
        this.maxChars = maxChars;
    }

    /**
     * Counts a text, and gives it back.
     *
     * @throws IngestException if it is too much
     * @throws CancellationException if nobody waits any more
     */
    String take(String text) throws IngestException {
        go();
        taken += text.length() + 1L;
        if (taken > maxChars) {
            throw new IngestException(
                    "document_too_large", "expected at most " + maxChars + " characters of text, found more");
        }
        return text;
    }

    /** Goes on if somebody still waits. */
    void go() {
        if (Thread.interrupted()) {
            throw new CancellationException("nobody waits for it");
        }
    }
}
