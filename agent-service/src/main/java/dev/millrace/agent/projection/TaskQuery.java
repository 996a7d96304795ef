package dev.millrace.agent.projection;

import dev.millrace.api.Task;
import org.jspecify.annotations.Nullable;

/**
 * Which tasks to list.
 *
 * @param namespace of this tenant only
 * @param state in this state only, such as {@code reasoning}; {@code null} = in any
 * @param sessionId of this conversation only; {@code null} = of any
 * @param waitingFor waiting for something of this kind only, such as {@code approval}; {@code null} = for anything, or
 *     nothing
 * @param limit at most so many, 1 to {@value #MAX_LIMIT}
 * @param before the {@link Task.Page#next} of the page before; {@code null} = the newest ones
 * @param traits what else they are to have in common
 */
public record TaskQuery(
        String namespace,
        @Nullable String state,
        @Nullable String sessionId,
        @Nullable String waitingFor,
        int limit,
        @Nullable String before,
        TaskTraits traits) {

    /** The longest page. */
    public static final int MAX_LIMIT = 500;

    public TaskQuery {
        requireLimit(limit);
    }

    /** The same for tasks of whatever traits. */
    public TaskQuery(
            String namespace,
            @Nullable String state,
            @Nullable String sessionId,
            @Nullable String waitingFor,
            int limit,
            @Nullable String before) {
        this(namespace, state, sessionId, waitingFor, limit, before, TaskTraits.ANY);
    }

    static void requireLimit(int limit) {
        if (limit < 1 || limit > MAX_LIMIT) {
            throw new IllegalArgumentException("limit: expected 1 to " + MAX_LIMIT + ", found " + limit);
        }
    }

    boolean wants(Task task) {
        return (state == null || state.equals(task.state()))
                && (sessionId == null || sessionId.equals(task.sessionId()))
                && (waitingFor == null
                        || (task.waitingFor() != null
                                && waitingFor.equals(task.waitingFor().kind())))
                && traits.fit(task);
    }
}
