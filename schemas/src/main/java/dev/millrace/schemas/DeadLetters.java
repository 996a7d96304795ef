package dev.millrace.schemas;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.regex.Pattern;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.header.Headers;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.jspecify.annotations.Nullable;

/**
 * What a dead letter looks like: the key, value and headers of the record that could not be read or processed, byte for
 * byte (but a token for a reply, which is for nobody to find), and beside them headers that say why and where it came
 * from. All texts are UTF-8, numbers are decimal digits.
 */
public final class DeadLetters {

    /**
     * Header: why, as a stable word in lower snake case such as {@code bad_json}; the list is in
     * {@code docs/events.md}.
     */
    public static final String REASON = "millrace-reason";
    /**
     * Header: why, in words for a person; cut at {@value #MAX_DETAIL_LENGTH} characters; absent if there is no more to
     * say.
     */
    public static final String DETAIL = "millrace-detail";
    /** Header: the topic that the record was read from. */
    public static final String ORIGIN_TOPIC = "millrace-origin-topic";
    /** Header: the partition that it was read from. */
    public static final String ORIGIN_PARTITION = "millrace-origin-partition";
    /** Header: its offset there. */
    public static final String ORIGIN_OFFSET = "millrace-origin-offset";
    /** Header: its timestamp there, in Unix milliseconds. */
    public static final String ORIGIN_TIMESTAMP = "millrace-origin-timestamp";

    /** The longest {@link #DETAIL}, in characters. */
    public static final int MAX_DETAIL_LENGTH = 1000;

    private static final List<String> ALL =
            List.of(REASON, DETAIL, ORIGIN_TOPIC, ORIGIN_PARTITION, ORIGIN_OFFSET, ORIGIN_TIMESTAMP);
    private static final Pattern CODE = Pattern.compile("[a-z][a-z0-9_]{0,63}");

    private DeadLetters() {}

    /**
     * Where a record was read.
     *
     * @param topic its topic
     * @param partition its partition
     * @param offset its offset
     * @param timestamp its timestamp in Unix milliseconds
     */
    public record Origin(String topic, int partition, long offset, long timestamp) {

        /** Where this record was read. */
        public static Origin of(ConsumerRecord<?, ?> consumed) {
            return new Origin(consumed.topic(), consumed.partition(), consumed.offset(), consumed.timestamp());
        }
    }

    /**
     * The headers of a dead letter: the original ones in their order, without a token for a reply, then ours. Ours are
     * replaced if the record had been a dead letter before. The argument stays as it is.
     *
     * @param reason stable word, lower snake case, at most 64 characters
     * @param detail for people; {@code null} = nothing to add
     * @throws IllegalArgumentException if the reason is no such word
     */
    public static Headers headers(Headers original, Origin origin, String reason, @Nullable String detail) {
        if (!CODE.matcher(reason).matches()) {
            throw new IllegalArgumentException(
                    "reason: expected a word in lower snake case, at most 64 characters, found \"" + reason + "\"");
        }
        Headers headers = new RecordHeaders(original.toArray());
        ALL.forEach(headers::remove);
        headers.remove(EventCodec.CE_PREFIX + Extensions.REPLY_TOKEN);
        add(headers, REASON, reason);
        if (detail != null) {
            add(headers, DETAIL, cut(detail));
        }
        add(headers, ORIGIN_TOPIC, origin.topic());
        add(headers, ORIGIN_PARTITION, Integer.toString(origin.partition()));
        add(headers, ORIGIN_OFFSET, Long.toString(origin.offset()));
        add(headers, ORIGIN_TIMESTAMP, Long.toString(origin.timestamp()));
        return headers;
    }

    /**
     * The dead letter for a record: to {@link Topics#deadLetters}, with the original key and value, dated by the
     * producer (so that it is kept for the full retention, however old the original is).
     *
     * @param reason stable word, lower snake case, at most 64 characters
     * @param detail for people; {@code null} = nothing to add
     * @throws IllegalArgumentException if the reason is no such word
     */
    public static <K, V> ProducerRecord<K, V> deadLetter(
            Topics topics, ConsumerRecord<K, V> consumed, String reason, @Nullable String detail) {
        return new ProducerRecord<>(
                topics.deadLetters(),
                null,
                null,
                consumed.key(),
                consumed.value(),
                headers(consumed.headers(), Origin.of(consumed), reason, detail));
    }

    private static void add(Headers headers, String name, String value) {
        headers.add(name, value.getBytes(StandardCharsets.UTF_8));
    }

    private static String cut(String detail) {
        return detail.length() <= MAX_DETAIL_LENGTH ? detail : detail.substring(0, MAX_DETAIL_LENGTH - 1) + "…";
    }
}
