package dev.millrace.engine;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** When the machines on one stream thread want to commit, for it to look after them then and to sleep otherwise. */
final class CommitTimes {

    /** A machine that has not committed for so long although it was due is gone: nobody tells when one is closed. */
    private static final long GIVEN_UP_MS = 1_000;

    private static final ThreadLocal<CommitTimes> OF_THREAD = ThreadLocal.withInitial(CommitTimes::new);

    private final List<Machine> machines = new ArrayList<>();

    /** Those of the calling thread. */
    static CommitTimes ofThread() {
        return OF_THREAD.get();
    }

    void add(CommitTiming timing) {
        machines.add(new Machine(timing));
    }

    /**
     * The thread is about to wait for records: for how long it may.
     *
     * @param limit if nothing is due before
     * @param now Unix milliseconds
     */
    Duration waiting(Duration limit, long now) {
        machines.removeIf(machine -> machine.gone(now));
        long due = Long.MAX_VALUE;
        for (Machine machine : machines) {
            machine.timing.pauses(now);
            due = Math.min(due, machine.timing.dueMs());
        }
        return due == Long.MAX_VALUE || due - now >= limit.toMillis()
                ? limit
                : Duration.ofMillis(Math.min(limit.toMillis(), Math.max(1, due - now)));
    }

    /** It has waited until now, in Unix milliseconds. */
    void waited(long now) {
        machines.forEach(machine -> machine.timing.resumes(now));
    }

    private static final class Machine {

        private final CommitTiming timing;
        /** The time of its last commit as it was when it was first seen to be late, and when that was. */
        private long lateAfterMs = Long.MIN_VALUE;

        private long lateSinceMs;

        Machine(CommitTiming timing) {
            this.timing = timing;
        }

        boolean gone(long now) {
            if (timing.dueMs() > now) {
                lateAfterMs = Long.MIN_VALUE;
            } else if (lateAfterMs != timing.askedMs()) {
                lateAfterMs = timing.askedMs();
                lateSinceMs = now;
            }
            return lateAfterMs != Long.MIN_VALUE && now - lateSinceMs > GIVEN_UP_MS;
        }
    }
}
