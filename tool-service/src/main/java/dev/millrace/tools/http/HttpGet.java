package dev.millrace.tools.http;

import static dev.millrace.tools.JsonSchemas.object;
import static dev.millrace.tools.JsonSchemas.text;

import dev.millrace.schemas.ToolDefinition;
import dev.millrace.tool.api.ToolException;
import dev.millrace.tools.Tool;
import dev.millrace.tools.ToolContext;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** {@code http_get{url,headers?}}: fetches text over HTTP or HTTPS. */
public final class HttpGet implements Tool {

    private final HttpCalls calls;

    public HttpGet(HttpCalls calls) {
        this.calls = calls;
    }

    @Override
    public ToolDefinition definition() {
        return new ToolDefinition(
                "http_get",
                "Fetches a page or another text from the public internet by HTTP GET.",
                object(Map.of("url", text("An http or https URL.", 4_000), "headers", HttpCalls.HEADERS_SCHEMA), "url"),
                "tool",
                ToolDefinition.DEFAULT_TIMEOUT_MS,
                ToolDefinition.SideEffects.READ_ONLY);
    }

    @Override
    public @Nullable String circuit() {
        return null;
    }

    @Override
    public Object call(Map<String, @Nullable Object> params, ToolContext context)
            throws ToolException, InterruptedException {
        return calls.call(new HttpCalls.Ask(
                "GET", String.valueOf(params.get("url")), HttpCalls.headers(params.get("headers")), null));
    }
}
