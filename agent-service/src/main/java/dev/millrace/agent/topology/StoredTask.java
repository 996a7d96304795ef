package dev.millrace.agent.topology;

import dev.millrace.agent.core.TaskState;
import dev.millrace.schemas.Event;
import org.jspecify.annotations.Nullable;

/**
 * The row of a task: who it is, and its state.
 *
 * @param namespace the tenant
 * @param taskId unique within the namespace
 * @param sessionId the conversation; {@code null} = the task is one of its own
 * @param correlationId id of the root event of the chain that started it
 * @param lastEventId id of the last event of the task in the journal: the parent of what follows because time passed;
 *     {@code null} = none yet
 * @param updatedAtMs when the row was last written, by the clock of the instance that did, in Unix milliseconds
 * @param state what the machine decided
 */
record StoredTask(
        String namespace,
        String taskId,
        @Nullable String sessionId,
        String correlationId,
        @Nullable String lastEventId,
        long updatedAtMs,
        TaskState state) {

    static StoredTask absent(Event first, String taskId) {
        return new StoredTask(
                first.namespace(), taskId, first.sessionId(), first.correlationId(), null, 0, TaskState.ABSENT);
    }

    StoredTask with(TaskState next, long nowMs) {
        return new StoredTask(namespace, taskId, sessionId, correlationId, lastEventId, nowMs, next);
    }

    StoredTask journalled(String eventId) {
        return new StoredTask(namespace, taskId, sessionId, correlationId, eventId, updatedAtMs, state);
    }

    /** The event with the task's own identity, so that what follows from it stays on the task's partition. */
    Event adopt(Event event) {
        return event.toBuilder().taskId(taskId).sessionId(sessionId).build();
    }

    /** The key of the row, and the first part of its transcript's keys. */
    String key() {
        return Event.qualified(namespace, taskId);
    }
}
