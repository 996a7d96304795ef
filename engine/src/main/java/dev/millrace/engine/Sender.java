package dev.millrace.engine;

import dev.millrace.schemas.Event;
import dev.millrace.schemas.EventCodec;
import dev.millrace.schemas.Topics;
import dev.millrace.schemas.kafka.DeadLetters;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Pattern;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.Headers;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.common.serialization.Serializer;
import org.apache.kafka.streams.Topology;
import org.apache.kafka.streams.processor.RecordContext;
import org.apache.kafka.streams.processor.StreamPartitioner;
import org.apache.kafka.streams.processor.TopicNameExtractor;
import org.apache.kafka.streams.processor.api.ProcessorContext;
import org.apache.kafka.streams.processor.api.Record;
import org.apache.kafka.streams.processor.api.RecordMetadata;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Sends records to any topic, in the transaction of the record that is being taken. For one stream thread. */
public final class Sender {

    /**
     * Header of a record that has been sent to its own partition, so that it is never sent twice; its value is the date that
     * the record had before, see {@link #dateOf}.
     */
    public static final String REROUTED = "rerouted";

    // so many digits that a mark of before it was a date, or a word of somebody's own, is none
    private static final Pattern DATE = Pattern.compile("[1-9][0-9]{11,14}");
    private static final Logger LOGGER = LoggerFactory.getLogger(Sender.class);

    private final ProcessorContext<byte[], Outgoing> context;
    private final Topics topics;

    /** A sender whose records leave by the sink that {@link #addSink} has added after the processor of this context. */
    public Sender(ProcessorContext<byte[], Outgoing> context, Topics topics) {
        this.context = context;
        this.topics = topics;
    }

    /** Adds the sink that sends each record where it says. */
    public static void addSink(Topology topology, String name, String processor) {
        Serializer<Outgoing> value = (topic, outgoing) -> outgoing.value();
        StreamPartitioner<byte[], Outgoing> partitions =
                (topic, key, outgoing, count) -> Optional.ofNullable(outgoing.partitions());
        topology.addSink(name, new OutgoingTopic(), new ByteArraySerializer(), value, partitions, processor);
    }

    /** Sends an event with this key, dated now and not as it says: a date in the past would have it deleted at once. */
    public void send(String topic, String key, Event event, Instant now, Map<String, String> extraHeaders) {
        ProducerRecord<String, byte[]> encoded = EventCodec.toRecord(topic, event);
        Headers headers = encoded.headers();
        extraHeaders.forEach((name, value) -> headers.add(name, value.getBytes(StandardCharsets.UTF_8)));
        forward(key.getBytes(StandardCharsets.UTF_8), new Outgoing(topic, encoded.value()), now, headers);
    }

    /**
     * Puts the record aside that is being taken and cannot be.
     *
     * @param value its value; {@code null} = it has none
     * @param dated its own date, in Unix milliseconds
     */
    public void deadLetter(
            Record<byte[], ?> incoming, byte @Nullable [] value, long dated, String reason, @Nullable String detail) {
        RecordMetadata from = origin();
        Headers headers = DeadLetters.headers(
                incoming.headers(),
                new DeadLetters.Origin(from.topic(), from.partition(), from.offset(), dated),
                reason,
                detail);
        forward(
                incoming.key(),
                new Outgoing(topics.deadLetters(), value),
                Instant.ofEpochMilli(context.currentSystemTimeMs()),
                headers);
        LOGGER.atWarn()
                .addKeyValue("topic", from.topic())
                .addKeyValue("partition", from.partition())
                .addKeyValue("offset", from.offset())
                .addKeyValue("errorCode", reason)
                .log("A record could not be taken and went to the dead letters");
    }

    /**
     * Sends the record that is being taken to where it belongs, on the same topic: whoever produced it used another
     * partitioner or another key. Its order is kept from there on.
     *
     * @param event with the identity that says where that is
     * @param key of that partition
     * @param dated its own date, in Unix milliseconds, which stays with it in the header
     */
    public void reroute(Event event, String key, long dated) {
        ProducerRecord<String, byte[]> encoded = EventCodec.toRecord(origin().topic(), event);
        encoded.headers().add(REROUTED, date(dated));
        forward(
                key.getBytes(StandardCharsets.UTF_8),
                new Outgoing(encoded.topic(), encoded.value()),
                Instant.ofEpochMilli(context.currentSystemTimeMs()),
                encoded.headers());
    }

    /** A date as the value of a header that {@link #dateOf} reads. */
    public static byte[] date(long dated) {
        return Long.toString(dated).getBytes(StandardCharsets.US_ASCII);
    }

    /**
     * When a record first stood on its topic: its own date, or the one that it had before it was sent on. Never later than now:
     * where the brokers do not date records themselves, a sender may write any date.
     *
     * @param dated its own date, in Unix milliseconds
     * @param sentOn names of the headers that may have an earlier one
     */
    public static long dateOf(Headers headers, long dated, long now, String... sentOn) {
        long date = Math.min(dated, now);
        for (String name : sentOn) {
            Header header = headers.lastHeader(name);
            String text =
                    header == null || header.value() == null ? "" : new String(header.value(), StandardCharsets.UTF_8);
            if (DATE.matcher(text).matches()) {
                date = Math.min(date, Long.parseLong(text));
            }
        }
        return date;
    }

    /** Sends a record as it is. */
    public void forward(byte @Nullable [] key, Outgoing outgoing, Instant date, Headers headers) {
        context.forward(new Record<>(key, outgoing, date.toEpochMilli(), headers));
    }

    /** Where the record comes from that is being taken. */
    public RecordMetadata origin() {
        return context.recordMetadata()
                .orElseThrow(() -> new IllegalStateException("Kafka Streams gave a record without its origin"));
    }

    /** Each record says where it goes. */
    private static final class OutgoingTopic implements TopicNameExtractor<byte[], Outgoing> {
        @Override
        public String extract(byte[] key, Outgoing outgoing, RecordContext from) {
            return outgoing.topic();
        }

        @Override
        public String toString() {
            return "topic of the record";
        }
    }
}
