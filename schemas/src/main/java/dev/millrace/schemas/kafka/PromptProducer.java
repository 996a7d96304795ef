package dev.millrace.schemas.kafka;

import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.errors.InterruptException;
import org.apache.kafka.common.serialization.Serializer;

/**
 * Sends records one by one, each of which somebody waits for. While there are few, each leaves at once. While there are
 * many, they are gathered for {@link #GATHERED_FOR}: a request costs a broker, and everybody who reads there, about the same
 * with one record as with a hundred, and where so much is going on nobody notices the wait. For any thread; meant for
 * virtual ones.
 *
 * @param <K> the records' keys
 * @param <V> their values
 */
public final class PromptProducer<K, V> implements AutoCloseable {

    /** How long a record waits for others at most, when there are many. */
    public static final Duration GATHERED_FOR = Duration.ofMillis(20);

    private final Producer<K, V> producer;
    private final Rush rush;

    /** A producer that connects when it is used; {@code settings} are {@link ProducerSettings#prompt} and what else is wanted. */
    public PromptProducer(Map<String, Object> settings, Serializer<K> keys, Serializer<V> values) {
        Map<String, Object> gathering = new HashMap<>(settings);
        gathering.put(ProducerConfig.LINGER_MS_CONFIG, GATHERED_FOR.toMillis());
        this.producer = new KafkaProducer<>(gathering, keys, values);
        this.rush = new Rush(System::nanoTime);
    }

    /**
     * Sends a record and returns when it is acknowledged.
     *
     * @throws ExecutionException if it could not be sent; the cause says why
     * @throws InterruptedException if interrupted; it may or may not have been sent
     */
    public void send(ProducerRecord<K, V> message) throws ExecutionException, InterruptedException {
        try {
            boolean many = rush.another();
            Future<RecordMetadata> sent = producer.send(message);
            if (!many) {
                producer.flush();
            }
            sent.get();
        } catch (InterruptException e) {
            // Kafka's exception sets the flag again, ours stands for it
            boolean unused = Thread.interrupted();
            InterruptedException interrupted = new InterruptedException("interrupted while sending");
            interrupted.initCause(e);
            throw interrupted;
        }
    }

    /** Sends what is there, for at most so long. */
    public void close(Duration atMost) {
        producer.close(atMost);
    }

    @Override
    public void close() {
        close(Duration.ofSeconds(5));
    }

    /** Counts what is sent, to tell many from few. For any thread. */
    static final class Rush {

        /** So many records within the time that they would be gathered for are few. */
        static final int FEW = 3;

        private final LongSupplier nanoTime;
        private long windowStart;
        private int now;
        private int before;

        Rush(LongSupplier nanoTime) {
            this.nanoTime = nanoTime;
            this.windowStart = nanoTime.getAsLong();
        }

        /** Counts one more; whether there are many in this moment. */
        synchronized boolean another() {
            long elapsed = nanoTime.getAsLong() - windowStart;
            long window = TimeUnit.NANOSECONDS.convert(GATHERED_FOR);
            if (elapsed >= window) {
                before = elapsed < 2 * window ? now : 0;
                now = 0;
                windowStart += elapsed;
            }
            now++;
            return Math.max(now, before) > FEW;
        }
    }
}
