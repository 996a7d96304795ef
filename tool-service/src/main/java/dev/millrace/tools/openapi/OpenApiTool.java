package dev.millrace.tools.openapi;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.type.TypeReference;
import dev.millrace.schemas.Json;
import dev.millrace.schemas.JsonObject;
import dev.millrace.schemas.ToolDefinition;
import dev.millrace.tool.api.ToolContext;
import dev.millrace.tool.api.ToolException;
import dev.millrace.tools.CallableTool;
import dev.millrace.tools.http.HttpCalls;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * An operation of an HTTP API. What the server does not like is an error with its status and the start of its answer.
 */
final class OpenApiTool implements CallableTool {

    /** With these it is not known whether the server behind them has done something. */
    private static final Set<Integer> UNCERTAIN = Set.of(408, 500, 502, 504);

    private final OpenApi api;
    private final String base;
    private final Operation operation;
    private final ToolDefinition definition;
    private final HttpCalls calls;

    OpenApiTool(OpenApi api, String base, String name, Operation operation, HttpCalls calls) {
        this.api = api;
        this.base = base;
        this.operation = operation;
        this.calls = calls;
        ToolDefinition plain = new ToolDefinition(
                name,
                "[" + api.name() + "] " + operation.description(),
                Json.MAPPER.convertValue(operation.schema(), new TypeReference<>() {}),
                "tool",
                ToolDefinition.DEFAULT_TIMEOUT_MS,
                operation.sideEffects());
        ToolDefinition.Approval approval = api.approval();
        this.definition = approval == null ? plain : plain.withApproval(approval);
    }

    @Override
    public ToolDefinition definition() {
        return definition;
    }

    @Override
    public String circuit() {
        return "openapi " + api.name();
    }

    @Override
    public String origin() {
        return "the API " + api.name() + ", " + operation.method() + " " + operation.path();
    }

    @Override
    public Object call(JsonObject params, ToolContext context) throws ToolException, InterruptedException {
        Map<String, String> headers = operation.headers(params);
        // what the operator has set is not for a model to change
        for (Map.Entry<String, String> set : api.headers().entrySet()) {
            headers.keySet().removeIf(set.getKey()::equalsIgnoreCase);
            headers.put(set.getKey(), set.getValue());
        }
        headers.keySet().stream()
                .filter("accept"::equalsIgnoreCase)
                .findAny()
                .ifPresentOrElse(name -> {}, () -> headers.put("Accept", "application/json"));
        String bodyType = operation.bodyType();
        String body = bodyType == null || !params.containsKey(Operation.BODY)
                ? null
                : Json.writeText(params.get(Operation.BODY));
        if (body != null && bodyType != null) {
            headers.put("Content-Type", bodyType);
        }
        HttpCalls.Fetched answer = calls.call(
                HttpCalls.withBody(operation.method(), operation.url(base, params), headers, body, context.callId()),
                context.namespace());
        return Json.MAPPER.convertValue(shown(answer), Object.class);
    }

    /** An answer, for a model; {@code truncated} is left out if it is all. */
    private record Shown(
            int status,
            @Nullable Object body,
            @JsonInclude(JsonInclude.Include.NON_DEFAULT) boolean truncated) {}

    private static Shown shown(HttpCalls.Fetched answer) throws ToolException {
        if (answer.status() >= 400) {
            String message =
                    "The server answered with status " + answer.status() + ": " + HttpCalls.start(answer.body());
            throw UNCERTAIN.contains(answer.status())
                    ? ToolException.uncertain("http_status", message)
                    : new ToolException("http_status", message);
        }
        boolean json = String.valueOf(answer.headers().get("content-type"))
                .toLowerCase(Locale.ROOT)
                .contains("json");
        return new Shown(
                answer.status(),
                json && !answer.truncated() ? parsed(answer.body()) : answer.body(),
                answer.truncated());
    }

    private static @Nullable Object parsed(String body) {
        try {
            return Json.MAPPER.readValue(body, Object.class);
        } catch (JsonProcessingException e) {
            // what calls itself JSON and is none, or nothing at all, is shown as it is
            return body;
        }
    }
}
