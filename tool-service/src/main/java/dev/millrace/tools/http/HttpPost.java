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

/** {@code http_post{url,body?,headers?}}. The call id goes along as {@code Idempotency-Key}. */
public final class HttpPost implements Tool {

    /** A schema of the argument {@code body}. */
    static final Map<String, Object> BODY_SCHEMA = Map.of(
            "description",
            "The body: a text as it is, or an object or list, which is sent as JSON. Absent = none.",
            "type",
            List.of("string", "object", "array", "null"));

    private final HttpCalls calls;

    public HttpPost(HttpCalls calls) {
        this.calls = calls;
    }

    @Override
    public ToolDefinition definition() {
        return new ToolDefinition(
                "http_post",
                "Sends data to a server on the public internet by HTTP POST, and returns the answer.",
                object(
                        Map.of(
                                "url",
                                text("An http or https URL.", 4_000),
                                "body",
                                BODY_SCHEMA,
                                "headers",
                                HttpCalls.HEADERS_SCHEMA),
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
                "POST",
                String.valueOf(params.get("url")),
                HttpCalls.headers(params.get("headers")),
                params.get("body"),
                context.callId()));
    }
}
