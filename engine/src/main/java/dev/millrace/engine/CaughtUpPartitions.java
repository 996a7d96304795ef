package dev.millrace.engine;

import java.time.Duration;
import java.util.Collection;
import java.util.HashMap;
import java.util.Map;
import java.util.OptionalLong;
import java.util.function.Function;
import org.apache.kafka.common.TopicPartition;
import org.jspecify.annotations.Nullable;

/**
 * The partitions of which a consumer has everything, so that nobody need ask it for their lag again. A consumer learns
 * of new records as it fetches them, and hands them over with the next poll, unless that is full. So a partition has
 * nothing more until one brings records of it, and then too, unless its fetch was too small for all.
 *
 * <p>Streams takes nothing of a task while a partition of it without buffered records has more on the broker, for as
 * long as that is so. A lane that is always a little behind would keep all lower ones waiting without end, with the
 * thread idle. So after {@link #PATIENCE} of this, all partitions are said to have nothing more for one turn, in which
 * the thread takes what it has buffered. For one thread.
 */
final class CaughtUpPartitions {

    /** No longer, for a fetch of many partitions may have had no room for one of them. */
    static final Duration BELIEVED = Duration.ofSeconds(1);

    /** For so long records that are here wait for those of another partition that are not. */
    static final Duration PATIENCE = Duration.ofMillis(100);

    /** Since when, in nanoseconds. */
    private final Map<TopicPartition, Long> since = new HashMap<>();

    /** When the first of the turns began, without a break, in which a partition was behind; {@code null} = none. */
    private @Nullable Long behindSince;

    private boolean behind;
    private boolean patient = true;

    /**
     * The thread begins a turn, in which it asks for the lag of each partition once.
     *
     * @param nanos now, as of {@link System#nanoTime}
     */
    void turns(long nanos) {
        Long began = behind ? behindSince : null;
        patient = began == null || nanos - began < PATIENCE.toNanos();
        behindSince = patient ? began : null;
        behind = false;
    }

    /**
     * The lag of a partition.
     *
     * @param nanos now, as of {@link System#nanoTime}
     * @param ask for it, if it is not known
     */
    OptionalLong lag(TopicPartition partition, long nanos, Function<TopicPartition, OptionalLong> ask) {
        if (!patient) {
            return OptionalLong.of(0);
        }
        Long caughtUp = since.get(partition);
        if (caughtUp != null && nanos - caughtUp < BELIEVED.toNanos()) {
            return OptionalLong.of(0);
        }
        OptionalLong lag = ask.apply(partition);
        if (lag.isPresent() && lag.getAsLong() == 0) {
            since.put(partition, nanos);
        } else {
            since.remove(partition);
            behind = true;
            behindSince = behindSince == null ? (Long) nanos : behindSince;
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
