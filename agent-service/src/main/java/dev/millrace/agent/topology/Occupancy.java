package dev.millrace.agent.topology;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** How many tasks work and how many stand in line, over the partitions that this instance has. Safe for any thread. */
public final class Occupancy {

    private final Map<Integer, Counts> partitions = new ConcurrentHashMap<>();

    private record Counts(int active, int waiting) {}

    void set(int partition, int active, int waiting) {
        partitions.put(partition, new Counts(active, waiting));
    }

    /** The partition is another instance's business from here on. */
    void leave(int partition) {
        partitions.remove(partition);
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
