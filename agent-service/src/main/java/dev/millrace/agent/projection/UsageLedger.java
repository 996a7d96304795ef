package dev.millrace.agent.projection;

import dev.millrace.agent.projection.ProjectionKeys.TaskName;
import dev.millrace.api.UsageSums;
import dev.millrace.schemas.JournalCursor;
import dev.millrace.schemas.JournalEntry;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.state.KeyValueStore;

/**
 * Adds up what model calls use, as the journal tells it, by the hour: once per task and once per namespace, so that
 * neither a bill nor a question about one conversation has to read what it does not need. Each end of a call is added
 * once, also when the journal tells it twice or a record comes again after a crash. For one thread.
 */
final class UsageLedger {

    /**
     * So far the clock of a worker may be ahead of the brokers'; what is dated later than that is dated when it was
     * told.
     */
    private static final long CLOCKS_MS = Duration.ofHours(1).toMillis();

    private final KeyValueStore<Bytes, byte[]> rows;
    /** Sums that have changed since they were written: those of an hour change with every call. */
    private final Map<Bytes, UsageRow> changed = new HashMap<>();

    UsageLedger(KeyValueStore<Bytes, byte[]> rows) {
        this.rows = rows;
    }

    /**
     * Adds what this event tells, if it tells anything.
     *
     * @param task the row that it belongs to
     * @param recordedAt when it was recorded, in Unix milliseconds: nothing has been used after that
     */
    void add(JournalEntry entry, TaskRow task, long recordedAt) {
        CallUsage.of(entry.event()).forEach(usage -> add(usage, entry.cursor(), task, recordedAt));
    }

    private void add(CallUsage usage, JournalCursor cursor, TaskRow task, long recordedAt) {
        TaskName name = task.name();
        long repliedAt = usage.repliedAt() > recordedAt + CLOCKS_MS ? recordedAt : usage.repliedAt();
        long hour = UsageKey.hourOf(repliedAt);
        Bytes counted = ProjectionKeys.counted(hour, name.namespace(), usage.callId(), repliedAt);
        byte[] by = rows.get(counted);
        byte[] self = cursor.toString().getBytes(StandardCharsets.US_ASCII);
        if (by != null && !Arrays.equals(by, self)) {
            return;
        }
        String sessionId =
                task.origin().sessionId() == null ? "" : task.origin().sessionId();
        // an older record does not name the agent; its name was the task's type, then as now
        String agent = usage.agent().isEmpty() ? task.origin().taskType() : usage.agent();
        usage.byModel().forEach((model, sums) -> {
            UsageKey key = new UsageKey(hour, name.namespace(), sessionId, name.taskId(), agent, model);
            add(ProjectionKeys.taskUsage(key), sums, cursor);
            add(ProjectionKeys.namespaceUsage(key.ofNamespace()), sums, cursor);
        });
        if (!sessionId.isEmpty()) {
            rows.put(ProjectionKeys.usedIn(name.namespace(), sessionId, hour), new byte[0]);
        }
        rows.put(counted, self);
    }

    private void add(Bytes key, UsageSums sums, JournalCursor cursor) {
        UsageRow known = changed.get(key);
        UsageRow before = known == null ? UsageRow.fromJson(rows.get(key)) : known;
        UsageRow after = before.plus(sums, cursor);
        if (!after.equals(before)) {
            changed.put(key, after);
        }
    }

    /** Writes the sums that have changed. */
    void write() {
        changed.forEach((key, row) -> rows.put(key, row.toJson()));
        changed.clear();
    }
}
