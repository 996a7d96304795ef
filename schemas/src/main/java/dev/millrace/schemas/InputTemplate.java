package dev.millrace.schemas;

import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
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
    private final List<Part> parts;

    /** Reads a template; every text is one. */
    public InputTemplate(String template) {
        this.template = template;
        this.parts = parts(template);
    }

    /** A piece of a template. */
    private sealed interface Part {
        record Text(String text) implements Part {}

        /** What stands at a path; {@code otherwise} is {@code null} if the template does not say what else. */
        record Place(String path, @Nullable String otherwise) implements Part {}
    }

    private static List<Part> parts(String template) {
        List<Part> parts = new ArrayList<>();
        Matcher matcher = PLACEHOLDER.matcher(template);
        int end = 0;
        while (matcher.find()) {
            if (matcher.start() > end) {
                parts.add(new Part.Text(template.substring(end, matcher.start())));
            }
            parts.add(new Part.Place(matcher.group(1), matcher.group(2)));
            end = matcher.end();
        }
        if (end < template.length()) {
            parts.add(new Part.Text(template.substring(end)));
        }
        return List.copyOf(parts);
    }

    private Stream<Part.Place> places() {
        return parts.stream().filter(Part.Place.class::isInstance).map(Part.Place.class::cast);
    }

    /** As it was written. */
    public String text() {
        return template;
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
        places().forEach(place -> fields.add(place.path().split("\\.", 2)[0]));
        return fields;
    }

    /** The paths that lead nowhere and say nothing for that case, in sentences for people; empty if there are none. */
    public List<String> problems(JsonObject payload) {
        Map<String, Found.Nothing> nowhere = new LinkedHashMap<>();
        Iterator<Part.Place> places = places().iterator();
        while (nowhere.size() < MAX_PROBLEMS && places.hasNext()) {
            Part.Place place = places.next();
            if (place.otherwise() == null && at(payload, place.path()) instanceof Found.Nothing nothing) {
                nowhere.put(place.path(), nothing);
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
    public Optional<String> fill(JsonObject payload) {
        StringBuilder text = new StringBuilder();
        for (Part part : parts) {
            String words =
                    switch (part) {
                        case Part.Text(String said) -> said;
                        case Part.Place(String path, String otherwise) -> words(at(payload, path), otherwise);
                    };
            if (text.length() + words.length() > MAX_TEXT) {
                return Optional.empty();
            }
            text.append(words);
        }
        return Optional.of(text.toString());
    }

    /**
     * What comes of it.
     *
     * @param value a JSON value
     */
    public record Filled(@Nullable Object value) {}

    /**
     * Like {@link #fill}, but of a template that is one path and nothing else, which leads to something, what stands
     * there: a number stays a number, an object an object.
     */
    public Optional<Filled> value(JsonObject payload) {
        if (parts.size() == 1
                && parts.getFirst() instanceof Part.Place(String path, String otherwise)
                && at(payload, path) instanceof Found.Value(Object there)
                && (otherwise == null || !isNothing(there))) {
            return Optional.of(new Filled(there));
        }
        return fill(payload).map(Filled::new);
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof InputTemplate that && template.equals(that.template);
    }

    @Override
    public int hashCode() {
        return template.hashCode();
    }

    @Override
    public String toString() {
        return template;
    }

    private static boolean isNothing(@Nullable Object value) {
        return value instanceof List<?> list ? list.isEmpty() : words(value).isEmpty();
    }

    private static String words(Found found, @Nullable String otherwise) {
        Object value = found instanceof Found.Value(Object there) ? there : null;
        return isNothing(value) && otherwise != null ? otherwise.strip() : words(value);
    }

    private static String words(@Nullable Object value) {
        return switch (value) {
            case null -> "";
            case String text -> text;
            default -> Json.writeText(value);
        };
    }

    private static Found at(JsonObject payload, String path) {
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
