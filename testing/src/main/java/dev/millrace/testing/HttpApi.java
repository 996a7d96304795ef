package dev.millrace.testing;

import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import dev.millrace.schemas.Json;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.awaitility.core.ConditionTimeoutException;

/** Millrace's HTTP API for a test. */
public final class HttpApi {

    private static final Duration ANSWER_LIMIT = Duration.ofSeconds(30);
    private static final Set<String> ENDED = Set.of("completed", "failed", "cancelled");
    private static final HttpClient HTTP = HttpClient.newBuilder()
            .version(HttpClient.Version.HTTP_1_1)
            .connectTimeout(Duration.ofSeconds(5))
            .build();

    private final URI base;
    private final String token;

    public HttpApi(URI base) {
        this(base, "");
    }

    private HttpApi(URI base, String token) {
        this.base = base;
        this.token = token;
    }

    /** The API on a port of this machine. */
    public static HttpApi onPort(int port) {
        return new HttpApi(URI.create("http://127.0.0.1:" + port));
    }

    /** The same with this key or token. */
    public HttpApi as(String newToken) {
        return new HttpApi(base, newToken);
    }

    /**
     * What came back.
     *
     * @param status the HTTP status
     * @param body as it came
     */
    public record Answer(int status, String body) {

        /** The body as JSON. */
        public JsonNode json() {
            try {
                return Json.MAPPER.readTree(body);
            } catch (JsonProcessingException e) {
                throw new AssertionError("Expected JSON, found (status " + status + "): " + body, e);
            }
        }
    }

    public Answer get(String path) {
        return send(request(path).GET().build());
    }

    /** Posts a value as JSON. */
    public Answer post(String path, Object body) {
        return post(path, Map.of("Content-Type", "application/json"), Json.write(body));
    }

    public Answer post(String path, Map<String, String> headers, byte[] body) {
        HttpRequest.Builder request = request(path).POST(BodyPublishers.ofByteArray(body));
        headers.forEach(request::header);
        return send(request.build());
    }

    /** Puts a body of this media type. */
    public Answer put(String path, String mediaType, byte[] body) {
        return send(request(path)
                .header("Content-Type", mediaType)
                .PUT(BodyPublishers.ofByteArray(body))
                .build());
    }

    public Answer delete(String path) {
        return send(request(path).DELETE().build());
    }

    /** The status of a GET; 0 if nobody answers. */
    public int status(String path) {
        try {
            return get(path).status();
        } catch (UncheckedIOException e) {
            return 0;
        }
    }

    /** Submits a task and returns its id. */
    public String submit(String text) {
        Answer accepted = post("/v1/tasks", Map.of("text", text));
        if (accepted.status() != 202) {
            throw new AssertionError("Expected 202, found " + accepted);
        }
        return accepted.json().path("taskId").asText();
    }

    /** Waits until the task has ended, and returns it. */
    public JsonNode awaitEnd(String taskId, Duration limit) {
        try {
            return await().atMost(limit)
                    .pollInterval(Duration.ofMillis(100))
                    .until(
                            () -> get("/v1/tasks/" + taskId).json(),
                            task -> ENDED.contains(task.path("state").asText()));
        } catch (ConditionTimeoutException e) {
            throw new AssertionError(
                    "Task " + taskId + " did not end within " + limit.toSeconds() + " s: "
                            + get("/v1/tasks/" + taskId).body(),
                    e);
        }
    }

    /** Every event of the task, in the order of the journal. */
    public List<JsonNode> events(String taskId) {
        List<JsonNode> events = new ArrayList<>();
        String path = "/v1/tasks/" + taskId + "/events";
        JsonNode page = get(path).json();
        page.path("events").forEach(events::add);
        while (page.hasNonNull("next")) {
            page = get(path + "?after=" + page.path("next").asText()).json();
            page.path("events").forEach(events::add);
        }
        return events;
    }

    private HttpRequest.Builder request(String path) {
        HttpRequest.Builder request =
                HttpRequest.newBuilder(URI.create(base + path)).timeout(ANSWER_LIMIT);
        return token.isEmpty() ? request : request.header("Authorization", "Bearer " + token);
    }

    private static Answer send(HttpRequest request) {
        try {
            HttpResponse<String> response = HTTP.send(request, BodyHandlers.ofString());
            return new Answer(response.statusCode(), response.body());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new AssertionError("interrupted", e);
        }
    }
}
