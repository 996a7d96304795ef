package dev.millrace.agent.kafka;

import dev.millrace.agent.telemetry.JournalSpans;
import dev.millrace.schemas.Event;
import dev.millrace.schemas.EventCodec;
import dev.millrace.schemas.MalformedEventException;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.ConsumerRebalanceListener;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.consumer.OffsetAndTimestamp;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.WakeupException;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Follows the committed journal for {@link JournalSpans}, on a thread of its own, each partition on one instance. After a
 * rebalance it first reads back for {@link #LOOK_BACK}, so that spans that are open are known; what was told before is not
 * told again, except for what a crash kept from being noted.
 */
public final class JournalFollower implements AutoCloseable {

    /** How far back the beginning of what is still going on is looked for. */
    static final Duration LOOK_BACK = Duration.ofMinutes(30);

    private static final Logger LOGGER = LoggerFactory.getLogger(JournalFollower.class);
    private static final Duration POLL = Duration.ofMillis(500);
    private static final Duration PAUSE_AFTER_FAILURE = Duration.ofSeconds(1);
    /** Header in the journal of what was not processed. */
    private static final String OUTCOME = "millrace-outcome";

    private final KafkaConsumer<byte[], byte[]> consumer;
    private final String journal;
    private final JournalSpans spans;
    private final Clock clock;
    private final Instant startedAt;
    private final CountDownLatch stopped = new CountDownLatch(1);
    // of the follower's thread: up to where a partition was told before
    private final Map<TopicPartition, Long> toldUpTo = new HashMap<>();
    private volatile boolean closed;

    /**
     * A follower that has not started.
     *
     * @param kafka the connection's settings, such as {@code bootstrap.servers}
     * @param group shared by all instances
     */
    public JournalFollower(Map<String, Object> kafka, String journal, String group, JournalSpans spans, Clock clock) {
        Map<String, Object> config = new HashMap<>(kafka);
        config.put(ConsumerConfig.GROUP_ID_CONFIG, group);
        config.put(ConsumerConfig.CLIENT_ID_CONFIG, "millrace-agent-telemetry");
        config.put(ConsumerConfig.ISOLATION_LEVEL_CONFIG, "read_committed");
        config.put(ConsumerConfig.ENABLE_AUTO_COMMIT_CONFIG, false);
        config.put(ConsumerConfig.AUTO_OFFSET_RESET_CONFIG, "latest");
        this.consumer = new KafkaConsumer<>(config, new ByteArrayDeserializer(), new ByteArrayDeserializer());
        this.journal = journal;
        this.spans = spans;
        this.clock = clock;
        this.startedAt = clock.instant();
    }

    /** Begins. Once. */
    public void start() {
        Thread.ofPlatform().name("telemetry").daemon().start(this::run);
    }

    private void run() {
        try (consumer) {
            consumer.subscribe(List.of(journal), new ConsumerRebalanceListener() {
                @Override
                public void onPartitionsRevoked(Collection<TopicPartition> partitions) {
                    commit();
                    partitions.forEach(toldUpTo::remove);
                }

                @Override
                public void onPartitionsLost(Collection<TopicPartition> partitions) {
                    partitions.forEach(toldUpTo::remove);
                }

                @Override
                public void onPartitionsAssigned(Collection<TopicPartition> partitions) {
                    goBack(Set.copyOf(partitions));
                }
            });
            while (!closed) {
                try {
                    var records = consumer.poll(POLL);
                    records.forEach(this::take);
                    if (!records.isEmpty()) {
                        commit();
                    }
                } catch (WakeupException e) {
                    LOGGER.debug("Woken up to stop");
                } catch (KafkaException e) {
                    pauseAfter(e);
                }
            }
            commit();
        } catch (KafkaException e) {
            LOGGER.atWarn().setCause(e).log("The journal could not be followed to its end for telemetry");
        } finally {
            stopped.countDown();
        }
    }

    /** Puts partitions to where the beginnings are, and notes up to where they were told. */
    private void goBack(Set<TopicPartition> partitions) {
        if (partitions.isEmpty()) {
            return;
        }
        Map<TopicPartition, OffsetAndMetadata> committed = consumer.committed(partitions);
        Map<TopicPartition, Long> ends = consumer.endOffsets(partitions);
        Map<TopicPartition, OffsetAndTimestamp> sinceStart = at(partitions, startedAt);
        Map<TopicPartition, OffsetAndTimestamp> before =
                at(partitions, clock.instant().minus(LOOK_BACK));
        for (TopicPartition partition : partitions) {
            long end = ends.getOrDefault(partition, 0L);
            OffsetAndMetadata told = committed.get(partition);
            // where nobody has told anything yet, it begins with this instance
            long from = told != null ? told.offset() : offset(sinceStart.get(partition), end);
            toldUpTo.put(partition, from);
            consumer.seek(partition, Math.min(from, offset(before.get(partition), end)));
        }
    }

    private Map<TopicPartition, OffsetAndTimestamp> at(Set<TopicPartition> partitions, Instant moment) {
        return consumer.offsetsForTimes(
                partitions.stream().collect(Collectors.toMap(partition -> partition, p -> moment.toEpochMilli())));
    }

    private static long offset(@org.jspecify.annotations.Nullable OffsetAndTimestamp found, long end) {
        return found == null ? end : found.offset();
    }

    private void take(ConsumerRecord<byte[], byte[]> taken) {
        if (taken.headers().lastHeader(OUTCOME) != null) {
            return;
        }
        TopicPartition partition = new TopicPartition(taken.topic(), taken.partition());
        try {
            Event event =
                    EventCodec.fromRecord(taken.headers(), taken.value(), Instant.ofEpochMilli(taken.timestamp()));
            spans.take(event, taken.offset() < toldUpTo.getOrDefault(partition, 0L));
        } catch (MalformedEventException e) {
            LOGGER.debug("A record of the journal is no event"); // the journal is ours; nothing follows from it here
        }
    }

    /** Notes what was told, never less than before: reading back must not undo it. */
    private void commit() {
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

    private void pauseAfter(KafkaException e) {
        LOGGER.atWarn()
                .addKeyValue("topic", journal)
                .addKeyValue("cause", e.toString())
                .log("The journal cannot be followed for telemetry now; trying again");
        try {
            TimeUnit.MILLISECONDS.sleep(PAUSE_AFTER_FAILURE.toMillis());
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
            closed = true;
        }
    }

    /** Stops and notes what was told. */
    @Override
    public void close() {
        closed = true;
        consumer.wakeup();
        try {
            if (!stopped.await(5, TimeUnit.SECONDS)) {
                LOGGER.warn("The follower of the journal did not stop in time");
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
