package dev.millrace.agent.projection;

import dev.millrace.agent.projection.ProjectionKeys.TaskName;
import java.util.HashSet;
import java.util.Objects;
import java.util.Set;
import org.apache.kafka.common.utils.Bytes;
import org.jspecify.annotations.Nullable;

/** Which lists a task stands in: the keys that follow from its row, and have no values. */
final class TaskLists {
    private TaskLists() {}

    /** The keys of a row; none if there is no row or it is no task. */
    static Set<Bytes> of(@Nullable TaskRow row) {
        String state = row == null ? null : row.progress().state();
        if (row == null || state == null) {
            return row == null || row.alone() == null ? Set.of() : ofAlone(row);
        }
        TaskName name = row.name();
        Set<Bytes> keys = new HashSet<>();
        keys.add(place(row, ProjectionKeys.list(name.namespace())));
        keys.add(place(row, ProjectionKeys.stateList(name.namespace(), state)));
        String status = QueueStatus.of(row);
        if (status != null && QueueStatus.isListedApart(status)) {
            keys.add(place(row, ProjectionKeys.queueList(name.namespace(), status)));
        }
        String sessionId = row.origin().sessionId();
        if (sessionId != null) {
            keys.add(place(row, ProjectionKeys.sessionList(name.namespace(), sessionId)));
            if (QueueStatus.PENDING.equals(status)) {
                keys.add(ProjectionKeys.inLine(
                        ProjectionKeys.line(name.namespace(), sessionId),
                        row.origin().priority(),
                        row.first(),
                        name.taskId()));
            }
        }
        Waits waits = row.progress().waits();
        if (waits.on() != null) {
            keys.add(place(
                    row, ProjectionKeys.waitingList(name.namespace(), waits.on().kind())));
        }
        waits.approvals()
                .forEach(open -> keys.add(ProjectionKeys.openApproval(name, open.requestedAt(), open.requested())));
        return keys;
    }

    private static Set<Bytes> ofAlone(TaskRow row) {
        String namespace = row.name().namespace();
        Set<Bytes> keys = new HashSet<>();
        keys.add(place(row, ProjectionKeys.alone(namespace)));
        String status = QueueStatus.of(row);
        if (status != null) {
            keys.add(place(row, ProjectionKeys.queueList(namespace, status)));
        }
        String sessionId = row.origin().sessionId();
        if (sessionId != null) {
            keys.add(place(row, ProjectionKeys.aloneInSession(namespace, sessionId)));
        }
        return keys;
    }

    /** Whether both stand in the same lists, as far as that can be told without making their keys. */
    static boolean same(@Nullable TaskRow before, TaskRow after) {
        return before != null
                && Objects.equals(before.progress().state(), after.progress().state())
                && Objects.equals(before.alone(), after.alone())
                && Objects.equals(before.origin(), after.origin())
                && Objects.equals(before.progress().waits(), after.progress().waits());
    }

    private static Bytes place(TaskRow row, Bytes list) {
        return ProjectionKeys.listed(list, row.origin().createdAt(), row.name().taskId());
    }
}
