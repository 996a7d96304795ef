package dev.millrace.schemas;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The text that a task begins with, made from the payload of the event that starts it. {@code {{body.items.0.name}}} is
 * what stands at this path: names of fields, and indexes of lists from 0. {@code {{body.name | nobody}}} is {@code
 * nobody} where the path leads nowhere, or to null, an empty text or list; without it a path that leads nowhere is a
 * mistake, and null is the empty text. Other braces are text.
 */
public final class InputTemplate {

    /** The longest text that comes of a template, in characters. */
    public static final int MAX_TEXT = 100_000;

    /** As many mistakes are told at once. */
    private static final int MAX_PROBLEMS = 10;
    /** Of a path or of names, in characters; and as many names are looked at. */
    private static final int MAX_SHOWN = 200;

    private static final Pattern PLACEHOLDER =
            Pattern.compile("\\{\\{\\s*([\\w.\\-]+)\\s*(?:\\|([^{}]*))?}}", Pattern.UNICODE_CHARACTER_CLASS);

    private final String template;

    /** Reads a template; every text is one. */
    public InputTemplate(String template) {
        this.template = template;
    }

    /** What stands at a path. */
    private sealed interface Found {
        record Value(@Nullable Object value) implements Found {}

        /** Nothing: {@code name} is not among {@code there}, which is what stands at {@code parent}. */
        record Nothing(String parent, String name, Map<?, ?> there) implements Found {}
    }

    /** Names of the fields of the payload that the template looks into. */
    public Set<String> fields() {
        Set<String> fields = new TreeSet<>();
        Matcher matcher = PLACEHOLDER.matcher(template);
        while (matcher.find()) {
            fields.add(matcher.group(1).split("\\.", 2)[0]);
        }
        return fields;
    }

    /** The paths that lead nowhere and say nothing for that case, in sentences for people; empty if there are none. */
    public List<String> problems(Map<String, ? extends @Nullable Object> payload) {
        Map<String, Found.Nothing> nowhere = new LinkedHashMap<>();
        Matcher matcher = PLACEHOLDER.matcher(template);
        while (nowhere.size() < MAX_PROBLEMS && matcher.find()) {
            if (matcher.group(2) == null && at(payload, matcher.group(1)) instanceof Found.Nothing nothing) {
                nowhere.put(matcher.group(1), nothing);
            }
        }
        return nowhere.entrySet().stream()
                .map(one -> sentence(one.getKey(), one.getValue()))
                .toList();
    }

    /**
     * The text that comes of it.
     *
     * @return empty if it would be longer than an input may be; it is not made then
     */
    public Optional<String> fill(Map<String, ? extends @Nullable Object> payload) {
        Matcher matcher = PLACEHOLDER.matcher(template);
        StringBuilder text = new StringBuilder();
        while (matcher.find()) {
            String words = words(at(payload, matcher.group(1)), matcher.group(2));
            matcher.appendReplacement(text, "");
            if (text.length() + words.length() > MAX_TEXT) {
                return Optional.empty();
            }
            text.append(words);
        }
        matcher.appendTail(text);
        return text.length() > MAX_TEXT ? Optional.empty() : Optional.of(text.toString());
    }

    private static String words(Found found, @Nullable String otherwise) {
        Object value = found instanceof Found.Value(Object there) ? there : null;
        boolean nothing =
                value instanceof List<?> list ? list.isEmpty() : words(value).isEmpty();
        return nothing && otherwise != null ? otherwise.strip() : words(value);
    }

    private static String words(@Nullable Object value) {
        return switch (value) {
            case null -> "";
            case String text -> text;
            default -> Json.writeText(value);
        };
    }

    private static Found at(Map<String, ? extends @Nullable Object> payload, String path) {
        Object value = payload;
        String parent = "";
        for (String name : path.split("\\.", -1)) {
            switch (value) {
                case Map<?, ?> object when object.containsKey(name) -> value = object.get(name);
                case Map<?, ?> object -> {
                    return new Found.Nothing(parent, name, object);
                }
                case List<?> list when index(name) >= 0 && index(name) < list.size() -> value = list.get(index(name));
                case null, default -> {
                    return new Found.Nothing(parent, name, Map.of());
                }
            }
            parent = parent.isEmpty() ? name : parent + '.' + name;
        }
        return new Found.Value(value);
    }

    private static int index(String name) {
        try {
            return name.length() <= 6 ? Integer.parseInt(name) : -1;
        } catch (NumberFormatException e) {
            return -1;
        }
    }

    private static String sentence(String path, Found.Nothing nothing) {
        List<String> there = nothing.there().keySet().stream()
                .map(String::valueOf)
                .limit(MAX_SHOWN)
                .toList();
        String hint = Spelling.nearest(nothing.name(), there)
                .map(name -> "; did you mean {{"
                        + shown(nothing.parent().isEmpty() ? name : nothing.parent() + '.' + name) + "}}?")
                .orElse(there.isEmpty() ? "" : "; there are " + shown(String.join(", ", there)));
        return "/template: expected a path into the payload, or {{path | what to say otherwise}}, found {{"
                + shown(path) + "}}, which leads nowhere" + hint;
    }

    private static String shown(String text) {
        return JsonText.cut(text, MAX_SHOWN);
    }
}
