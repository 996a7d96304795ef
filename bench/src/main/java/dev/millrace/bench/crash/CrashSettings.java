package dev.millrace.bench.crash;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;

/**
 * What a run is to do.
 *
 * @param faults how many, 1 or more
 * @param seed decides their sequence and their lengths
 * @param tasks how many are in flight at a time, 2 or more
 * @param brokers 1, or 3 with every topic on all of them
 * @param kinds of faults; what the machine does not allow is left out, and said
 * @param folder for data and logs; must not be there yet, or be empty
 * @param limit for all to be well after a fault
 * @param time after which nothing more is broken
 */
public record CrashSettings(
        int faults,
        long seed,
        int tasks,
        int brokers,
        List<FaultKind> kinds,
        Path folder,
        Duration limit,
        Duration time) {

    /** Copies the list, and checks the numbers. */
    public CrashSettings {
        if (faults < 1 || tasks < 2 || kinds.isEmpty()) {
            throw new IllegalArgumentException(
                    "expected 1 fault, 2 tasks and 1 kind or more, found " + faults + ", " + tasks + ", " + kinds);
        }
        if (brokers != 1 && brokers != ClusterNode.REPLICATION) {
            throw new IllegalArgumentException("--brokers: expected 1 or 3, found " + brokers);
        }
        kinds = List.copyOf(kinds);
    }
}
