package dev.millrace.schemas;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.networknt.schema.Schema;
import com.networknt.schema.SchemaRegistry;
import com.networknt.schema.SpecificationVersion;
import java.util.List;

/** What a JSON text must look like, by a JSON Schema (2020-12) of somebody else's. Safe for any number of threads. */
public final class JsonShape {

    private static final SchemaRegistry REGISTRY = ForeignSchemas.TRUSTED;

    private final Schema schema;

    private JsonShape(Schema schema) {
        this.schema = schema;
    }

    /**
     * The shape that a schema describes.
     *
     * @param schema of an object
     * @throws IllegalArgumentException if it is no schema of an object; the message says why
     */
    public static JsonShape of(JsonObject schema) {
        if (!"object".equals(schema.get("type"))) {
            throw new IllegalArgumentException("expected a JSON Schema with \"type\": \"object\", found "
                    + (schema.get("type") == null ? "no type" : "type " + Json.writeText(schema.get("type"))));
        }
        JsonNode tree = Json.MAPPER.valueToTree(schema);
        List<String> problems = SchemaProblems.sentences(REGISTRY.getSchema(
                        com.networknt.schema.SchemaLocation.of(SpecificationVersion.DRAFT_2020_12.getDialectId()))
                .validate(tree));
        if (!problems.isEmpty()) {
            throw new IllegalArgumentException("expected a JSON Schema, found that " + String.join("; ", problems));
        }
        return new JsonShape(REGISTRY.getSchema(tree));
    }

    /** Why a text is no JSON of this shape, each with its place, what was expected and found; empty if it is. */
    public List<String> problems(String text) {
        try {
            JsonNode json = Json.MAPPER.readTree(text);
            return json == null || json.isMissingNode()
                    ? List.of("/: expected JSON, found nothing")
                    : SchemaProblems.sentences(schema.validate(json));
        } catch (JsonProcessingException e) {
            return List.of("/: expected JSON, found something else: " + e.getOriginalMessage());
        }
    }
}
