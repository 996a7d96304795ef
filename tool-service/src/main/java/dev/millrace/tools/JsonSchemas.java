package dev.millrace.tools;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Writes the small JSON Schemas of tool arguments. */
public final class JsonSchemas {

    private JsonSchemas() {}

    /** An object with these properties, of which these are required; no others are allowed. */
    public static Map<String, @Nullable Object> object(
            Map<String, Map<String, Object>> properties, String... required) {
        Map<String, @Nullable Object> schema = new LinkedHashMap<>();
        schema.put("type", "object");
        schema.put("properties", properties);
        schema.put("required", List.of(required));
        schema.put("additionalProperties", false);
        return schema;
    }

    /** A text of 1 to {@code maxLength} characters. */
    public static Map<String, Object> text(String description, int maxLength) {
        return Map.of("type", "string", "description", description, "minLength", 1, "maxLength", maxLength);
    }

    /** Any text, also an empty one; what is too long is for the tool to say. */
    public static Map<String, Object> anyText(String description) {
        return Map.of("type", "string", "description", description);
    }

    /** A whole number, {@code minimum} or more. */
    public static Map<String, Object> wholeNumber(String description, long minimum) {
        return Map.of("type", "integer", "description", description, "minimum", minimum);
    }

    /** A truth value. */
    public static Map<String, Object> flag(String description) {
        return Map.of("type", "boolean", "description", description);
    }
}
