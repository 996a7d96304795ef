package dev.millrace.gateway.kafka;

import dev.millrace.schemas.kafka.RecordLoop;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.TopicPartition;

/**
 * Tells every record of a compacted topic, from the first one on and then as they come, to one taker, on a thread of its own
 * that begins when it is needed. Broker failures delay records and lose none; a record
 * that the taker cannot use costs itself. A topic that was deleted and made again is told from its first record on, within
 * seconds, after its taker has been told so.
 */
final class TopicFollower implements AutoCloseable {

    private final String topic;
    private final RecordLoop loop;

    private final ReentrantLock lock = new ReentrantLock();
    private final Condition moved = lock.newCondition();
    /** By partition, the offset before which everything has been taken. Guarded by the lock. */
    private final Map<TopicPartition, Long> positions = new HashMap<>();

    /** Who is told. Called by one thread. */
    interface Taker {

        /** A record. */
        void take(ConsumerRecord<byte[], byte[]> taken);

        /** What was taken so far was of another topic of the same name. */
        void beginAnew();
    }

    /** Reads nothing yet. */
    TopicFollower(JournalReader reader, String topic, Taker taker) {
        this.topic = topic;
        this.loop = new RecordLoop(
                "follow-" + topic,
                // none: what is not there any more has to be read anew from the beginning
                () -> reader.open("follow", Map.of(ConsumerConfig.AUTO_OFFSET_RESET_CONFIG, "none")),
                reader.identity(),
                new Work(taker));
    }

    private final class Work implements RecordLoop.Work {
        private final Taker taker;

        Work(Taker taker) {
            this.taker = taker;
        }

        @Override
        public void begin(Consumer<byte[], byte[]> consumer, Map<TopicPartition, Long> reached) {
            RecordLoop.wholeTopic(consumer, topic, reached);
        }

        @Override
        public void beginAnew() {
            lock.lock();
            try {
                positions.clear();
            } finally {
                lock.unlock();
            }
            taker.beginAnew();
        }

        @Override
        public void take(ConsumerRecord<byte[], byte[]> taken) {
            taker.take(taken);
        }

        @Override
        public void looked(Consumer<byte[], byte[]> consumer, boolean foundAny) {
            reached(consumer);
        }
    }

    /** What reads. */
    RecordLoop loop() {
        return loop;
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
            loop.start();
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

    private void reached(Consumer<byte[], byte[]> consumer) {
        Map<TopicPartition, Long> reached = new HashMap<>();
        consumer.assignment().forEach(partition -> reached.put(partition, consumer.position(partition)));
        lock.lock();
        try {
            positions.putAll(reached);
            moved.signalAll();
        } finally {
            lock.unlock();
        }
    }

    /** Stops reading, within seconds. */
    @Override
    public void close() {
        loop.close();
    }
}
