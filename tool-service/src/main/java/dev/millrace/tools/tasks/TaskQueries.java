package dev.millrace.tools.tasks;

import dev.millrace.api.Entry;
import dev.millrace.api.Task;
import dev.millrace.http.client.AgentClient;
import dev.millrace.http.client.BadQueryException;
import dev.millrace.http.client.InternalSecret;
import dev.millrace.http.client.QueryUnavailableException;
import dev.millrace.schemas.Event;
import dev.millrace.schemas.EventJson;
import dev.millrace.schemas.Json;
import dev.millrace.schemas.JsonObject;
import dev.millrace.schemas.MalformedEventException;
import dev.millrace.tool.api.ToolException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** What tools ask agent-service about tasks. For any thread; a call blocks it for at most the deadline. */
public final class TaskQueries implements AutoCloseable {

    private static final String UNAVAILABLE = "tasks_unavailable";

    private final AgentClient client;

    /**
     * Connects when it is asked.
     *
     * @param base where agent-service is, such as {@code http://localhost:8081}
     * @param deadline how long an answer may take
     * @param secret that agent-service is shown
     */
    public TaskQueries(URI base, Duration deadline, InternalSecret secret) {
        this.client = new AgentClient(base, deadline, secret);
    }

    /** Tasks of a namespace, newest first. */
    Task.Page tasks(String namespace, int limit, @Nullable String before) throws ToolException, InterruptedException {
        return get(AgentClient.path("tasks"), query(namespace, limit, "before", before), Task.Page.class)
                .orElseThrow(() -> unavailable("agent-service does not know what tasks are"));
    }

    /** A task; empty if the namespace has none of this id. */
    Optional<Task> task(String namespace, String taskId) throws ToolException, InterruptedException {
        Map<String, @Nullable String> query = new LinkedHashMap<>();
        query.put("namespace", namespace);
        return get(AgentClient.path("tasks", taskId), query, Task.class);
    }

    /** Events of a task, in the order of the journal; empty if the namespace has no such task. */
    Optional<Entry.Page> events(String namespace, String taskId, int limit, @Nullable String after)
            throws ToolException, InterruptedException {
        return get(
                AgentClient.path("tasks", taskId, "events"), query(namespace, limit, "after", after), Entry.Page.class);
    }

    /** An event of a namespace as the journal has it; empty if there is none of this id. */
    Optional<Event> event(String namespace, String eventId) throws ToolException, InterruptedException {
        Optional<AgentClient.Answer> answer =
                get(AgentClient.path("events", eventId, "chain"), query(namespace, 1, "before", null));
        if (answer.isEmpty()) {
            return Optional.empty();
        }
        try {
            JsonObject page = Json.readObject(answer.get().json().getBytes(StandardCharsets.UTF_8));
            if (page.get("chain") instanceof List<?> chain && chain.getLast() instanceof JsonObject last) {
                return Optional.of(EventJson.fromJson(last));
            }
        } catch (MalformedEventException e) {
            throw unavailable("agent-service answered with something that is no event: " + e.getMessage());
        }
        throw unavailable("agent-service answered with something that is no chain of events");
    }

    private <T> Optional<T> get(String path, Map<String, @Nullable String> query, Class<T> type)
            throws ToolException, InterruptedException {
        Optional<AgentClient.Answer> answer = get(path, query);
        try {
            return answer.isPresent() ? Optional.of(answer.get().as(type)) : Optional.empty();
        } catch (QueryUnavailableException e) {
            throw unavailable(String.valueOf(e.getMessage()));
        }
    }

    private Optional<AgentClient.Answer> get(String path, Map<String, @Nullable String> query)
            throws ToolException, InterruptedException {
        try {
            return Optional.of(client.get(path, query)).filter(AgentClient.Answer::found);
        } catch (QueryUnavailableException | BadQueryException e) {
            throw unavailable(String.valueOf(e.getMessage()));
        }
    }

    private static ToolException unavailable(String why) {
        return ToolException.passing(UNAVAILABLE, "Tasks cannot be looked at now: " + why, null);
    }

    private static Map<String, @Nullable String> query(
            String namespace, int limit, String cursor, @Nullable String place) {
        Map<String, @Nullable String> query = new LinkedHashMap<>();
        query.put("namespace", namespace);
        query.put("limit", Integer.toString(limit));
        query.put(cursor, place);
        return query;
    }

    /** Closes its connections. */
    @Override
    public void close() {
        client.close();
    }
}
