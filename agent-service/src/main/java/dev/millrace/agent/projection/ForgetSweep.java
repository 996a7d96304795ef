package dev.millrace.agent.projection;

import dev.millrace.agent.projection.ProjectionKeys.TaskName;
import dev.millrace.schemas.Event;
import dev.millrace.schemas.EventJson;
import dev.millrace.schemas.ForgetScope;
import dev.millrace.schemas.JournalEntry;
import dev.millrace.schemas.Json;
import dev.millrace.schemas.KnownEventType;
import dev.millrace.schemas.MalformedEventException;
import java.util.ArrayList;
import java.util.List;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.KeyValue;
import org.apache.kafka.streams.state.KeyValueIterator;
import org.apache.kafka.streams.state.KeyValueStore;
import org.jspecify.annotations.Nullable;

/**
 * Removes tasks that have been forgotten. TASKS_FORGOTTEN stands in the journal behind everything that it means on its
 * partition, so a projection that is made anew forgets the same again. What tasks have used stays in the sums, until they are
 * too old: they are counts, by ids.
 */
final class ForgetSweep {

    private static final int EVENTS_AT_ONCE = 2_000;

    private final KeyValueStore<Bytes, byte[]> rows;

    ForgetSweep(KeyValueStore<Bytes, byte[]> rows) {
        this.rows = rows;
    }

    /**
     * Removes what this event means, if it means anything.
     *
     * @return whether it means anything
     */
    boolean take(JournalEntry entry) {
        Event event = entry.event();
        if (event.type() != KnownEventType.TASKS_FORGOTTEN) {
            return false;
        }
        ForgetScope.of(event).ifPresent(scope -> {
            for (Bytes key : tasks(scope)) {
                byte[] stored = rows.get(key);
                if (stored != null) {
                    TaskRow row = TaskRow.fromJson(stored);
                    if (isMeant(row, scope, entry)) {
                        remove(rows, row);
                    }
                }
            }
        });
        return true;
    }

    private List<Bytes> tasks(ForgetScope scope) {
        if (scope.kind() == ForgetScope.Kind.TASK && scope.id() != null) {
            return List.of(ProjectionKeys.task(new TaskName(scope.namespace(), scope.id())));
        }
        Bytes all = ProjectionKeys.tasks(scope.namespace());
        return scope.kind() == ForgetScope.Kind.MEMORY ? List.of() : keys(rows, all, Integer.MAX_VALUE);
    }

    private static boolean isMeant(TaskRow row, ForgetScope scope, JournalEntry entry) {
        boolean there = row.last().partition() == entry.cursor().partition()
                || row.first().partition() == entry.cursor().partition();
        boolean before = entry.event().payload().get("requestedAt") instanceof Number asked
                && row.origin().createdAt() <= asked.longValue();
        return there
                && before
                && !row.name().taskId().equals(ForgetScope.forgetId(entry.event()))
                && scope.contains(
                        row.name().namespace(),
                        row.name().taskId(),
                        row.origin().sessionId());
    }

    private static void remove(KeyValueStore<Bytes, byte[]> rows, TaskRow row) {
        int removed;
        do {
            removed = removeEvents(rows, row.name(), EVENTS_AT_ONCE);
        } while (removed == EVENTS_AT_ONCE);
        removeRow(rows, row);
    }

    /** Removes a task of which no events are left. */
    static void removeRow(KeyValueStore<Bytes, byte[]> rows, TaskRow row) {
        TaskLists.of(row).forEach(rows::delete);
        rows.delete(ProjectionKeys.task(row.name()));
    }

    /**
     * Removes events of a task, and what points to them.
     *
     * @return how many
     */
    static int removeEvents(KeyValueStore<Bytes, byte[]> rows, TaskName name, int most) {
        List<Bytes> removed = keys(rows, ProjectionKeys.events(name), most);
        for (Bytes key : removed) {
            byte @Nullable [] json = rows.delete(key);
            if (json != null) {
                Pointers.of(entry(key, json)).forEach(rows::delete);
            }
        }
        return removed.size();
    }

    private static List<Bytes> keys(KeyValueStore<Bytes, byte[]> rows, Bytes prefix, int most) {
        List<Bytes> keys = new ArrayList<>();
        try (KeyValueIterator<Bytes, byte[]> range = rows.range(prefix, Bytes.increment(prefix))) {
            while (range.hasNext() && keys.size() < most) {
                KeyValue<Bytes, byte[]> row = range.next();
                keys.add(row.key);
            }
        }
        return keys;
    }

    private static JournalEntry entry(Bytes key, byte[] json) {
        try {
            return new JournalEntry(ProjectionKeys.cursor(key), EventJson.fromJson(Json.readObject(json)));
        } catch (MalformedEventException e) {
            throw new IllegalStateException("the projection's own event cannot be read", e);
        }
    }
}
