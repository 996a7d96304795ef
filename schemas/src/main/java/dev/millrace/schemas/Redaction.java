package dev.millrace.schemas;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.TreeMap;

/**
 * What an operator does not want to be told of outside of tasks, as patterns with names: each part of a text that
 * matches one is replaced by {@code [redacted:NAME]}. Patterns are applied one after the other, by name. What tasks
 * work with is not concerned: lanes, journal, stores, and what users are answered. Immutable.
 */
public final class Redaction {

    /** Before the name of a pattern, among settings. */
    public static final String PREFIX = "millrace.redaction.patterns.";

    /** Redacts nothing. */
    public static final Redaction NONE = new Redaction(Map.of());

    private final Map<String, LinearPattern> patterns;

    private Redaction(Map<String, LinearPattern> patterns) {
        this.patterns = patterns;
    }

    /**
     * What the keys that begin with {@link #PREFIX} say; all others are passed over.
     *
     * @throws IllegalArgumentException if a pattern cannot be used; the message begins with the key
     */
    public static Redaction of(Map<String, ?> settings) {
        Map<String, String> patterns = new TreeMap<>();
        settings.forEach((key, value) -> {
            if (key.startsWith(PREFIX)) {
                patterns.put(key.substring(PREFIX.length()), String.valueOf(value));
            }
        });
        return named(patterns);
    }

    /**
     * These patterns, by name.
     *
     * @throws IllegalArgumentException as {@link #of} does
     */
    public static Redaction named(Map<String, String> regexes) {
        Map<String, LinearPattern> patterns = new TreeMap<>();
        regexes.forEach((name, regex) -> patterns.put("[redacted:" + name + ']', pattern(PREFIX + name, regex)));
        return patterns.isEmpty() ? NONE : new Redaction(patterns);
    }

    private static LinearPattern pattern(String key, String regex) {
        LinearPattern pattern;
        try {
            pattern = LinearPattern.of(regex);
        } catch (IllegalArgumentException e) {
            // without the cause: whoever started the service is shown the innermost message, which does not name the
            // key
            throw new IllegalArgumentException(key + ": expected a regular expression in RE2's syntax, found \"" + regex
                    + "\": " + e.getMessage());
        }
        if (pattern.isIn("")) {
            throw new IllegalArgumentException(key
                    + ": expected a pattern that matches something, found one that matches the empty text: " + regex);
        }
        return pattern;
    }

    /** Whether there is no pattern. */
    public boolean isEmpty() {
        return patterns.isEmpty();
    }

    /** A text without what matches. */
    public String text(String text) {
        String left = text;
        for (Map.Entry<String, LinearPattern> pattern : patterns.entrySet()) {
            left = pattern.getValue().replaced(left, pattern.getKey());
        }
        return left;
    }

    /**
     * JSON without what matches: in each text, in the names of fields, and in each number as it is written, which
     * becomes a text then.
     */
    public JsonNode json(JsonNode json) {
        if (patterns.isEmpty()) {
            return json;
        }
        return switch (json) {
            case ObjectNode object -> {
                ObjectNode left = object.objectNode();
                object.properties().forEach(field -> left.set(text(field.getKey()), json(field.getValue())));
                yield left;
            }
            case ArrayNode array -> {
                ArrayNode left = array.arrayNode();
                array.forEach(element -> left.add(json(element)));
                yield left;
            }
            default -> {
                String text = json.isTextual() || json.isNumber() ? json.asText() : "";
                String left = text(text);
                yield left.equals(text) ? json : Json.MAPPER.getNodeFactory().textNode(left);
            }
        };
    }

    /** A text without what matches, which stays JSON if it is some. The same one if nothing matches. */
    public String content(String content) {
        if (patterns.isEmpty()) {
            return content;
        }
        try {
            JsonNode json = Json.MAPPER.readTree(content);
            JsonNode left = json(json);
            return left.equals(json) ? content : Json.MAPPER.writeValueAsString(left);
        } catch (JsonProcessingException e) {
            return text(content);
        }
    }

    /**
     * The same for bytes, UTF-8 or what may be read as Latin-1. The same array if nothing matches.
     *
     * @param content stays as it is
     */
    public byte[] content(byte[] content) {
        if (patterns.isEmpty()) {
            return content;
        }
        Charset charset = isUtf8(content) ? StandardCharsets.UTF_8 : StandardCharsets.ISO_8859_1;
        String text = new String(content, charset);
        String left = content(text);
        return left.equals(text) ? content : left.getBytes(charset);
    }

    private static boolean isUtf8(byte[] content) {
        try {
            StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(content));
            return true;
        } catch (CharacterCodingException e) {
            return false;
        }
    }
}
