package dev.millrace.engine;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.WeakHashMap;
import org.apache.kafka.streams.processor.api.ProcessorContext;
import org.apache.kafka.streams.processor.api.RecordMetadata;
import org.jspecify.annotations.Nullable;

/**
 * Records that broke the transaction in which they were taken, in a way that {@link UnitOfWork} did not foresee: a
 * broker refused what followed from one, say. The transaction is undone and its records are taken once more, without
 * this one. For any thread, and for one life of the process: the next one finds out again.
 */
final class Quarantine {

    /** Where processors and handlers find it among the settings of Streams. */
    static final String CONFIG = "millrace.quarantine";

    private static final int MOST = 1_000;

    private final Map<Place, Verdict> entries = new LinkedHashMap<>() {
        @Override
        protected boolean removeEldestEntry(Map.Entry<Place, Verdict> eldest) {
            return size() > MOST;
        }
    };

    /** Arrays are equal to themselves alone. */
    private final Map<byte[], Place> causes = Collections.synchronizedMap(new WeakHashMap<>());

    /** Where a record stands. */
    private record Place(String topic, int partition, long offset) {}

    private record Verdict(String reason, Throwable failure) {}

    /** That of the machine; one of its own outside of {@link MachineStreams}, in a test. */
    static Quarantine of(ProcessorContext<?, ?> context) {
        return context.appConfigs().get(CONFIG) instanceof Quarantine ofMachine ? ofMachine : new Quarantine();
    }

    /**
     * Remembers which record led to this value, for as long as anybody has the value. Streams cannot say it: when a
     * broker refuses something, the machine is at another record.
     */
    void sent(byte[] value, RecordMetadata origin) {
        causes.put(value, new Place(origin.topic(), origin.partition(), origin.offset()));
    }

    /**
     * Puts the record in that led to this value.
     *
     * @param reason a stable word, lower snake case
     */
    synchronized void addCauseOf(byte @Nullable [] value, String reason, Throwable failure) {
        Place cause = value == null ? null : causes.get(value);
        if (cause != null) {
            entries.put(cause, new Verdict(reason, failure));
        }
    }

    /**
     * Puts a record in.
     *
     * @param topic as Streams gives it: {@code null} = nothing was being taken
     * @param offset as Streams gives it: negative = nothing was being taken
     * @param reason a stable word, lower snake case
     */
    synchronized void add(@Nullable String topic, int partition, long offset, String reason, Throwable failure) {
        if (topic != null && offset >= 0) {
            entries.put(new Place(topic, partition, offset), new Verdict(reason, failure));
        }
    }

    /** Whether this failure came of a record that is in here, so that the machine may go on without it. */
    synchronized boolean explains(Throwable failure) {
        for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
            if (entries.values().stream().map(Verdict::failure).anyMatch(cause::equals)) {
                return true;
            }
        }
        return false;
    }

    /** Why the record at this place is in here; empty if it is not. */
    synchronized Optional<RejectedRecordException> of(RecordMetadata origin) {
        if (entries.isEmpty()) {
            return Optional.empty();
        }
        Verdict entry = entries.get(new Place(origin.topic(), origin.partition(), origin.offset()));
        return entry == null
                ? Optional.empty()
                : Optional.of(new RejectedRecordException(
                        entry.reason(), "it broke the transaction in which it was taken: " + entry.failure()));
    }
}
