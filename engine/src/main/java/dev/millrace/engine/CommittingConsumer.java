package dev.millrace.engine;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
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

    @Override
    public ConsumerRecords<byte[], byte[]> poll(Duration timeout) {
        CommitTimes times = CommitTimes.ofThread();
        ConsumerRecords<byte[], byte[]> records = times.handed() ? super.poll(Duration.ZERO) : await(times, timeout);
        times.waited(System.currentTimeMillis());
        return records;
    }

    private ConsumerRecords<byte[], byte[]> await(CommitTimes times, Duration timeout) {
        times.wakingBy(this::wakeup);
        ConsumerRecords<byte[], byte[]> records = ConsumerRecords.empty();
        boolean struck = false;
        boolean woken = false;
        try {
            records = super.poll(times.waiting(timeout, System.currentTimeMillis()));
        } catch (WakeupException e) {
            struck = true;
        } finally {
            woken = times.awake();
        }
        if (woken && !struck) {
            // a wake-up that came too late would strike whatever is called next
            try {
                return both(records, super.poll(Duration.ZERO));
            } catch (WakeupException e) {
                LOGGER.trace("Woken late");
            }
        }
        return records;
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
