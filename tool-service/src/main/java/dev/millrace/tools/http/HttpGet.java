package dev.millrace.tools.http;

import static dev.millrace.tools.JsonSchemas.object;
import static dev.millrace.tools.JsonSchemas.text;

import dev.millrace.schemas.ToolDefinition;
import dev.millrace.tools.Tool;
import dev.millrace.tools.ToolContext;
import dev.millrace.tools.ToolException;
import java.io.IOException;
import java.net.URI;
import java.net.URISyntaxException;
import java.net.UnknownHostException;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * {@code http_get{url,headers?}}: fetches text over HTTP or HTTPS. Redirects are followed by hand, each one through the
 * same checks as the first request.
 */
public final class HttpGet implements Tool {

    private static final int MAX_REDIRECTS = 5;
    private static final int MAX_PORT = 65_535;
    private static final Set<Integer> REDIRECTS = Set.of(301, 302, 303, 307, 308);
    /** What a caller may not set, because it changes whom the request is for or how it is framed. */
    private static final Set<String> REFUSED_HEADERS = Set.of(
            "host",
            "connection",
            "content-length",
            "transfer-encoding",
            "upgrade",
            "proxy-authorization",
            "proxy-connection",
            "te",
            "trailer",
            "expect");

    private final GuardedHttp http;

    public HttpGet(GuardedHttp http) {
        this.http = http;
    }

    @Override
    public ToolDefinition definition() {
        return new ToolDefinition(
                "http_get",
                "Fetches a page or another text from the public internet by HTTP GET.",
                object(
                        Map.of(
                                "url",
                                text("An http or https URL.", 4_000),
                                "headers",
                                Map.of(
                                        "type",
                                        "object",
                                        "description",
                                        "Request headers by name. Absent = none.",
                                        "maxProperties",
                                        30,
                                        "additionalProperties",
                                        Map.of("type", "string", "maxLength", 4_000))),
                        "url"),
                "tool",
                ToolDefinition.DEFAULT_TIMEOUT_MS,
                ToolDefinition.SideEffects.READ_ONLY);
    }

    @Override
    public Object call(Map<String, @Nullable Object> params, ToolContext context)
            throws ToolException, InterruptedException {
        Map<String, String> headers = headers(params.get("headers"));
        URI url = url(String.valueOf(params.get("url")));
        for (int hop = 0; hop <= MAX_REDIRECTS; hop++) {
            GuardedHttp.Answer answer = get(url, headers);
            String location = answer.location();
            if (!REDIRECTS.contains(answer.status()) || location == null) {
                return result(url, answer);
            }
            URI next = url(resolve(url, location));
            if (!next.getAuthority().equals(url.getAuthority())) {
                // what was meant for one host is not told to another
                headers = Map.of();
            }
            url = next;
        }
        throw new ToolException("too_many_redirects", "More than " + MAX_REDIRECTS + " redirects");
    }

    private GuardedHttp.Answer get(URI url, Map<String, String> headers) throws ToolException, InterruptedException {
        try {
            return http.get(url, headers);
        } catch (AddressGuard.RefusedAddressException e) {
            throw new ToolException("address_refused", String.valueOf(e.getMessage()));
        } catch (UnknownHostException e) {
            throw new ToolException("unknown_host", "Host \"" + url.getHost() + "\" not found");
        } catch (IOException e) {
            if (Thread.interrupted()) {
                throw new InterruptedException("interrupted while fetching");
            }
            throw new ToolException("http_failed", "The request failed: " + e.getMessage());
        }
    }

    private static Map<String, Object> result(URI url, GuardedHttp.Answer answer) {
        Map<String, Object> result = new LinkedHashMap<>();
        result.put("status", answer.status());
        result.put("url", url.toString());
        result.put("headers", answer.headers());
        result.put("body", answer.body());
        result.put("truncated", answer.truncated());
        return result;
    }

    private static String resolve(URI url, String location) throws ToolException {
        try {
            return url.resolve(new URI(location)).toString();
        } catch (URISyntaxException | IllegalArgumentException e) {
            throw new ToolException("bad_redirect", "The server redirects to what is no URL");
        }
    }

    private static URI url(String text) throws ToolException {
        URI url;
        try {
            url = new URI(text.strip());
        } catch (URISyntaxException e) {
            throw new ToolException("bad_url", "url: expected an http or https URL, found one with: " + e.getReason());
        }
        String scheme = url.getScheme() == null ? "" : url.getScheme().toLowerCase(Locale.ROOT);
        if (!Set.of("http", "https").contains(scheme) || url.getHost() == null) {
            throw new ToolException(
                    "bad_url", "url: expected an http or https URL with a host, found \"" + text + "\"");
        }
        if (url.getPort() == 0 || url.getPort() > MAX_PORT) {
            throw new ToolException("bad_url", "url: expected a port of 1 to " + MAX_PORT + ", found " + url.getPort());
        }
        if (url.getUserInfo() != null) {
            throw new ToolException("bad_url", "url: expected no user and password in it");
        }
        return url;
    }

    private static Map<String, String> headers(@Nullable Object given) throws ToolException {
        Map<String, String> headers = new LinkedHashMap<>();
        if (given instanceof Map<?, ?> map) {
            for (Map.Entry<?, ?> header : map.entrySet()) {
                String name = String.valueOf(header.getKey());
                String value = String.valueOf(header.getValue());
                if (!name.matches("[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}")
                        || REFUSED_HEADERS.contains(name.toLowerCase(Locale.ROOT))
                        || value.chars().anyMatch(c -> c < ' ' && c != '\t')) {
                    throw new ToolException("bad_header", "headers: \"" + name + "\" cannot be set");
                }
                headers.put(name, value);
            }
        }
        return headers;
    }
}
