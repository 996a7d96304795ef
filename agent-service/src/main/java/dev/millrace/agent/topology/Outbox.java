package dev.millrace.agent.topology;

import dev.millrace.schemas.Event;
import dev.millrace.schemas.EventCodec;
import dev.millrace.schemas.Topics;
import dev.millrace.schemas.kafka.DeadLetters;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.Map;
import java.util.Set;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.header.Headers;
import org.apache.kafka.streams.processor.api.ProcessorContext;
import org.apache.kafka.streams.processor.api.Record;
import org.apache.kafka.streams.processor.api.RecordMetadata;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Sends records, in the transaction of the record that is being taken. For one stream thread. */
final class Outbox {

    /** Header of a record that has been sent to its own partition, so that it is never sent twice. */
    static final String REROUTED = "rerouted";
    /** Header of a record that has been sent to every partition, so that nobody does so again. */
    static final String BROADCAST = "broadcast";
    /** Header in the journal: what became of an event that was not processed. Absent on every other one. */
    static final String OUTCOME = "millrace-outcome";

    private static final Logger LOGGER = LoggerFactory.getLogger(Outbox.class);
    private static final byte[] SET = {'1'};

    private final ProcessorContext<byte[], Outgoing> context;
    private final Topics topics;
    private final ShellMetrics metrics;

    Outbox(ProcessorContext<byte[], Outgoing> context, Topics topics, ShellMetrics metrics) {
        this.context = context;
        this.topics = topics;
        this.metrics = metrics;
    }

    /** Records an event. */
    void journal(Event event, Instant now) {
        send(topics.journal(), event.sessionKey(), event, now, Map.of());
    }

    /** Records an event and what became of it, which is not what is usual. */
    void journal(Event event, Instant now, String outcome) {
        send(topics.journal(), event.sessionKey(), event, now, Map.of(OUTCOME, outcome));
    }

    /** Asks a worker. */
    void request(TaskMove.Request request, Instant now) {
        send(topics.requests(request.toolset()), request.key(), request.event(), now, Map.of());
    }

    /** Tells another task. */
    void lane(Event event, Instant now) {
        send(topics.lane(event.lane()), event.sessionKey(), event, now, Map.of());
    }

    private void send(String topic, String key, Event event, Instant now, Map<String, String> extraHeaders) {
        ProducerRecord<String, byte[]> encoded = EventCodec.toRecord(topic, event);
        Headers headers = encoded.headers();
        extraHeaders.forEach((name, value) -> headers.add(name, value.getBytes(StandardCharsets.UTF_8)));
        // dated now and not as the event says: a date in the past would have the record deleted at once
        forward(key.getBytes(StandardCharsets.UTF_8), new Outgoing(topic, encoded.value()), now, headers);
    }

    /**
     * Sends what has come to where it belongs. Whoever produced it used another partitioner or another key, or did not name
     * the session; its order is kept from there on.
     *
     * @param event with the identity that says where that is
     */
    void reroute(Record<byte[], LaneDates.Dated> incoming, Event event) {
        ProducerRecord<String, byte[]> encoded = EventCodec.toRecord(origin().topic(), event);
        encoded.headers().add(REROUTED, SET);
        forward(
                event.sessionKey().getBytes(StandardCharsets.UTF_8),
                new Outgoing(encoded.topic(), encoded.value()),
                Instant.ofEpochMilli(incoming.value().timestampMs()),
                encoded.headers());
        metrics.rerouted();
    }

    /** Sends what has come to these partitions as it is, with the header that says that this has been done. */
    void copy(Record<byte[], LaneDates.Dated> incoming, Set<Integer> partitions, String header) {
        incoming.headers().add(header, SET);
        forward(
                incoming.key(),
                new Outgoing(origin().topic(), incoming.value().value(), partitions),
                Instant.ofEpochMilli(incoming.value().timestampMs()),
                incoming.headers());
    }

    /** Puts a record aside that cannot be taken. */
    void deadLetter(Record<byte[], LaneDates.Dated> incoming, String reason, @Nullable String detail) {
        RecordMetadata from = origin();
        Headers headers = DeadLetters.headers(
                incoming.headers(),
                new DeadLetters.Origin(
                        from.topic(),
                        from.partition(),
                        from.offset(),
                        incoming.value().timestampMs()),
                reason,
                detail);
        forward(
                incoming.key(),
                new Outgoing(topics.deadLetters(), incoming.value().value()),
                Instant.ofEpochMilli(context.currentSystemTimeMs()),
                headers);
        metrics.deadLettered(reason);
        LOGGER.atWarn()
                .addKeyValue("topic", from.topic())
                .addKeyValue("partition", from.partition())
                .addKeyValue("offset", from.offset())
                .addKeyValue("errorCode", reason)
                .log("A record could not be taken and went to the dead letters");
    }

    private void forward(byte @Nullable [] key, Outgoing outgoing, Instant date, Headers headers) {
        context.forward(new Record<>(key, outgoing, date.toEpochMilli(), headers));
    }

    private RecordMetadata origin() {
        return context.recordMetadata()
                .orElseThrow(() -> new IllegalStateException("Kafka Streams gave a record without its origin"));
    }
}
