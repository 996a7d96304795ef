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
 * @param callbackUrl where the owner wants to be told what becomes of it; {@code null} = nowhere
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
        @Nullable String callbackUrl,
        @Nullable String lastEventId,
        long updatedAtMs,
        TaskState state) {

    static StoredTask absent(Event first, String taskId) {
        return new StoredTask(
                first.namespace(),
                taskId,
                first.sessionId(),
                first.correlationId(),
                first.text("callbackUrl"),
                null,
                0,
                TaskState.ABSENT);
    }

    StoredTask with(TaskState next, long nowMs) {
        return new StoredTask(namespace, taskId, sessionId, correlationId, callbackUrl, lastEventId, nowMs, next);
    }

    StoredTask journalled(String eventId) {
        return new StoredTask(namespace, taskId, sessionId, correlationId, callbackUrl, eventId, updatedAtMs, state);
    }

    /** The event with the task's own identity, so that what follows from it stays on the task's partition and has its depth. */
    Event adopt(Event event) {
        Event.Builder adopted = event.toBuilder().taskId(taskId).sessionId(sessionId);
        if (state instanceof TaskState.Existing existing) {
            adopted.causalDepth(existing.context().causalDepth());
        }
        return adopted.build();
    }

    /** The key of the row, and the first part of its transcript's keys. */
    String key() {
        return Event.qualified(namespace, taskId);
    }
}
