package dev.millrace.gateway.kafka;

import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.WakeupException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Tells every record of a compacted topic, from the first one on and then as they come, to one taker, on a thread of its own
 * that begins when it is needed. Broker failures delay records and lose none.
 */
final class TopicFollower implements AutoCloseable {
    private static final Logger LOGGER = LoggerFactory.getLogger(TopicFollower.class);

    private static final Duration POLL = Duration.ofMillis(500);
    private static final Duration PAUSE_AFTER_FAILURE = Duration.ofSeconds(1);

    private final JournalReader reader;
    private final String topic;
    private final java.util.function.Consumer<ConsumerRecord<byte[], byte[]>> taker;
    private final CountDownLatch closed = new CountDownLatch(1);
    private final AtomicReference<@Nullable Consumer<byte[], byte[]>> polling = new AtomicReference<>();

    private final ReentrantLock lock = new ReentrantLock();
    private final Condition moved = lock.newCondition();
    /** By partition, the offset before which everything has been taken. Guarded by the lock. */
    private final Map<TopicPartition, Long> positions = new HashMap<>();

    private final ReaderThread thread;

    /** Reads nothing yet. The taker is called by one thread. */
    TopicFollower(
            JournalReader reader, String topic, java.util.function.Consumer<ConsumerRecord<byte[], byte[]>> taker) {
        this.reader = reader;
        this.topic = topic;
        this.taker = taker;
        this.thread = new ReaderThread("follow-" + topic, this::run);
    }

    /** Why nothing is taken now, for reasons of its own and not of the brokers; empty if all is well. */
    Optional<String> failure() {
        return thread.failure();
    }

    /**
     * Returns once everything before these offsets has been taken. Begins to read if nobody has asked before.
     *
     * @param deadline of {@link System#nanoTime}
     * @throws BrokerUnavailableException if it takes longer
     */
    void await(Map<TopicPartition, Long> ends, long deadline) throws BrokerUnavailableException, InterruptedException {
        lock.lockInterruptibly();
        try {
            if (closed.getCount() > 0) {
                thread.start();
            }
            while (!ends.entrySet().stream()
                    .allMatch(end -> positions.getOrDefault(end.getKey(), -1L) >= end.getValue())) {
                long left = deadline - System.nanoTime();
                if (left <= 0) {
                    throw new BrokerUnavailableException("the topic " + topic + " could not be read in time", null);
                }
                moved.awaitNanos(left);
            }
        } finally {
            lock.unlock();
        }
    }

    private void run() throws InterruptedException {
        while (closed.getCount() > 0) {
            try (Consumer<byte[], byte[]> consumer = reader.open("follow")) {
                polling.set(consumer);
                follow(consumer);
            } catch (WakeupException e) {
                LOGGER.debug("Woken up to stop");
            } catch (KafkaException e) {
                LOGGER.atWarn().addKeyValue("topic", topic).setCause(e).log("A topic cannot be read now; trying again");
                pause();
            } finally {
                polling.set(null);
            }
        }
    }

    private void follow(Consumer<byte[], byte[]> consumer) {
        List<TopicPartition> partitions = consumer.partitionsFor(topic).stream()
                .map(info -> reader.partition(info.partition()))
                .toList();
        if (partitions.isEmpty()) {
            throw new KafkaException("the topic " + topic + " is not there");
        }
        consumer.assign(partitions);
        for (TopicPartition partition : partitions) {
            Long position = position(partition);
            if (position == null) {
                consumer.seekToBeginning(List.of(partition));
            } else {
                consumer.seek(partition, position);
            }
        }
        while (closed.getCount() > 0) {
            consumer.poll(POLL).forEach(this::take);
            thread.works();
            Map<TopicPartition, Long> reached = new HashMap<>();
            partitions.forEach(partition -> reached.put(partition, consumer.position(partition)));
            lock.lock();
            try {
                positions.putAll(reached);
                moved.signalAll();
            } finally {
                lock.unlock();
            }
        }
    }

    /** What fails for a reason of ours costs this record, not those after it. */
    private void take(ConsumerRecord<byte[], byte[]> consumed) {
        try {
            taker.accept(consumed);
        } catch (RuntimeException e) {
            LOGGER.atError()
                    .addKeyValue("topic", consumed.topic())
                    .addKeyValue("partition", consumed.partition())
                    .addKeyValue("offset", consumed.offset())
                    .setCause(e)
                    .log("A record could not be taken and is passed over");
        }
    }

    private @Nullable Long position(TopicPartition partition) {
        lock.lock();
        try {
            return positions.get(partition);
        } finally {
            lock.unlock();
        }
    }

    private void pause() throws InterruptedException {
        if (closed.await(PAUSE_AFTER_FAILURE.toMillis(), TimeUnit.MILLISECONDS)) {
            LOGGER.debug("Stopped while the brokers were away");
        }
    }

    /** Stops reading, within seconds. */
    @Override
    public void close() {
        closed.countDown();
        Consumer<byte[], byte[]> open = polling.get();
        if (open != null) {
            open.wakeup();
        }
        thread.close();
    }
}
