package dev.millrace.requests;

import dev.millrace.schemas.Event;
import dev.millrace.schemas.EventType;
import dev.millrace.schemas.Extensions;
import dev.millrace.schemas.Ids;
import dev.millrace.schemas.KnownEventType;
import dev.millrace.schemas.Payload;
import java.time.Instant;
import java.util.Map;
import java.util.Objects;

/** The one place where a {@link Reply} becomes an event. */
public final class ReplyEvents {

    /** The {@code source} of every reply. */
    public static final String SOURCE = "tools.executor";
    /** Code of a reply to a request that has been delivered too often without an answer. */
    public static final String DELIVERY_LIMIT = "delivery_limit";
    /** Code of a reply whose result is too large for a record. */
    public static final String RESULT_TOO_LARGE = "result_too_large";
    /** Code of a reply after an exception that the handler should not have thrown. */
    public static final String INTERNAL_ERROR = "internal_error";

    /** The longest error of a reply, in characters; of a longer one this much is passed on. */
    public static final int MAX_ERROR = 100_000;

    private ReplyEvents() {}

    /**
     * The reply as an event: TOOL_CALL_COMPLETED or TOOL_CALL_FAILED. It belongs to the request's task, session,
     * namespace, chain and trace, shows its token, and its cause is the fact that led to the request. Its id follows
     * from the call id and the type, so a second execution of the same call gives the same id.
     *
     * @throws IllegalArgumentException if the result is not made of JSON values
     */
    public static Event toEvent(Request request, Reply reply, Instant now) {
        Event cause = request.event();
        EventType type =
                switch (reply) {
                    case Reply.Completed completed -> KnownEventType.TOOL_CALL_COMPLETED;
                    case Reply.Failed failed -> KnownEventType.TOOL_CALL_FAILED;
                };
        String token = cause.extensions().get(Extensions.REPLY_TOKEN);
        String id = Ids.hash(request.callId() + '\n' + type.wireName()).substring(0, 32);
        return Event.root(id, type, now)
                .source(SOURCE)
                .taskId(cause.taskId())
                .sessionId(cause.sessionId())
                .namespace(cause.namespace())
                .correlationId(cause.correlationId())
                .parentEventId(Objects.requireNonNullElse(cause.parentEventId(), cause.id()))
                .traceparent(cause.traceparent())
                .tracestate(cause.tracestate())
                .extensions(token == null ? Map.of() : Map.of(Extensions.REPLY_TOKEN, token))
                .payload(payload(request, reply))
                .build();
    }

    private static Payload payload(Request request, Reply reply) {
        return switch (reply) {
            case Reply.Completed completed ->
                new Payload.ToolCallCompleted(
                        request.callId(), request.toolName(), completed.result(), completed.durationMs(), null);
            case Reply.Failed failed ->
                new Payload.ToolCallFailed(
                        request.callId(),
                        request.toolName(),
                        cut(failed.error()),
                        failed.code(),
                        failed.durationMs(),
                        null);
        };
    }

    private static String cut(String error) {
        if (error.length() <= MAX_ERROR) {
            return error;
        }
        int end = Character.isHighSurrogate(error.charAt(MAX_ERROR - 2)) ? MAX_ERROR - 2 : MAX_ERROR - 1;
        return error.substring(0, end) + '…';
    }
}
