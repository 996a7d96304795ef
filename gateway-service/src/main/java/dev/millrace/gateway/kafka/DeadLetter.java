package dev.millrace.gateway.kafka;

import java.nio.charset.StandardCharsets;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.Headers;
import org.jspecify.annotations.Nullable;

/** A record that could not be read or was not taken, as it stands in the dead letters. */
public final class DeadLetter {

    private final ConsumerRecord<byte[], byte[]> letter;

    DeadLetter(ConsumerRecord<byte[], byte[]> letter) {
        this.letter = letter;
    }

    /** Where it is: partition and offset, unique among the dead letters. */
    public String place() {
        return letter.partition() + ":" + letter.offset();
    }

    /** When it was put aside, in Unix milliseconds. */
    public long timestampMs() {
        return letter.timestamp();
    }

    /** The last header of this name, as text; {@code null} = there is none. */
    public @Nullable String header(String name) {
        Header header = letter.headers().lastHeader(name);
        return header == null || header.value() == null ? null : new String(header.value(), StandardCharsets.UTF_8);
    }

    Headers headers() {
        return letter.headers();
    }

    /** Its key, of anybody's making; {@code null} = it has none. */
    public byte @Nullable [] key() {
        return letter.key();
    }

    /** Its value, of anybody's making; {@code null} = it has none. */
    public byte @Nullable [] value() {
        return letter.value();
    }
}
