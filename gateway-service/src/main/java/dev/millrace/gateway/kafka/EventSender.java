package dev.millrace.gateway.kafka;

import dev.millrace.kafka.AcknowledgedProducer;
import dev.millrace.kafka.ProducerSettings;
import dev.millrace.schemas.Event;
import dev.millrace.schemas.EventCodec;
import dev.millrace.schemas.Topics;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.errors.RecordTooLargeException;
import org.apache.kafka.common.record.DefaultRecordBatch;
import org.apache.kafka.common.record.SimpleRecord;

/** Puts events on topics, and says so only once all in-sync replicas have them. */
public final class EventSender implements AutoCloseable {

    private final Topics topics;
    private final AcknowledgedProducer producer;

    /**
     * Connects when the first event is sent.
     *
     * @param timeout how long {@link #send} takes at most
     */
    public EventSender(Cluster cluster, Duration timeout) {
        this.topics = cluster.topics();
        Map<String, Object> settings = ProducerSettings.prompt(cluster.client(), "millrace-gateway");
        // the topic's own limit decides, see Topics.Topic#maxMessageBytes
        settings.put(ProducerConfig.MAX_REQUEST_SIZE_CONFIG, 2 * Topics.MAX_EVENT_BYTES);
        this.producer = new AcknowledgedProducer(settings, timeout);
    }

    /**
     * Returns once every event is stored on the lane of its effective priority. Blocks for at most the time-out that
     * the constructor was given.
     *
     * @throws BrokerUnavailableException if not all were acknowledged in time; some may be stored all the same, so that
     *     the caller may repeat the call with the same ids and nothing happens twice
     * @throws EventTooLargeException if one has more than {@link Topics#MAX_EVENT_BYTES} as a record, before any is
     *     sent; or if a topic has a lower limit
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

    /**
     * Puts the record that was refused back on the lane that it was read from, byte for byte and with its own headers.
     *
     * @return the lane; empty if the record was on none, or was not kept, so that nothing was sent
     */
    public Optional<String> sendAgain(WholeDeadLetter letter)
            throws BrokerUnavailableException, EventTooLargeException {
        Optional<ProducerRecord<String, byte[]>> again = letter.again(topics);
        if (again.isEmpty()) {
            return Optional.empty();
        }
        produce(List.of(again.get()));
        return Optional.of(again.get().topic());
    }

    private void produce(List<ProducerRecord<String, byte[]>> records)
            throws BrokerUnavailableException, EventTooLargeException {
        for (ProducerRecord<String, byte[]> one : records) {
            requireSize(one);
        }
        try {
            producer.send(records);
        } catch (RecordTooLargeException e) {
            throw new EventTooLargeException(
                    "An event is larger than the Kafka topic takes that it belongs on.", records.size() == 1);
        } catch (KafkaException e) {
            throw new BrokerUnavailableException("the brokers did not acknowledge in time", e);
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

    /** Sends what is under way, at most for the time-out, and disconnects. */
    @Override
    public void close() {
        producer.close();
    }
}
