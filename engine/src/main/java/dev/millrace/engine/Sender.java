package dev.millrace.engine;

import dev.millrace.schemas.DeadLetters;
import dev.millrace.schemas.ErrorCode;
import dev.millrace.schemas.Event;
import dev.millrace.schemas.EventCodec;
import dev.millrace.schemas.Topics;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Pattern;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.Headers;
import org.apache.kafka.common.header.internals.RecordHeaders;
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
     * Header of a record that has been sent to its own partition, so that it is never sent twice; its value is the date
     * that the record had before, see {@link #dateOf}.
     */
    public static final String REROUTED = "rerouted";

    // so many digits that a mark of before it was a date, or a word of somebody's own, is none
    private static final Pattern DATE = Pattern.compile("[1-9][0-9]{11,14}");
    private static final Logger LOGGER = LoggerFactory.getLogger(Sender.class);

    private final ProcessorContext<byte[], Outgoing> context;
    private final Topics topics;
    private final UnitOfWork unit;

    /**
     * A sender whose records leave by the sink that {@link #addSink} has added after the processor of this context.
     *
     * @param unit in which it sends
     */
    public Sender(ProcessorContext<byte[], Outgoing> context, Topics topics, UnitOfWork unit) {
        this.context = context;
        this.topics = topics;
        this.unit = unit;
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
     * Looks at the record that is being taken before anything else does.
     *
     * @throws RejectedRecordException if it has broken a transaction before, or unpacked it is so large that not even
     *     its copy in the journal could be
     */
    public void requireBearable(byte @Nullable [] value) throws RejectedRecordException {
        unit.requireSound();
        if (value != null && value.length > Topics.MAX_COPY_BYTES) {
            throw new RejectedRecordException(
                    ErrorCode.RECORD_TOO_LARGE.code(),
                    "expected at most " + Topics.MAX_COPY_BYTES + " bytes as the value, found " + value.length);
        }
    }

    /**
     * Puts the record aside that is being taken and cannot be. Of one that is too large even for that, the dead letter
     * has neither value nor headers of its own; it stays where it was for as long as its topic keeps it.
     *
     * @param value its value; {@code null} = it has none
     * @param dated its own date, in Unix milliseconds
     */
    public void deadLetter(
            Record<byte[], ?> incoming, byte @Nullable [] value, long dated, String reason, @Nullable String detail) {
        RecordMetadata from = origin();
        DeadLetters.Origin place = new DeadLetters.Origin(from.topic(), from.partition(), from.offset(), dated);
        Instant now = Instant.ofEpochMilli(context.currentSystemTimeMs());
        Record<byte[], Outgoing> letter = record(
                incoming.key(),
                new Outgoing(topics.deadLetters(), value),
                now,
                DeadLetters.headers(incoming.headers(), place, reason, detail));
        if (!unit.fits(letter)) {
            letter = record(
                    null,
                    new Outgoing(topics.deadLetters(), null),
                    now,
                    DeadLetters.headers(
                            new RecordHeaders(),
                            place,
                            reason,
                            detail + " (key, value and headers are too large to be kept here)"));
        }
        unit.send(letter);
        LOGGER.atWarn()
                .addKeyValue("topic", from.topic())
                .addKeyValue("partition", from.partition())
                .addKeyValue("offset", from.offset())
                .addKeyValue("errorCode", reason)
                .log("A record could not be taken and went to the dead letters");
    }

    /**
     * Puts an event aside that was kept for a while after it was read, and cannot be taken.
     *
     * @param origin where it was read
     */
    public void deadLetter(Event event, DeadLetters.Origin origin, String reason, String detail) {
        ProducerRecord<String, byte[]> encoded = EventCodec.toRecord(origin.topic(), event);
        forward(
                encoded.key().getBytes(StandardCharsets.UTF_8),
                new Outgoing(topics.deadLetters(), encoded.value()),
                Instant.ofEpochMilli(context.currentSystemTimeMs()),
                DeadLetters.headers(encoded.headers(), origin, reason, detail));
        LOGGER.atWarn()
                .addKeyValue("eventId", event.id())
                .addKeyValue("errorCode", reason)
                .log("An event that was held could not be taken and went to the dead letters");
    }

    /**
     * Sends the record that is being taken to where it belongs, on the same topic: whoever produced it used another
     * partitioner or another key. Its bytes are kept, and its order from there on.
     *
     * @param value its value
     * @param key of that partition
     * @param dated its own date, in Unix milliseconds, which stays with it in the header
     */
    public void reroute(Record<byte[], ?> incoming, byte @Nullable [] value, String key, long dated) {
        Headers headers = new RecordHeaders(incoming.headers().toArray()).add(REROUTED, date(dated));
        forward(
                key.getBytes(StandardCharsets.UTF_8),
                new Outgoing(origin().topic(), value),
                Instant.ofEpochMilli(context.currentSystemTimeMs()),
                headers);
    }

    /**
     * The same for one that does not say itself where it belongs.
     *
     * @param event with the identity that says it
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
     * When a record first stood on its topic: its own date, or the one that it had before it was sent on. Never later
     * than now: where the brokers do not date records themselves, a sender may write any date.
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

    /**
     * Sends a record as it is.
     *
     * @throws RecordTooLargeForTopicException if its topic does not take it
     */
    public void forward(byte @Nullable [] key, Outgoing outgoing, Instant date, Headers headers) {
        unit.send(record(key, outgoing, date, headers));
    }

    private static Record<byte[], Outgoing> record(
            byte @Nullable [] key, Outgoing outgoing, Instant date, Headers headers) {
        return new Record<>(key, outgoing, date.toEpochMilli(), headers);
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
