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
 * Removes tasks whose last event is older than the retention, and what was used before. Runs between records, and while
 * none come: as often as something is due, and then a bounded number of removals, so that no record waits long for it.
 * What is not due is not looked at.
 */
final class RetentionSweep {
    /** The pause after a run, in milliseconds. */
    static final long EVERY_MS = 100;
    /** So many tasks are removed in one run. */
    static final int MAX_TASKS = 50;
    /** So many events are removed in one run. */
    static final int MAX_EVENTS = 1_000;

    private static final int MAX_SUMS = 500;
    private static final long AT_LEAST_EVERY_MS = 60_000;

    private final KeyValueStore<Bytes, byte[]> rows;
    private final RecentRows recent;
    private final Duration retention;
    private long nextAt;
    /**
     * Everything below is done; starting here, not at the beginning, passes over the tombstones of what was removed.
     */
    private Bytes from = ProjectionKeys.due(0);
    /** The same of sessions. */
    private Bytes sessionsFrom = ProjectionKeys.dueSession(0);
    /** What was used before this hour is removed, for the same reason. */
    private long forgottenTo;

    RetentionSweep(KeyValueStore<Bytes, byte[]> rows, RecentRows recent, Duration retention) {
        this.rows = rows;
        this.recent = recent;
        this.retention = retention;
    }

    /** Removes some of what is due, if it is time to look again. */
    void run(long now) {
        if (retention.isZero() || retention.isNegative() || now < nextAt) {
            return;
        }
        forgetUsage(UsageKey.hourOf(now - retention.toMillis()));
        forgetSessions(now);
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
                    recent.forget(name);
                }
            }
            rows.delete(dueKey);
            from = dueKey;
        }
        nextAt = Math.clamp(nextDue(now), now + EVERY_MS, now + AT_LEAST_EVERY_MS);
    }

    /** When the next task may be due; a later one if there is none. */
    private long nextDue(long now) {
        try (KeyValueIterator<Bytes, byte[]> range = rows.range(from, ProjectionKeys.due(Long.MAX_VALUE))) {
            return range.hasNext()
                    ? ProjectionKeys.dueAt(range.peekNextKey()) + retention.toMillis()
                    : now + AT_LEAST_EVERY_MS;
        }
    }

    /** Removes sessions in which nothing has happened for so long. */
    private void forgetSessions(long now) {
        for (Bytes dueKey : keys(sessionsFrom, ProjectionKeys.dueSession(now - retention.toMillis()), MAX_TASKS)) {
            TaskName name = ProjectionKeys.dueTask(dueKey); // of the same form
            SessionRow row = SessionRow.in(rows, name.namespace(), name.taskId());
            if (row != null && row.storedAt() + retention.toMillis() > now) {
                rows.put(ProjectionKeys.dueSession(row.storedAt(), row.namespace(), row.sessionId()), new byte[0]);
            } else if (row != null) {
                row.remove(rows);
            }
            rows.delete(dueKey);
            sessionsFrom = dueKey;
        }
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
