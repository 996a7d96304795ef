package dev.millrace.tools.openapi;

import com.fasterxml.jackson.core.JsonProcessingException;
import dev.millrace.schemas.Json;
import dev.millrace.schemas.ToolDefinition;
import dev.millrace.tool.api.ToolContext;
import dev.millrace.tool.api.ToolException;
import dev.millrace.tools.CallableTool;
import dev.millrace.tools.http.HttpCalls;
import java.util.LinkedHashMap;
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
                operation.schema(),
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
    public Object call(Map<String, @Nullable Object> params, ToolContext context)
            throws ToolException, InterruptedException {
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
        return result(calls.call(
                HttpCalls.withBody(operation.method(), operation.url(base, params), headers, body, context.callId())));
    }

    private static Map<String, @Nullable Object> result(Map<String, @Nullable Object> answer) throws ToolException {
        int status = answer.get("status") instanceof Integer number ? number : 0;
        String body = String.valueOf(answer.get("body"));
        if (status >= 400) {
            String message = "The server answered with status " + status + ": " + HttpCalls.start(body);
            throw UNCERTAIN.contains(status)
                    ? ToolException.uncertain("http_status", message)
                    : new ToolException("http_status", message);
        }
        boolean truncated = Boolean.TRUE.equals(answer.get("truncated"));
        Map<String, @Nullable Object> result = new LinkedHashMap<>();
        result.put("status", status);
        result.put("body", truncated || !isJson(answer.get("headers")) ? body : parsed(body));
        if (truncated) {
            result.put("truncated", true);
        }
        return result;
    }

    private static boolean isJson(@Nullable Object headers) {
        return headers instanceof Map<?, ?> map
                && String.valueOf(map.get("content-type"))
                        .toLowerCase(Locale.ROOT)
                        .contains("json");
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
