package dev.millrace.agent.topology;

import dev.millrace.agent.core.TaskState;
import dev.millrace.agent.core.Usage;
import java.time.Duration;
import org.apache.kafka.streams.state.KeyValueIterator;
import org.apache.kafka.streams.state.KeyValueStore;
import org.jspecify.annotations.Nullable;

/** What the tasks of a session have used together, for limits that hold for all of them. For one stream thread. */
final class Sessions {

    private static final long HOUR_MS = Duration.ofHours(1).toMillis();

    private final KeyValueStore<String, Row> store;
    private final KeyValueStore<String, String> used;

    /**
     * The row of a session.
     *
     * @param usage what its tasks have used so far
     * @param updatedAtMs when that last became more, in Unix milliseconds
     */
    record Row(Usage usage, long updatedAtMs) {

        /** To the hour, so that the index need not be written with every call; never before it was. */
        private long usedAtMs() {
            return (updatedAtMs / HOUR_MS + 1) * HOUR_MS;
        }
    }

    /**
     * As the store has them.
     *
     * @param used their keys by when they were last used, see {@link Row}
     */
    Sessions(KeyValueStore<String, Row> store, KeyValueStore<String, String> used) {
        this.store = store;
        this.used = used;
    }

    /** What the session of this task has used, the task itself included; nothing if it has none. */
    Usage usage(StoredTask task) {
        Row row = task.sessionId() == null ? null : store.get(task.conversation());
        return row == null ? Usage.NONE : row.usage();
    }

    /** Adds what a move has used. */
    void add(TaskState from, StoredTask after, long nowMs) {
        Usage more = used(after.state()).minus(used(from));
        String key = after.conversation();
        if (after.sessionId() != null && !more.equals(Usage.NONE)) {
            Row before = store.get(key);
            Row now = new Row(before == null ? more : before.usage().plus(more), nowMs);
            store.put(key, now);
            if (before == null || before.usedAtMs() != now.usedAtMs()) {
                drop(before, key);
                DueRows.add(used, now.usedAtMs(), key);
            }
        }
    }

    /** Forgets what the session of this task has used. */
    void forget(StoredTask task) {
        if (task.sessionId() != null) {
            drop(store.delete(task.conversation()), task.conversation());
        }
    }

    /** Forgets what sessions used that have done nothing for so long. */
    DueRows sweep(Duration retention) {
        return new DueRows(used, retention, new DueRows.Rows() {
            @Override
            public KeyValueIterator<String, ?> from(@Nullable String key) {
                return store.range(key, null);
            }

            @Override
            public long usedAtMs(String key) {
                Row row = store.get(key);
                return row == null ? DueRows.GONE : row.usedAtMs();
            }

            @Override
            public int remove(String key, int most) {
                store.delete(key);
                return 1;
            }
        });
    }

    private void drop(@Nullable Row row, String key) {
        if (row != null) {
            DueRows.drop(used, row.usedAtMs(), key);
        }
    }

    private static Usage used(TaskState state) {
        return state instanceof TaskState.Existing task ? task.context().usage() : Usage.NONE;
    }
}
