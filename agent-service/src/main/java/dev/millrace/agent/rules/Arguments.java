package dev.millrace.agent.rules;

import dev.millrace.schemas.InputTemplate;
import dev.millrace.schemas.JsonObject;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The arguments of a tool call as a rule has them: JSON, in which every text is a template over the event. A text that
 * is one path and nothing else becomes what stands there, with its type.
 *
 * @param fields by name
 */
public record Arguments(Map<String, Part> fields) {

    public Arguments {
        // in the order in which they were written
        fields = Collections.unmodifiableMap(new LinkedHashMap<>(fields));
    }

    /** A part of them. */
    public sealed interface Part {}

    /** A text to be filled in. */
    public record Text(InputTemplate template) implements Part {}

    /** Parts by name. */
    public record Members(Arguments members) implements Part {}

    /** Parts in order. */
    public record Items(List<Part> items) implements Part {
        public Items {
            items = List.copyOf(items);
        }
    }

    /** What is as it was written: a number, a flag or nothing. */
    public record Fixed(@Nullable Object value) implements Part {}

    /** As somebody has written them, as JSON values. */
    public static Arguments of(JsonObject written) {
        Map<String, Part> fields = new LinkedHashMap<>();
        written.forEach((name, value) -> fields.put(name, part(value)));
        return new Arguments(fields);
    }

    private static Part part(@Nullable Object value) {
        return switch (value) {
            case String text -> new Text(new InputTemplate(text));
            case List<?> list -> new Items(list.stream().map(Arguments::part).toList());
            case JsonObject inner -> new Members(of(inner));
            case null -> new Fixed(null);
            default -> new Fixed(value);
        };
    }

    /** Paths that lead nowhere in this event, in sentences for people; empty if there are none. */
    public List<String> problems(JsonObject event) {
        List<String> problems = new ArrayList<>();
        fields.forEach((name, part) -> collect(name, part, event, problems));
        return problems;
    }

    private static void collect(String where, Part part, JsonObject event, List<String> problems) {
        switch (part) {
            case Text(InputTemplate template) ->
                template.problems(event).forEach(problem -> problems.add(where + problem));
            case Members(Arguments members) ->
                members.fields().forEach((name, inner) -> collect(where + '.' + name, inner, event, problems));
            case Items(List<Part> items) -> items.forEach(item -> collect(where, item, event, problems));
            case Fixed ignored -> {}
        }
    }

    /** What comes of them; empty if a text would be longer than one may be. */
    public Optional<JsonObject> fill(JsonObject event) {
        JsonObject.Builder filled = JsonObject.builder();
        for (Map.Entry<String, Part> field : fields.entrySet()) {
            Optional<InputTemplate.Filled> value = value(field.getValue(), event);
            if (value.isEmpty()) {
                return Optional.empty();
            }
            filled.put(field.getKey(), value.get().value());
        }
        return Optional.of(filled.build());
    }

    private static Optional<InputTemplate.Filled> value(Part part, JsonObject event) {
        return switch (part) {
            case Text(InputTemplate template) -> template.value(event);
            case Members(Arguments members) -> members.fill(event).map(InputTemplate.Filled::new);
            case Items(List<Part> items) -> {
                List<@Nullable Object> filled = new ArrayList<>();
                for (Part item : items) {
                    Optional<InputTemplate.Filled> value = value(item, event);
                    if (value.isEmpty()) {
                        yield Optional.empty();
                    }
                    filled.add(value.get().value());
                }
                yield Optional.of(new InputTemplate.Filled(filled));
            }
            case Fixed(Object value) -> Optional.of(new InputTemplate.Filled(value));
        };
    }
}
