package dev.millrace.kafka;

import dev.millrace.schemas.Backoff;
import java.time.Duration;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.errors.InterruptException;
import org.apache.kafka.common.errors.RecordTooLargeException;
import org.apache.kafka.common.serialization.Serializer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Sends records one by one, each of which somebody waits for. While there are few, each leaves at once. While there are
 * many, they are gathered for {@link #GATHERED_FOR}: a request costs a broker, and everybody who reads there, about the
 * same with one record as with a hundred, and where so much is going on nobody notices the wait. For any thread; meant
 * for virtual ones.
 *
 * @param <K> the records' keys
 * @param <V> their values
 */
public final class PromptProducer<K, V> implements AutoCloseable {

    /** How long a record waits for others at most, when there are many. */
    public static final Duration GATHERED_FOR = Duration.ofMillis(20);

    /**
     * So many records within that time are few: more than come of one task after the other, since the next step of each
     * waits for its record.
     */
    static final int FEW = 10;

    private static final Logger LOGGER = LoggerFactory.getLogger(PromptProducer.class);
    private static final Duration FIRST_PAUSE = Duration.ofMillis(100);
    private static final Duration LONGEST_PAUSE = Duration.ofSeconds(10);
    private static final Duration CLOSE_LIMIT = Duration.ofSeconds(5);

    private final Producer<K, V> producer;
    private final Rush rush;
    private volatile boolean closed;

    /**
     * A producer that connects when it is used; {@code settings} are {@link ClientSettings#prompt} and what else is
     * wanted.
     */
    public PromptProducer(ClientSettings settings, Serializer<K> keys, Serializer<V> values) {
        ClientSettings gathering = settings.with(ProducerConfig.LINGER_MS_CONFIG, GATHERED_FOR.toMillis());
        this.producer = new KafkaProducer<>(gathering.values(), keys, values);
        this.rush = new Rush(System::nanoTime, GATHERED_FOR.toNanos(), FEW);
    }

    /**
     * Sends a record and returns when it is acknowledged, however long the brokers are away: the work that led to it is
     * done, and would be lost.
     *
     * @param what it is, for the log
     * @throws RecordTooLargeException if no broker will ever take it
     * @throws InterruptedException if interrupted, or closed meanwhile; it may or may not have been sent
     */
    public void send(ProducerRecord<K, V> message, String what) throws InterruptedException {
        Backoff backoff = new Backoff(FIRST_PAUSE, LONGEST_PAUSE, "send");
        int failures = 0;
        while (!closed) {
            Throwable failure;
            try {
                await(message);
                return;
            } catch (ExecutionException e) {
                failure = e.getCause();
            } catch (KafkaException e) {
                failure = e;
            }
            if (failure instanceof RecordTooLargeException tooLarge) {
                throw tooLarge;
            }
            LOGGER.atWarn()
                    .addKeyValue("topic", message.topic())
                    .addKeyValue("record", what)
                    .addKeyValue("cause", String.valueOf(failure))
                    .log("A record could not be sent; trying again");
            Thread.sleep(backoff.after(++failures, null));
        }
        throw new InterruptedException("the producer was closed");
    }

    private void await(ProducerRecord<K, V> message) throws ExecutionException, InterruptedException {
        try {
            boolean many = rush.another();
            Future<RecordMetadata> sent = producer.send(message);
            if (!many) {
                producer.flush();
            }
            sent.get();
        } catch (InterruptException e) {
            throw Interrupts.of(e);
        }
    }

    /** Sends what is there, for some seconds at most, and disconnects. */
    @Override
    public void close() {
        closed = true;
        producer.close(CLOSE_LIMIT);
    }
}
