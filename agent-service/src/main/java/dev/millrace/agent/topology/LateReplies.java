package dev.millrace.agent.topology;

import dev.millrace.agent.core.DiscardReason;
import dev.millrace.schemas.Event;
import dev.millrace.schemas.Ids;
import dev.millrace.schemas.KnownEventType;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Keeps what a reply used that came when nobody waited for it any more: it was paid for like any other. */
final class LateReplies {

    private static final List<String> KEPT = List.of("model", "usage", "failedAttempts", "agent");

    private LateReplies() {}

    /** Whether this is what came of a model call. */
    static boolean isReply(Event event) {
        return event.type() instanceof KnownEventType type
                && switch (type) {
                    case REASON_DONE, NEED_MORE_INFO, CONTEXT_COMPACTED, MODEL_CALL_FAILED -> true;
                    default -> false;
                };
    }

    /**
     * What goes into the journal in place of such a reply. A call that is made twice, since an instance was believed dead,
     * has two replies of the same id; the time at which each was given tells them apart.
     *
     * @param reason why nobody waited for it
     * @return empty if the reply says nothing about what it used
     */
    static Optional<Event> abandoned(Event reply, DiscardReason reason) {
        String callId = reply.text("callId");
        if (callId == null || !(reply.payload().get("usage") instanceof Map<?, ?>)) {
            return Optional.empty();
        }
        long repliedAt = reply.timestamp().toEpochMilli();
        Map<String, @Nullable Object> payload = new LinkedHashMap<>();
        payload.put("callId", callId);
        payload.put("code", reason.name().toLowerCase(Locale.ROOT));
        payload.put("repliedAt", repliedAt);
        KEPT.forEach(field -> {
            Object value = reply.payload().get(field);
            if (value != null) {
                payload.put(field, value);
            }
        });
        String id = Ids.hash(Event.qualified(reply.namespace(), reply.id()) + '\n' + repliedAt)
                .substring(0, 32);
        return Optional.of(Event.root(id, KnownEventType.MODEL_CALL_ABANDONED, reply.timestamp())
                .taskId(reply.taskId())
                .sessionId(reply.sessionId())
                .namespace(reply.namespace())
                .correlationId(reply.correlationId())
                .parentEventId(reply.parentEventId())
                .traceparent(reply.traceparent())
                .source(reply.source())
                .payload(payload)
                .build());
    }
}
