package dev.millrace.agent.kafka;

import dev.millrace.agent.telemetry.JournalSpans;
import dev.millrace.kafka.ClientSettings;
import dev.millrace.kafka.RecordLoop;
import dev.millrace.kafka.TopicLog;
import dev.millrace.schemas.Event;
import dev.millrace.schemas.EventCodec;
import dev.millrace.schemas.HeaderNames;
import dev.millrace.schemas.MalformedEventException;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.ConsumerRebalanceListener;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.consumer.OffsetAndTimestamp;
import org.apache.kafka.common.TopicPartition;

/**
 * Follows the committed journal for {@link JournalSpans}, on a thread of its own, each partition on one instance. After
 * a rebalance it first reads back for {@link #LOOK_BACK}, so that spans that are open are known; what was told before
 * is not told again, except for what a crash kept from being noted.
 */
public final class JournalFollower implements AutoCloseable {

    /** How far back the beginning of what is still going on is looked for. */
    static final Duration LOOK_BACK = Duration.ofMinutes(30);

    private final RecordLoop loop;
    private final String journal;
    private final JournalSpans spans;
    private final Clock clock;
    private final Instant startedAt;
    // of the follower's thread: up to where a partition was told before
    private final Map<TopicPartition, Long> toldUpTo = new HashMap<>();

    /**
     * A follower that has not started.
     *
     * @param kafka the connection's settings, such as {@code bootstrap.servers}
     * @param group shared by all instances
     */
    public JournalFollower(ClientSettings kafka, String journal, String group, JournalSpans spans, Clock clock) {
        TopicLog log = new TopicLog(
                kafka,
                journal,
                "millrace-agent",
                ClientSettings.NONE
                        .with(ConsumerConfig.GROUP_ID_CONFIG, group)
                        .with(ConsumerConfig.AUTO_OFFSET_RESET_CONFIG, "latest"));
        this.loop = new RecordLoop("telemetry", () -> log.open("telemetry"), log.identity(), new Work());
        this.journal = journal;
        this.spans = spans;
        this.clock = clock;
        this.startedAt = clock.instant();
    }

    /** Begins. Once. */
    public void start() {
        loop.start();
    }

    /** What reads. */
    public RecordLoop loop() {
        return loop;
    }

    private final class Work implements RecordLoop.Work {
        @Override
        public void begin(Consumer<byte[], byte[]> consumer, Map<TopicPartition, Long> reached) {
            toldUpTo.clear();
            consumer.subscribe(List.of(journal), new ConsumerRebalanceListener() {
                @Override
                public void onPartitionsRevoked(Collection<TopicPartition> partitions) {
                    commit(consumer);
                    partitions.forEach(toldUpTo::remove);
                }

                @Override
                public void onPartitionsLost(Collection<TopicPartition> partitions) {
                    partitions.forEach(toldUpTo::remove);
                }

                @Override
                public void onPartitionsAssigned(Collection<TopicPartition> partitions) {
                    goBack(consumer, Set.copyOf(partitions));
                }
            });
        }

        @Override
        public void beginAnew() {
            toldUpTo.clear(); // nothing of the consumer that is closed next is noted: those are no places on this topic
        }

        @Override
        public void take(ConsumerRecord<byte[], byte[]> taken) throws MalformedEventException {
            if (taken.headers().lastHeader(HeaderNames.OUTCOME) != null) {
                return;
            }
            TopicPartition partition = new TopicPartition(taken.topic(), taken.partition());
            Event event =
                    EventCodec.fromRecord(taken.headers(), taken.value(), Instant.ofEpochMilli(taken.timestamp()));
            spans.take(event, taken.offset() < toldUpTo.getOrDefault(partition, 0L));
        }

        @Override
        public void looked(Consumer<byte[], byte[]> consumer, boolean foundAny) {
            if (foundAny) {
                commit(consumer);
            }
        }

        @Override
        public void ending(Consumer<byte[], byte[]> consumer) {
            commit(consumer);
        }
    }

    /** Puts partitions to where the beginnings are, and notes up to where they were told. */
    private void goBack(Consumer<byte[], byte[]> consumer, Set<TopicPartition> partitions) {
        if (partitions.isEmpty()) {
            return;
        }
        Map<TopicPartition, OffsetAndMetadata> committed = consumer.committed(partitions);
        Map<TopicPartition, Long> ends = consumer.endOffsets(partitions);
        Map<TopicPartition, OffsetAndTimestamp> sinceStart = at(consumer, partitions, startedAt);
        Map<TopicPartition, OffsetAndTimestamp> before =
                at(consumer, partitions, clock.instant().minus(LOOK_BACK));
        for (TopicPartition partition : partitions) {
            long end = ends.getOrDefault(partition, 0L);
            OffsetAndMetadata told = committed.get(partition);
            // where nobody has told anything yet, it begins with this instance
            long from = told != null ? Math.min(told.offset(), end) : offset(sinceStart.get(partition), end);
            toldUpTo.put(partition, from);
            consumer.seek(partition, Math.min(from, offset(before.get(partition), end)));
        }
    }

    private static Map<TopicPartition, OffsetAndTimestamp> at(
            Consumer<byte[], byte[]> consumer, Set<TopicPartition> partitions, Instant moment) {
        return consumer.offsetsForTimes(
                partitions.stream().collect(Collectors.toMap(partition -> partition, p -> moment.toEpochMilli())));
    }

    private static long offset(@org.jspecify.annotations.Nullable OffsetAndTimestamp found, long end) {
        return found == null ? end : found.offset();
    }

    /** Notes what was told, never less than before: reading back must not undo it. */
    private void commit(Consumer<byte[], byte[]> consumer) {
        Map<TopicPartition, OffsetAndMetadata> told = new HashMap<>();
        for (TopicPartition partition : consumer.assignment()) {
            long position = consumer.position(partition);
            if (position > toldUpTo.getOrDefault(partition, Long.MAX_VALUE)) {
                told.put(partition, new OffsetAndMetadata(position));
                toldUpTo.put(partition, position);
            }
        }
        if (!told.isEmpty()) {
            consumer.commitSync(told);
        }
    }

    /** Stops and notes what was told. */
    @Override
    public void close() {
        loop.close();
    }
}
