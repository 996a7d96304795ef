package dev.millrace.client;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.cfg.JsonNodeFeature;
import com.fasterxml.jackson.databind.json.JsonMapper;
import java.io.IOException;
import java.io.InputStream;
import java.net.ConnectException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpTimeoutException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Iterator;
import java.util.Map;
import java.util.NoSuchElementException;
import java.util.Optional;
import java.util.Spliterator;
import java.util.Spliterators;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;
import org.jspecify.annotations.Nullable;

/**
 * Requests to the gateway as they are: for routes that have no method of their own. Refusals are
 * {@link RequestRefusedException}s, and who does not answer is an {@link UnreachableException}.
 */
public final class GatewayHttp {

    /** Reads and writes the records of the API; what it does not know in an answer, it passes over. */
    static final ObjectMapper JSON = JsonMapper.builder()
            .enable(DeserializationFeature.USE_BIG_DECIMAL_FOR_FLOATS)
            .disable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES)
            .disable(JsonNodeFeature.STRIP_TRAILING_BIGDECIMAL_ZEROES)
            .build();

    private static final Duration CONNECT_LIMIT = Duration.ofSeconds(5);
    private static final String JSON_TYPE = "application/json";

    private final String base;
    private final MillraceOptions options;
    private final HttpClient http;

    GatewayHttp(URI url, MillraceOptions options) {
        String text = url.toString();
        this.base = text.endsWith("/") ? text.substring(0, text.length() - 1) : text;
        this.options = options;
        // HTTP/1.1, since the client would offer an upgrade to HTTP/2 with every request otherwise
        this.http = HttpClient.newBuilder()
                .version(HttpClient.Version.HTTP_1_1)
                .connectTimeout(CONNECT_LIMIT)
                .build();
    }

    /**
     * A resource that is text.
     *
     * @param text all of it
     * @param etag names its version, quotes included; empty = not said
     */
    public record Text(String text, String etag) {}

    /** Any resource. */
    public JsonNode get(Route route) {
        return call(request(route).build());
    }

    /** The same, as a record of the API. */
    public <T> T get(Route route, Class<T> type) {
        return as(get(route), type);
    }

    /** Sends a record of the API, or anything else that Jackson writes. */
    public JsonNode post(Route route, Object body) {
        return post(route, write(body), Map.of("Content-Type", JSON_TYPE));
    }

    /** The same; the answer as a record of the API. */
    public <T> T post(Route route, Object body, Class<T> type) {
        return as(post(route, body), type);
    }

    /** Sends bytes with these headers, which say what they are. */
    public JsonNode post(Route route, byte[] body, Map<String, String> headers) {
        return call(with(headers, request(route).POST(HttpRequest.BodyPublishers.ofByteArray(body))));
    }

    /** Sends nothing but headers. */
    public JsonNode postNothing(Route route, Map<String, String> headers) {
        return call(with(headers, request(route).POST(HttpRequest.BodyPublishers.noBody())));
    }

    /** Puts a record of the API, or anything else that Jackson writes. */
    public JsonNode put(Route route, Object body) {
        return call(with(
                Map.of("Content-Type", JSON_TYPE),
                request(route).PUT(HttpRequest.BodyPublishers.ofByteArray(write(body)))));
    }

    /** Puts a text of markdown. */
    public JsonNode putText(Route route, String text, Map<String, String> headers) {
        return call(with(
                headers,
                request(route)
                        .header("Content-Type", "text/markdown; charset=utf-8")
                        .PUT(HttpRequest.BodyPublishers.ofString(text))));
    }

    /** Puts bytes with these headers, which say what they are. */
    public JsonNode put(Route route, byte[] body, Map<String, String> headers) {
        return call(with(headers, request(route).PUT(HttpRequest.BodyPublishers.ofByteArray(body))));
    }

    /** Takes a resource away; the answer, if it is one. */
    public JsonNode delete(Route route, Map<String, String> headers) {
        return call(with(headers, request(route).DELETE()));
    }

    /** A resource that is text, with what names its version. */
    public Text text(Route route) {
        HttpResponse<String> response = send(request(route)
                .setHeader("Accept", "text/markdown, text/plain, application/problem+json")
                .build());
        return new Text(response.body(), response.headers().firstValue("ETag").orElse(""));
    }

    /**
     * All elements of a list that comes in pages; a page is asked for when its first element is wanted.
     *
     * @param cursor the parameter that takes what {@code next} said on the page before
     * @param field of each page, which has the list
     */
    public Stream<JsonNode> items(Route route, String cursor, String field) {
        Iterator<JsonNode> pages = new Iterator<>() {
            private final Deque<JsonNode> page = new ArrayDeque<>();
            private @Nullable String next;
            private boolean asked;

            @Override
            public boolean hasNext() {
                while (page.isEmpty() && (!asked || next != null)) {
                    JsonNode answer = get(route.with(cursor, next));
                    answer.path(field).forEach(page::add);
                    next = answer.path("next").textValue();
                    asked = true;
                }
                return !page.isEmpty();
            }

            @Override
            public JsonNode next() {
                if (!hasNext()) {
                    throw new NoSuchElementException();
                }
                return page.remove();
            }
        };
        return StreamSupport.stream(Spliterators.spliteratorUnknownSize(pages, Spliterator.ORDERED), false);
    }

    /** The same, as records of the API. */
    public <T> Stream<T> items(Route route, String cursor, String field, Class<T> type) {
        return items(route, cursor, field).map(one -> as(one, type));
    }

    /** Opens a stream of server-sent events. The caller closes the body. */
    HttpResponse<InputStream> open(Route route, @Nullable String lastEventId) throws IOException, InterruptedException {
        HttpRequest.Builder request = request(route).setHeader("Accept", "text/event-stream, application/problem+json");
        if (lastEventId != null) {
            request.header("Last-Event-ID", lastEventId);
        }
        return http.send(request.build(), HttpResponse.BodyHandlers.ofInputStream());
    }

    MillraceOptions options() {
        return options;
    }

    static <T> T as(JsonNode node, Class<T> type) {
        try {
            return JSON.convertValue(node, type);
        } catch (IllegalArgumentException e) {
            throw new MillraceException("Expected a " + type.getSimpleName() + ", found something else.", e);
        }
    }

    UnreachableException unreachable(Exception cause) {
        String reason = cause instanceof ConnectException ? "nobody listens there" : String.valueOf(cause.getMessage());
        return new UnreachableException("Cannot reach Millrace at " + base + " (" + reason + ").", cause);
    }

    /** What the gateway says about a request that it refused. */
    static RequestRefusedException refusal(HttpResponse<?> response, String body) {
        int status = response.statusCode();
        Refusal said = new Refusal(null, null, null);
        try {
            JsonNode problem = JSON.readTree(body);
            if (problem.isObject()) {
                said = as(problem, Refusal.class);
            }
        } catch (JsonProcessingException | MillraceException e) {
            // not a problem document; the status has to do
        }
        String words = said.detail() == null || said.detail().isEmpty() ? said.title() : said.detail();
        return new RequestRefusedException(
                status,
                said.code() == null ? "" : said.code(),
                words == null || words.isEmpty() ? "HTTP status " + status : words,
                retryAfter(response).orElse(null));
    }

    /** What is said of a problem, see RFC 9457. */
    private record Refusal(
            @Nullable String code,
            @Nullable String title,
            @Nullable String detail) {}

    private static Optional<Duration> retryAfter(HttpResponse<?> response) {
        return response.headers()
                .firstValue("Retry-After")
                .filter(value -> value.matches("[0-9]{1,9}"))
                .map(value -> Duration.ofSeconds(Long.parseLong(value)));
    }

    private HttpRequest.Builder request(Route route) {
        HttpRequest.Builder request = HttpRequest.newBuilder(URI.create(base + route))
                .timeout(options.timeout())
                .header("Accept", "application/json, application/problem+json");
        String token = options.token().get();
        return token.isEmpty() ? request : request.header("Authorization", "Bearer " + token);
    }

    private static HttpRequest with(Map<String, String> headers, HttpRequest.Builder request) {
        headers.forEach(request::header);
        return request.build();
    }

    private JsonNode call(HttpRequest request) {
        try {
            return JSON.readTree(send(request).body());
        } catch (JsonProcessingException e) {
            throw new MillraceException("Expected JSON from " + request.uri() + ". Is that a Millrace gateway?", e);
        }
    }

    private HttpResponse<String> send(HttpRequest request) {
        // the time-out of a request ends with the headers of the answer
        CompletableFuture<HttpResponse<String>> answer =
                http.sendAsync(request, HttpResponse.BodyHandlers.ofString(StandardCharsets.UTF_8));
        try {
            HttpResponse<String> response = answer.get(options.timeout().toMillis(), TimeUnit.MILLISECONDS);
            if (response.statusCode() / 100 != 2) {
                throw refusal(response, response.body());
            }
            return response;
        } catch (TimeoutException e) {
            answer.cancel(true);
            throw unreachable(new HttpTimeoutException("no whole answer within " + options.timeout()));
        } catch (ExecutionException e) {
            throw e.getCause() instanceof IOException cause
                    ? unreachable(cause)
                    : new MillraceException(String.valueOf(e.getMessage()), e);
        } catch (InterruptedException e) {
            answer.cancel(true);
            Thread.currentThread().interrupt();
            throw new MillraceException("Interrupted.", e);
        }
    }

    private static byte[] write(Object value) {
        try {
            return JSON.writeValueAsBytes(value);
        } catch (JsonProcessingException e) {
            throw new IllegalArgumentException("expected what Jackson can write: " + e.getOriginalMessage(), e);
        }
    }
}
