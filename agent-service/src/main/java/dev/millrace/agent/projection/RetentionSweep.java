package dev.millrace.agent.projection;

import dev.millrace.agent.projection.ProjectionKeys.TaskName;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.KeyValue;
import org.apache.kafka.streams.state.KeyValueIterator;
import org.apache.kafka.streams.state.KeyValueStore;

/**
 * Removes tasks whose last event is older than the retention, and what was used before. A global store's processor has no timers, so this runs
 * beside the records: at most once a second, and then a bounded number of removals, so that no record waits long for it.
 * While nothing happens nothing is removed.
 */
final class RetentionSweep {
    private static final long EVERY_MS = 1_000;
    private static final int MAX_TASKS = 20;
    private static final int MAX_EVENTS = 2_000;
    private static final int MAX_SUMS = 500;

    private final KeyValueStore<Bytes, byte[]> rows;
    private final Duration retention;
    private long nextAt;
    /** Everything below is done; starting here, not at the beginning, passes over the tombstones of what was removed. */
    private Bytes from = ProjectionKeys.due(0);
    /** What was used before this hour is removed, for the same reason. */
    private long forgottenTo;

    RetentionSweep(KeyValueStore<Bytes, byte[]> rows, Duration retention) {
        this.rows = rows;
        this.retention = retention;
    }

    /**
     * Removes some of what is due, if it is time to look again.
     *
     * @return whether a task was due, and may have been removed
     */
    boolean run(long now) {
        if (retention.isZero() || retention.isNegative() || now < nextAt) {
            return false;
        }
        nextAt = now + EVERY_MS;
        forgetUsage(UsageKey.hourOf(now - retention.toMillis()));
        int events = MAX_EVENTS;
        List<Bytes> due = keys(from, ProjectionKeys.due(now - retention.toMillis()), MAX_TASKS);
        for (Bytes dueKey : due) {
            TaskName name = ProjectionKeys.dueTask(dueKey);
            byte[] stored = rows.get(ProjectionKeys.task(name));
            if (stored != null) {
                TaskRow row = TaskRow.fromJson(stored);
                if (row.storedAt() + retention.toMillis() > now) {
                    rows.put(ProjectionKeys.due(row.storedAt(), name), new byte[0]);
                } else {
                    events -= ForgetSweep.removeEvents(rows, name, events);
                    if (events <= 0) {
                        break; // the rest of this task is next time's work
                    }
                    ForgetSweep.removeRow(rows, row);
                }
            }
            rows.delete(dueKey);
            from = dueKey;
        }
        return !due.isEmpty();
    }

    /** Removes what was used before this hour. */
    private void forgetUsage(long hour) {
        if (hour <= forgottenTo) {
            return;
        }
        List<Bytes> counted = keys(ProjectionKeys.counted(forgottenTo), ProjectionKeys.counted(hour), MAX_SUMS);
        List<Bytes> ofTasks = keys(ProjectionKeys.taskUsage(forgottenTo), ProjectionKeys.taskUsage(hour), MAX_SUMS);
        List<Bytes> ofNamespaces =
                keys(ProjectionKeys.namespaceUsage(forgottenTo), ProjectionKeys.namespaceUsage(hour), MAX_SUMS);
        for (Bytes key : ofTasks) {
            UsageKey used = ProjectionKeys.ofTaskUsage(key);
            rows.delete(ProjectionKeys.usedIn(used.namespace(), used.sessionId(), used.hour()));
            rows.delete(key);
        }
        counted.forEach(rows::delete);
        ofNamespaces.forEach(rows::delete);
        if (counted.size() < MAX_SUMS && ofTasks.size() < MAX_SUMS && ofNamespaces.size() < MAX_SUMS) {
            forgottenTo = hour; // all done; what is left is next time's work
        }
    }

    private List<Bytes> keys(Bytes first, Bytes last, int most) {
        List<Bytes> keys = new ArrayList<>();
        try (KeyValueIterator<Bytes, byte[]> range = rows.range(first, last)) {
            while (range.hasNext() && keys.size() < most) {
                KeyValue<Bytes, byte[]> row = range.next();
                keys.add(row.key);
            }
        }
        return keys;
    }
}
