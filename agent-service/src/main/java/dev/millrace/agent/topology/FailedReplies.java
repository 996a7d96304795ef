package dev.millrace.agent.topology;

import dev.millrace.engine.ModelUsage;
import dev.millrace.engine.UnitOfWork.Undone;
import dev.millrace.schemas.Event;
import dev.millrace.schemas.Ids;
import dev.millrace.schemas.KnownEventType;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** The replies that a task gets in place of those that cannot be taken, so that it does not wait for its deadline. */
final class FailedReplies {

    private FailedReplies() {}

    /**
     * The failure of the call that this event answers. What the call used is still counted.
     *
     * @return empty if the event answers no call, or not as its schema says
     */
    static Optional<Event> inPlaceOf(Event event, Undone why) {
        String callId = event.text("callId");
        KnownEventType failure = failureOf(event);
        if (callId == null || failure == null) {
            return Optional.empty();
        }
        Map<String, @Nullable Object> payload = new LinkedHashMap<>();
        payload.put("callId", callId);
        payload.put("code", why.reason());
        payload.put("error", "the reply could not be taken: " + why.detail());
        if (failure == KnownEventType.TOOL_CALL_FAILED) {
            payload.put("toolName", event.text("toolName") == null ? "" : event.text("toolName"));
        } else {
            payload.putAll(ModelUsage.of(event));
        }
        String id = Ids.hash(event.id() + '\n' + failure.wireName()).substring(0, 32);
        return Optional.of(Event.root(id, failure, event.timestamp())
                .taskId(event.taskId())
                .sessionId(event.sessionId())
                .namespace(event.namespace())
                .correlationId(event.correlationId())
                .parentEventId(event.parentEventId())
                .traceparent(event.traceparent())
                .source("agent")
                .payload(payload)
                .build());
    }

    private static @Nullable KnownEventType failureOf(Event event) {
        return event.type() instanceof KnownEventType type
                ? switch (type) {
                    case REASON_DONE, NEED_MORE_INFO, CONTEXT_COMPACTED -> KnownEventType.MODEL_CALL_FAILED;
                    case TOOL_CALL_COMPLETED -> KnownEventType.TOOL_CALL_FAILED;
                    default -> null;
                }
                : null;
    }
}
