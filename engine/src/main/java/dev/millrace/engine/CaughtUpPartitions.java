package dev.millrace.engine;

import java.time.Duration;
import java.util.Collection;
import java.util.HashMap;
import java.util.Map;
import java.util.OptionalLong;
import java.util.function.Function;
import org.apache.kafka.common.TopicPartition;

/**
 * The partitions of which a consumer has everything, so that nobody need ask it for their lag again. A consumer learns
 * of new records as it fetches them, and hands them over with the next poll, unless that is full. So a partition has
 * nothing more until one brings records of it, and then too, unless its fetch was too small for all. For one thread.
 */
final class CaughtUpPartitions {

    /** No longer, for a fetch of many partitions may have had no room for one of them. */
    static final Duration BELIEVED = Duration.ofSeconds(1);

    /** Since when, in nanoseconds. */
    private final Map<TopicPartition, Long> since = new HashMap<>();

    /**
     * The lag of a partition.
     *
     * @param nanos now, as of {@link System#nanoTime}
     * @param ask for it, if it is not known
     */
    OptionalLong lag(TopicPartition partition, long nanos, Function<TopicPartition, OptionalLong> ask) {
        Long caughtUp = since.get(partition);
        if (caughtUp != null && nanos - caughtUp < BELIEVED.toNanos()) {
            return OptionalLong.of(0);
        }
        OptionalLong lag = ask.apply(partition);
        if (lag.isPresent() && lag.getAsLong() == 0) {
            since.put(partition, nanos);
        } else {
            since.remove(partition);
        }
        return lag;
    }

    /**
     * A poll has brought records. Whether a partition has more matters if there are records of others that could be
     * taken before.
     *
     * @param partitions of which it has
     * @param others whether records that came before are still to be taken
     * @param full whether there may have been more, for which there was no room
     */
    void polled(Collection<TopicPartition> partitions, boolean others, boolean full) {
        if (full) {
            since.clear();
        } else if (others || partitions.size() > 1) {
            partitions.forEach(since::remove);
        }
    }
}
