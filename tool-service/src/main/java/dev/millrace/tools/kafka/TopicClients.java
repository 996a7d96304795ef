package dev.millrace.tools.kafka;

import dev.millrace.schemas.Topics;
import dev.millrace.schemas.kafka.TopicId;
import dev.millrace.schemas.kafka.TopicIdentity;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.locks.ReentrantLock;
import org.apache.kafka.clients.consumer.CloseOptions;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.errors.InterruptException;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A producer, and a consumer that belongs to no group, each made when it is first needed: the brokers may not be there
 * before. The consumer is for one thread at a time and starts anew after a failure, and where the topic that is followed was
 * deleted and made again; the producer is for any number.
 */
public final class TopicClients implements AutoCloseable {

    /** How long a read may take before it fails. */
    public static final Duration READ_LIMIT = Duration.ofSeconds(15);

    /** How often is looked at most whether the topic is still the same. */
    private static final Duration LOOK = Duration.ofSeconds(5);

    static final Duration POLL = Duration.ofMillis(500);

    private static final int WRITE_LIMIT_MS = 20_000;
    private static final Duration CLOSE_LIMIT = Duration.ofSeconds(5);

    private static final Logger LOGGER = LoggerFactory.getLogger(TopicClients.class);

    private final Map<String, Object> kafka;
    private final int recordsAtOnce;
    private final @Nullable Followed followed;
    private final ReentrantLock lock = new ReentrantLock();
    private @Nullable TopicId read;
    private long lookedAtNanos = System.nanoTime() - LOOK.toNanos();
    private @Nullable KafkaProducer<String, byte[]> producer;
    private @Nullable KafkaConsumer<String, byte[]> consumer;

    /** What is done with the consumer while nobody else has it. */
    @FunctionalInterface
    public interface Reading<T, E extends Exception> {
        /** Does it. */
        T with(KafkaConsumer<String, byte[]> consumer) throws E;
    }

    /**
     * Connects to nothing yet.
     *
     * @param kafka how to reach the brokers
     * @param recordsAtOnce how many a poll gives at most, 1 or more
     */
    public TopicClients(Map<String, Object> kafka, int recordsAtOnce) {
        this(kafka, recordsAtOnce, null);
    }

    /**
     * The same for those who keep what they have read of a topic.
     *
     * @param topic what is read
     * @param anew run before a reader gets a new consumer because the topic was deleted and made again, or is another
     *     cluster's: what was read so far is void
     */
    public TopicClients(Map<String, Object> kafka, int recordsAtOnce, String topic, Runnable anew) {
        this(kafka, recordsAtOnce, new Followed(TopicIdentity.of(kafka, topic), anew));
    }

    private TopicClients(Map<String, Object> kafka, int recordsAtOnce, @Nullable Followed followed) {
        this.kafka = Map.copyOf(kafka);
        this.recordsAtOnce = recordsAtOnce;
        this.followed = followed;
    }

    private record Followed(TopicIdentity identity, Runnable anew) {}

    /** The producer. */
    public KafkaProducer<String, byte[]> producer() throws InterruptedException {
        lock.lockInterruptibly();
        try {
            KafkaProducer<String, byte[]> existing = producer;
            if (existing != null) {
                return existing;
            }
            Map<String, Object> config = new HashMap<>(kafka);
            config.put(ProducerConfig.ACKS_CONFIG, "all");
            config.put(ProducerConfig.ENABLE_IDEMPOTENCE_CONFIG, true);
            config.put(ProducerConfig.MAX_BLOCK_MS_CONFIG, WRITE_LIMIT_MS);
            config.put(ProducerConfig.REQUEST_TIMEOUT_MS_CONFIG, WRITE_LIMIT_MS / 2);
            config.put(ProducerConfig.DELIVERY_TIMEOUT_MS_CONFIG, WRITE_LIMIT_MS);
            KafkaProducer<String, byte[]> made =
                    new KafkaProducer<>(config, new StringSerializer(), new ByteArraySerializer());
            producer = made;
            return made;
        } finally {
            lock.unlock();
        }
    }

    /**
     * Reads, when it is the caller's turn. The consumer is as the last reader left it, or new.
     *
     * @throws KafkaException if Kafka says no; the next reader gets a new consumer
     * @throws InterruptedException if interrupted, while waiting or in Kafka
     */
    public <T, E extends Exception> T read(Reading<T, E> reading) throws E, InterruptedException {
        lock.lockInterruptibly();
        try {
            if (followed != null) {
                look(followed);
            }
            return reading.with(consumer());
        } catch (InterruptException e) {
            closeConsumer();
            throw interrupted(e);
        } catch (KafkaException e) {
            closeConsumer();
            throw e;
        } finally {
            lock.unlock();
        }
    }

    /** For those who hold the lock. */
    private void look(Followed topic) throws InterruptedException {
        if (System.nanoTime() - lookedAtNanos < LOOK.toNanos()) {
            return;
        }
        TopicId before = read;
        TopicId now = topic.identity().lately().orElse(before);
        if (now == null) {
            throw new KafkaException("the topic is not there, or the brokers do not say which one it is");
        }
        lookedAtNanos = System.nanoTime();
        read = now;
        if (before != null && !before.equals(now)) {
            LOGGER.atWarn()
                    .addKeyValue("reason", before.changedInto(now))
                    .log("What is read is another topic of the same name by now; it is read from its beginning");
            closeConsumer();
            topic.anew().run();
        }
    }

    /** For those who hold the lock. */
    private KafkaConsumer<String, byte[]> consumer() {
        KafkaConsumer<String, byte[]> existing = consumer;
        if (existing != null) {
            return existing;
        }
        Map<String, Object> config = new HashMap<>(kafka);
        config.put(ConsumerConfig.AUTO_OFFSET_RESET_CONFIG, "none");
        config.put(ConsumerConfig.ENABLE_AUTO_COMMIT_CONFIG, false);
        config.put(ConsumerConfig.MAX_POLL_RECORDS_CONFIG, recordsAtOnce);
        config.put(ConsumerConfig.MAX_PARTITION_FETCH_BYTES_CONFIG, Topics.MAX_EVENT_BYTES);
        config.put(ConsumerConfig.DEFAULT_API_TIMEOUT_MS_CONFIG, (int) READ_LIMIT.toMillis());
        config.put(ConsumerConfig.REQUEST_TIMEOUT_MS_CONFIG, (int) READ_LIMIT.toMillis());
        KafkaConsumer<String, byte[]> made =
                new KafkaConsumer<>(config, new StringDeserializer(), new ByteArrayDeserializer());
        consumer = made;
        return made;
    }

    /** For those who hold the lock. */
    private void closeConsumer() {
        KafkaConsumer<String, byte[]> broken = consumer;
        consumer = null;
        if (broken != null) {
            broken.close(CloseOptions.timeout(Duration.ZERO));
        }
    }

    /** What Kafka's own exception, which sets the thread's flag again, stands for. */
    public static InterruptedException interrupted(InterruptException e) {
        boolean cleared = Thread.interrupted();
        InterruptedException interrupted = new InterruptedException("interrupted in Kafka, flag was " + cleared);
        interrupted.initCause(e);
        return interrupted;
    }

    @Override
    public void close() {
        lock.lock();
        try {
            closeConsumer();
            if (followed != null) {
                followed.identity().close();
            }
            KafkaProducer<String, byte[]> open = producer;
            producer = null;
            if (open != null) {
                open.close(CLOSE_LIMIT);
            }
        } finally {
            lock.unlock();
        }
    }
}
