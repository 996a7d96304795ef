package dev.millrace.gateway.kafka;

import dev.millrace.schemas.Event;
import dev.millrace.schemas.EventCodec;
import dev.millrace.schemas.Topics;
import dev.millrace.schemas.kafka.ProducerSettings;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.ReentrantLock;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.errors.RecordTooLargeException;
import org.apache.kafka.common.record.DefaultRecordBatch;
import org.apache.kafka.common.record.SimpleRecord;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.common.serialization.StringSerializer;
import org.jspecify.annotations.Nullable;

/** Puts events on topics, and says so only once all in-sync replicas have them. */
public final class EventSender implements AutoCloseable {

    private final Topics topics;
    private final Duration timeout;
    private final Map<String, Object> config;
    private final ReentrantLock opening = new ReentrantLock();
    private volatile @Nullable Producer<String, byte[]> producer;

    /**
     * Connects when the first event is sent.
     *
     * @param kafka how to reach the brokers: {@code bootstrap.servers} and whatever security needs
     * @param timeout how long {@link #send} takes at most
     */
    public EventSender(Map<String, Object> kafka, Topics topics, Duration timeout) {
        this.topics = topics;
        this.timeout = timeout;
        this.config = config(kafka, timeout);
    }

    private static Map<String, Object> config(Map<String, Object> kafka, Duration timeout) {
        int millis = Math.clamp(timeout.toMillis(), 1, Integer.MAX_VALUE);
        Map<String, Object> config = ProducerSettings.prompt(kafka, "millrace-gateway");
        config.put(ProducerConfig.MAX_BLOCK_MS_CONFIG, millis);
        config.put(ProducerConfig.REQUEST_TIMEOUT_MS_CONFIG, millis);
        config.put(ProducerConfig.DELIVERY_TIMEOUT_MS_CONFIG, millis);
        config.put(ProducerConfig.RECONNECT_BACKOFF_MAX_MS_CONFIG, 1_000);
        // the topic's own limit decides, see Topics.Topic#maxMessageBytes
        config.put(ProducerConfig.MAX_REQUEST_SIZE_CONFIG, 2 * Topics.MAX_EVENT_BYTES);
        return config;
    }

    /**
     * Returns once every event is stored on the lane of its effective priority. Blocks for at most the time-out that the
     * constructor was given.
     *
     * @throws BrokerUnavailableException if not all were acknowledged in time; some may be stored all the same, so that
     *     the caller may repeat the call with the same ids and nothing happens twice
     * @throws EventTooLargeException if one has more than {@link Topics#MAX_EVENT_BYTES} as a record, before any is sent; or if
     *     a topic has a lower limit
     */
    public void send(List<Event> events) throws BrokerUnavailableException, EventTooLargeException {
        produce(events.stream()
                .map(event -> EventCodec.toRecord(topics.lane(event.lane()), event))
                .toList());
    }

    /** The same for one event, on this topic and with this key. */
    public void send(String topic, String key, Event event) throws BrokerUnavailableException, EventTooLargeException {
        ProducerRecord<String, byte[]> encoded = EventCodec.toRecord(topic, event);
        produce(List.of(new ProducerRecord<>(topic, null, key, encoded.value(), encoded.headers())));
    }

    private void produce(List<ProducerRecord<String, byte[]>> records)
            throws BrokerUnavailableException, EventTooLargeException {
        for (ProducerRecord<String, byte[]> one : records) {
            requireSize(one);
        }
        long end = System.nanoTime() + timeout.toNanos();
        try {
            Producer<String, byte[]> open = producer();
            List<Future<RecordMetadata>> sent = new ArrayList<>(records.size());
            for (ProducerRecord<String, byte[]> one : records) {
                sent.add(open.send(one));
            }
            for (Future<RecordMetadata> one : sent) {
                one.get(Math.max(0, end - System.nanoTime()), TimeUnit.NANOSECONDS);
            }
        } catch (ExecutionException e) {
            throw failure(e.getCause() == null ? e : e.getCause(), records.size());
        } catch (TimeoutException | KafkaException e) {
            throw failure(e, records.size());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new BrokerUnavailableException("interrupted while waiting for the acknowledgement", e);
        }
    }

    /** All are measured before any is sent, so that of a batch with one that does not fit nothing is stored. */
    private static void requireSize(ProducerRecord<String, byte[]> one) throws EventTooLargeException {
        SimpleRecord simple = new SimpleRecord(
                0L,
                one.key().getBytes(StandardCharsets.UTF_8),
                one.value(),
                one.headers().toArray());
        int bytes = DefaultRecordBatch.sizeInBytes(List.of(simple));
        if (bytes > Topics.MAX_EVENT_BYTES) {
            throw new EventTooLargeException(
                    "The event: expected at most " + Topics.MAX_EVENT_BYTES + " bytes as a Kafka record, found " + bytes
                            + ".",
                    true);
        }
    }

    private static BrokerUnavailableException failure(Throwable cause, int sent) throws EventTooLargeException {
        if (cause instanceof RecordTooLargeException) {
            throw new EventTooLargeException(
                    "An event is larger than the Kafka topic takes that it belongs on.", sent == 1);
        }
        return new BrokerUnavailableException("the brokers did not acknowledge in time", cause);
    }

    /** Sends what is under way, at most for the time-out, and disconnects. */
    @Override
    public void close() {
        Producer<String, byte[]> open = producer;
        if (open != null) {
            open.close(timeout);
        }
    }

    /** Made when it is needed, since none can be made while the brokers' names do not resolve. */
    private Producer<String, byte[]> producer() {
        Producer<String, byte[]> open = producer;
        if (open != null) {
            return open;
        }
        opening.lock();
        try {
            open = producer;
            if (open == null) {
                open = new KafkaProducer<>(config, new StringSerializer(), new ByteArraySerializer());
                producer = open;
            }
            return open;
        } finally {
            opening.unlock();
        }
    }
}
