package dev.millrace.testing;

import dev.millrace.schemas.Event;
import dev.millrace.schemas.EventCodec;
import dev.millrace.schemas.MalformedEventException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.StringDeserializer;

/**
 * Reads topics from their first record on and remembers what it has read, so that a test can ask again and again. Sees
 * committed records only, joins no group. Not thread-safe.
 */
public final class TopicReader implements AutoCloseable {

    private static final Duration POLL = Duration.ofMillis(100);

    private final List<String> topics;
    private final KafkaConsumer<String, byte[]> consumer;
    private final List<ConsumerRecord<String, byte[]>> read = new ArrayList<>();

    TopicReader(String bootstrapServers, List<String> topics) {
        this.topics = topics;
        this.consumer = new KafkaConsumer<>(
                Map.of("bootstrap.servers", bootstrapServers, "isolation.level", "read_committed"),
                new StringDeserializer(),
                new ByteArrayDeserializer());
        List<TopicPartition> partitions = topics.stream()
                .flatMap(topic -> consumer.partitionsFor(topic, TestBroker.LIMIT).stream())
                .map(partition -> new TopicPartition(partition.topic(), partition.partition()))
                .toList();
        consumer.assign(partitions);
        consumer.seekToBeginning(partitions);
    }

    /**
     * Reads on until all that was read since the beginning (in order within a partition) satisfies the condition, and
     * returns it.
     *
     * @throws AssertionError if the deadline passes first; it shows what was read
     */
    public List<ConsumerRecord<String, byte[]>> until(
            Predicate<List<ConsumerRecord<String, byte[]>>> condition, Duration deadline) {
        long end = System.nanoTime() + deadline.toNanos();
        while (!condition.test(Collections.unmodifiableList(read))) {
            if (System.nanoTime() - end > 0) {
                throw new AssertionError("Within " + deadline.toMillis() + " ms the awaited records did not come on "
                        + topics + ". Read " + read.size() + ":\n" + describe());
            }
            consumer.poll(POLL).forEach(read::add);
        }
        return List.copyOf(read);
    }

    /** Reads on until {@code count} records or more were read since the beginning. See {@link #until}. */
    public List<ConsumerRecord<String, byte[]>> untilCount(int count, Duration deadline) {
        return until(records -> records.size() >= count, deadline);
    }

    /**
     * The first event that satisfies the condition; reads on until there is one. Records that are no events are passed
     * over.
     *
     * @throws AssertionError if the deadline passes first
     */
    public Event event(Predicate<Event> condition, Duration deadline) {
        return until(records -> find(records, condition).isPresent(), deadline).stream()
                .flatMap(record -> event(record).stream())
                .filter(condition)
                .findFirst()
                .orElseThrow();
    }

    /** Reads on until all events so far satisfy the condition. Records that are no events are passed over. */
    public List<Event> events(Predicate<List<Event>> condition, Duration deadline) {
        return events(until(records -> condition.test(events(records)), deadline));
    }

    /** The records as events, those that are none left out. */
    public static List<Event> events(List<ConsumerRecord<String, byte[]>> records) {
        return records.stream().flatMap(record -> event(record).stream()).toList();
    }

    @Override
    public void close() {
        consumer.close();
    }

    private static Optional<Event> find(List<ConsumerRecord<String, byte[]>> records, Predicate<Event> condition) {
        return events(records).stream().filter(condition).findFirst();
    }

    private static Optional<Event> event(ConsumerRecord<String, byte[]> record) {
        try {
            return Optional.of(
                    EventCodec.fromRecord(record.headers(), record.value(), Instant.ofEpochMilli(record.timestamp())));
        } catch (MalformedEventException e) {
            return Optional.empty();
        }
    }

    private String describe() {
        return read.stream()
                .map(record -> "  " + record.topic() + "-" + record.partition() + "@" + record.offset() + " key="
                        + record.key() + " "
                        + event(record)
                                .map(Event::toString)
                                .orElse("(no event, " + record.serializedValueSize() + " bytes)"))
                .collect(Collectors.joining("\n"));
    }
}
