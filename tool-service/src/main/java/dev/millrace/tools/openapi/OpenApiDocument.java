package dev.millrace.tools.openapi;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.dataformat.yaml.YAMLFactory;
import dev.millrace.schemas.Json;
import dev.millrace.tools.openapi.Operation.Parameter;
import dev.millrace.tools.openapi.Operation.Place;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** An OpenAPI document, 3.0 or 3.1, in JSON or YAML. */
final class OpenApiDocument {

    private static final Logger LOGGER = LoggerFactory.getLogger(OpenApiDocument.class);
    private static final ObjectMapper YAML = new ObjectMapper(new YAMLFactory());
    private static final List<String> METHODS = List.of("get", "head", "put", "post", "patch", "delete");
    /** Those that are no parameters, as the specification says. */
    private static final Set<String> NO_PARAMETERS = Set.of("accept", "content-type", "authorization");

    private static final int MAX_DESCRIPTION = 1_000;

    private final JsonNode root;
    private final Schemas schemas;

    private OpenApiDocument(JsonNode root) {
        this.root = root;
        this.schemas = new Schemas(root);
    }

    /**
     * Reads one.
     *
     * @throws IllegalArgumentException if it is none
     */
    static OpenApiDocument of(String text) {
        JsonNode root;
        try {
            root = (text.stripLeading().startsWith("{") ? Json.MAPPER : YAML).readTree(text);
        } catch (JsonProcessingException e) {
            throw new IllegalArgumentException("neither JSON nor YAML: " + e.getOriginalMessage(), e);
        }
        String version = root.path("openapi").asText();
        if (!version.startsWith("3.0") && !version.startsWith("3.1")) {
            throw new IllegalArgumentException("expected \"openapi\" 3.0 or 3.1, found \"" + version + "\"");
        }
        if (!root.path("paths").isObject()) {
            throw new IllegalArgumentException("expected \"paths\", found none");
        }
        return new OpenApiDocument(root);
    }

    /** The URL of the first server, as it stands there; perhaps a relative one. */
    Optional<String> server() {
        JsonNode server = root.path("servers").path(0);
        String url = server.path("url").asText();
        for (Map.Entry<String, JsonNode> variable : server.path("variables").properties()) {
            url = url.replace(
                    "{" + variable.getKey() + "}",
                    variable.getValue().path("default").asText());
        }
        return url.isBlank() ? Optional.empty() : Optional.of(url);
    }

    /** What can be called; an operation that cannot is named in the log. */
    List<Operation> operations() {
        List<Operation> operations = new ArrayList<>();
        for (Map.Entry<String, JsonNode> path : root.path("paths").properties()) {
            JsonNode item = schemas.resolved(path.getValue());
            for (String method : METHODS) {
                if (item.path(method).isObject()) {
                    try {
                        operations.add(operation(path.getKey(), method, item, item.path(method)));
                    } catch (IllegalArgumentException e) {
                        LOGGER.atWarn()
                                .addKeyValue("operation", method.toUpperCase(Locale.ROOT) + " " + path.getKey())
                                .addKeyValue("cause", e.getMessage())
                                .log("An operation of an API becomes no tool");
                    }
                }
            }
        }
        return operations;
    }

    private Operation operation(String path, String method, JsonNode item, JsonNode operation) {
        ObjectNode properties = JsonNodeFactory.instance.objectNode();
        ArrayNode required = JsonNodeFactory.instance.arrayNode();
        Map<String, Parameter> parameters = new LinkedHashMap<>();
        for (JsonNode each : parameters(item, operation)) {
            String in = each.path("in").asText();
            boolean must = each.path("required").asBoolean() || in.equals("path");
            Place place = place(in, each.path("name").asText(), must);
            if (place != null) {
                String argument = argument(each.path("name").asText(), in, properties);
                parameters.put(argument, parameter(each, place));
                properties.set(argument, described(each));
                if (must) {
                    required.add(argument);
                }
            }
        }
        String bodyType = body(operation, properties, required);
        requireAllOf(path, parameters);
        ObjectNode schema = JsonNodeFactory.instance.objectNode();
        schema.put("type", "object");
        schema.set("properties", properties);
        schema.set("required", required);
        schema.put("additionalProperties", false);
        String id = operation.path("operationId").asText();
        return new Operation(
                id.isBlank() ? method + path.replaceAll("[^A-Za-z0-9-]+", "_").replaceAll("_$", "") : id,
                method.toUpperCase(Locale.ROOT),
                path,
                description(method.toUpperCase(Locale.ROOT) + " " + path, operation),
                parameters,
                schema,
                bodyType);
    }

    /** The operation's own ones go before those of its path. */
    private List<JsonNode> parameters(JsonNode item, JsonNode operation) {
        Map<String, JsonNode> all = new LinkedHashMap<>();
        for (JsonNode list : List.of(item.path("parameters"), operation.path("parameters"))) {
            for (JsonNode each : list) {
                JsonNode parameter = schemas.resolved(each);
                if (!parameter.path("name").isTextual()) {
                    throw new IllegalArgumentException("a parameter is not in the document: " + each);
                }
                all.put(
                        parameter.path("in").asText() + " "
                                + parameter.path("name").asText(),
                        parameter);
            }
        }
        return List.copyOf(all.values());
    }

    private static @Nullable Place place(String in, String name, boolean must) {
        return switch (in) {
            case "path" -> Place.PATH;
            case "query" -> Place.QUERY;
            case "header" -> NO_PARAMETERS.contains(name.toLowerCase(Locale.ROOT)) ? null : Place.HEADER;
            default -> {
                if (must) {
                    throw new IllegalArgumentException("it needs the parameter " + name + " in a " + in);
                }
                yield null;
            }
        };
    }

    private static Parameter parameter(JsonNode node, Place place) {
        String style = node.path("style").asText();
        return new Parameter(
                node.path("name").asText(),
                place,
                node.path("explode").asBoolean(place == Place.QUERY && (style.isEmpty() || style.equals("form"))),
                style.equals("deepObject"),
                node.path("content").isObject());
    }

    /** The name for models, which take fewer characters; the same one in another place is told apart by that. */
    private static String argument(String name, String in, ObjectNode taken) {
        String fitting = name.replaceAll("[^A-Za-z0-9_.-]", "_");
        String argument = fitting.equals(Operation.BODY) || taken.has(fitting) ? in + "_" + fitting : fitting;
        if (taken.has(argument)) {
            throw new IllegalArgumentException("two parameters are called " + argument);
        }
        return argument;
    }

    private ObjectNode described(JsonNode parameter) {
        JsonNode content = parameter.path("content");
        ObjectNode schema = schemas.schema(
                content.isObject() && !content.isEmpty()
                        ? content.iterator().next().path("schema")
                        : parameter.path("schema"));
        if (parameter.path("description").isTextual()) {
            schema.set("description", parameter.path("description"));
        }
        return schema;
    }

    private @Nullable String body(JsonNode operation, ObjectNode properties, ArrayNode required) {
        JsonNode body = schemas.resolved(operation.path("requestBody"));
        boolean must = body.path("required").asBoolean();
        for (Map.Entry<String, JsonNode> content : body.path("content").properties()) {
            String type = content.getKey()
                    .toLowerCase(Locale.ROOT)
                    .replaceFirst(";.*", "")
                    .strip();
            if (type.equals("application/json") || type.endsWith("+json")) {
                properties.set(Operation.BODY, schemas.schema(content.getValue().path("schema")));
                if (must) {
                    required.add(Operation.BODY);
                }
                return type;
            }
        }
        if (must) {
            throw new IllegalArgumentException("it needs a body that is not JSON");
        }
        return null;
    }

    private static void requireAllOf(String path, Map<String, Parameter> parameters) {
        String left = path;
        for (Parameter parameter : parameters.values()) {
            left = left.replace("{" + parameter.name() + "}", "");
        }
        if (left.contains("{")) {
            throw new IllegalArgumentException("its path has a parameter that is not described: " + left);
        }
    }

    private static String description(String what, JsonNode operation) {
        String summary = operation.path("summary").asText().strip();
        String more = operation.path("description").asText().strip();
        String all = (summary + (summary.isEmpty() || more.isEmpty() ? "" : "\n") + more).strip();
        String text = all.isEmpty() ? what : all;
        return text.length() <= MAX_DESCRIPTION ? text : text.substring(0, MAX_DESCRIPTION) + "…";
    }
}
