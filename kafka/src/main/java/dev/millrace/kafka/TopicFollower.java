package dev.millrace.kafka;

import dev.millrace.schemas.MalformedEventException;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.stream.Collectors;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.TimeoutException;

/**
 * Tells every record of a topic, from the first one on and then as they come, to one taker, on a thread of its own that
 * begins when it is started or first asked. Broker failures delay records and lose none; a record that the taker cannot
 * use costs itself. A topic that was deleted and made again is told from its first record on, within seconds, after its
 * taker has been told so. For any thread.
 */
public final class TopicFollower implements AutoCloseable {

    /** Most topics that are followed change seldom, and a broker answers at once when there is something. */
    private static final ClientSettings LONG_FETCHES =
            ClientSettings.NONE.with(ConsumerConfig.FETCH_MAX_WAIT_MS_CONFIG, 2_000);

    private final TopicLog log;
    private final RecordLoop loop;

    private final ReentrantLock lock = new ReentrantLock();
    private final Condition moved = lock.newCondition();
    /** By partition, the offset before which everything has been taken. Guarded by the lock. */
    private final Map<TopicPartition, Long> positions = new HashMap<>();
    /**
     * By partition, what was on the topic when its reading began, or began anew. Guarded by the lock; empty = not
     * known.
     */
    private Map<TopicPartition, Long> goal = Map.of();

    /** Who is told. Called by one thread. */
    public interface Taker {

        /**
         * A record.
         *
         * @throws MalformedEventException if it is not what it should be
         */
        void take(ConsumerRecord<byte[], byte[]> taken) throws MalformedEventException;

        /** What was taken so far was of another topic of the same name, or is not all any more. */
        void beginAnew();

        /**
         * After each look for records.
         *
         * @param caughtUp whether what was on the topic when its reading began, or began anew, has been taken
         */
        default void looked(boolean caughtUp) {}
    }

    /**
     * Follows nothing yet.
     *
     * @param log of the topic; closed by the follower
     */
    public TopicFollower(TopicLog log, Taker taker) {
        this.log = log;
        this.loop = new RecordLoop(
                "follow-" + log.topic(), () -> log.open("follow", LONG_FETCHES), log.identity(), new Work(taker));
    }

    private final class Work implements RecordLoop.Work {
        private final Taker taker;

        Work(Taker taker) {
            this.taker = taker;
        }

        @Override
        public void begin(Consumer<byte[], byte[]> consumer, Map<TopicPartition, Long> reached) {
            RecordLoop.wholeTopic(consumer, log, reached);
            // where there is nothing, the first look for records would take as long as it may
            move(consumer.endOffsets(consumer.assignment()), positions(consumer));
        }

        @Override
        public void beginAnew() {
            lock.lock();
            try {
                positions.clear();
                goal = Map.of();
            } finally {
                lock.unlock();
            }
            taker.beginAnew();
        }

        @Override
        public void take(ConsumerRecord<byte[], byte[]> taken) throws MalformedEventException {
            taker.take(taken);
        }

        @Override
        public void looked(Consumer<byte[], byte[]> consumer, boolean foundAny) {
            move(goal, positions(consumer));
            taker.looked(isCaughtUp());
        }

        private static Map<TopicPartition, Long> positions(Consumer<byte[], byte[]> consumer) {
            return consumer.assignment().stream().collect(Collectors.toMap(partition -> partition, consumer::position));
        }
    }

    private void move(Map<TopicPartition, Long> ends, Map<TopicPartition, Long> reached) {
        lock.lock();
        try {
            goal = ends;
            positions.putAll(reached);
            moved.signalAll();
        } finally {
            lock.unlock();
        }
    }

    /** What reads. */
    public RecordLoop loop() {
        return loop;
    }

    /** Begins to follow. A second call does nothing. */
    public void start() {
        loop.start();
    }

    private boolean isCaughtUp() {
        lock.lock();
        try {
            return !goal.isEmpty() && hasTaken(goal);
        } finally {
            lock.unlock();
        }
    }

    /**
     * Waits until what was on the topic when its reading began, or began anew, has been taken; false if that takes
     * longer.
     */
    public boolean awaitCaughtUp(Duration timeout) throws InterruptedException {
        lock.lockInterruptibly();
        try {
            long left = timeout.toNanos();
            while (!isCaughtUp() && left > 0) {
                left = moved.awaitNanos(left);
            }
            return isCaughtUp();
        } finally {
            lock.unlock();
        }
    }

    /**
     * Returns once everything has been taken that was on the topic when this was called. Begins to follow if nobody has
     * asked before.
     *
     * @param deadline of {@link System#nanoTime}
     * @throws org.apache.kafka.common.KafkaException if it takes longer, or the brokers do not say where the topic ends
     */
    public void catchUp(long deadline) throws InterruptedException {
        start();
        Map<TopicPartition, Long> ends = log.ends(deadline);
        lock.lockInterruptibly();
        try {
            while (!hasTaken(ends)) {
                long left = deadline - System.nanoTime();
                if (left <= 0) {
                    throw new TimeoutException("the topic " + log.topic() + " could not be read in time");
                }
                moved.awaitNanos(left);
            }
        } finally {
            lock.unlock();
        }
    }

    private boolean hasTaken(Map<TopicPartition, Long> ends) {
        return ends.entrySet().stream().allMatch(end -> positions.getOrDefault(end.getKey(), -1L) >= end.getValue());
    }

    /** Stops following, within seconds. */
    @Override
    public void close() {
        loop.close();
        log.close();
    }
}
