package dev.millrace.agent.projection;

import java.util.Set;
import org.apache.kafka.common.utils.Bytes;
import org.jspecify.annotations.Nullable;

/** Which lists a task stands in. */
final class TaskLists {
    private TaskLists() {}

    /** The {@link ProjectionKeys#listed} keys of a row; none if there is no row or it is no task. */
    static Set<Bytes> of(@Nullable TaskRow row) {
        String state = row == null ? null : row.progress().state();
        if (row == null || state == null) {
            return Set.of();
        }
        Bytes all = place(row, null, null);
        Bytes byState = place(row, state, null);
        String sessionId = row.origin().sessionId();
        return sessionId == null ? Set.of(all, byState) : Set.of(all, byState, place(row, null, sessionId));
    }

    private static Bytes place(TaskRow row, @Nullable String state, @Nullable String sessionId) {
        Bytes list = ProjectionKeys.list(row.name().namespace(), state, sessionId);
        return ProjectionKeys.listed(list, row.origin().createdAt(), row.name().taskId());
    }
}
