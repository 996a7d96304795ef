package dev.millrace.engine;

import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A record on its way out; its key and headers are those of the Streams record that carries it.
 *
 * @param topic where it goes
 * @param value its bytes; {@code null} only for a dead letter that had none
 * @param partitions a copy goes to each of these; {@code null} = one goes to that of the key
 */
@SuppressWarnings("ArrayRecordComponent") // bytes that are written once and never compared
public record Outgoing(
        String topic, byte @Nullable [] value, @Nullable Set<Integer> partitions) {

    /** A record for the partition of its key. */
    public Outgoing(String topic, byte @Nullable [] value) {
        this(topic, value, null);
    }
}
