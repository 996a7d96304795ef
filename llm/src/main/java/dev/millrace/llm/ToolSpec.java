package dev.millrace.llm;

import dev.millrace.schemas.JsonObject;

/**
 * What a model is told about a tool.
 *
 * @param name letters, digits, {@code _} and {@code -}
 * @param description what the tool does and when to use it
 * @param parameters JSON Schema of the arguments, an object schema; reaches the provider unchanged
 */
public record ToolSpec(String name, String description, JsonObject parameters) {}
