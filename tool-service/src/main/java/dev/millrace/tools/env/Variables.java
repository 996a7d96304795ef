package dev.millrace.tools.env;

import dev.millrace.tool.api.ToolContext;
import dev.millrace.tool.api.ToolException;
import java.util.Optional;

/**
 * Variables that a conversation has set for itself. Whatever instance is asked knows of every variable that was set
 * before it was asked. Safe for any thread.
 */
public interface Variables {

    /**
     * Whose variables they are: those of one conversation are nobody else's.
     *
     * @param namespace the tenant
     * @param kind {@code session} or {@code task}
     * @param id of the session, or of the task if it belongs to none
     */
    record Scope(String namespace, String kind, String id) {

        /** That of a call; a call without a session and without a task shares one with all others of its tenant. */
        static Scope of(ToolContext context) {
            String session = context.session().orElse(null);
            return session == null
                    ? new Scope(context.namespace(), "task", context.taskId())
                    : new Scope(context.namespace(), "session", session);
        }
    }

    /**
     * Sets a variable; returns when every instance will know of it.
     *
     * @throws ToolException with code {@code env_full} if the scope has as many as it may have, or
     *     {@code env_unavailable}
     */
    void set(Scope scope, String key, String value) throws ToolException, InterruptedException;

    /**
     * Reads a variable; empty if it was not set, or too long ago.
     *
     * @throws ToolException with code {@code env_unavailable} if that cannot be found out now
     */
    Optional<String> get(Scope scope, String key) throws ToolException, InterruptedException;
}
