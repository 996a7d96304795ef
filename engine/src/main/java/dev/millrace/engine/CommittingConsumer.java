package dev.millrace.engine;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.consumer.internals.AsyncKafkaConsumer;
import org.apache.kafka.clients.consumer.internals.StreamsRebalanceData;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.WakeupException;
import org.apache.kafka.streams.internals.ConsumerWrapper;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The main consumer of a stream thread, which returns when a machine of this thread wants to commit or has been handed
 * something: Streams looks for what is due only then. Records that machines have been handed before are left out.
 * Streams makes it by the name of its class.
 */
public final class CommittingConsumer extends ConsumerWrapper {

    private static final Logger LOGGER = LoggerFactory.getLogger(CommittingConsumer.class);

    /** In one turn, so that what is on other lanes need not wait for long. */
    private static final int POLLS_TO_CATCH_UP = 16;

    private static final Duration A_FETCH = Duration.ofMillis(1);

    private static final Duration A_MILLISECOND = Duration.ofMillis(1);

    /** Streams sees between polls that it has got partitions, and that it has restored what belongs to them. */
    private static final Duration WHILE_STARTING = Duration.ofMillis(10);

    /** An instance may have no partitions for good, since others have them. */
    private static final Duration LONGEST_START = Duration.ofSeconds(30);

    private final CaughtUpPartitions caughtUp = new CaughtUpPartitions();
    /** Of which records have been left out, and may have to be again. */
    private final Set<TopicPartition> behind = new HashSet<>();

    /** Of a poll that came after another one. */
    private @Nullable KafkaException failure;

    private final long madeNanos = System.nanoTime();
    private final QuickReplies replies = new QuickReplies(madeNanos);
    private int maxPollRecords = 1;

    @Override
    public void wrapConsumer(
            AsyncKafkaConsumer<byte[], byte[]> consumer,
            Map<String, Object> config,
            Optional<StreamsRebalanceData> rebalanceData) {
        super.wrapConsumer(consumer, config, rebalanceData);
        maxPollRecords = Integer.parseInt(String.valueOf(
                config.getOrDefault(ConsumerConfig.MAX_POLL_RECORDS_CONFIG, ConsumerConfig.DEFAULT_MAX_POLL_RECORDS)));
    }

    @Override
    public ConsumerRecords<byte[], byte[]> poll(Duration timeout) {
        if (failure != null) {
            KafkaException noticed = failure;
            failure = null;
            throw noticed;
        }
        CommitTimes times = CommitTimes.ofThread();
        caughtUp.turns(System.nanoTime());
        if (waitsForReplies(times) && awaitReplies(times, timeout)) {
            return ConsumerRecords.empty();
        }
        ConsumerRecords<byte[], byte[]> found = times.handed() ? unlessWoken(untilTaken(times)) : await(times, timeout);
        replies.polled(System.nanoTime());
        caughtUp.polled(found.partitions(), times.polled() > 0, found.count() >= maxPollRecords);
        ConsumerRecords<byte[], byte[]> records = withoutSeconds(found, times);
        long left = left();
        if (left > 0) {
            records = withoutSeconds(catchUp(found, left), times);
        }
        times.waited(System.currentTimeMillis(), records.count());
        return records;
    }

    /**
     * Without what machines of this thread have been handed before, but for the last of each partition: Streams commits
     * the offset of a partition of which it has taken something. Partitions of which something is left out may be
     * behind from now on.
     */
    private ConsumerRecords<byte[], byte[]> withoutSeconds(ConsumerRecords<byte[], byte[]> found, CommitTimes times) {
        Map<TopicPartition, List<ConsumerRecord<byte[], byte[]>>> wanted = new HashMap<>();
        for (TopicPartition partition : found.partitions()) {
            List<ConsumerRecord<byte[], byte[]>> records = found.records(partition);
            List<ConsumerRecord<byte[], byte[]>> first = new ArrayList<>(records.size());
            int last = records.size() - 1;
            for (int i = 0; i <= last; i++) {
                if (i == last || !times.isSecond(records.get(i))) {
                    first.add(records.get(i));
                }
            }
            wanted.put(partition, first);
            if (first.size() < records.size()) {
                behind.add(partition);
            }
        }
        return new ConsumerRecords<>(wanted, found.nextOffsets());
    }

    /**
     * Reads on where records have been left out and there are more. A poll brings little of a partition, and a busy
     * thread polls seldom: a lane that consists of such records would fall behind without end, and hold up those below.
     * The last poll is one of all partitions: behind each poll goes the next fetch, and one that nothing comes for
     * would keep the others waiting until the broker gives up on it.
     */
    private ConsumerRecords<byte[], byte[]> catchUp(ConsumerRecords<byte[], byte[]> found, long leftThen) {
        ConsumerRecords<byte[], byte[]> all = found;
        long left = leftThen;
        if (left > maxPollRecords) {
            Set<TopicPartition> others = new HashSet<>(assignment());
            others.removeAll(behind);
            others.removeAll(paused());
            super.pause(others);
            try {
                for (int polls = 1; polls < POLLS_TO_CATCH_UP && failure == null && left > maxPollRecords; polls++) {
                    all = both(all, more());
                    left = left();
                }
            } finally {
                others.retainAll(assignment());
                super.resume(others);
            }
        }
        return failure == null && left > 0 ? both(all, more()) : all;
    }

    private ConsumerRecords<byte[], byte[]> more() {
        ConsumerRecords<byte[], byte[]> more = afterwards(A_FETCH);
        caughtUp.polled(more.partitions(), true, false);
        return more;
    }

    /**
     * How many records there are where some have been left out, 0 = none. Forgets partitions that have no more, or that
     * Streams has paused. Asks the consumer's own thread for each of the others, and waits for it.
     */
    private long left() {
        long left = 0;
        if (!behind.isEmpty()) {
            behind.retainAll(assignment());
            behind.removeAll(paused());
            for (Iterator<TopicPartition> partitions = behind.iterator(); partitions.hasNext(); ) {
                long lag = super.currentLag(partitions.next()).orElse(0);
                if (lag == 0) {
                    partitions.remove();
                }
                left += lag;
            }
        }
        return left;
    }

    /**
     * Polls after a poll that has brought something, which must not be lost: where this one fails, the next poll says
     * so. Kafka's consumer does so for a partition without a committed offset, and Streams sees to that one and goes
     * on.
     */
    private ConsumerRecords<byte[], byte[]> afterwards(Duration timeout) {
        try {
            return unlessWoken(timeout);
        } catch (KafkaException e) {
            failure = e;
            return ConsumerRecords.empty();
        }
    }

    /** For how long the poll of a thread may wait that has been handed something. */
    private static Duration untilTaken(CommitTimes times) {
        return times.takes(System.currentTimeMillis()) ? Duration.ZERO : A_MILLISECOND;
    }

    private boolean waitsForReplies(CommitTimes times) {
        return !times.handed() && times.underWay() > 0 && replies.mayCome(System.nanoTime());
    }

    /** Waits for what is handed over; whether it is there, or something is to be committed. */
    private boolean awaitReplies(CommitTimes times, Duration timeout) {
        Duration longest = timeout.compareTo(QuickReplies.SOON) < 0 ? timeout : QuickReplies.SOON;
        Duration limit = times.waiting(longest, System.currentTimeMillis());
        boolean handed = false;
        try {
            handed = times.awaitHanded(limit);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        times.waited(System.currentTimeMillis(), 0);
        if (!handed && limit.equals(QuickReplies.SOON)) {
            replies.areSlow(System.nanoTime());
        }
        return handed || limit.compareTo(longest) < 0;
    }

    /**
     * Streams asks for the lag of each partition in each turn, so that it can wait for a lane that goes before others;
     * the consumer hands each question to its own thread and waits for the answer.
     */
    @Override
    public OptionalLong currentLag(TopicPartition partition) {
        return caughtUp.lag(partition, System.nanoTime(), super::currentLag);
    }

    /** Streams does so after each record; one that is not paused costs a question to the other thread like that. */
    @Override
    public void resume(Collection<TopicPartition> partitions) {
        List<TopicPartition> paused =
                partitions.stream().filter(paused()::contains).toList();
        if (!paused.isEmpty()) {
            super.resume(paused);
        }
    }

    private ConsumerRecords<byte[], byte[]> await(CommitTimes times, Duration timeout) {
        times.wakingBy(this::wakeup);
        ConsumerRecords<byte[], byte[]> records;
        boolean woken = false;
        try {
            records = unlessWoken(times.waiting(atMost(timeout), System.currentTimeMillis()));
        } finally {
            woken = times.awake();
        }
        // A wake-up that comes too late would strike whatever is called next; so does, now and then, one that has been
        // felt, since Kafka's client notes it once more if it comes while a future is being completed (4.2.1).
        return woken ? both(records, afterwards(Duration.ZERO)) : records;
    }

    private Duration atMost(Duration timeout) {
        boolean starting =
                assignment().isEmpty() ? System.nanoTime() - madeNanos < LONGEST_START.toNanos() : !paused().isEmpty();
        return starting && timeout.compareTo(WHILE_STARTING) > 0 ? WHILE_STARTING : timeout;
    }

    private ConsumerRecords<byte[], byte[]> unlessWoken(Duration timeout) {
        try {
            return super.poll(timeout);
        } catch (WakeupException e) {
            LOGGER.trace("Woken");
            return ConsumerRecords.empty();
        }
    }

    /** Of two polls, without partitions that were taken away meanwhile: Streams has no task for them any more. */
    private ConsumerRecords<byte[], byte[]> both(
            ConsumerRecords<byte[], byte[]> first, ConsumerRecords<byte[], byte[]> second) {
        Map<TopicPartition, List<ConsumerRecord<byte[], byte[]>>> records = new HashMap<>();
        Map<TopicPartition, OffsetAndMetadata> next = new HashMap<>();
        Set<TopicPartition> here = assignment();
        for (ConsumerRecords<byte[], byte[]> part : List.of(first, second)) {
            part.nextOffsets().forEach((partition, offset) -> {
                if (here.contains(partition)) {
                    next.put(partition, offset);
                }
            });
            for (TopicPartition partition : part.partitions()) {
                if (here.contains(partition)) {
                    records.computeIfAbsent(partition, none -> new ArrayList<>())
                            .addAll(part.records(partition));
                }
            }
        }
        return new ConsumerRecords<>(records, next);
    }
}
