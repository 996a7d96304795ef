package dev.millrace.agent.projection;

import dev.millrace.schemas.Event;
import dev.millrace.schemas.JournalEntry;
import dev.millrace.schemas.Payload;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A tool call that somebody was asked to decide on. Written as JSON as it stands, absent values as {@code null}.
 *
 * @param callId the call
 * @param taskId its task
 * @param sessionId the task's conversation; {@code null} = the task is one of its own
 * @param namespace the tenant
 * @param toolName the tool
 * @param params the arguments that it will get
 * @param taskType the agent that calls; {@code null} = not told
 * @param reason why it needs an approval, for people; {@code null} = not told
 * @param requestedAt Unix milliseconds
 * @param expiresAt when it is decided without anybody, RFC 3339; {@code null} = never
 * @param eventId the event that asks
 * @param cursor its place in the journal
 */
public record ApprovalView(
        String callId,
        String taskId,
        @Nullable String sessionId,
        String namespace,
        String toolName,
        Map<String, @Nullable Object> params,
        @Nullable String taskType,
        @Nullable String reason,
        long requestedAt,
        @Nullable String expiresAt,
        String eventId,
        String cursor) {

    /** @param requested APPROVAL_REQUESTED */
    static ApprovalView of(JournalEntry requested) {
        Event event = requested.event();
        Payload.ApprovalRequested asked = (Payload.ApprovalRequested) event.payload();
        return new ApprovalView(
                asked.callId(),
                TaskRow.nameOf(event).taskId(),
                event.sessionId(),
                event.namespace(),
                asked.toolName(),
                asked.params(),
                asked.taskType(),
                asked.reason(),
                event.timestamp().toEpochMilli(),
                asked.expiresAt(),
                event.id(),
                requested.cursor().toString());
    }
}
