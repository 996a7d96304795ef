package dev.millrace.kafka;

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
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.InterruptException;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.jspecify.annotations.Nullable;

/**
 * A topic as a log, read without a group: by consumers that others {@link #open}, or here, where single questions are
 * answered with one consumer that stays open, so that calls wait for each other. Connects when it is asked. For any
 * thread.
 */
public final class TopicLog implements AutoCloseable {

    /** Of a single question to the brokers, where nothing else is said. */
    static final Duration ANSWER_LIMIT = Duration.ofSeconds(5);

    /** Setting of a consumer to whose reader what is left is better than nothing, where a place has been deleted. */
    public static final ClientSettings WHAT_IS_LEFT =
            ClientSettings.NONE.with(ConsumerConfig.AUTO_OFFSET_RESET_CONFIG, "earliest");

    /**
     * Setting of a consumer that reads what is there and then turns to another partition, or is closed: the fetch at
     * the end would hold up what comes next until the broker answers it.
     */
    public static final ClientSettings NO_MORE = ClientSettings.NONE.with(ConsumerConfig.FETCH_MAX_WAIT_MS_CONFIG, 1);

    private static final Duration POLL = Duration.ofMillis(200);
    /** One record at a time is wanted, and what comes with it is thrown away. */
    private static final ClientSettings ONE_RECORD = NO_MORE.with(ConsumerConfig.MAX_POLL_RECORDS_CONFIG, 1)
            .with(ConsumerConfig.MAX_PARTITION_FETCH_BYTES_CONFIG, 128 * 1024);

    private final ClientSettings kafka;
    private final ClientSettings config;
    private final String topic;
    private final String client;
    private final ReentrantLock lock = new ReentrantLock();
    private @Nullable Consumer<byte[], byte[]> open;
    private boolean closed;

    @FunctionalInterface
    private interface Question<T> {
        T ask(Consumer<byte[], byte[]> consumer);
    }

    /** What is done with a record. */
    @FunctionalInterface
    public interface Taker {
        /** Takes it. */
        void take(ConsumerRecord<byte[], byte[]> taken);
    }

    /** Reads committed records. */
    public TopicLog(ClientSettings kafka, String topic, String client) {
        this(kafka, topic, client, ClientSettings.NONE);
    }

    /**
     * The committed records of a topic; a place that is not there (any more) is a failure.
     *
     * @param kafka how to reach the brokers: {@code bootstrap.servers} and whatever security needs
     * @param client what brokers call the consumers, with their purpose
     * @param more settings of every consumer
     */
    public TopicLog(ClientSettings kafka, String topic, String client, ClientSettings more) {
        this.kafka = kafka;
        this.topic = topic;
        this.client = client;
        this.config = kafka.with(ConsumerConfig.ISOLATION_LEVEL_CONFIG, "read_committed")
                .with(ConsumerConfig.ENABLE_AUTO_COMMIT_CONFIG, false)
                .with(ConsumerConfig.ALLOW_AUTO_CREATE_TOPICS_CONFIG, false)
                // what to do about a place that is not there (any more) depends on who reads
                .with(ConsumerConfig.AUTO_OFFSET_RESET_CONFIG, "none")
                .with(ConsumerConfig.RECONNECT_BACKOFF_MAX_MS_CONFIG, 1_000)
                .with(ConsumerConfig.DEFAULT_API_TIMEOUT_MS_CONFIG, (int) ANSWER_LIMIT.toMillis())
                .with(ConsumerConfig.REQUEST_TIMEOUT_MS_CONFIG, (int) ANSWER_LIMIT.toMillis())
                .with(more);
    }

    /** A new consumer with nothing assigned; it connects when it is used. */
    public Consumer<byte[], byte[]> open(String purpose) {
        return open(purpose, ClientSettings.NONE);
    }

    /** The same with further settings. */
    public Consumer<byte[], byte[]> open(String purpose, ClientSettings more) {
        ClientSettings ours = config.with(more).as(client + '-' + purpose);
        return new KafkaConsumer<>(ours.values(), new ByteArrayDeserializer(), new ByteArrayDeserializer());
    }

    /** Which topic it is. */
    public TopicIdentity identity() {
        return TopicIdentity.of(kafka, topic);
    }

    /** Its name. */
    public String topic() {
        return topic;
    }

    /** A partition of it. */
    public TopicPartition partition(int partition) {
        return new TopicPartition(topic, partition);
    }

    /** Its partitions, as a consumer sees them; it is a failure if there are none. */
    public List<TopicPartition> partitions(Consumer<byte[], byte[]> consumer, Duration limit) {
        List<TopicPartition> partitions = consumer.partitionsFor(topic, limit).stream()
                .map(found -> partition(found.partition()))
                .toList();
        if (partitions.isEmpty()) {
            throw new KafkaException("the topic " + topic + " is not there");
        }
        return partitions;
    }

    /**
     * Where each partition ends now, as a reader of these records sees it.
     *
     * @param deadline of {@link System#nanoTime}
     * @throws KafkaException if that cannot be found out in time
     */
    public Map<TopicPartition, Long> ends(long deadline) throws InterruptedException {
        return answer(deadline, consumer -> {
            List<TopicPartition> partitions = partitions(consumer, left(deadline));
            consumer.assign(partitions); // it complains about the ends of others
            return consumer.endOffsets(partitions, left(deadline));
        });
    }

    /**
     * The record at a place that a record was put to; empty if it is not there any more.
     *
     * @param deadline of {@link System#nanoTime}
     * @throws org.apache.kafka.clients.consumer.OffsetOutOfRangeException if nothing is left from there
     * @throws KafkaException if it cannot be read in time
     */
    public Optional<ConsumerRecord<byte[], byte[]>> at(TopicPartition partition, long offset, long deadline)
            throws InterruptedException {
        return answer(deadline, consumer -> {
            consumer.assign(List.of(partition));
            consumer.seek(partition, offset);
            while (consumer.position(partition) <= offset) {
                requireTime(deadline, topic);
                for (ConsumerRecord<byte[], byte[]> found : consumer.poll(POLL)) {
                    // past a place that holds no record, the next one is given
                    return found.offset() == offset ? Optional.of(found) : Optional.empty();
                }
            }
            return Optional.empty();
        });
    }

    /**
     * Reads the whole topic once, up to where it ends now, with a consumer of its own.
     *
     * @throws KafkaException if it takes longer than this, or the brokers refuse
     */
    public void readAll(Duration limit, Taker taker) {
        long deadline = System.nanoTime() + limit.toNanos();
        try (Consumer<byte[], byte[]> consumer = open("all", NO_MORE)) {
            List<TopicPartition> partitions = partitions(consumer, limit);
            consumer.assign(partitions);
            consumer.seekToBeginning(partitions);
            readTo(consumer.endOffsets(partitions, left(deadline)), consumer, deadline, taker);
        }
    }

    /**
     * Reads from where a consumer is up to these offsets, and perhaps some records more.
     *
     * @param deadline of {@link System#nanoTime}
     * @throws KafkaException if it takes longer, or the brokers refuse
     */
    public static void readTo(
            Map<TopicPartition, Long> ends, Consumer<byte[], byte[]> consumer, long deadline, Taker taker) {
        while (ends.entrySet().stream().anyMatch(end -> consumer.position(end.getKey()) < end.getValue())) {
            requireTime(deadline, String.valueOf(ends.keySet()));
            consumer.poll(POLL).forEach(taker::take);
        }
    }

    private static void requireTime(long deadline, String what) {
        if (deadline - System.nanoTime() <= 0) {
            throw new TimeoutException(what + " could not be read in time");
        }
    }

    private static Duration left(long deadline) {
        return Duration.ofNanos(Math.max(1, deadline - System.nanoTime()));
    }

    private <T> T answer(long deadline, Question<T> question) throws InterruptedException {
        if (!lock.tryLock(left(deadline).toNanos(), TimeUnit.NANOSECONDS)) {
            throw new TimeoutException("too many others read the topic " + topic);
        }
        try {
            if (closed) {
                throw new KafkaException("this instance stops");
            }
            if (open == null) {
                open = open("read", ONE_RECORD);
            }
            return question.ask(open);
        } catch (InterruptException e) {
            drop();
            throw Interrupts.of(e);
        } catch (KafkaException e) {
            drop();
            throw e;
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

    /** Answers nothing more; what others have opened is theirs. */
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
