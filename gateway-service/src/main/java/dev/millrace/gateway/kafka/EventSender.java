package dev.millrace.gateway.kafka;

import dev.millrace.kafka.AcknowledgedProducer;
import dev.millrace.kafka.ClientSettings;
import dev.millrace.schemas.DiscardedLetter;
import dev.millrace.schemas.Event;
import dev.millrace.schemas.EventCodec;
import dev.millrace.schemas.MalformedEventException;
import dev.millrace.schemas.Topics;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.errors.RecordTooLargeException;
import org.apache.kafka.common.record.DefaultRecordBatch;
import org.apache.kafka.common.record.SimpleRecord;
import org.jspecify.annotations.Nullable;

/** Puts events on topics, and says so only once all in-sync replicas have them. */
public final class EventSender implements AutoCloseable {

    private final Topics topics;
    private final AcknowledgedProducer producer;
    private final Consumer<Event> accepted;

    /**
     * Connects when the first event is sent.
     *
     * @param timeout how long {@link #send} takes at most
     * @param accepted is told of each event that is on a lane
     */
    public EventSender(Cluster cluster, Duration timeout, Consumer<Event> accepted) {
        this.accepted = accepted;
        this.topics = cluster.topics();
        // the topic's own limit decides, see Topics.Topic#maxMessageBytes
        ClientSettings settings = cluster.client()
                .prompt("millrace-gateway")
                .with(ProducerConfig.MAX_REQUEST_SIZE_CONFIG, 2 * Topics.MAX_EVENT_BYTES);
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
        events.forEach(accepted);
    }

    /** The same for one event, on this topic and with this key. */
    public void send(String topic, String key, Event event) throws BrokerUnavailableException, EventTooLargeException {
        ProducerRecord<String, byte[]> encoded = EventCodec.toRecord(topic, event);
        produce(List.of(new ProducerRecord<>(topic, null, key, encoded.value(), encoded.headers())));
    }

    /**
     * Puts the record that was refused back on the lane that it was read from, byte for byte and with its own headers.
     *
     * @param payload in place of its own; {@code null} = its own
     * @return the lane; empty if the record was on none, or was not kept, so that nothing was sent
     * @throws MalformedEventException if no other payload can be put into it
     */
    public Optional<String> sendAgain(WholeDeadLetter letter, @Nullable Map<String, @Nullable Object> payload)
            throws BrokerUnavailableException, EventTooLargeException, MalformedEventException {
        Optional<ProducerRecord<String, byte[]>> again = letter.again(topics, payload);
        if (again.isEmpty()) {
            return Optional.empty();
        }
        produce(List.of(again.get()));
        return Optional.of(again.get().topic());
    }

    /** Has nobody be shown these dead letters any more, by whichever gateway. */
    public void discard(List<DeadLetter> letters) throws BrokerUnavailableException, EventTooLargeException {
        produce(letters.stream()
                .map(letter -> new ProducerRecord<>(
                        topics.forgotten(),
                        letter.place(),
                        new DiscardedLetter(letter.place(), letter.timestampMs()).toJson()))
                .toList());
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
