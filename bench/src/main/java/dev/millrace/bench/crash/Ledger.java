package dev.millrace.bench.crash;

import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * The tasks that were accepted, and how each of them ended. Safe to use from any thread. Times are
 * {@link System#nanoTime}.
 */
final class Ledger {

    private final Map<String, Task> tasks = new ConcurrentHashMap<>();
    private final Map<String, End> ends = new ConcurrentHashMap<>();

    /**
     * A task that was accepted.
     *
     * @param session its conversation, which is its namespace, too
     * @param acceptedAt when that was known here; it may have ended before
     */
    record Task(String id, String session, long acceptedAt) {}

    /**
     * The end of a task, as the journal says it.
     *
     * @param type of the event
     * @param partition of the journal
     * @param at when it was read
     */
    record End(String type, int partition, long at) {}

    /** Notes that a task was accepted just now. */
    Task accepted(String id, String session) {
        return tasks.computeIfAbsent(id, key -> new Task(key, session, System.nanoTime()));
    }

    /** Notes the end of a task; {@code false} if it has ended before. */
    boolean ended(String id, End end) {
        return ends.putIfAbsent(id, end) == null;
    }

    boolean hasEnded(Task task) {
        return ends.containsKey(task.id());
    }

    /** How a task ended; {@code null} = not yet. */
    @Nullable
    End end(String id) {
        return ends.get(id);
    }

    Collection<Task> accepted() {
        return tasks.values();
    }

    /** Tasks that were accepted before this moment and have not ended. */
    List<Task> openSince(long moment) {
        return tasks.values().stream()
                .filter(task -> task.acceptedAt() - moment < 0 && !hasEnded(task))
                .toList();
    }

    /** When, on each partition, a task had ended that was accepted after a moment; {@code null} = not on each yet. */
    @Nullable
    Long goneOnAfter(long moment, int partitions) {
        Map<Integer, Long> first = new HashMap<>();
        for (Task task : tasks.values()) {
            End end = ends.get(task.id());
            if (end != null && task.acceptedAt() - moment >= 0) {
                first.merge(end.partition(), end.at(), Math::min);
            }
        }
        return first.size() < partitions
                ? null
                : first.values().stream().max(Long::compare).orElse(null);
    }
}
