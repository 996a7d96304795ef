package dev.millrace.gateway.kafka;

import dev.millrace.gateway.kafka.JournalFilter.Labels;
import dev.millrace.kafka.ForgottenFollower;
import dev.millrace.schemas.DeadLetters;
import dev.millrace.schemas.Event;
import dev.millrace.schemas.EventCodec;
import dev.millrace.schemas.ForgottenSet;
import dev.millrace.schemas.KnownEventType;
import dev.millrace.schemas.MalformedEventException;
import dev.millrace.schemas.Topics;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import java.util.Set;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.jspecify.annotations.Nullable;

/**
 * What is not to be shown any more of the topics that are kept by time, although they still hold it: follows the topic
 * {@link Topics#forgotten}. For any thread.
 */
public final class ForgottenTopic implements AutoCloseable {

    /** What tells of forgetting itself; a namespace that is forgotten does not hide how far that is. */
    private static final Set<String> REQUESTS = Set.of(
            KnownEventType.FORGET_REQUESTED.wireName(),
            KnownEventType.TASKS_FORGOTTEN.wireName(),
            KnownEventType.MEMORY_FORGOTTEN.wireName());

    private static final Duration READ_LIMIT = Duration.ofSeconds(10);

    private final String memoryRequests;
    private final ForgottenFollower follower;
    private final ForgottenSet forgotten;

    /**
     * Reads nothing before somebody asks.
     */
    public ForgottenTopic(Cluster cluster) {
        this.memoryRequests = cluster.topics().memoryRequests();
        this.follower = new ForgottenFollower(cluster.client(), cluster.topics(), "millrace-gateway");
        this.forgotten = follower.known();
    }

    /** Why the topic is not read now, for people; empty = it is, or nobody has asked. */
    Optional<String> problem() {
        return follower.problem();
    }

    /**
     * Returns once everything is known that had been forgotten when this was called. From then on it is followed.
     *
     * @throws BrokerUnavailableException if it takes longer: what may not be shown is not known then
     */
    public void readUpToNow() throws BrokerUnavailableException, InterruptedException {
        try {
            ForgottenSet unused = follower.upToNow(READ_LIMIT);
        } catch (KafkaException e) {
            throw new BrokerUnavailableException("the brokers did not tell what is forgotten", e);
        }
    }

    /** Wants only what has not been forgotten. */
    JournalFilter filter() {
        return labels -> !hides(labels);
    }

    private boolean hides(Labels labels) {
        return !forgotten.isEmpty()
                && !REQUESTS.contains(labels.type())
                && forgotten.has(
                        labels.namespace(),
                        labels.taskId() != null ? labels.taskId() : labels.id(),
                        labels.sessionId(),
                        labels.dateMs());
    }

    /** Whether an entry of the journal is not to be shown: it is about what has been forgotten. */
    public boolean hidesEntry(ConsumerRecord<byte[], byte[]> entry) {
        return hides(Labels.of(entry.headers(), entry.timestamp()));
    }

    /** The same of a record of the dead letters. */
    public boolean hidesLetter(ConsumerRecord<byte[], byte[]> letter) {
        return hides(new DeadLetter(letter));
    }

    /** Whether a dead letter is not to be shown: it is discarded, or about what has been forgotten. */
    public boolean hides(DeadLetter letter) {
        return isDiscarded(letter) || isForgotten(letter);
    }

    /** Whether somebody has decided that nothing is to become of a dead letter. */
    public boolean isDiscarded(DeadLetter letter) {
        return forgotten.hasLetter(letter.place(), letter.timestampMs());
    }

    /** Whether a dead letter is about what has been forgotten. */
    public boolean isForgotten(DeadLetter letter) {
        if (forgotten.isEmpty()) {
            return false;
        }
        Labels labels = letter.labels();
        boolean ofMemory = memoryRequests.equals(letter.header(DeadLetters.ORIGIN_TOPIC));
        return hides(labels) || (ofMemory && forgotten.hasMemory(labels.namespace(), labels.dateMs()));
    }

    /** Whose a dead letter was and what it was about, as far as it said so. */
    static Labels labels(ConsumerRecord<byte[], byte[]> letter) {
        long date = Math.min(
                letter.timestamp(),
                number(Labels.text(letter.headers(), DeadLetters.ORIGIN_TIMESTAMP), Long.MAX_VALUE));
        Labels told = Labels.of(letter.headers(), date);
        if (!told.id().isEmpty()) {
            return told;
        }
        try {
            // in structured mode all of it is in the value
            Event event = EventCodec.fromRecord(
                    new RecordHeaders(letter.headers().toArray()), letter.value(), Instant.ofEpochMilli(date));
            return new Labels(
                    event.id(), event.type().wireName(), event.taskId(), event.sessionId(), event.namespace(), date);
        } catch (MalformedEventException e) {
            return told;
        }
    }

    private static long number(@Nullable String digits, long otherwise) {
        try {
            return digits == null ? otherwise : Long.parseLong(digits);
        } catch (NumberFormatException e) {
            return otherwise;
        }
    }

    /** Stops following, within seconds. */
    @Override
    public void close() {
        follower.close();
    }
}
