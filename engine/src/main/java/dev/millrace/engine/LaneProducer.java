package dev.millrace.engine;

import dev.millrace.kafka.ClientSettings;
import dev.millrace.kafka.PromptProducer;
import dev.millrace.schemas.Event;
import dev.millrace.schemas.EventCodec;
import dev.millrace.schemas.Topics;
import java.nio.charset.StandardCharsets;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.errors.RecordTooLargeException;
import org.apache.kafka.common.record.AbstractRecords;
import org.apache.kafka.common.record.CompressionType;
import org.apache.kafka.common.record.RecordBatch;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.common.serialization.StringSerializer;

/**
 * Puts events on lanes, idempotently and acknowledged by all replicas. Safe for any thread; meant for virtual ones,
 * since {@link #send} waits.
 */
public final class LaneProducer implements AutoCloseable {

    private static final int ROOM_FOR_HEADER = 1_000;

    private final PromptProducer<String, byte[]> producer;
    private final Topics topics;

    /**
     * A producer that connects when it is used.
     *
     * @param kafka how to reach the brokers
     * @param clientId how they call it
     */
    public LaneProducer(ClientSettings kafka, Topics topics, String clientId) {
        this.producer = new PromptProducer<>(kafka.prompt(clientId), new StringSerializer(), new ByteArraySerializer());
        this.topics = topics;
    }

    /**
     * Returns when the event is acknowledged. An absent broker is waited for as long as this producer is open: the
     * event has been paid for.
     *
     * @return false if it is larger than any broker will ever take, and nothing was sent
     * @throws InterruptedException if interrupted, or closed meanwhile; the event may or may not be on the lane
     */
    public boolean send(Event event) throws InterruptedException {
        return send(letter(event));
    }

    /** The same of an event that is written already. */
    public boolean send(Letter letter) throws InterruptedException {
        return send(letter.encoded(), letter.event());
    }

    /** An event as its lane has it. */
    public Letter letter(Event event) {
        return new Letter(event, EventCodec.toRecord(topics.lane(event.lane()), event));
    }

    /** An event that is written and not sent. */
    public record Letter(Event event, ProducerRecord<String, byte[]> encoded) {

        /** Whether it is as small as a lane wants it, with room for a header more. */
        public boolean fits() {
            return AbstractRecords.estimateSizeInBytesUpperBound(
                            RecordBatch.CURRENT_MAGIC_VALUE,
                            CompressionType.NONE,
                            encoded.key().getBytes(StandardCharsets.UTF_8),
                            encoded.value(),
                            encoded.headers().toArray())
                    <= Topics.MAX_EVENT_BYTES - ROOM_FOR_HEADER;
        }

        /** The same with one more header. */
        public Letter with(String header, String value) {
            encoded.headers().add(header, value.getBytes(StandardCharsets.UTF_8));
            return this;
        }
    }

    /** As {@link #send(Event)}, but to this topic and with this key. */
    public boolean send(String topic, String key, Event event) throws InterruptedException {
        ProducerRecord<String, byte[]> encoded = EventCodec.toRecord(topic, event);
        return send(new ProducerRecord<>(topic, null, key, encoded.value(), encoded.headers()), event);
    }

    private boolean send(ProducerRecord<String, byte[]> encoded, Event event) throws InterruptedException {
        try {
            producer.send(encoded, event.type().wireName() + ' ' + event.id());
            return true;
        } catch (RecordTooLargeException e) {
            return false;
        }
    }

    /**
     * Puts a bare header on one partition of a topic, without waiting; nothing is lost if it never arrives but time.
     */
    public void mark(String topic, int partition, String header, String value) {
        ProducerRecord<String, byte[]> mark = new ProducerRecord<>(topic, partition, null, null);
        mark.headers().add(header, value.getBytes(StandardCharsets.UTF_8));
        Thread.ofVirtual().name("fence-" + partition).start(() -> {
            try {
                producer.send(mark, "a fence on partition " + partition);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        });
    }

    @Override
    public void close() {
        producer.close();
    }
}
