package dev.millrace.agent.topology;

import dev.millrace.agent.SessionOrigin;
import java.util.Optional;

/** Knows which session a task belongs to, on any partition. Called on stream threads, so it must not wait. */
public interface SessionLookup {

    /** The session; empty if the task has none, or is not known (yet). */
    Optional<String> sessionOf(String namespace, String taskId);

    /** The session of an origin in which something happened last, on any partition; empty if none is known (yet). */
    default Optional<String> newestOf(String namespace, SessionOrigin origin, String name) {
        return Optional.empty();
    }

    /** Whether the id is that of a task on another partition than this one; false if that is not known (yet). */
    default boolean isElsewhere(String namespace, String taskId, int partition) {
        return false;
    }
}
