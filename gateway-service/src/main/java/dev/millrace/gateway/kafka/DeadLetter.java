package dev.millrace.gateway.kafka;

import dev.millrace.gateway.kafka.JournalFilter.Labels;
import dev.millrace.schemas.EventType;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.header.Header;
import org.jspecify.annotations.Nullable;

/**
 * A record that could not be read or was not taken, as it stands in the dead letters: the beginning of its value, since
 * many are held at a time and each may be as large as Kafka takes.
 */
public final class DeadLetter {
    /** How much of a key, of a value, and of a header is kept, in bytes. */
    public static final int MAX_KEPT = 8_000;

    private static final int MAX_HEADERS = 32;
    private static final String STRUCTURED = "application/cloudevents+json";

    private final int partition;
    private final long offset;
    private final long timestampMs;
    private final Map<String, String> headers = new HashMap<>();
    private final byte @Nullable [] key;
    private final byte @Nullable [] value;
    private final int valueBytes;
    private final Labels labels;

    DeadLetter(ConsumerRecord<byte[], byte[]> letter) {
        this.partition = letter.partition();
        this.offset = letter.offset();
        this.timestampMs = letter.timestamp();
        this.key = cut(letter.key());
        this.value = cut(letter.value());
        this.valueBytes = letter.value() == null ? 0 : letter.value().length;
        this.labels = ForgottenTopic.labels(letter);
        // the last one of a name counts, and ours stand behind those of the sender, however many these are
        Header[] all = letter.headers().toArray();
        for (int i = all.length - 1; i >= 0 && headers.size() < MAX_HEADERS; i--) {
            byte[] text = cut(all[i].value());
            if (text != null) {
                headers.putIfAbsent(all[i].key(), new String(text, StandardCharsets.UTF_8));
            }
        }
    }

    private static byte @Nullable [] cut(byte @Nullable [] bytes) {
        return bytes == null || bytes.length <= MAX_KEPT ? bytes : Arrays.copyOf(bytes, MAX_KEPT);
    }

    /** Where it is: partition and offset, unique among the dead letters. */
    public String place() {
        return partition + ":" + offset;
    }

    int partition() {
        return partition;
    }

    long offset() {
        return offset;
    }

    /** When it was put aside, in Unix milliseconds. */
    public long timestampMs() {
        return timestampMs;
    }

    /** The last header of this name, as text; {@code null} = there is none. */
    public @Nullable String header(String name) {
        return headers.get(name);
    }

    /**
     * The namespace of the event that it was; {@code null} = nobody's: it was no event, or one that says two things of
     * itself.
     */
    public @Nullable String namespace() {
        String kind = header("content-type");
        boolean structured =
                kind != null && kind.strip().toLowerCase(Locale.ROOT).startsWith(STRUCTURED);
        return labels.id().isEmpty() || type().isEmpty() || (structured && header("ce_id") != null)
                ? null
                : labels.namespace();
    }

    /** The type of the event that it was; empty = it was none. */
    public Optional<EventType> type() {
        try {
            return Optional.of(EventType.of(labels.type()));
        } catch (IllegalArgumentException e) {
            return Optional.empty();
        }
    }

    /** Whose it was and what it was about, as far as it said so. */
    Labels labels() {
        return labels;
    }

    /** The beginning of its key, of anybody's making; {@code null} = it has none. */
    public byte @Nullable [] key() {
        return key;
    }

    /** The beginning of its value, of anybody's making; {@code null} = it has none. */
    public byte @Nullable [] value() {
        return value;
    }

    /** How large its value is, 0 if it has none. */
    public int valueBytes() {
        return valueBytes;
    }
}
