package dev.millrace.agent.topology;

import dev.millrace.agent.core.Usage;
import dev.millrace.engine.UnitOfWork.Undone;
import dev.millrace.schemas.Event;
import dev.millrace.schemas.Ids;
import dev.millrace.schemas.KnownEventType;
import dev.millrace.schemas.Payload;
import dev.millrace.schemas.Payload.ModelCallOutcome;
import java.util.Optional;

/**
 * The replies that a task gets in place of those that cannot be taken, so that it does not wait for its deadline, or of
 * a child that cannot be started, for which there is none.
 */
final class FailedReplies {

    private FailedReplies() {}

    /**
     * The failure of the call that this event answers. What the call used is still counted.
     *
     * @return empty if the event answers no call, or not as its schema says
     */
    static Optional<Event> inPlaceOf(Event event, Undone why) {
        String error = "the reply could not be taken: " + why.detail();
        return switch (event.payload()) {
            case ModelCallOutcome reply
            when LateReplies.isReply(event) && !(reply instanceof Payload.ModelCallFailed) ->
                Optional.of(failure(
                        event,
                        KnownEventType.MODEL_CALL_FAILED,
                        new Payload.ModelCallFailed(
                                reply.callId(),
                                why.reason(),
                                error,
                                null,
                                reply.model(),
                                reply.usage(),
                                reply.failedAttempts(),
                                reply.agent())));
            case Payload.ToolCallCompleted completed ->
                Optional.of(failure(
                        event,
                        KnownEventType.TOOL_CALL_FAILED,
                        new Payload.ToolCallFailed(
                                completed.callId(), completed.toolName(), error, why.reason(), null, null)));
            default -> Optional.empty();
        };
    }

    /**
     * What the parent of a child is told whose start, or going on, this event is.
     *
     * @param why why it is not taken
     * @return empty if nobody waits for a child by it
     */
    static Optional<Event> toParent(Event start, String why) {
        Parentage parent = Parentage.of(start, Usage.NONE);
        String childId = EventMapping.taskIdOf(start);
        return parent == null || childId == null
                ? Optional.empty()
                : Optional.of(new TaskRecords(start).notStarted(parent, StoredTask.absent(start, childId, 0), why));
    }

    private static Event failure(Event reply, KnownEventType type, Payload payload) {
        String id = Ids.hash(reply.id() + '\n' + type.wireName()).substring(0, 32);
        return Event.root(id, type, reply.timestamp())
                .taskId(reply.taskId())
                .sessionId(reply.sessionId())
                .namespace(reply.namespace())
                .correlationId(reply.correlationId())
                .parentEventId(reply.parentEventId())
                .traceparent(reply.traceparent())
                .source("agent")
                .payload(payload)
                .build();
    }
}
