package dev.millrace.agent.projection;

import dev.millrace.agent.projection.ProjectionKeys.TaskName;
import dev.millrace.schemas.Event;
import dev.millrace.schemas.JournalEntry;
import dev.millrace.schemas.KnownEventType;
import java.util.List;
import java.util.stream.Stream;
import org.apache.kafka.common.utils.Bytes;

/** Under which keys an event can be found again, beside its own. Their value is the event's key. */
final class Pointers {
    private Pointers() {}

    /** All of them. */
    static List<Bytes> of(JournalEntry entry) {
        return Stream.concat(byPlace(entry).stream(), byCall(entry).stream()).toList();
    }

    /** Those with the event's place in them, so that they are this event's alone. */
    static List<Bytes> byPlace(JournalEntry entry) {
        Event event = entry.event();
        TaskName name = TaskRow.nameOf(event);
        Bytes byId = ProjectionKeys.eventId(name.namespace(), event.id(), entry.cursor());
        return event.type() == KnownEventType.TASK_STATE_CHANGED
                ? List.of(byId, ProjectionKeys.transition(name, entry.cursor()))
                : List.of(byId);
    }

    /** Those that the first event about a call has, whatever is told of it later. */
    static List<Bytes> byCall(JournalEntry entry) {
        Event event = entry.event();
        String callId = event.text("callId");
        if (callId == null) {
            return List.of();
        }
        if (event.type() == KnownEventType.APPROVAL_REQUESTED) {
            return List.of(ProjectionKeys.approvalRequest(event.namespace(), callId));
        }
        return event.type() == KnownEventType.APPROVAL_DECIDED
                ? List.of(ProjectionKeys.approvalDecision(event.namespace(), callId))
                : List.of();
    }
}
