package dev.millrace.agent.topology;

import dev.millrace.agent.core.TaskState;
import dev.millrace.agent.core.Usage;
import java.time.Duration;
import org.apache.kafka.streams.state.KeyValueStore;

/** What the tasks of a session have used together, for limits that hold for all of them. For one stream thread. */
final class Sessions {

    private final KeyValueStore<String, Row> store;

    /**
     * The row of a session.
     *
     * @param usage what its tasks have used so far
     * @param updatedAtMs when that last became more, in Unix milliseconds
     */
    record Row(Usage usage, long updatedAtMs) {}

    Sessions(KeyValueStore<String, Row> store) {
        this.store = store;
    }

    /** What the session of this task has used, the task itself included; nothing if it has none. */
    Usage usage(StoredTask task) {
        Row row = task.sessionId() == null ? null : store.get(task.conversation());
        return row == null ? Usage.NONE : row.usage();
    }

    /** Adds what a move has used. */
    void add(TaskState before, StoredTask after, long nowMs) {
        Usage more = used(after.state()).minus(used(before));
        if (after.sessionId() != null && !more.equals(Usage.NONE)) {
            store.put(after.conversation(), new Row(usage(after).plus(more), nowMs));
        }
    }

    /** Forgets what the session of this task has used. */
    void forget(StoredTask task) {
        if (task.sessionId() != null) {
            store.delete(task.conversation());
        }
    }

    /** Forgets what sessions used that have done nothing for so long. */
    RowSweep<Row> sweep(Duration retention) {
        return new RowSweep<>(store, (row, nowMs) -> {
            if (row.value.updatedAtMs() < nowMs - retention.toMillis()) {
                store.delete(row.key);
            }
        });
    }

    private static Usage used(TaskState state) {
        return state instanceof TaskState.Existing task ? task.context().usage() : Usage.NONE;
    }
}
