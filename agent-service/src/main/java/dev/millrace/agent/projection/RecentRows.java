package dev.millrace.agent.projection;

import dev.millrace.agent.projection.ProjectionKeys.TaskName;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.state.KeyValueStore;
import org.jspecify.annotations.Nullable;

/**
 * The rows of the store, of which those that moved last are kept as objects as well: a task has many events in a short
 * time, and its row need not be read out of JSON for each, nor written before others are to see it. For the one thread
 * that writes the store.
 */
final class RecentRows {

    private static final int MOST = 2_000;

    private final KeyValueStore<Bytes, byte[]> rows;
    private final Map<TaskName, Change> changed = new LinkedHashMap<>();
    private final Map<TaskName, TaskRow> recent = new LinkedHashMap<>(16, 0.75f, true) {
        @Override
        protected boolean removeEldestEntry(Map.Entry<TaskName, TaskRow> eldest) {
            return size() > MOST;
        }
    };

    /**
     * A row that is to be written.
     *
     * @param stored as the store has it; {@code null} = not at all
     */
    private record Change(@Nullable TaskRow stored, TaskRow now) {}

    RecentRows(KeyValueStore<Bytes, byte[]> rows) {
        this.rows = rows;
    }

    @Nullable
    TaskRow get(TaskName name) {
        Change change = changed.get(name);
        TaskRow row = change == null ? recent.get(name) : change.now();
        if (row != null) {
            return row;
        }
        byte[] stored = rows.get(ProjectionKeys.task(name));
        return stored == null ? null : TaskRow.fromJson(stored);
    }

    /** The row from now on; in the store with {@link #write}. */
    void put(@Nullable TaskRow before, TaskRow row) {
        Change change = changed.get(row.name());
        changed.put(row.name(), new Change(change == null ? before : change.stored(), row));
    }

    /**
     * Writes what has changed, and in which lists it stands.
     *
     * @param defect is told why a row could not be written; the others are
     */
    void write(Consumer<RuntimeException> defect) {
        changed.forEach((name, change) -> {
            try {
                write(name, change);
            } catch (KafkaException e) {
                throw e; // the store, not the row
            } catch (RuntimeException e) {
                recent.remove(name);
                defect.accept(e);
            }
        });
        changed.clear();
    }

    private void write(TaskName name, Change change) {
        if (!TaskLists.same(change.stored(), change.now())) {
            list(TaskLists.of(change.stored()), TaskLists.of(change.now()));
        }
        rows.put(ProjectionKeys.task(name), change.now().toJson());
        recent.put(name, change.now());
    }

    private void list(Set<Bytes> before, Set<Bytes> after) {
        for (Bytes key : after) {
            if (!before.contains(key)) {
                rows.put(key, new byte[0]);
            }
        }
        for (Bytes key : before) {
            if (!after.contains(key)) {
                rows.delete(key);
            }
        }
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
