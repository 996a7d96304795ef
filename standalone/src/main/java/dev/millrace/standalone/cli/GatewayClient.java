package dev.millrace.standalone.cli;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import dev.millrace.api.Task;
import dev.millrace.schemas.Json;
import java.io.IOException;
import java.io.InputStream;
import java.net.ConnectException;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.StreamSupport;
import org.jspecify.annotations.Nullable;

/**
 * Millrace's HTTP API, as far as the commands need it. Failures are {@link CommandException}s. Closes its connections.
 */
final class GatewayClient implements AutoCloseable {

    private static final Set<String> LOOPBACK = Set.of("localhost", "127.0.0.1", "[::1]");
    private static final Duration CONNECT_LIMIT = Duration.ofSeconds(5);
    private static final Duration ANSWER_LIMIT = Duration.ofSeconds(30);

    private final URI url;
    private final String token;
    private final HttpClient http;

    /** {@code token} goes with every request; empty = none does. */
    GatewayClient(URI url, String token) {
        this.url = url;
        this.token = token;
        // HTTP/1.1, since the client would offer an upgrade to HTTP/2 with every request otherwise
        this.http = HttpClient.newBuilder()
                .version(HttpClient.Version.HTTP_1_1)
                .connectTimeout(CONNECT_LIMIT)
                .build();
    }

    /** As {@link Hint#of}, for the same Millrace. */
    String hint(String... words) {
        return Hint.of(url, words);
    }

    /** Submits a task and returns its id. */
    String submit(Task.Request task) {
        String taskId = post("/v1/tasks", task, Task.Accepted.class).taskId();
        if (taskId == null) { // what answers may be anything
            throw new CommandException(
                    ExitCodes.FAILED, url + " accepted the task but gave no taskId. Is that a Millrace gateway?");
        }
        return taskId;
    }

    /** Sends a record of the API and returns the answer as another. */
    <T> T post(String path, Object body, Class<T> type) {
        return Json.MAPPER.convertValue(
                call(request(path)
                        .header("Content-Type", "application/json")
                        .POST(HttpRequest.BodyPublishers.ofByteArray(Json.write(body)))
                        .build()),
                type);
    }

    /** Sends JSON with these headers. */
    JsonNode post(String path, byte[] json, Map<String, String> headers) {
        HttpRequest.Builder request = request(path)
                .header("Content-Type", "application/json")
                .POST(HttpRequest.BodyPublishers.ofByteArray(json));
        headers.forEach(request::header);
        return call(request.build());
    }

    /** Any resource, as JSON. */
    JsonNode get(String path) {
        return call(request(path).build());
    }

    /** Any resource, as a record of the API. */
    <T> T get(String path, Class<T> type) {
        return Json.MAPPER.convertValue(get(path), type);
    }

    /**
     * All pages of a list.
     *
     * @param cursor the parameter that takes what {@code next} said on the page before
     * @param field of each page, which has the list
     */
    ArrayNode pages(Query query, String cursor, String field) {
        ArrayNode all = Json.MAPPER.createArrayNode();
        String next = null;
        do {
            JsonNode page = get(query.with(cursor, next).toString());
            page.path(field).forEach(all::add);
            next = page.path("next").textValue();
        } while (next != null);
        return all;
    }

    /** The elements of an array. */
    static <T> List<T> all(JsonNode array, Class<T> type) {
        return each(array, one -> Json.MAPPER.convertValue(one, type));
    }

    /** The elements of an array, read so. */
    static <T> List<T> each(JsonNode array, Function<JsonNode, T> read) {
        return StreamSupport.stream(array.spliterator(), false).map(read).toList();
    }

    /** A resource that is text, with what names its version. */
    Text text(String path) {
        HttpResponse<String> response = send(request(path)
                .setHeader("Accept", "text/markdown, text/plain, application/problem+json")
                .build());
        return new Text(response.body(), response.headers().firstValue("ETag").orElse(""));
    }

    /** Puts a text; the answer, if it is one. */
    JsonNode put(String path, String text, Map<String, String> headers) {
        HttpRequest.Builder request = request(path)
                .header("Content-Type", "text/markdown; charset=utf-8")
                .PUT(HttpRequest.BodyPublishers.ofString(text));
        headers.forEach(request::header);
        return call(request.build());
    }

    /** Puts a record of the API, or JSON that is one. */
    JsonNode putJson(String path, Object body) {
        return call(request(path)
                .header("Content-Type", "application/json")
                .PUT(HttpRequest.BodyPublishers.ofByteArray(Json.write(body)))
                .build());
    }

    /** Sends nothing but headers. */
    JsonNode postNothing(String path, Map<String, String> headers) {
        HttpRequest.Builder request = request(path).POST(HttpRequest.BodyPublishers.noBody());
        headers.forEach(request::header);
        return call(request.build());
    }

    /** Takes a resource away; the answer, if it is one. */
    JsonNode delete(String path, Map<String, String> headers) {
        HttpRequest.Builder request = request(path).DELETE();
        headers.forEach(request::header);
        return call(request.build());
    }

    /** Opens a stream of server-sent events. The caller closes the body. */
    HttpResponse<InputStream> open(String path, @Nullable String lastEventId) throws IOException, InterruptedException {
        HttpRequest.Builder request = request(path).setHeader("Accept", "text/event-stream");
        if (lastEventId != null) {
            request.header("Last-Event-ID", lastEventId);
        }
        return http.send(request.build(), HttpResponse.BodyHandlers.ofInputStream());
    }

    /** A value as part of a path or of a query. */
    static String encoded(String value) {
        return URLEncoder.encode(value, StandardCharsets.UTF_8).replace("+", "%20");
    }

    CommandException unreachable(Exception cause) {
        String reason = cause instanceof ConnectException ? "nobody listens there" : String.valueOf(cause.getMessage());
        return new CommandException(
                ExitCodes.UNREACHABLE,
                "Cannot reach Millrace at " + url + " (" + reason + "). "
                        + howToStart()
                                .map(command -> "Start it with `" + command + "`, or say")
                                .orElse("Say")
                        + " where it is with --url or " + Hint.URL_VARIABLE + ".");
    }

    /** What makes it answer at the URL; empty if it would be started elsewhere. */
    private Optional<String> howToStart() {
        boolean here = LOOPBACK.contains(url.getHost()) && "http".equals(url.getScheme()) && url.getPort() > 0;
        return !here
                ? Optional.empty()
                : Optional.of(
                        url.getPort() == Hint.DEFAULT_URL.getPort()
                                ? Hint.local("up")
                                : Hint.local("up", "--port", Integer.toString(url.getPort())));
    }

    /** What the gateway says about a request that it refused. */
    static String problem(int status, String body) {
        try {
            Refusal refusal = Json.MAPPER.readValue(body, Refusal.class);
            String words = refusal.detail() == null ? refusal.title() : refusal.detail();
            if (words != null && !words.isEmpty()) {
                return status == 401 ? words + " Say it with --token or MILLRACE_TOKEN." : words;
            }
        } catch (JsonProcessingException e) {
            // not a problem document; the status has to do
        }
        return "HTTP status " + status;
    }

    /** What is said of a problem for people, see RFC 9457. */
    private record Refusal(@Nullable String title, @Nullable String detail) {}

    @Override
    public void close() {
        http.shutdownNow();
    }

    private HttpRequest.Builder request(String path) {
        HttpRequest.Builder request = HttpRequest.newBuilder(resolve(path))
                .timeout(ANSWER_LIMIT)
                .header("Accept", "application/json, application/problem+json");
        return token.isEmpty() ? request : request.header("Authorization", "Bearer " + token);
    }

    private URI resolve(String path) {
        String base = url.toString();
        return URI.create((base.endsWith("/") ? base.substring(0, base.length() - 1) : base) + path);
    }

    private JsonNode call(HttpRequest request) {
        try {
            return Json.MAPPER.readTree(send(request).body());
        } catch (JsonProcessingException e) {
            throw new CommandException(
                    ExitCodes.FAILED, "Expected JSON from " + request.uri() + ". Is that a Millrace gateway?");
        }
    }

    private HttpResponse<String> send(HttpRequest request) {
        try {
            HttpResponse<String> response =
                    http.send(request, HttpResponse.BodyHandlers.ofString(StandardCharsets.UTF_8));
            if (response.statusCode() / 100 != 2) {
                throw new RefusedException(response.statusCode(), problem(response.statusCode(), response.body()));
            }
            return response;
        } catch (IOException e) {
            throw unreachable(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new CommandException(ExitCodes.FAILED, "Interrupted.");
        }
    }

    /**
     * A resource that is text.
     *
     * @param etag names its version, quotes included; empty = not said
     */
    record Text(String text, String etag) {}

    /** The gateway answered, and the answer was no. */
    static final class RefusedException extends CommandException {

        private static final long serialVersionUID = 1L;

        private final int status;

        RefusedException(int status, String detail) {
            super(ExitCodes.FAILED, detail);
            this.status = status;
        }

        /** Whether it is because of this HTTP status. */
        boolean is(int wanted) {
            return status == wanted;
        }
    }
}
