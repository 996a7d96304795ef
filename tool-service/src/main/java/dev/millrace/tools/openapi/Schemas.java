package dev.millrace.tools.openapi;

import com.fasterxml.jackson.core.JsonPointer;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.MissingNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.Set;

/**
 * Makes schemas of an OpenAPI document (3.0 or 3.1) stand for themselves, as draft 2020-12: references are replaced by
 * what they name. What goes too deep, because it refers to itself, may be anything.
 */
final class Schemas {

    private static final int MAX_DEPTH = 12;
    /** Documents in which everything refers to everything grow without end long before they get deep. */
    private static final int MAX_SCHEMAS = 2_000;

    private static final Set<String> COPIED = Set.of(
            "type",
            "title",
            "description",
            "enum",
            "const",
            "default",
            "format",
            "pattern",
            "required",
            "minimum",
            "maximum",
            "multipleOf",
            "minLength",
            "maxLength",
            "minItems",
            "maxItems",
            "uniqueItems",
            "minProperties",
            "maxProperties");
    private static final Set<String> SCHEMA =
            Set.of("items", "additionalProperties", "not", "contains", "propertyNames");
    private static final Set<String> LIST = Set.of("allOf", "anyOf", "oneOf", "prefixItems");
    private static final Set<String> MAP = Set.of("properties", "patternProperties");

    private final JsonNode root;
    private int made;

    Schemas(JsonNode root) {
        this.root = root;
    }

    /** What a node refers to, if it does; missing if that is not in the document. */
    JsonNode resolved(JsonNode node) {
        JsonNode found = node;
        for (int i = 0; found.path("$ref").isTextual(); i++) {
            String reference = found.path("$ref").asText();
            if (i == MAX_DEPTH || !reference.startsWith("#/")) {
                return MissingNode.getInstance();
            }
            found = root.at(JsonPointer.compile(
                    URLDecoder.decode(reference.substring(1).replace("+", "%2B"), StandardCharsets.UTF_8)));
        }
        return found;
    }

    /** The schema of one argument. */
    ObjectNode schema(JsonNode node) {
        made = 0;
        JsonNode schema = schema(node, 0);
        return schema instanceof ObjectNode object ? object : JsonNodeFactory.instance.objectNode();
    }

    private JsonNode schema(JsonNode node, int depth) {
        JsonNode from = resolved(node);
        if (from.isBoolean()) {
            return from;
        }
        ObjectNode to = JsonNodeFactory.instance.objectNode();
        if (!from.isObject() || depth > MAX_DEPTH || ++made > MAX_SCHEMAS) {
            return to;
        }
        for (Map.Entry<String, JsonNode> field : from.properties()) {
            String keyword = field.getKey();
            JsonNode value = field.getValue();
            if (COPIED.contains(keyword)) {
                to.set(keyword, value.deepCopy());
            } else if (SCHEMA.contains(keyword)) {
                to.set(keyword, schema(value, depth + 1));
            } else if (LIST.contains(keyword)) {
                ArrayNode list = to.putArray(keyword);
                value.forEach(each -> list.add(schema(each, depth + 1)));
            } else if (MAP.contains(keyword)) {
                ObjectNode map = to.putObject(keyword);
                value.properties().forEach(each -> map.set(each.getKey(), schema(each.getValue(), depth + 1)));
            }
        }
        exclusive(from, to, "exclusiveMinimum", "minimum");
        exclusive(from, to, "exclusiveMaximum", "maximum");
        nullable(from, to);
        withoutReadOnly(from, to);
        // a sibling of a reference, as 3.1 allows
        if (node.has("$ref") && node.path("description").isTextual()) {
            to.set("description", node.get("description"));
        }
        return to;
    }

    /** In 3.0 it says how another keyword is meant, in 3.1 it is a limit. */
    private static void exclusive(JsonNode from, ObjectNode to, String exclusive, String inclusive) {
        JsonNode value = from.path(exclusive);
        if (value.isNumber()) {
            to.set(exclusive, value);
        } else if (value.asBoolean() && to.path(inclusive).isNumber()) {
            to.set(exclusive, to.remove(inclusive));
        }
    }

    private static void nullable(JsonNode from, ObjectNode to) {
        if (!from.path("nullable").asBoolean() || !to.path("type").isTextual()) {
            return;
        }
        JsonNode type = to.remove("type");
        to.putArray("type").add(type).add("null");
        if (to.path("enum") instanceof ArrayNode values) {
            values.addNull();
        }
    }

    /** What only answers have is not asked of a model. */
    private void withoutReadOnly(JsonNode from, ObjectNode to) {
        if (!(to.path("properties") instanceof ObjectNode properties)) {
            return;
        }
        for (Map.Entry<String, JsonNode> property : from.path("properties").properties()) {
            if (resolved(property.getValue()).path("readOnly").asBoolean()) {
                properties.remove(property.getKey());
                if (to.path("required") instanceof ArrayNode required) {
                    ArrayNode left = JsonNodeFactory.instance.arrayNode();
                    required.forEach(name -> {
                        if (!name.asText().equals(property.getKey())) {
                            left.add(name);
                        }
                    });
                    to.set("required", left);
                }
            }
        }
    }
}
