package dev.millrace.agent;

import dev.millrace.schemas.Json;
import dev.millrace.schemas.JsonObject;
import dev.millrace.schemas.JsonText;
import java.time.Instant;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * A prompt with fields: {@code {{date}}}, {@code {{namespace}}} and {@code {{input.…}}}, a path into the payload of the
 * event that started the task. {@code {{input.… | otherwise}}} says what stands there if the path leads nowhere or to
 * an empty text or list; without it that is nothing, since much of what an event may say is optional. The values are
 * settled when the task starts and never change, so that a provider's prefix cache holds from its first model call to
 * its last.
 *
 * @param text not blank
 */
public record PromptTemplate(String text) {

    /** The longest value of a field, in characters; what is beyond is cut off. */
    static final int MAX_VALUE_CHARS = 2_000;

    private static final String DATE = "date";
    private static final String NAMESPACE = "namespace";
    private static final String INPUT = "input.";
    private static final String OTHERWISE = "\\|";
    private static final Pattern FIELD = Pattern.compile("\\{\\{([^{}]*)}}");
    private static final Pattern PATH = Pattern.compile("input(\\.[A-Za-z0-9_-]+)+");

    public PromptTemplate {
        if (text.isBlank()) {
            throw new IllegalArgumentException("expected a prompt below the front matter, found none");
        }
        names(text).forEach(PromptTemplate::check);
    }

    /**
     * The values of this prompt's fields for one task.
     *
     * @param payload of the event that starts the task
     * @param start when it starts; the date is that of UTC
     */
    public Map<String, String> values(String namespace, JsonObject payload, Instant start) {
        Map<String, String> values = new LinkedHashMap<>();
        for (String name : names(text)) {
            values.put(
                    name,
                    switch (name) {
                        case DATE -> LocalDate.ofInstant(start, ZoneOffset.UTC).toString();
                        case NAMESPACE -> namespace;
                        default -> cut(value(payload, name));
                    });
        }
        return values;
    }

    /** The prompt with these values; a field without one is left out. */
    String fill(Map<String, String> values) {
        Matcher matcher = FIELD.matcher(text);
        StringBuilder filled = new StringBuilder();
        while (matcher.find()) {
            matcher.appendReplacement(
                    filled,
                    Matcher.quoteReplacement(
                            values.getOrDefault(matcher.group(1).strip(), "")));
        }
        return matcher.appendTail(filled).toString();
    }

    private static Set<String> names(String text) {
        Set<String> names = new LinkedHashSet<>();
        Matcher matcher = FIELD.matcher(text);
        while (matcher.find()) {
            names.add(matcher.group(1).strip());
        }
        return names;
    }

    private static void check(String name) {
        if (!name.equals(DATE)
                && !name.equals(NAMESPACE)
                && !PATH.matcher(path(name)).matches()) {
            throw new IllegalArgumentException(
                    "expected {{date}}, {{namespace}} or {{input.field}}, found {{" + name + "}}");
        }
    }

    private static String path(String name) {
        return name.split(OTHERWISE, 2)[0].strip();
    }

    private static String value(JsonObject payload, String name) {
        String[] parts = name.split(OTHERWISE, 2);
        Object value = at(payload, path(name).substring(INPUT.length()));
        boolean nothing = value instanceof Collection<?> list
                ? list.isEmpty()
                : words(value).isEmpty();
        return nothing && parts.length == 2 ? parts[1].strip() : words(value);
    }

    private static @Nullable Object at(Object payload, String path) {
        Object value = payload;
        for (String name : path.split("\\.", -1)) {
            value = value instanceof Map<?, ?> object ? object.get(name) : null;
        }
        return value;
    }

    private static String words(@Nullable Object value) {
        return switch (value) {
            case null -> "";
            case String text -> text;
            case Map<?, ?> object -> Json.writeText(object);
            case Collection<?> list -> Json.writeText(list);
            default -> value.toString();
        };
    }

    private static String cut(String text) {
        return text.length() <= MAX_VALUE_CHARS ? text : JsonText.begin(text, MAX_VALUE_CHARS) + "…";
    }
}
