package dev.millrace.llm.scripted;

import com.fasterxml.jackson.annotation.JacksonInject;
import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonProperty;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * How a reply is streamed.
 *
 * @param chars characters of one piece, 1 or more
 * @param pause between two pieces
 */
record Chunking(int chars, Duration pause) {

    /** A few words at a time, without a pause. */
    static final Chunking DEFAULT = new Chunking(16, Duration.ZERO);

    /** As the script says as a whole, except for what is said here. */
    @JsonCreator
    static Chunking read(
            @JsonProperty("chunkChars") @Nullable Integer chars,
            @JsonProperty("chunkMs") @Nullable Integer millis,
            @JacksonInject Script.Context context) {
        if (chars != null && chars == 0) {
            throw new ScriptYaml.WrongKeyException("chunkChars", "expected 1 or more, found 0");
        }
        return new Chunking(
                Objects.requireNonNullElse(chars, context.chunking().chars()),
                millis == null ? context.chunking().pause() : Duration.ofMillis(millis));
    }

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
