package dev.millrace.tools.http;

import dev.millrace.tool.api.Param;
import dev.millrace.tool.api.SideEffects;
import dev.millrace.tool.api.Tool;
import dev.millrace.tool.api.ToolContext;
import dev.millrace.tool.api.ToolException;
import dev.millrace.tools.java.JsonTypes;
import jakarta.validation.constraints.Size;
import java.util.Map;
import java.util.Optional;

/**
 * Requests to servers on the public internet. The call id goes along as {@code Idempotency-Key}, unless nothing is
 * changed.
 */
public final class HttpTools {

    private static final String URL = "An http or https URL.";
    static final int MAX_URL = 4_000;
    private static final String HEADERS =
            "Request headers by name. Absent = none. {{secret:NAME}} in a value stands for a secret of that name.";
    static final int MAX_HEADERS = 30;
    static final int MAX_HEADER = 4_000;
    private static final String BODY =
            "The body: a text as it is, or an object or list, which is sent as JSON. Absent = none.";

    private final HttpCalls calls;

    public HttpTools(HttpCalls calls) {
        this.calls = calls;
    }

    /** What a server may be asked for. */
    enum Method {
        GET,
        HEAD,
        POST,
        PUT,
        PATCH,
        DELETE,
        OPTIONS
    }

    @Tool(
            name = "http_get",
            value = "Fetches a page or another text from the public internet by HTTP GET.",
            sideEffects = SideEffects.READ_ONLY)
    HttpCalls.Fetched get(
            @Param(URL) @Size(min = 1, max = MAX_URL) String url,
            @Param(HEADERS) Optional<@Size(max = MAX_HEADERS) Map<String, @Size(max = MAX_HEADER) String>> headers,
            ToolContext context)
            throws ToolException, InterruptedException {
        return calls.call(
                new HttpCalls.Ask("GET", url, HttpCalls.checked(headers.orElse(Map.of())), null), context.namespace());
    }

    @Tool(
            name = "http_post",
            value = "Sends data to a server on the public internet by HTTP POST, and returns the answer.")
    HttpCalls.Fetched post(
            @Param(URL) @Size(min = 1, max = MAX_URL) String url,
            @Param(BODY) @JsonTypes({"string", "object", "array", "null"}) Optional<Object> body,
            @Param(HEADERS) Optional<@Size(max = MAX_HEADERS) Map<String, @Size(max = MAX_HEADER) String>> headers,
            ToolContext context)
            throws ToolException, InterruptedException {
        return request(Method.POST, url, body, headers, context);
    }

    @Tool(
            name = "http_request",
            value = "Makes an HTTP request of any kind to a server on the public internet, and returns the answer.")
    HttpCalls.Fetched request(
            Method method,
            @Param(URL) @Size(min = 1, max = MAX_URL) String url,
            @Param(BODY) @JsonTypes({"string", "object", "array", "null"}) Optional<Object> body,
            @Param(HEADERS) Optional<@Size(max = MAX_HEADERS) Map<String, @Size(max = MAX_HEADER) String>> headers,
            ToolContext context)
            throws ToolException, InterruptedException {
        return calls.call(
                HttpCalls.withBody(
                        method.name(),
                        url,
                        HttpCalls.checked(headers.orElse(Map.of())),
                        body.orElse(null),
                        context.callId()),
                context.namespace());
    }
}
