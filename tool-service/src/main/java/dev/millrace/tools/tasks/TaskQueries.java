package dev.millrace.tools.tasks;

import dev.millrace.api.Entry;
import dev.millrace.api.Task;
import dev.millrace.schemas.Json;
import dev.millrace.tool.api.ToolException;
import java.io.IOException;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Asks the query side of agent-service about tasks. For any thread; a call blocks it for at most the deadline. */
public final class TaskQueries implements AutoCloseable {

    private static final String UNAVAILABLE = "tasks_unavailable";
    /** Another service on a wrong port would answer too, but not with this. */
    private static final String OUR_UNKNOWN_TASK = "\"urn:millrace:problem:unknown_task\"";

    private final String base;
    private final Duration deadline;
    private final HttpClient http;

    /**
     * Connects when it is asked.
     *
     * @param base where agent-service is, such as {@code http://localhost:8081}
     * @param deadline how long an answer may take
     */
    public TaskQueries(URI base, Duration deadline) {
        this.base = base.toString().replaceFirst("/+$", "");
        this.deadline = deadline;
        // HTTP/1.1, since the JDK's client else offers h2c with every first request
        this.http = HttpClient.newBuilder()
                .version(HttpClient.Version.HTTP_1_1)
                .connectTimeout(deadline)
                .build();
    }

    /** Tasks of a namespace, newest first. */
    Task.Page tasks(String namespace, int limit, @Nullable String before) throws ToolException, InterruptedException {
        return get(
                        "/internal/tasks" + query(namespace, limit, before == null ? "" : "&before=" + encoded(before)),
                        Task.Page.class)
                .orElseThrow(() -> unavailable("agent-service does not know what tasks are"));
    }

    /** Events of a task, in the order of the journal; empty if the namespace has no such task. */
    Optional<Entry.Page> events(String namespace, String taskId, int limit, @Nullable String after)
            throws ToolException, InterruptedException {
        String path = "/internal/tasks/" + encoded(taskId) + "/events";
        return get(path + query(namespace, limit, after == null ? "" : "&after=" + encoded(after)), Entry.Page.class);
    }

    private <T> Optional<T> get(String path, Class<T> type) throws ToolException, InterruptedException {
        HttpResponse<byte[]> response;
        try {
            response = http.send(
                    HttpRequest.newBuilder(URI.create(base + path))
                            .timeout(deadline)
                            .header("Accept", "application/json")
                            .build(),
                    HttpResponse.BodyHandlers.ofByteArray());
        } catch (IOException e) {
            throw unavailable("agent-service does not answer");
        }
        int status = response.statusCode();
        if (status == 404 && new String(response.body(), StandardCharsets.UTF_8).contains(OUR_UNKNOWN_TASK)) {
            return Optional.empty();
        }
        if (status != 200) {
            throw unavailable(
                    status == 503
                            ? "agent-service is starting or catching up"
                            : "agent-service answered with the unexpected status " + status);
        }
        try {
            return Optional.of(Json.MAPPER.readValue(response.body(), type));
        } catch (IOException e) {
            throw unavailable("agent-service answered with something that is not a page of its own");
        }
    }

    private static ToolException unavailable(String why) {
        return ToolException.passing(UNAVAILABLE, "Tasks cannot be looked at now: " + why, null);
    }

    private static String query(String namespace, int limit, String more) {
        return "?namespace=" + encoded(namespace) + "&limit=" + limit + more;
    }

    private static String encoded(String text) {
        return URLEncoder.encode(text, StandardCharsets.UTF_8).replace("+", "%20");
    }

    /** Closes its connections. */
    @Override
    public void close() {
        http.shutdownNow();
    }
}
