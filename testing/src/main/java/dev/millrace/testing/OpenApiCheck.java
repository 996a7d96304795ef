package dev.millrace.testing;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.networknt.schema.InputFormat;
import com.networknt.schema.Schema;
import com.networknt.schema.SchemaRegistry;
import com.networknt.schema.SpecificationVersion;
import dev.millrace.schemas.Json;
import java.net.URI;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Holds answers of the gateway to the OpenAPI document that it serves. An answer has to have the schema of its path and
 * status, and no field that the document does not name. For any thread.
 */
public final class OpenApiCheck {

    private static final SchemaRegistry REGISTRY =
            SchemaRegistry.withDefaultDialect(SpecificationVersion.DRAFT_2020_12);
    private static final String JSON = "application/json";

    private final JsonNode document;
    private final Map<JsonNode, Schema> schemas = new ConcurrentHashMap<>();

    /** Of this document, as JSON. */
    public OpenApiCheck(String document) {
        try {
            this.document = Json.MAPPER.readTree(document);
        } catch (JsonProcessingException e) {
            throw new IllegalArgumentException("the OpenAPI document is not JSON", e);
        }
        close(this.document.path("components").path("schemas"));
    }

    /** Objects that name their fields have no others. */
    private static void close(JsonNode node) {
        if (node instanceof ObjectNode object && object.path("properties").isObject()) {
            if (!object.has("additionalProperties")) {
                object.put("additionalProperties", false);
            }
        }
        node.forEach(OpenApiCheck::close);
    }

    /**
     * What is wrong with an answer; empty = nothing. Paths that the document does not have are right if they are
     * refused, and so are refusals that any path may give.
     *
     * @param body one JSON value; the data of one event, if the answer is a stream
     */
    public List<String> problems(String method, URI uri, int status, String body) {
        String path = uri.getRawPath();
        Optional<JsonNode> responses = operation(path)
                .map(item -> item.path(method.toLowerCase(Locale.ROOT)).path("responses"));
        JsonNode response =
                responses.map(all -> all.path(Integer.toString(status))).orElse(Json.MAPPER.nullNode());
        if (!response.isObject()) {
            return status >= 400 ? List.of() : List.of(method + " " + path + ": no answer " + status + " is described");
        }
        JsonNode content = response.path("content");
        JsonNode schema = content.has(JSON)
                ? content.path(JSON).path("schema")
                : content.isEmpty() ? content : content.elements().next().path("schema");
        if (!schema.isObject()) {
            return List.of();
        }
        return schemas.computeIfAbsent(schema, this::schema).validate(body, InputFormat.JSON).stream()
                .map(error -> method + " " + path + " " + status + ": " + error)
                .toList();
    }

    /**
     * What is wrong with a request: that the document has no such path or method, no such parameter, or another body;
     * empty = nothing.
     *
     * @param contentType of the body; empty = not said
     * @param body empty if there is none; held to the document if that describes what has this type
     */
    public List<String> requestProblems(String method, URI uri, String contentType, String body) {
        String path = uri.getRawPath();
        Optional<JsonNode> item = operation(path);
        JsonNode called =
                item.map(all -> all.path(method.toLowerCase(Locale.ROOT))).orElse(Json.MAPPER.nullNode());
        if (!called.isObject()) {
            return List.of(method + " " + path + ": the document has no such operation");
        }
        List<String> problems = new ArrayList<>();
        Set<String> known = Stream.of(item.orElseThrow().path("parameters"), called.path("parameters"))
                .flatMap(JsonNode::valueStream)
                .map(parameter -> parameter.path("name").asText())
                .collect(Collectors.toSet());
        if (uri.getRawQuery() != null) {
            for (String parameter : uri.getRawQuery().split("&", -1)) {
                String name = parameter.substring(0, parameter.indexOf('='));
                if (!known.contains(name)) {
                    problems.add(method + " " + path + ": there is no parameter " + name);
                }
            }
        }
        JsonNode schema = called.path("requestBody").path("content").path(JSON).path("schema");
        if (schema.isObject() && contentType.equals(JSON) && !body.isEmpty()) {
            schemas.computeIfAbsent(schema, this::schema).validate(body, InputFormat.JSON).stream()
                    .map(error -> method + " " + path + ": " + error)
                    .forEach(problems::add);
        }
        return problems;
    }

    /** The names of the properties of a schema of the document; empty if there is no such schema. */
    public Set<String> properties(String schema) {
        Set<String> names = new TreeSet<>();
        document.path("components")
                .path("schemas")
                .path(schema)
                .path("properties")
                .fieldNames()
                .forEachRemaining(names::add);
        return names;
    }

    private Schema schema(JsonNode schema) {
        ObjectNode whole = schema.deepCopy();
        whole.set("components", document.path("components"));
        return REGISTRY.getSchema(Json.writeText(whole), InputFormat.JSON);
    }

    /** The paths are those of the document; of several that fit, the one with the most letters of its own. */
    private Optional<JsonNode> operation(String path) {
        return document.path("paths").properties().stream()
                .filter(item -> Pattern.matches(item.getKey().replaceAll("\\{[^}]*}", ".+"), path))
                .max(Comparator.comparingInt(
                        item -> item.getKey().replaceAll("\\{[^}]*}", "").length()))
                .map(Map.Entry::getValue);
    }
}
