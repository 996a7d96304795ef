package dev.millrace.llm.scripted;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/**
 * How a reply is streamed.
 *
 * @param chars characters of one piece, 1 or more
 * @param pause between two pieces
 */
record Chunking(int chars, Duration pause) {

    /** A few words at a time, without a pause. */
    static final Chunking DEFAULT = new Chunking(16, Duration.ZERO);

    /** The text in pieces; a character outside the basic plane is never cut in two. */
    List<String> pieces(String text) {
        List<String> pieces = new ArrayList<>();
        int from = 0;
        while (from < text.length()) {
            int to = Math.min(text.length(), from + chars);
            if (to < text.length() && Character.isLowSurrogate(text.charAt(to))) {
                to++;
            }
            pieces.add(text.substring(from, to));
            from = to;
        }
        return pieces;
    }
}
