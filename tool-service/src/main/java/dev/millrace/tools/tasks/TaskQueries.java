package dev.millrace.tools.tasks;

import dev.millrace.api.Entry;
import dev.millrace.api.Task;
import dev.millrace.http.client.AgentClient;
import dev.millrace.http.client.BadQueryException;
import dev.millrace.http.client.QueryUnavailableException;
import dev.millrace.tool.api.ToolException;
import java.net.URI;
import java.time.Duration;
import java.util.LinkedHashMap;
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
     */
    public TaskQueries(URI base, Duration deadline) {
        this.client = new AgentClient(base, deadline);
    }

    /** Tasks of a namespace, newest first. */
    Task.Page tasks(String namespace, int limit, @Nullable String before) throws ToolException, InterruptedException {
        return get(AgentClient.path("tasks"), query(namespace, limit, "before", before), Task.Page.class)
                .orElseThrow(() -> unavailable("agent-service does not know what tasks are"));
    }

    /** Events of a task, in the order of the journal; empty if the namespace has no such task. */
    Optional<Entry.Page> events(String namespace, String taskId, int limit, @Nullable String after)
            throws ToolException, InterruptedException {
        return get(
                AgentClient.path("tasks", taskId, "events"), query(namespace, limit, "after", after), Entry.Page.class);
    }

    private <T> Optional<T> get(String path, Map<String, @Nullable String> query, Class<T> type)
            throws ToolException, InterruptedException {
        try {
            AgentClient.Answer answer = client.get(path, query);
            return answer.found() ? Optional.of(answer.as(type)) : Optional.empty();
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
