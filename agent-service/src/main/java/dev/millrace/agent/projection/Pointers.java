package dev.millrace.agent.projection;

import dev.millrace.agent.projection.ProjectionKeys.TaskName;
import dev.millrace.schemas.Event;
import dev.millrace.schemas.JournalEntry;
import dev.millrace.schemas.Payload;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.Stream;
import org.apache.kafka.common.utils.Bytes;

/** Under which keys an event can be found again, beside its own. Their value is the event's key. */
final class Pointers {
    private Pointers() {}

    /** All of them. */
    static List<Bytes> of(JournalEntry entry) {
        return Stream.of(byPlace(entry).stream(), toRequest(entry).stream(), toDecision(entry).stream())
                .flatMap(Function.identity())
                .toList();
    }

    /** Those with the event's place in them, so that they are this event's alone. */
    static List<Bytes> byPlace(JournalEntry entry) {
        Event event = entry.event();
        TaskName name = TaskRow.nameOf(event);
        Bytes byId = ProjectionKeys.eventId(name.namespace(), event.id(), entry.cursor());
        if (event.payload() instanceof Payload.TaskStateChanged) {
            return List.of(byId, ProjectionKeys.transition(name, entry.cursor()));
        }
        String sessionId = event.sessionId();
        return sessionId != null && SessionReader.said(event.payload()) != null
                ? List.of(byId, ProjectionKeys.message(name.namespace(), sessionId, entry.cursor()))
                : List.of(byId);
    }

    /** That of a request for an approval, the first for its call. */
    static Optional<Bytes> toRequest(JournalEntry entry) {
        Event event = entry.event();
        return event.payload() instanceof Payload.ApprovalRequested asked
                ? Optional.of(ProjectionKeys.approvalRequest(event.namespace(), asked.callId()))
                : Optional.empty();
    }

    /** That of a decision, the first for its call. */
    static Optional<Bytes> toDecision(JournalEntry entry) {
        Event event = entry.event();
        return event.payload() instanceof Payload.ApprovalDecided decided
                ? Optional.of(ProjectionKeys.approvalDecision(event.namespace(), decided.callId()))
                : Optional.empty();
    }
}
