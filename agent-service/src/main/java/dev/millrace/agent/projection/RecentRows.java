package dev.millrace.agent.projection;

import dev.millrace.agent.projection.ProjectionKeys.TaskName;
import java.util.LinkedHashMap;
import java.util.Map;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.state.KeyValueStore;
import org.jspecify.annotations.Nullable;

/**
 * The rows of the store, of which those that moved last are kept as objects as well: a task has many events in a short
 * time, and its row need not be read out of JSON for each. For the one thread that writes the store.
 */
final class RecentRows {

    private static final int MOST = 2_000;

    private final KeyValueStore<Bytes, byte[]> rows;
    private final Map<TaskName, TaskRow> recent = new LinkedHashMap<>(16, 0.75f, true) {
        @Override
        protected boolean removeEldestEntry(Map.Entry<TaskName, TaskRow> eldest) {
            return size() > MOST;
        }
    };

    RecentRows(KeyValueStore<Bytes, byte[]> rows) {
        this.rows = rows;
    }

    @Nullable
    TaskRow get(TaskName name) {
        TaskRow row = recent.get(name);
        if (row != null) {
            return row;
        }
        byte[] stored = rows.get(ProjectionKeys.task(name));
        return stored == null ? null : TaskRow.fromJson(stored);
    }

    void put(TaskRow row) {
        rows.put(ProjectionKeys.task(row.name()), row.toJson());
        recent.put(row.name(), row);
    }

    /** What is known of the store may be wrong. */
    void forget() {
        recent.clear();
    }

    /** This row has been removed from the store. */
    void forget(TaskName name) {
        recent.remove(name);
    }
}
