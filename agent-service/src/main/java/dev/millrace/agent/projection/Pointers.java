package dev.millrace.agent.projection;

import dev.millrace.agent.projection.ProjectionKeys.TaskName;
import dev.millrace.schemas.Event;
import dev.millrace.schemas.JournalEntry;
import dev.millrace.schemas.KnownEventType;
import java.util.List;
import org.apache.kafka.common.utils.Bytes;

/** Under which keys an event can be found again, beside its own. Their value is the event's key. */
final class Pointers {
    private Pointers() {}

    static List<Bytes> of(JournalEntry entry) {
        Event event = entry.event();
        TaskName name = TaskRow.nameOf(event);
        Bytes byId = ProjectionKeys.eventId(name.namespace(), event.id());
        if (event.type() == KnownEventType.TASK_STATE_CHANGED) {
            return List.of(byId, ProjectionKeys.transition(name, entry.cursor()));
        }
        String callId = event.text("callId");
        if (callId != null && event.type() == KnownEventType.APPROVAL_REQUESTED) {
            return List.of(byId, ProjectionKeys.approvalRequest(name.namespace(), callId));
        }
        if (callId != null && event.type() == KnownEventType.APPROVAL_DECIDED) {
            return List.of(byId, ProjectionKeys.approvalDecision(name.namespace(), callId));
        }
        return List.of(byId);
    }
}
