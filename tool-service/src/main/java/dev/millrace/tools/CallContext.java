package dev.millrace.tools;

import dev.millrace.tool.api.ToolContext;
import java.time.Instant;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * On whose behalf a tool is called.
 *
 * @param taskId the task; empty if there is none
 * @param sessionId the conversation; {@code null} if the task is one of its own
 * @param namespace the tenant
 * @param callId the same on every attempt: the idempotency key
 * @param deadline when the time of the call is over; {@link Instant#MAX} = never
 */
public record CallContext(String taskId, @Nullable String sessionId, String namespace, String callId, Instant deadline)
        implements ToolContext {

    /** A call that may take as long as it likes. */
    public CallContext(String taskId, @Nullable String sessionId, String namespace, String callId) {
        this(taskId, sessionId, namespace, callId, Instant.MAX);
    }

    @Override
    public Optional<String> session() {
        return Optional.ofNullable(sessionId);
    }
}
