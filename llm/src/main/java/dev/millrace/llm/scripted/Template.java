package dev.millrace.llm.scripted;

import com.fasterxml.jackson.annotation.JacksonInject;
import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.TextNode;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * A text with {@code {{paths}}} into the turn. One that is a JSON object stays one, whatever is filled in: within
 * quotes it is escaped, elsewhere it becomes a JSON value.
 */
final class Template {

    private final List<Part> parts;

    private Template(List<Part> parts) {
        this.parts = parts;
    }

    private sealed interface Part {}

    private record Literal(String text) implements Part {}

    private record Filled(Placeholder placeholder, Place place) implements Part {}

    /** What stands around a placeholder. */
    private enum Place {
        TEXT,
        /** The quotes of a text in a JSON object. */
        JSON_TEXT,
        /** A JSON object, at a place for a value. */
        JSON_VALUE
    }

    /** A placeholder that leads nowhere; the message says which and why. */
    static final class UnresolvedException extends Exception {
        UnresolvedException(String message) {
            super(message);
        }
    }

    /**
     * Reads a template.
     *
     * @param user the pattern whose groups {@code user.…} may name; null = none
     * @throws IllegalArgumentException if a placeholder can never lead anywhere, or a filter is none; the message says
     *     why
     */
    static Template parse(String text, @Nullable Pattern user) {
        List<Part> parts = new ArrayList<>();
        Matcher matcher = Placeholder.in(text);
        int from = 0;
        while (matcher.find()) {
            if (matcher.start() > from) {
                parts.add(new Literal(text.substring(from, matcher.start())));
            }
            parts.add(new Filled(Placeholder.read(matcher, user), Place.TEXT));
            from = matcher.end();
        }
        if (from < text.length() || parts.isEmpty()) {
            parts.add(new Literal(text.substring(from)));
        }
        return new Template(inPlace(parts));
    }

    /** A template of a script, or, if the rule is literal, a text that says what it says, whatever braces it has. */
    @JsonCreator(mode = JsonCreator.Mode.DELEGATING)
    static Template read(String text, @JacksonInject Script.Context context) {
        return context.literal() ? new Template(List.of(new Literal(text))) : parse(text, context.user());
    }

    /** The same parts, with their places if together they are a JSON object. */
    private static List<Part> inPlace(List<Part> parts) {
        List<Part> placed = new ArrayList<>();
        StringBuilder sample = new StringBuilder();
        boolean quoted = false;
        for (Part part : parts) {
            switch (part) {
                case Literal literal -> {
                    quoted = endsQuoted(literal.text(), quoted);
                    sample.append(literal.text());
                    placed.add(literal);
                }
                case Filled(Placeholder placeholder, Place any) -> {
                    sample.append(quoted ? "" : "null");
                    placed.add(new Filled(placeholder, quoted ? Place.JSON_TEXT : Place.JSON_VALUE));
                }
            }
        }
        return List.copyOf(ScriptResults.isJsonObject(sample.toString()) ? placed : parts);
    }

    /** Whether a piece of JSON ends within a text, if it begins within one or not. */
    private static boolean endsQuoted(String json, boolean beginsQuoted) {
        boolean quoted = beginsQuoted;
        for (int i = 0; i < json.length(); i++) {
            if (json.charAt(i) == '"') {
                quoted = !quoted;
            } else if (quoted && json.charAt(i) == '\\') {
                i++;
            }
        }
        return quoted;
    }

    /** The text with everything filled in. */
    String render(Turn turn, @Nullable Matcher user) throws UnresolvedException {
        StringBuilder out = new StringBuilder();
        for (Part part : parts) {
            switch (part) {
                case Literal(String text) -> out.append(text);
                case Filled(Placeholder placeholder, Place place) -> {
                    JsonNode value = placeholder.value(turn, user);
                    out.append(
                            switch (place) {
                                case TEXT -> ScriptResults.asText(value);
                                case JSON_TEXT -> ScriptResults.escaped(value);
                                case JSON_VALUE -> ScriptResults.asJson(value);
                            });
                }
            }
        }
        return out.toString();
    }

    /** As {@link #render}, except that a template that is one placeholder keeps the JSON type of what it leads to. */
    JsonNode value(Turn turn, @Nullable Matcher user) throws UnresolvedException {
        if (parts.size() == 1 && parts.getFirst() instanceof Filled(Placeholder only, Place any)) {
            return only.value(turn, user);
        }
        return TextNode.valueOf(render(turn, user));
    }
}
