package dev.millrace.llm;

import dev.millrace.schemas.JsonObject;

/**
 * What the text of a reply must look like: JSON that fits a schema. The provider is asked for it where it can do that
 * beside the tools of the request, and nothing here checks it: a model may still answer with something else.
 *
 * @param name letters, digits, {@code _} and {@code -}; some providers show it to the model
 * @param schema JSON Schema of an object; reaches the provider unchanged
 */
public record ResponseSchema(String name, JsonObject schema) {}
