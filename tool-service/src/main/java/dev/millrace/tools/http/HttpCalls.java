package dev.millrace.tools.http;

import dev.millrace.http.guarded.GuardedHttp;
import dev.millrace.schemas.Json;
import dev.millrace.tool.api.ToolException;
import dev.millrace.tools.secrets.Secrets;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.net.ConnectException;
import java.net.URI;
import java.net.URISyntaxException;
import java.net.UnknownHostException;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Makes requests for tools: checks URL and headers, fills secrets in, and follows redirects by hand, each one through
 * the same checks as the first request. Safe for any thread.
 */
public final class HttpCalls {

    private static final int MAX_REDIRECTS = 5;
    private static final int MAX_PORT = 65_535;
    private static final int MAX_QUOTED = 500;
    private static final Set<Integer> REDIRECTS = Set.of(301, 302, 303, 307, 308);
    /** Whoever is asked these says with them that he has done nothing. */
    private static final Set<Integer> COME_AGAIN = Set.of(429, 503);
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
    private final Secrets secrets;

    public HttpCalls(GuardedHttp http, Secrets secrets) {
        this.http = http;
        this.secrets = secrets;
    }

    /**
     * A request.
     *
     * @param method upper case
     * @param headers by name; values may name secrets
     * @param body {@code null} = none
     */
    public record Ask(
            String method,
            String url,
            Map<String, String> headers,
            @Nullable String body) {
        public Ask {
            headers = Map.copyOf(headers);
        }

        private Ask redirected(int status, String target, boolean sameHost) throws ToolException {
            // as browsers do it
            boolean becomesGet = status == 303
                    ? !method.equals("GET") && !method.equals("HEAD")
                    : status < 307 && method.equals("POST");
            if (!becomesGet && body != null && !sameHost) {
                throw new ToolException(
                        "bad_redirect", "The server redirects the request and its body to another host");
            }
            // what was meant for one host is not told to another
            return new Ask(
                    becomesGet ? "GET" : method, target, sameHost ? headers : Map.of(), becomesGet ? null : body);
        }
    }

    /**
     * What came of a request.
     *
     * @param url that answered, after all redirects
     * @param truncated whether there is more of the body
     */
    public record Fetched(int status, String url, Map<String, String> headers, String body, boolean truncated) {}

    /**
     * Asks, and follows redirects.
     *
     * @param namespace whose secrets it may name; {@code null} = only those that are for all
     * @throws ToolException if nothing was answered, or only that it would be another time
     */
    public Fetched call(Ask first, @Nullable String namespace) throws ToolException, InterruptedException {
        Ask ask = first;
        URI url = url(ask.url());
        for (int hop = 0; hop <= MAX_REDIRECTS; hop++) {
            GuardedHttp.Answer answer = send(url, ask, namespace);
            if (COME_AGAIN.contains(answer.status())) {
                throw ToolException.passing(
                        "http_status",
                        "The server answered with status " + answer.status() + ": " + start(answer.body()),
                        answer.retryAfter());
            }
            String location = answer.location();
            if (!REDIRECTS.contains(answer.status()) || location == null) {
                return new Fetched(
                        answer.status(), url.toString(), answer.headers(), answer.body(), answer.truncated());
            }
            URI next = url(resolve(url, location));
            boolean sameHost = next.getAuthority().equals(url.getAuthority())
                    && next.getScheme().equalsIgnoreCase(url.getScheme());
            ask = ask.redirected(answer.status(), next.toString(), sameHost);
            url = next;
        }
        throw new ToolException("too_many_redirects", "More than " + MAX_REDIRECTS + " redirects");
    }

    private GuardedHttp.Answer send(URI url, Ask ask, @Nullable String namespace)
            throws ToolException, InterruptedException {
        Map<String, String> headers = new LinkedHashMap<>();
        for (Map.Entry<String, String> header : ask.headers().entrySet()) {
            headers.put(header.getKey(), checked(header.getKey(), secrets.fill(header.getValue(), url, namespace)));
        }
        String body = ask.body();
        try {
            return http.send(ask.method(), url, headers, body == null ? null : body.getBytes(StandardCharsets.UTF_8));
        } catch (UnknownHostException e) {
            if (GuardedHttp.isRefused(e)) {
                throw new ToolException("address_refused", String.valueOf(e.getMessage()));
            }
            throw ToolException.passing("unknown_host", "Host \"" + url.getHost() + "\" not found", null);
        } catch (IOException e) {
            String message = "The request failed: " + e.getMessage();
            if (e instanceof ConnectException) {
                throw ToolException.passing("http_failed", message, null);
            }
            throw e instanceof InterruptedIOException || e instanceof java.net.SocketException
                    ? ToolException.uncertain("http_failed", message)
                    : new ToolException("http_failed", message);
        }
    }

    /** As much of a body as is quoted in an error. */
    public static String start(String body) {
        return body.length() <= MAX_QUOTED ? body : body.substring(0, MAX_QUOTED) + "…";
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

    /** The headers of the arguments of a tool. */
    static Map<String, String> checked(Map<String, String> headers) throws ToolException {
        for (Map.Entry<String, String> header : headers.entrySet()) {
            checked(header.getKey(), header.getValue());
        }
        return headers;
    }

    private static String checked(String name, String value) throws ToolException {
        if (!name.matches("[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}")
                || REFUSED_HEADERS.contains(name.toLowerCase(Locale.ROOT))
                || value.chars().anyMatch(c -> c < ' ' && c != '\t')) {
            throw new ToolException("bad_header", "headers: \"" + name + "\" cannot be set");
        }
        return value;
    }

    /**
     * A request with a body.
     *
     * @param body a text as it is, or any other JSON value; {@code null} = none
     * @param callId sent as {@code Idempotency-Key}, unless the headers have one
     */
    public static Ask withBody(
            String method, String url, Map<String, String> given, @Nullable Object body, String callId) {
        Map<String, String> headers = new LinkedHashMap<>(given);
        String text = body == null || body instanceof String ? (String) body : Json.writeText(body);
        if (text != null && !has(headers, "content-type")) {
            headers.put("Content-Type", looksLikeJson(text) ? "application/json" : "text/plain; charset=utf-8");
        }
        if (!method.equals("GET") && !method.equals("HEAD") && !has(headers, "idempotency-key")) {
            headers.put("Idempotency-Key", callId);
        }
        return new Ask(method, url, headers, text);
    }

    private static boolean has(Map<String, String> headers, String name) {
        return headers.keySet().stream().anyMatch(header -> header.equalsIgnoreCase(name));
    }

    private static boolean looksLikeJson(String text) {
        String bare = text.strip();
        return bare.startsWith("{") || bare.startsWith("[");
    }
}
