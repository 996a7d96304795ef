package dev.millrace.gateway.kafka;

import dev.millrace.gateway.kafka.JournalFilter.Labels;
import dev.millrace.schemas.Event;
import dev.millrace.schemas.EventCodec;
import dev.millrace.schemas.ForgottenSet;
import dev.millrace.schemas.KnownEventType;
import dev.millrace.schemas.MalformedEventException;
import dev.millrace.schemas.Topics;
import dev.millrace.schemas.kafka.DeadLetters;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.jspecify.annotations.Nullable;

/**
 * What is not to be shown any more of the topics that are kept by time, although they still hold it: follows the topic {@link
 * Topics#forgotten}. For any thread.
 */
public final class ForgottenTopic implements AutoCloseable {

    /** What tells of forgetting itself; a namespace that is forgotten does not hide how far that is. */
    private static final Set<String> REQUESTS = Set.of(
            KnownEventType.FORGET_REQUESTED.wireName(),
            KnownEventType.TASKS_FORGOTTEN.wireName(),
            KnownEventType.MEMORY_FORGOTTEN.wireName());

    private static final Duration READ_LIMIT = Duration.ofSeconds(10);

    private final ForgottenSet forgotten = new ForgottenSet();
    private final JournalReader reader;
    private final String topic;
    private final String memoryRequests;
    private final TopicFollower follower;

    /**
     * Reads nothing before somebody asks.
     *
     * @param kafka how to reach the brokers: {@code bootstrap.servers} and whatever security needs
     */
    public ForgottenTopic(Map<String, Object> kafka, Topics topics) {
        this.topic = topics.forgotten();
        this.memoryRequests = topics.memoryRequests();
        this.reader = new JournalReader(kafka, topic);
        this.follower = new TopicFollower(reader, topic, new TopicFollower.Taker() {
            @Override
            public void take(ConsumerRecord<byte[], byte[]> taken) {
                forgotten.take(taken.value());
            }

            @Override
            public void beginAnew() {
                // what was forgotten once stays so, as long as this gateway knows it
            }
        });
    }

    /**
     * Returns once everything is known that had been forgotten when this was called. From then on it is followed.
     *
     * @throws BrokerUnavailableException if it takes longer: what may not be shown is not known then
     */
    public void readUpToNow() throws BrokerUnavailableException, InterruptedException {
        long deadline = System.nanoTime() + READ_LIMIT.toNanos();
        try (Consumer<byte[], byte[]> consumer = reader.open("forgotten")) {
            List<TopicPartition> partitions = consumer.partitionsFor(topic, READ_LIMIT).stream()
                    .map(info -> reader.partition(info.partition()))
                    .toList();
            if (partitions.isEmpty()) {
                throw new BrokerUnavailableException("the topic " + topic + " is not there", null);
            }
            follower.await(consumer.endOffsets(partitions, READ_LIMIT), deadline);
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

    /** Whether a dead letter is about what has been forgotten. */
    public boolean hides(DeadLetter letter) {
        if (forgotten.isEmpty()) {
            return false;
        }
        Labels labels = letter.labels();
        boolean ofMemory = memoryRequests.equals(letter.header(DeadLetters.ORIGIN_TOPIC));
        return hides(labels) || (ofMemory && forgotten.hasMemory(labels.namespace(), labels.dateMs()));
    }

    /** Whose a dead letter was and what it was about, as far as it said so. */
    static Labels labels(ConsumerRecord<byte[], byte[]> letter) {
        Header origin = letter.headers().lastHeader(DeadLetters.ORIGIN_TIMESTAMP);
        long date = Math.min(
                letter.timestamp(),
                number(
                        origin == null || origin.value() == null
                                ? null
                                : new String(origin.value(), StandardCharsets.UTF_8),
                        Long.MAX_VALUE));
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
