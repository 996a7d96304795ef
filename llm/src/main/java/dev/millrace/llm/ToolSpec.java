package dev.millrace.llm;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What a model is told about a tool.
 *
 * @param name letters, digits, {@code _} and {@code -}
 * @param description what the tool does and when to use it
 * @param parameters JSON Schema of the arguments, an object schema; reaches the provider unchanged
 */
public record ToolSpec(String name, String description, Map<String, @Nullable Object> parameters) {

    // not in compact form: javac then forgets that the map's values may be null, and other modules could not build one
    public ToolSpec(String name, String description, Map<String, @Nullable Object> parameters) {
        this.name = name;
        this.description = description;
        this.parameters = Collections.unmodifiableMap(new LinkedHashMap<>(parameters));
    }
}
