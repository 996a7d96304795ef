package dev.millrace.agent.topology;

import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;

/**
 * How many tasks work and how many stand in line, over the partitions that this instance has, and whether any is
 * admitted. Safe for any thread.
 */
public final class Occupancy {

    private final Map<Integer, Counts> partitions = new ConcurrentHashMap<>();

    private record Counts(int active, int waiting, boolean draining) {}

    void set(int partition, int active, int waiting, boolean draining) {
        partitions.put(partition, new Counts(active, waiting, draining));
    }

    /** The partition is another instance's business from here on. */
    void leave(int partition) {
        partitions.remove(partition);
    }

    /** Whether no task is admitted; empty if this instance has no partition, so that it does not know. */
    public Optional<Boolean> draining() {
        return partitions.values().stream().map(Counts::draining).reduce(Boolean::logicalOr);
    }

    /** Tasks that work. */
    public int active() {
        return partitions.values().stream().mapToInt(Counts::active).sum();
    }

    /** Tasks in line for admission. */
    public int waiting() {
        return partitions.values().stream().mapToInt(Counts::waiting).sum();
    }
}
