package dev.millrace.engine;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/**
 * When the machines on one stream thread want to commit, for it to look after them then and to sleep otherwise. Asked
 * by its thread; a machine may leave from any.
 */
final class CommitTimes {

    private static final ThreadLocal<CommitTimes> OF_THREAD = ThreadLocal.withInitial(CommitTimes::new);

    private final List<CommitTiming> machines = new CopyOnWriteArrayList<>();

    /** Those of the calling thread. */
    static CommitTimes ofThread() {
        return OF_THREAD.get();
    }

    void add(CommitTiming machine) {
        machines.add(machine);
    }

    void remove(CommitTiming machine) {
        machines.remove(machine);
    }

    /**
     * The thread is about to wait for records: for how long it may.
     *
     * @param limit if nothing is due before
     * @param now Unix milliseconds
     */
    Duration waiting(Duration limit, long now) {
        long due = Long.MAX_VALUE;
        for (CommitTiming machine : machines) {
            machine.pauses(now);
            due = Math.min(due, machine.dueMs());
        }
        return due == Long.MAX_VALUE || due - now >= limit.toMillis()
                ? limit
                : Duration.ofMillis(Math.min(limit.toMillis(), Math.max(1, due - now)));
    }

    /** It has waited until now, in Unix milliseconds. */
    void waited(long now) {
        machines.forEach(machine -> machine.resumes(now));
    }
}
