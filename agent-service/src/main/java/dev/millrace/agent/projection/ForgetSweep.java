package dev.millrace.agent.projection;

import dev.millrace.agent.projection.ProjectionKeys.TaskName;
import dev.millrace.schemas.EventJson;
import dev.millrace.schemas.ForgetScope;
import dev.millrace.schemas.JournalEntry;
import dev.millrace.schemas.Json;
import dev.millrace.schemas.KnownEventType;
import dev.millrace.schemas.MalformedEventException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HexFormat;
import java.util.List;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.KeyValue;
import org.apache.kafka.streams.state.KeyValueIterator;
import org.apache.kafka.streams.state.KeyValueStore;
import org.jspecify.annotations.Nullable;

/**
 * Removes tasks that have been forgotten. TASKS_FORGOTTEN stands in the journal behind everything that it means on its
 * partition, so a projection that is made anew forgets the same again. It may mean very many: they go bit by bit, and
 * how far that is stands in the store. What tasks have used stays in the sums, until they are too old: they are counts,
 * by ids.
 */
final class ForgetSweep {

    /** So many tasks are looked at in one turn. */
    static final int TASKS_AT_ONCE = 500;
    /** So many events are removed in one turn. */
    static final int EVENTS_AT_ONCE = 1_000;
    /** Where to go on when no task is left, behind all keys of tasks. */
    private static final String END = "ff";
    /** After a turn others have their turn for as many times as long. */
    private static final int PAUSES = 2;

    private final KeyValueStore<Bytes, byte[]> rows;
    private final RecentRows recent;
    private final Deque<OpenForget> open = new ArrayDeque<>();
    private long nextTurn = System.nanoTime();

    ForgetSweep(KeyValueStore<Bytes, byte[]> rows, RecentRows recent) {
        this.rows = rows;
        this.recent = recent;
        open.addAll(OpenForget.allIn(rows));
    }

    /** Takes what this event means, if it means anything: from here on it is not told any more. */
    void take(JournalEntry entry) {
        if (entry.event().type() == KnownEventType.TASKS_FORGOTTEN) {
            OpenForget.of(entry).ifPresent(forget -> {
                rows.put(ProjectionKeys.forgetting(forget.told()), forget.toJson());
                open.removeIf(other -> other.told().equals(forget.told())); // read a second time
                open.addLast(forget);
                nextTurn = System.nanoTime();
            });
        }
    }

    /** Removes some of what is to go, if it is its turn. */
    void goOn() {
        long began = System.nanoTime();
        if (open.isEmpty() || began - nextTurn < 0) {
            return;
        }
        OpenForget forget = open.removeFirst();
        Bytes key = ProjectionKeys.forgetting(forget.told());
        Bytes next = step(forget);
        if (next == null && removeSessions(forget)) {
            rows.delete(key);
        } else {
            OpenForget rest =
                    forget.goingOnAt(next == null ? END : HexFormat.of().formatHex(next.get()));
            rows.put(key, rest.toJson());
            open.addFirst(rest);
        }
        long now = System.nanoTime();
        nextTurn = now + PAUSES * (now - began);
    }

    /** Removes some; returns where to go on, {@code null} = there are no more. */
    private @Nullable Bytes step(OpenForget forget) {
        if (END.equals(forget.next())) {
            return null;
        }
        ForgetScope scope = forget.scope();
        boolean one = scope.kind() == ForgetScope.Kind.TASK;
        Bytes all = one
                ? ProjectionKeys.task(new TaskName(scope.namespace(), String.valueOf(scope.id())))
                : ProjectionKeys.tasks(scope.namespace());
        Bytes from = forget.next() == null ? all : Bytes.wrap(HexFormat.of().parseHex(forget.next()));
        List<Bytes> looked = keys(rows, from, Bytes.increment(all), one ? 1 : TASKS_AT_ONCE + 1);
        int events = EVENTS_AT_ONCE;
        for (Bytes key : looked.subList(0, Math.min(looked.size(), TASKS_AT_ONCE))) {
            byte[] stored = rows.get(key);
            TaskRow row = stored == null ? null : TaskRow.fromJson(stored);
            if (row != null && forget.means(row)) {
                events -= removeEvents(rows, row.name(), events);
                if (events <= 0) {
                    return key; // the rest of this task is the next turn's work
                }
                removeRow(rows, row);
                recent.forget(row.name());
            }
        }
        return looked.size() > TASKS_AT_ONCE ? looked.getLast() : null;
    }

    /** Removes some sessions, once no task of them is left; returns whether that was the last of them. */
    private boolean removeSessions(OpenForget forget) {
        ForgetScope scope = forget.scope();
        if (scope.kind() == ForgetScope.Kind.TASK) {
            return true;
        }
        Bytes all = scope.kind() == ForgetScope.Kind.SESSION
                ? ProjectionKeys.session(scope.namespace(), String.valueOf(scope.id()))
                : ProjectionKeys.sessionRows(scope.namespace());
        List<SessionRow> found = new ArrayList<>();
        try (KeyValueIterator<Bytes, byte[]> range = rows.range(all, Bytes.increment(all))) {
            while (range.hasNext() && found.size() < TASKS_AT_ONCE) {
                SessionRow row = SessionRow.fromJson(range.next().value);
                if (SessionReader.means(forget, row)) {
                    found.add(row);
                }
            }
        }
        found.forEach(row -> row.remove(rows));
        return found.size() < TASKS_AT_ONCE;
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
        Bytes prefix = ProjectionKeys.events(name);
        List<Bytes> removed = keys(rows, prefix, Bytes.increment(prefix), most);
        for (Bytes key : removed) {
            byte @Nullable [] json = rows.delete(key);
            if (json != null) {
                Pointers.of(entry(key, json)).forEach(rows::delete);
            }
        }
        return removed.size();
    }

    private static List<Bytes> keys(KeyValueStore<Bytes, byte[]> rows, Bytes from, Bytes end, int most) {
        List<Bytes> keys = new ArrayList<>();
        try (KeyValueIterator<Bytes, byte[]> range = rows.range(from, end)) {
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
