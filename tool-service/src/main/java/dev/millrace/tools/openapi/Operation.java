package dev.millrace.tools.openapi;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.millrace.schemas.Json;
import dev.millrace.schemas.JsonObject;
import dev.millrace.schemas.ToolDefinition.SideEffects;
import dev.millrace.tool.api.ToolException;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.StringJoiner;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * An operation of an API.
 *
 * @param id its own, or made of method and path
 * @param method upper case
 * @param path with parameters in braces
 * @param description for a model
 * @param parameters by the argument's name
 * @param schema of all arguments
 * @param bodyType the media type of its body; {@code null} = it takes none
 */
record Operation(
        String id,
        String method,
        String path,
        String description,
        Map<String, Parameter> parameters,
        ObjectNode schema,
        @Nullable String bodyType) {

    /** The argument that is the body. */
    static final String BODY = "body";

    Operation {
        parameters = Map.copyOf(parameters);
    }

    /** Where a parameter goes. */
    enum Place {
        PATH,
        QUERY,
        HEADER
    }

    /**
     * A parameter.
     *
     * @param name in the API
     * @param explode whether each part of a list or object in the query is a parameter of its own
     * @param deep whether these are called {@code name[part]}
     * @param json whether it is sent as JSON
     */
    record Parameter(String name, Place place, boolean explode, boolean deep, boolean json) {}

    SideEffects sideEffects() {
        return switch (method) {
            case "GET", "HEAD" -> SideEffects.READ_ONLY;
            case "PUT", "DELETE" -> SideEffects.IDEMPOTENT;
            default -> SideEffects.DESTRUCTIVE;
        };
    }

    /** The URL with the arguments in their places. */
    String url(String base, JsonObject arguments) throws ToolException {
        String url = path;
        StringJoiner query = new StringJoiner("&");
        for (Map.Entry<String, Parameter> entry : parameters.entrySet()) {
            Parameter parameter = entry.getValue();
            Object value = arguments.get(entry.getKey());
            if (parameter.place() == Place.PATH) {
                url = url.replace("{" + parameter.name() + "}", segment(entry.getKey(), text(parameter, value)));
            } else if (parameter.place() == Place.QUERY && value != null) {
                query(parameter, value, query);
            }
        }
        return base + url + (query.length() == 0 ? "" : "?" + query);
    }

    /** The headers that are parameters. */
    Map<String, String> headers(JsonObject arguments) {
        Map<String, String> headers = new LinkedHashMap<>();
        parameters.forEach((argument, parameter) -> {
            Object value = arguments.get(argument);
            if (parameter.place() == Place.HEADER && value != null) {
                headers.put(parameter.name(), text(parameter, value));
            }
        });
        return headers;
    }

    private static void query(Parameter parameter, Object value, StringJoiner query) {
        String name = encoded(parameter.name());
        if (!parameter.json() && value instanceof Map<?, ?> object && (parameter.deep() || parameter.explode())) {
            object.forEach((part, each) -> {
                String key = encoded(String.valueOf(part));
                query.add((parameter.deep() ? name + "%5B" + key + "%5D" : key) + "=" + encoded(plain(each)));
            });
        } else if (!parameter.json() && value instanceof List<?> list && parameter.explode()) {
            list.forEach(each -> query.add(name + "=" + encoded(plain(each))));
        } else {
            query.add(name + "=" + encoded(text(parameter, value)));
        }
    }

    private static String text(Parameter parameter, @Nullable Object value) {
        return !parameter.json() && value instanceof List<?> list
                ? list.stream().map(Operation::plain).collect(Collectors.joining(","))
                : parameter.json() ? Json.writeText(value) : plain(value);
    }

    private static String plain(@Nullable Object value) {
        return value instanceof Map<?, ?> || value instanceof List<?> ? Json.writeText(value) : String.valueOf(value);
    }

    private static String segment(String argument, String value) throws ToolException {
        // a server would take these for another path
        if (value.isEmpty() || value.equals(".") || value.equals("..")) {
            throw new ToolException(
                    "invalid_arguments", argument + ": expected a part of a path, found \"" + value + "\"");
        }
        return encoded(value);
    }

    private static String encoded(String text) {
        return URLEncoder.encode(text, StandardCharsets.UTF_8).replace("+", "%20");
    }
}
