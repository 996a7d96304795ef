package dev.millrace.engine;

import dev.millrace.schemas.Event;
import dev.millrace.schemas.EventCodec;
import dev.millrace.schemas.Topics;
import dev.millrace.schemas.kafka.ProducerSettings;
import dev.millrace.schemas.kafka.PromptProducer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.errors.RecordTooLargeException;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.common.serialization.StringSerializer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Puts events on lanes, idempotently and acknowledged by all replicas. Safe for any thread; meant for virtual ones, since
 * {@link #send} waits.
 */
public final class LaneProducer implements AutoCloseable {

    private static final Logger LOGGER = LoggerFactory.getLogger(LaneProducer.class);
    private static final Duration LONGEST_PAUSE = Duration.ofSeconds(10);

    private final PromptProducer<String, byte[]> producer;
    private final Topics topics;
    private volatile boolean closed;

    /**
     * A producer that connects when it is used.
     *
     * @param kafka how to reach the brokers
     * @param clientId how they call it
     */
    public LaneProducer(Map<String, Object> kafka, Topics topics, String clientId) {
        this.producer = new PromptProducer<>(
                ProducerSettings.prompt(kafka, clientId), new StringSerializer(), new ByteArraySerializer());
        this.topics = topics;
    }

    /**
     * Returns when the event is acknowledged. An absent broker is waited for as long as this producer is open: the event
     * has been paid for.
     *
     * @return false if it is larger than any broker will ever take, and nothing was sent
     * @throws InterruptedException if interrupted, or closed meanwhile; the event may or may not be on the lane
     */
    public boolean send(Event event) throws InterruptedException {
        return send(EventCodec.toRecord(topics.lane(event.lane()), event), event);
    }

    /** As {@link #send(Event)}, but to this topic and with this key. */
    public boolean send(String topic, String key, Event event) throws InterruptedException {
        ProducerRecord<String, byte[]> encoded = EventCodec.toRecord(topic, event);
        return send(new ProducerRecord<>(topic, null, key, encoded.value(), encoded.headers()), event);
    }

    private boolean send(ProducerRecord<String, byte[]> encoded, Event event) throws InterruptedException {
        long pauseMs = 100;
        while (!closed) {
            try {
                producer.send(encoded);
                return true;
            } catch (ExecutionException e) {
                if (e.getCause() instanceof RecordTooLargeException) {
                    return false;
                }
                LOGGER.atWarn()
                        .addKeyValue("eventId", event.id())
                        .addKeyValue("eventType", event.type().wireName())
                        .addKeyValue("cause", String.valueOf(e.getCause()))
                        .log("A reply could not be put on its lane; trying again");
            }
            TimeUnit.MILLISECONDS.sleep(pauseMs);
            pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE.toMillis());
        }
        throw new InterruptedException("the producer was closed");
    }

    /** Puts a bare header on one partition of a topic, without waiting; nothing is lost if it never arrives but time. */
    public void mark(String topic, int partition, String header, String value) {
        ProducerRecord<String, byte[]> mark = new ProducerRecord<>(topic, partition, null, null);
        mark.headers().add(header, value.getBytes(StandardCharsets.UTF_8));
        Thread.ofVirtual().name("fence-" + partition).start(() -> {
            try {
                sendMark(mark);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        });
    }

    private void sendMark(ProducerRecord<String, byte[]> mark) throws InterruptedException {
        while (!closed) {
            try {
                producer.send(mark);
                return;
            } catch (ExecutionException e) {
                LOGGER.atWarn()
                        .addKeyValue("topic", mark.topic())
                        .addKeyValue("partition", mark.partition())
                        .addKeyValue("cause", String.valueOf(e.getCause()))
                        .log("A fence could not be set; trying again");
                TimeUnit.SECONDS.sleep(1);
            }
        }
    }

    @Override
    public void close() {
        closed = true;
        producer.close(Duration.ofSeconds(5));
    }
}
