package dev.millrace.llm;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What the text of a reply must look like: JSON that fits a schema. The provider is asked for it where it can do that
 * beside the tools of the request, and nothing here checks it: a model may still answer with something else.
 *
 * @param name letters, digits, {@code _} and {@code -}; some providers show it to the model
 * @param schema JSON Schema of an object; reaches the provider unchanged
 */
public record ResponseSchema(String name, Map<String, @Nullable Object> schema) {

    // not in compact form: javac then forgets that the map's values may be null, and other modules could not build one
    public ResponseSchema(String name, Map<String, @Nullable Object> schema) {
        this.name = name;
        this.schema = Collections.unmodifiableMap(new LinkedHashMap<>(schema));
    }
}
