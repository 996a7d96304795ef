package dev.millrace.tools.tasks;

import dev.millrace.schemas.Json;
import dev.millrace.schemas.MalformedEventException;
import dev.millrace.tool.api.ToolException;
import java.io.IOException;
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
import java.util.stream.Collectors;
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

    /**
     * A page.
     *
     * @param entries JSON objects
     * @param next where the next page begins; {@code null} = this is the last one
     */
    record Page(List<Map<?, ?>> entries, @Nullable String next) {
        Page {
            entries = List.copyOf(entries);
        }
    }

    /** Tasks of a namespace, newest first. */
    Page tasks(String namespace, int limit, @Nullable String before) throws ToolException, InterruptedException {
        Map<String, @Nullable Object> answer = get("/internal/tasks"
                        + query(namespace, limit, before == null ? "" : "&before=" + encoded(before)))
                .orElseThrow(() -> unavailable("agent-service does not know what tasks are"));
        return page(answer, "tasks");
    }

    /** Events of a task, in the order of the journal; empty if the namespace has no such task. */
    Optional<Page> events(String namespace, String taskId, int limit, @Nullable String after)
            throws ToolException, InterruptedException {
        String path = "/internal/tasks/" + encoded(taskId) + "/events";
        return get(path + query(namespace, limit, after == null ? "" : "&after=" + encoded(after)))
                .map(answer -> page(answer, "events"));
    }

    private Optional<Map<String, @Nullable Object>> get(String path) throws ToolException, InterruptedException {
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
            return Optional.of(Json.readObject(response.body()));
        } catch (MalformedEventException e) {
            throw unavailable("agent-service answered with something that is no JSON object");
        }
    }

    private static ToolException unavailable(String why) {
        return ToolException.passing(UNAVAILABLE, "Tasks cannot be looked at now: " + why, null);
    }

    private static Page page(Map<String, @Nullable Object> answer, String field) {
        List<Map<?, ?>> entries = answer.get(field) instanceof List<?> list
                ? list.stream()
                        .<Map<?, ?>>mapMulti((entry, out) -> {
                            if (entry instanceof Map<?, ?> object) {
                                out.accept(object);
                            }
                        })
                        .collect(Collectors.toList())
                : List.of();
        return new Page(entries, answer.get("next") instanceof String next ? next : null);
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
