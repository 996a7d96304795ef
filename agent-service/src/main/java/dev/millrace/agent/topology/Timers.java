package dev.millrace.agent.topology;

import dev.millrace.agent.core.TaskState;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import java.util.function.Function;
import org.apache.kafka.streams.KeyValue;
import org.apache.kafka.streams.state.KeyValueIterator;
import org.apache.kafka.streams.state.KeyValueStore;

/**
 * Wakes tasks: one wake-up per task at most, kept in a store by its time. A task that has more time than it thought
 * keeps its wake-up, is woken for nothing, and gets a later one; so most tasks need one of them and not one per step.
 * For one stream thread.
 */
final class Timers {

    private final KeyValueStore<String, String> store;
    private final Function<TaskState, OptionalLong> wakeAt;
    /** There is none before this time; looking there would pass over everything that was ever deleted. */
    private long startMs;
    /** None is due before this time; looking earlier would pass over what was deleted up to the first that stands. */
    private long nextMs;

    /**
     * As the store has them.
     *
     * @param wakeAt says when a task has to be woken, in Unix milliseconds
     */
    Timers(KeyValueStore<String, String> store, Function<TaskState, OptionalLong> wakeAt) {
        this.store = store;
        this.wakeAt = wakeAt;
    }

    /** The task, with the wake-up that its state needs. */
    StoredTask set(StoredTask task) {
        OptionalLong needed = wakeAt.apply(task.state());
        long standing = task.wakeAtMs();
        if (needed.isPresent() && (standing == 0 || needed.getAsLong() < standing)) {
            if (standing != 0) {
                store.put(TaskStores.timerKey(standing, task.key()), null);
            }
            store.put(TaskStores.timerKey(needed.getAsLong(), task.key()), task.key());
            startMs = Math.min(startMs, needed.getAsLong());
            nextMs = Math.min(nextMs, needed.getAsLong());
            return task.waking(needed.getAsLong());
        }
        if (needed.isEmpty() && standing != 0) {
            store.put(TaskStores.timerKey(standing, task.key()), null);
            return task.waking(0);
        }
        return task;
    }

    /** Keys of all tasks that are to be woken at some time. */
    List<String> all() {
        List<String> keys = new ArrayList<>();
        try (KeyValueIterator<String, String> rows = store.all()) {
            rows.forEachRemaining(row -> keys.add(row.value));
        }
        return keys;
    }

    /**
     * Takes wake-ups whose time has come out of the store, the oldest first.
     *
     * @param limit at most so many
     * @return keys of tasks; a task that has ended may be among them
     */
    List<String> due(long nowMs, int limit) {
        if (nowMs < nextMs) {
            return List.of();
        }
        List<KeyValue<String, String>> due = new ArrayList<>();
        try (KeyValueIterator<String, String> rows = store.range(TaskStores.timerKey(startMs, ""), null)) {
            nextMs = Long.MAX_VALUE;
            while (rows.hasNext() && nextMs == Long.MAX_VALUE) {
                long time = TaskStores.timerTime(rows.peekNextKey());
                if (time > nowMs || due.size() == limit) {
                    nextMs = time;
                } else {
                    due.add(rows.next());
                }
            }
        }
        due.forEach(row -> store.put(row.key, null));
        startMs = Math.min(nowMs + 1, nextMs);
        return due.stream().map(row -> row.value).toList();
    }
}
