package dev.millrace.gateway.rest.requests;

import dev.millrace.api.TaskBulk;
import jakarta.ws.rs.QueryParam;
import java.util.HashMap;
import java.util.Map;
import org.eclipse.microprofile.openapi.annotations.parameters.Parameter;
import org.jspecify.annotations.Nullable;

/** Which tasks are meant, besides by state. */
public class TaskFilters {

    @Parameter(description = "Only tasks of this conversation.")
    @QueryParam("sessionId")
    @Nullable
    String sessionId;

    @Parameter(
            description =
                    "Only tasks that wait for this: admission, model, tools, answer, approval, resume or children.")
    @QueryParam("waitingFor")
    @Nullable
    String waitingFor;

    @Parameter(description = "Only tasks of this agent.")
    @QueryParam("agent")
    @Nullable
    String agent;

    @Parameter(description = "Only tasks that failed with this code.", example = "iteration_limit")
    @QueryParam("errorCode")
    @Nullable
    String errorCode;

    @Parameter(
            description = "Only tasks with this in what they were asked, their answer, error or question, in capitals"
                    + " or not.")
    @QueryParam("text")
    @Nullable
    String text;

    @Parameter(description = "Only tasks that this one started as parts of itself.")
    @QueryParam("parentTaskId")
    @Nullable
    String parentTaskId;

    @Parameter(description = "Only tasks that go on from this one in another way.")
    @QueryParam("forkedFrom")
    @Nullable
    String forkedFrom;

    @Parameter(description = "Only tasks that began then or later: a day, or a moment in RFC 3339.")
    @QueryParam("createdAfter")
    @Nullable
    String createdAfter;

    @Parameter(description = "Only tasks that began before.")
    @QueryParam("createdBefore")
    @Nullable
    String createdBefore;

    /** What tasks are asked to wait for; {@code null} = for anything, or nothing. */
    public @Nullable String waitingFor() {
        return waitingFor;
    }

    /**
     * As agent-service is asked, which judges the values.
     *
     * @param state that tasks have to be in; {@code null} = any
     */
    public Map<String, @Nullable String> query(@Nullable String state) {
        return queryOf(new TaskBulk.Filter(
                state,
                waitingFor,
                sessionId,
                agent,
                errorCode,
                text,
                parentTaskId,
                forkedFrom,
                createdAfter,
                createdBefore));
    }

    /** The same of a filter that came in a body. */
    public static Map<String, @Nullable String> queryOf(TaskBulk.Filter filter) {
        Map<String, @Nullable String> query = new HashMap<>();
        query.put("state", filter.state());
        query.put("sessionId", filter.sessionId());
        query.put("waitingFor", filter.waitingFor());
        query.put("agent", filter.agent());
        query.put("errorCode", filter.errorCode());
        query.put("text", filter.text());
        query.put("parentTaskId", filter.parentTaskId());
        query.put("forkedFrom", filter.forkedFrom());
        query.put("createdAfter", filter.createdAfter());
        query.put("createdBefore", filter.createdBefore());
        return query;
    }
}
