package dev.millrace.agent.topology;

import java.util.Comparator;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * How many tasks work and how many stand in line, over the partitions that this instance has, and whether any is
 * admitted. Safe for any thread.
 */
public final class Occupancy {

    private final Map<Integer, Counts> partitions = new ConcurrentHashMap<>();

    /**
     * Of one partition.
     *
     * @param drain why nothing is admitted; {@code null} = something is, or it is not known
     */
    record Counts(
            int active,
            int waiting,
            boolean draining,
            @Nullable Drain drain) {}

    void set(int partition, Counts counts) {
        partitions.put(partition, counts);
    }

    /** The partition is another instance's business from here on. */
    void leave(int partition) {
        partitions.remove(partition);
    }

    /** Whether no task is admitted; empty if this instance has no partition, so that it does not know. */
    public Optional<Boolean> draining() {
        return partitions.values().stream().map(Counts::draining).reduce(Boolean::logicalOr);
    }

    /** Why no task is admitted, as the first event that asked for it says; empty if one is, or it is not known. */
    public Optional<Drain> drain() {
        return partitions.values().stream()
                .flatMap(counts -> Stream.ofNullable(counts.drain()))
                .min(Comparator.comparingLong(Drain::sinceMs));
    }

    /** Tasks that work. */
    public int active() {
        return partitions.values().stream().mapToInt(Counts::active).sum();
    }

    /** Tasks of a partition that work; 0 if this instance does not have it. */
    int active(int partition) {
        Counts counts = partitions.get(partition);
        return counts == null ? 0 : counts.active();
    }

    /** Tasks in line for admission. */
    public int waiting() {
        return partitions.values().stream().mapToInt(Counts::waiting).sum();
    }
}
