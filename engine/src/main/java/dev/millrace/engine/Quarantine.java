package dev.millrace.engine;

import dev.millrace.schemas.ErrorCode;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.WeakHashMap;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.processor.api.ProcessorContext;
import org.apache.kafka.streams.processor.api.RecordMetadata;
import org.jspecify.annotations.Nullable;

/**
 * What broke a transaction in a way that {@link UnitOfWork} did not foresee: records that are taken, and those that
 * follow from them and that a topic of somebody's toolset did not take. The transaction is undone and its records are
 * taken once more; the unit that has one of these in it breaks at once, by itself. For any thread, and for one life of
 * the process: the next one finds out again.
 */
final class Quarantine {

    /** Where processors and handlers find it among the settings of Streams. */
    static final String CONFIG = "millrace.quarantine";

    private static final int MOST = 1_000;

    private final Map<Place, Throwable> broken = bounded();
    private final Map<Request, Refusal> refused = bounded();

    /** Arrays are equal to themselves alone. */
    private final Map<byte[], Request> sent = Collections.synchronizedMap(new WeakHashMap<>());

    /** Where a record stands. */
    private record Place(String topic, int partition, long offset) {}

    /** A record that is sent: the same again when its transaction is done once more. */
    private record Request(String topic, @Nullable Bytes key) {}

    private record Refusal(ErrorCode code, Throwable failure) {}

    private static <K, V> Map<K, V> bounded() {
        return new LinkedHashMap<>() {
            @Override
            protected boolean removeEldestEntry(Map.Entry<K, V> eldest) {
                return size() > MOST;
            }
        };
    }

    /** That of the machine; one of its own outside of {@link MachineStreams}, in a test. */
    static Quarantine of(ProcessorContext<?, ?> context) {
        return context.appConfigs().get(CONFIG) instanceof Quarantine ofMachine ? ofMachine : new Quarantine();
    }

    /**
     * Remembers which record has this value, for as long as anybody has the value. Streams cannot say what led to it:
     * when a broker refuses something, the machine is at another record.
     *
     * @throws RefusedByTopicException if its topic has refused it before
     */
    void sending(String topic, byte @Nullable [] key, byte[] value) {
        Request request = new Request(topic, key == null ? null : Bytes.wrap(key));
        Refusal before;
        synchronized (this) {
            before = refused.get(request);
        }
        if (before != null) {
            throw new RefusedByTopicException(topic, before.code(), before.failure());
        }
        sent.put(value, request);
    }

    /** The topic does not take the record that has this value. */
    synchronized void refuse(byte @Nullable [] value, ErrorCode code, Throwable failure) {
        Request request = value == null ? null : sent.get(value);
        if (request != null) {
            refused.put(request, new Refusal(code, failure));
        }
    }

    /**
     * Puts a record in that broke its turn.
     *
     * @param topic as Streams gives it: {@code null} = nothing was being taken
     * @param offset as Streams gives it: negative = nothing was being taken
     */
    synchronized void add(@Nullable String topic, int partition, long offset, Throwable failure) {
        if (topic != null && offset >= 0) {
            broken.put(new Place(topic, partition, offset), failure);
        }
    }

    /** Whether this failure came of something that is in here, so that the machine may go on without it. */
    synchronized boolean explains(Throwable failure) {
        for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
            if (broken.values().stream().anyMatch(cause::equals)
                    || refused.values().stream().map(Refusal::failure).anyMatch(cause::equals)) {
                return true;
            }
        }
        return false;
    }

    /** Why the record at this place is in here; empty if it is not. */
    synchronized Optional<RejectedRecordException> of(RecordMetadata origin) {
        if (broken.isEmpty()) {
            return Optional.empty();
        }
        Throwable failure = broken.get(new Place(origin.topic(), origin.partition(), origin.offset()));
        return failure == null
                ? Optional.empty()
                : Optional.of(new RejectedRecordException(
                        ErrorCode.INTERNAL_ERROR.code(), "it broke the transaction in which it was taken: " + failure));
    }
}
