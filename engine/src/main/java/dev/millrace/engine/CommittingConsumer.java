package dev.millrace.engine;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.WakeupException;
import org.apache.kafka.streams.internals.ConsumerWrapper;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The main consumer of a stream thread, which returns when a machine of this thread wants to commit or has been handed
 * something: Streams looks for what is due only then. Streams makes it by the name of its class.
 */
public final class CommittingConsumer extends ConsumerWrapper {

    private static final Logger LOGGER = LoggerFactory.getLogger(CommittingConsumer.class);

    /** That a partition has nothing more is believed for so long. */
    private static final Duration CAUGHT_UP = Duration.ofMillis(20);

    /** Since when each partition had nothing more, in {@link System#nanoTime}. */
    private final Map<TopicPartition, Long> caughtUp = new HashMap<>();

    @Override
    public ConsumerRecords<byte[], byte[]> poll(Duration timeout) {
        CommitTimes times = CommitTimes.ofThread();
        ConsumerRecords<byte[], byte[]> records = times.handed() ? unlessWoken(Duration.ZERO) : await(times, timeout);
        times.waited(System.currentTimeMillis(), records.count());
        return records;
    }

    /**
     * Streams asks for the lag of each partition in each turn, so that it can wait for a lane that goes before others;
     * the consumer hands each question to its own thread and waits for the answer. So a lane that has nothing more is
     * not asked again at once. For so long its next record may be overtaken, as it may while Streams takes what it has.
     */
    @Override
    public OptionalLong currentLag(TopicPartition partition) {
        Long since = caughtUp.get(partition);
        if (since != null && System.nanoTime() - since < CAUGHT_UP.toNanos()) {
            return OptionalLong.of(0);
        }
        OptionalLong lag = super.currentLag(partition);
        if (lag.isPresent() && lag.getAsLong() == 0) {
            caughtUp.put(partition, System.nanoTime());
        } else {
            caughtUp.remove(partition);
        }
        return lag;
    }

    private ConsumerRecords<byte[], byte[]> await(CommitTimes times, Duration timeout) {
        times.wakingBy(this::wakeup);
        ConsumerRecords<byte[], byte[]> records;
        boolean woken = false;
        try {
            records = unlessWoken(times.waiting(timeout, System.currentTimeMillis()));
        } finally {
            woken = times.awake();
        }
        // A wake-up that comes too late would strike whatever is called next; so does, now and then, one that has been
        // felt, since Kafka's client notes it once more if it comes while a future is being completed (4.2.1).
        return woken ? both(records, unlessWoken(Duration.ZERO)) : records;
    }

    private ConsumerRecords<byte[], byte[]> unlessWoken(Duration timeout) {
        try {
            return super.poll(timeout);
        } catch (WakeupException e) {
            LOGGER.trace("Woken");
            return ConsumerRecords.empty();
        }
    }

    private static ConsumerRecords<byte[], byte[]> both(
            ConsumerRecords<byte[], byte[]> first, ConsumerRecords<byte[], byte[]> second) {
        Map<TopicPartition, List<ConsumerRecord<byte[], byte[]>>> records = new HashMap<>();
        Map<TopicPartition, OffsetAndMetadata> next = new HashMap<>(first.nextOffsets());
        next.putAll(second.nextOffsets());
        for (ConsumerRecords<byte[], byte[]> part : List.of(first, second)) {
            part.partitions()
                    .forEach(partition -> records.computeIfAbsent(partition, none -> new ArrayList<>())
                            .addAll(part.records(partition)));
        }
        return new ConsumerRecords<>(records, next);
    }
}
