package dev.millrace.schemas.docs;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.StreamSupport;

/** A schema in words, for tables. */
final class SchemaWords {
    private static final long LARGEST_EXACT = 9_007_199_254_740_991L;

    private SchemaWords() {}

    /**
     * One field, however deep it lies.
     *
     * @param path such as {@code toolCalls[].toolName}
     * @param kind its type and bounds
     * @param required whether it must be there if the object that holds it is
     * @param meaning its description
     */
    record Field(String path, String kind, boolean required, String meaning) {}

    static List<Field> fields(JsonNode schema) {
        List<Field> fields = new ArrayList<>();
        collect("", schema, fields);
        return fields;
    }

    /** The names that are required by one or another of these alternatives. */
    static List<String> names(JsonNode alternatives) {
        return StreamSupport.stream(alternatives.spliterator(), false)
                .map(alternative -> alternative.path("required").path(0).asText())
                .toList();
    }

    private static void collect(String prefix, JsonNode object, List<Field> fields) {
        List<String> required = texts(object.path("required"));
        object.path("properties").properties().forEach(property -> {
            JsonNode field = property.getValue();
            String path = prefix + property.getKey();
            fields.add(new Field(
                    path,
                    kind(field),
                    required.contains(property.getKey()),
                    field.path("description").asText()));
            collect(path + ".", field, fields);
            collect(path + "[].", field.path("items"), fields);
        });
    }

    private static String kind(JsonNode field) {
        if (field.has("const")) {
            return "`" + field.path("const") + "`";
        }
        if (field.has("enum")) {
            return texts(field.path("enum")).stream()
                    .map(value -> "`" + value + "`")
                    .collect(Collectors.joining(", "));
        }
        List<String> types =
                field.path("type").isTextual() ? List.of(field.path("type").asText()) : texts(field.path("type"));
        if (types.isEmpty()) {
            return "any JSON";
        }
        return types.stream().map(type -> kind(type, field)).collect(Collectors.joining(", or "));
    }

    private static String kind(String type, JsonNode field) {
        return switch (type) {
            case "string" ->
                field.has("pattern")
                        ? "text like `" + field.path("pattern").asText() + "`"
                        : "text, " + bounds(field, "minLength", "maxLength", 0) + " characters";
            case "integer" -> "whole number, " + bounds(field, "minimum", "maximum", Long.MIN_VALUE);
            case "boolean" -> "true or false";
            case "array" ->
                "list of " + (field.path("items").path("type").asText().equals("object") ? "objects" : "values");
            default -> type;
        };
    }

    private static String bounds(JsonNode field, String least, String most, long unbounded) {
        long low = field.has(least) ? field.path(least).asLong() : unbounded;
        long high = field.has(most) ? field.path(most).asLong() : Long.MAX_VALUE;
        if (low == Long.MIN_VALUE) {
            return "any";
        }
        return high >= LARGEST_EXACT ? low + " or more" : low == 0 ? "up to " + high : low + " to " + high;
    }

    private static List<String> texts(JsonNode list) {
        return StreamSupport.stream(list.spliterator(), false)
                .map(JsonNode::asText)
                .toList();
    }
}
