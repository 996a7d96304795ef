package dev.millrace.gateway.kafka;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import org.apache.kafka.clients.consumer.CloseOptions;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.InterruptException;
import org.jspecify.annotations.Nullable;

/**
 * Reads single records of a topic by their places, with one consumer that stays open: calls wait for each other. For any
 * thread.
 */
final class RecordReader implements AutoCloseable {

    private static final Duration POLL = Duration.ofMillis(200);
    /** One record at a time is wanted, and what comes with it is thrown away. */
    private static final Map<String, Object> ONE_RECORD = Map.of(
            ConsumerConfig.MAX_POLL_RECORDS_CONFIG, 1, ConsumerConfig.MAX_PARTITION_FETCH_BYTES_CONFIG, 128 * 1024);

    private final JournalReader reader;
    private final String topic;
    private final ReentrantLock lock = new ReentrantLock();
    private @Nullable Consumer<byte[], byte[]> open;
    private boolean closed;

    RecordReader(JournalReader reader, String topic) {
        this.reader = reader;
        this.topic = topic;
    }

    @FunctionalInterface
    private interface Reading<T> {
        T read(Consumer<byte[], byte[]> consumer) throws BrokerUnavailableException;
    }

    /**
     * Where each partition ends now, as a reader of committed records sees it.
     *
     * @param deadline of {@link System#nanoTime}
     */
    Map<TopicPartition, Long> ends(long deadline) throws BrokerUnavailableException, InterruptedException {
        return with(deadline, consumer -> {
            Duration left = Duration.ofNanos(Math.max(1, deadline - System.nanoTime()));
            List<TopicPartition> partitions = consumer.partitionsFor(topic, left).stream()
                    .map(info -> reader.partition(info.partition()))
                    .toList();
            if (partitions.isEmpty()) {
                throw new BrokerUnavailableException("the topic " + topic + " is not there", null);
            }
            return consumer.endOffsets(partitions, left);
        });
    }

    /**
     * The record at a place; empty if it is not there any more.
     *
     * @param deadline of {@link System#nanoTime}
     */
    Optional<ConsumerRecord<byte[], byte[]>> at(int partition, long offset, long deadline)
            throws BrokerUnavailableException, InterruptedException {
        TopicPartition place = reader.partition(partition);
        return with(deadline, consumer -> {
            consumer.assign(List.of(place));
            consumer.seek(place, offset);
            while (consumer.position(place) <= offset) {
                if (System.nanoTime() - deadline > 0) {
                    throw new BrokerUnavailableException("the topic " + topic + " could not be read in time", null);
                }
                ConsumerRecords<byte[], byte[]> records = consumer.poll(POLL);
                for (ConsumerRecord<byte[], byte[]> consumed : records) {
                    return consumed.offset() == offset ? Optional.of(consumed) : Optional.empty();
                }
            }
            return Optional.empty();
        });
    }

    private <T> T with(long deadline, Reading<T> reading) throws BrokerUnavailableException, InterruptedException {
        if (!lock.tryLock(Math.max(1, deadline - System.nanoTime()), TimeUnit.NANOSECONDS)) {
            throw new BrokerUnavailableException("too many others read the topic " + topic, null);
        }
        try {
            if (closed) {
                throw new BrokerUnavailableException("this instance stops", null);
            }
            if (open == null) {
                open = reader.open("read", ONE_RECORD);
            }
            return reading.read(open);
        } catch (InterruptException e) {
            drop();
            // the flag is for whoever waits next on this thread, and that is decided above
            if (Thread.interrupted()) {
                throw new InterruptedException(e.getMessage());
            }
            throw new BrokerUnavailableException("interrupted while reading the topic " + topic, e);
        } catch (KafkaException e) {
            drop();
            throw new BrokerUnavailableException("the topic " + topic + " could not be read", e);
        } finally {
            lock.unlock();
        }
    }

    private void drop() {
        if (open != null) {
            open.close(CloseOptions.timeout(Duration.ZERO));
            open = null;
        }
    }

    @Override
    public void close() {
        lock.lock();
        try {
            closed = true;
            drop();
        } finally {
            lock.unlock();
        }
    }
}
