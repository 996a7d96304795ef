package dev.millrace.kafka;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.errors.InterruptException;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.common.serialization.StringSerializer;
import org.jspecify.annotations.Nullable;

/**
 * Sends records and says so only once all in-sync replicas have them. Connects when it is first used, since no producer
 * can be made while the brokers' names do not resolve. For any thread.
 */
public final class AcknowledgedProducer implements AutoCloseable {

    private final ClientSettings config;
    private final Duration limit;
    private final ReentrantLock opening = new ReentrantLock();
    private volatile @Nullable Producer<String, byte[]> producer;

    /**
     * Connects to nothing yet.
     *
     * @param settings {@link ClientSettings#prompt} and what else is wanted
     * @param limit how long {@link #send} takes at most
     */
    public AcknowledgedProducer(ClientSettings settings, Duration limit) {
        int millis = Math.clamp(limit.toMillis(), 1, Integer.MAX_VALUE);
        this.config = settings.with(ProducerConfig.MAX_BLOCK_MS_CONFIG, millis)
                .with(ProducerConfig.REQUEST_TIMEOUT_MS_CONFIG, millis)
                .with(ProducerConfig.DELIVERY_TIMEOUT_MS_CONFIG, millis)
                .with(ProducerConfig.RECONNECT_BACKOFF_MAX_MS_CONFIG, 1_000);
        this.limit = limit;
    }

    /**
     * Returns once every record is stored, and where, in the same order.
     *
     * @throws KafkaException if not all were acknowledged in time; some may be stored all the same
     * @throws InterruptedException if interrupted; they may or may not have been stored
     */
    public List<RecordMetadata> send(List<ProducerRecord<String, byte[]>> records) throws InterruptedException {
        long end = System.nanoTime() + limit.toNanos();
        try {
            Producer<String, byte[]> open = producer();
            List<Future<RecordMetadata>> sent = new ArrayList<>(records.size());
            for (ProducerRecord<String, byte[]> one : records) {
                sent.add(open.send(one));
            }
            List<RecordMetadata> stored = new ArrayList<>(records.size());
            for (Future<RecordMetadata> one : sent) {
                stored.add(one.get(Math.max(0, end - System.nanoTime()), TimeUnit.NANOSECONDS));
            }
            return stored;
        } catch (ExecutionException e) {
            throw e.getCause() instanceof KafkaException cause ? cause : new KafkaException(e.getCause());
        } catch (java.util.concurrent.TimeoutException e) {
            throw new TimeoutException("not acknowledged within " + limit.toMillis() + " ms", e);
        } catch (InterruptException e) {
            throw Interrupts.of(e);
        }
    }

    private Producer<String, byte[]> producer() {
        Producer<String, byte[]> open = producer;
        if (open != null) {
            return open;
        }
        opening.lock();
        try {
            open = producer;
            if (open == null) {
                open = new KafkaProducer<>(config.values(), new StringSerializer(), new ByteArraySerializer());
                producer = open;
            }
            return open;
        } finally {
            opening.unlock();
        }
    }

    /** Sends what is under way, for at most as long as a call takes, and disconnects. */
    @Override
    public void close() {
        Producer<String, byte[]> open = producer;
        if (open != null) {
            open.close(limit);
        }
    }
}
