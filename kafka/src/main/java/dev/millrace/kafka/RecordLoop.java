package dev.millrace.kafka;

import dev.millrace.schemas.MalformedEventException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.InvalidOffsetException;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.WakeupException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.spi.LoggingEventBuilder;

/**
 * Reads records for one taker, on a thread of its own, and goes on whatever comes: a record that its taker cannot use
 * costs itself, is logged with its place and counted; anything else that goes wrong makes the loop begin again with a
 * new consumer, where it was, after pauses that grow. {@link #problem} says so meanwhile. Where the topic turns out to
 * be another one of the same name, deleted and made again or of another cluster, it begins anew, within seconds; also
 * where a consumer without {@code auto.offset.reset} finds that what it was to go on with is not there. It begins with
 * {@link #start} and ends with {@link #close}.
 */
public final class RecordLoop implements AutoCloseable {

    /** The longest pause between two attempts. */
    public static final Duration LONGEST_PAUSE = Duration.ofSeconds(30);

    private static final Logger LOGGER = LoggerFactory.getLogger(RecordLoop.class);
    private static final Duration POLL = Duration.ofMillis(500);
    /** How often is looked whether the topic is still the same. */
    private static final Duration LOOK = Duration.ofSeconds(5);

    private static final int MAX_KEY_CHARS = 200;

    private final TopicIdentity identity;
    private final Work work;
    private final ReaderThread thread;
    private final AtomicLong skipped = new AtomicLong();
    // of the loop's thread
    private final Map<TopicPartition, Long> reached = new HashMap<>();
    private @Nullable TopicId followed;
    private long lookedAtNanos;

    /** What is done with the records. All by the loop's thread. */
    public interface Work {

        /**
         * Has a new consumer read what it is to read.
         *
         * @param reached the offsets to go on at, where an earlier consumer of this loop has read already
         */
        void begin(Consumer<byte[], byte[]> consumer, Map<TopicPartition, Long> reached);

        /**
         * What was taken so far is void: the topic is another one of the same name by now, or has lost records.
         * {@link #begin} comes next, with nothing reached; the consumer of before is still open.
         */
        void beginAnew();

        /**
         * Takes a record. What this throws, whatever it is, is the record's fault.
         *
         * @throws MalformedEventException if it is not what it should be
         */
        void take(ConsumerRecord<byte[], byte[]> taken) throws MalformedEventException;

        /** After each look for records, also one that found none. */
        default void looked(Consumer<byte[], byte[]> consumer, boolean foundAny) {}

        /** Before a consumer is closed because the loop ends. */
        default void ending(Consumer<byte[], byte[]> consumer) {}
    }

    /**
     * Reads nothing yet.
     *
     * @param name of the thread, and of the reader in logs and in health
     * @param consumers makes the first consumer, and another one after each failure
     * @param identity of the topic that is read; closed by the loop
     */
    public RecordLoop(
            String name, Supplier<? extends Consumer<byte[], byte[]>> consumers, TopicIdentity identity, Work work) {
        this.identity = identity;
        this.work = work;
        this.thread = new ReaderThread(name, consumers, LONGEST_PAUSE, new ReaderThread.Work() {
            @Override
            public void read(Consumer<byte[], byte[]> consumer) throws InterruptedException {
                follow(consumer);
            }

            @Override
            public void end() {
                identity.close();
            }
        });
    }

    /** Has a consumer read the whole of a topic, or go on; for {@link Work#begin}. Returns its partitions. */
    public static List<TopicPartition> wholeTopic(
            Consumer<byte[], byte[]> consumer, TopicLog log, Map<TopicPartition, Long> reached) {
        List<TopicPartition> partitions = log.partitions(consumer, TopicLog.ANSWER_LIMIT);
        consumer.assign(partitions);
        for (TopicPartition partition : partitions) {
            Long position = reached.get(partition);
            if (position == null) {
                consumer.seekToBeginning(List.of(partition));
            } else {
                consumer.seek(partition, position);
            }
        }
        return partitions;
    }

    /** Begins. A second call does nothing. */
    public void start() {
        thread.start();
    }

    /** Its name. */
    public String name() {
        return thread.name();
    }

    /** Why it does not read now, for people; empty = it reads, or was not started or is closed. */
    public Optional<String> problem() {
        return thread.problem();
    }

    /** Records that could not be used, since the start. */
    public long skipped() {
        return skipped.get();
    }

    private void follow(Consumer<byte[], byte[]> consumer) throws InterruptedException {
        // first of all, so that whatever is read is of this topic or of a later one, which the next look finds
        look(followed != null);
        if (followed == null) {
            throw new KafkaException("the topic is not there, or the brokers do not say which one it is");
        }
        work.begin(consumer, Map.copyOf(reached));
        while (thread.isOpen()) {
            if (System.nanoTime() - lookedAtNanos >= LOOK.toNanos() && look(false)) {
                return;
            }
            ConsumerRecords<byte[], byte[]> records;
            try {
                records = consumer.poll(POLL);
            } catch (WakeupException e) {
                LOGGER.debug("Woken up to stop");
                continue;
            } catch (InvalidOffsetException e) {
                anew(e.getMessage());
                return;
            }
            records.forEach(this::take);
            work.looked(consumer, !records.isEmpty());
            for (TopicPartition partition : consumer.assignment()) {
                reached.put(partition, consumer.position(partition));
            }
            thread.works();
        }
        work.ending(consumer);
    }

    /**
     * Whether the topic is another one than before, so that all has to begin anew.
     *
     * @param ask the brokers; else what others have been told lately will do
     */
    private boolean look(boolean ask) throws InterruptedException {
        TopicId before = followed;
        TopicId now = (ask ? identity.find() : identity.lately()).orElse(before);
        lookedAtNanos = System.nanoTime();
        followed = now;
        if (before == null || now == null || before.equals(now)) {
            return false;
        }
        anew(before.changedInto(now));
        return true;
    }

    private void anew(@Nullable String reason) {
        LOGGER.atWarn()
                .addKeyValue("reader", name())
                .addKeyValue("reason", reason)
                .log("What is read is not what was read before; it is read from its beginning");
        reached.clear();
        work.beginAnew();
    }

    private void take(ConsumerRecord<byte[], byte[]> taken) {
        try {
            work.take(taken);
        } catch (MalformedEventException e) {
            leaveOut(taken, LOGGER.atWarn().addKeyValue("errorCode", e.code()).addKeyValue("problem", e.getMessage()))
                    .log("A record is not what it should be and is left out");
        } catch (RuntimeException | StackOverflowError e) {
            leaveOut(taken, LOGGER.atError().setCause(e))
                    .log("A defect kept a record from being taken; it is left out");
        }
    }

    private LoggingEventBuilder leaveOut(ConsumerRecord<byte[], byte[]> taken, LoggingEventBuilder log) {
        skipped.incrementAndGet();
        return log.addKeyValue("topic", taken.topic())
                .addKeyValue("partition", taken.partition())
                .addKeyValue("offset", taken.offset())
                .addKeyValue("key", key(taken));
    }

    private static String key(ConsumerRecord<byte[], byte[]> taken) {
        if (taken.key() == null) {
            return "";
        }
        String key = new String(taken.key(), StandardCharsets.UTF_8);
        return key.length() <= MAX_KEY_CHARS ? key : key.substring(0, MAX_KEY_CHARS) + "…";
    }

    /** Stops reading, within seconds. */
    @Override
    public void close() {
        thread.close();
    }
}
