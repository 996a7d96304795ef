package dev.millrace.tools.http;

import static dev.millrace.tools.JsonSchemas.object;
import static dev.millrace.tools.JsonSchemas.text;

import dev.millrace.schemas.ToolDefinition;
import dev.millrace.tool.api.ToolException;
import dev.millrace.tools.Tool;
import dev.millrace.tools.ToolContext;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** {@code http_request{method,url,body?,headers?}}. The call id goes along as {@code Idempotency-Key}. */
public final class HttpRequest implements Tool {

    private final HttpCalls calls;

    public HttpRequest(HttpCalls calls) {
        this.calls = calls;
    }

    @Override
    public ToolDefinition definition() {
        return new ToolDefinition(
                "http_request",
                "Makes an HTTP request of any kind to a server on the public internet, and returns the answer.",
                object(
                        Map.of(
                                "method",
                                Map.of(
                                        "type",
                                        "string",
                                        "enum",
                                        List.of("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")),
                                "url",
                                text("An http or https URL.", 4_000),
                                "body",
                                HttpPost.BODY_SCHEMA,
                                "headers",
                                HttpCalls.HEADERS_SCHEMA),
                        "method",
                        "url"),
                "tool",
                ToolDefinition.DEFAULT_TIMEOUT_MS,
                ToolDefinition.SideEffects.DESTRUCTIVE);
    }

    @Override
    public @Nullable String circuit() {
        return null;
    }

    @Override
    public Object call(Map<String, @Nullable Object> params, ToolContext context)
            throws ToolException, InterruptedException {
        return calls.call(HttpCalls.withBody(
                String.valueOf(params.get("method")),
                String.valueOf(params.get("url")),
                HttpCalls.headers(params.get("headers")),
                params.get("body"),
                context.callId()));
    }
}
