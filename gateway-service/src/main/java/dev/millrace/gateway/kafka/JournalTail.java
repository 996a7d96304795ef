package dev.millrace.gateway.kafka;

import dev.millrace.gateway.kafka.ListenerDroppedException.Reason;
import dev.millrace.schemas.Topics;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.BlockingDeque;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingDeque;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.atomic.LongAdder;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.OffsetAndTimestamp;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.WakeupException;
import org.apache.kafka.common.utils.Utils;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Tells listeners what is added to the journal, with one consumer for all of them that reads exactly the partitions that
 * somebody listens to. Each listener gets each record that it wants once and in the order of its partition, from the offset
 * that it named, however far back that is; see {@link Feed}. Broker failures delay entries and never lose or double them.
 * For any thread. What is said here of the journal holds as well for the topic of live text, see {@link #ofTokens}.
 */
public final class JournalTail implements AutoCloseable {
    private static final Logger LOGGER = LoggerFactory.getLogger(JournalTail.class);

    private static final Duration POLL = Duration.ofMillis(500);
    /** A partition that nobody else listens to is tailed from the listener's beginning if that is no further back. */
    private static final long NEAR = 5_000;

    private final TailSettings settings;
    private final JournalReader reader;
    private final ForgottenTopic forgotten;
    private final ExecutorService backfills = Executors.newVirtualThreadPerTaskExecutor();
    private final Semaphore backfillPermits;
    private final LongAdder backfillCount = new LongAdder();
    private final Set<Mailbox> mailboxes = ConcurrentHashMap.newKeySet();
    private final BlockingDeque<Command> commands = new LinkedBlockingDeque<>();
    private final AtomicReference<@Nullable Consumer<byte[], byte[]>> polling = new AtomicReference<>();
    private final Thread thread;
    private volatile int assigned;
    private volatile boolean closed;
    private boolean knowsForgotten;
    private volatile @Nullable ForgottenTopic own;

    /** For the tail's thread alone. */
    private final Map<Integer, PartitionTail> tails = new HashMap<>();

    /** What other threads ask of the tail's. It may throw, and is then done again with the next consumer. */
    @FunctionalInterface
    private interface Command {
        void run(Consumer<byte[], byte[]> consumer);
    }

    /**
     * Starts its thread; connects when somebody listens.
     *
     * @param kafka how to reach the brokers: {@code bootstrap.servers} and whatever security needs
     * @param forgotten what nobody is told any more; belongs to somebody else, who closes it
     */
    public JournalTail(Map<String, Object> kafka, Topics topics, TailSettings settings, ForgottenTopic forgotten) {
        this(settings, new JournalReader(kafka, topics.journal()), forgotten, "journal-tail");
    }

    /** The same for the topic of live text. */
    public static JournalTail ofTokens(
            Map<String, Object> kafka, Topics topics, TailSettings settings, ForgottenTopic forgotten) {
        return new JournalTail(settings, new JournalReader(kafka, topics.tokens()), forgotten, "token-tail");
    }

    /** The same, which finds out by itself what is forgotten. */
    public JournalTail(Map<String, Object> kafka, Topics topics, TailSettings settings) {
        this(kafka, topics, settings, new ForgottenTopic(kafka, topics));
        own = forgotten;
    }

    /** The same, which finds out by itself what is forgotten. */
    public static JournalTail ofTokens(Map<String, Object> kafka, Topics topics, TailSettings settings) {
        JournalTail tail = ofTokens(kafka, topics, settings, new ForgottenTopic(kafka, topics));
        tail.own = tail.forgotten;
        return tail;
    }

    private JournalTail(TailSettings settings, JournalReader reader, ForgottenTopic forgotten, String name) {
        this.settings = settings;
        this.reader = reader;
        this.forgotten = forgotten;
        this.backfillPermits = new Semaphore(settings.backfills());
        this.thread = Thread.ofPlatform().daemon().name(name).start(this::run);
    }

    /** The partition that has the records with this key, see {@link dev.millrace.schemas.Event#sessionKey}. */
    public int partitionOf(String sessionKey) {
        return Utils.toPositive(Utils.murmur2(sessionKey.getBytes(StandardCharsets.UTF_8))) % settings.partitions();
    }

    /** How many partitions there are; they are numbered from 0. */
    public int partitions() {
        return settings.partitions();
    }

    /**
     * An offset that every record has at least that is committed to this partition after this call has begun.
     *
     * @throws BrokerUnavailableException if that could not be found out in time
     */
    public long end(int partition, Duration atMost) throws BrokerUnavailableException, InterruptedException {
        CompletableFuture<Long> answer = new CompletableFuture<>();
        submit(consumer -> {
            if (!answer.isDone()) {
                PartitionTail tail = tails.get(partition);
                answer.complete(tail != null ? tail.position() : endOffset(consumer, partition));
            }
        });
        return within(answer, atMost);
    }

    private static long within(CompletableFuture<Long> answer, Duration atMost)
            throws BrokerUnavailableException, InterruptedException {
        try {
            return answer.get(atMost.toMillis(), TimeUnit.MILLISECONDS);
        } catch (TimeoutException | ExecutionException e) {
            answer.cancel(false);
            throw new BrokerUnavailableException("the end of the journal could not be found out in time", e);
        }
    }

    /** Where this partition ends now, as the brokers say. */
    CompletableFuture<Long> logEnd(int partition) {
        CompletableFuture<Long> answer = new CompletableFuture<>();
        submit(consumer -> {
            if (!answer.isDone()) {
                answer.complete(endOffset(consumer, partition));
            }
        });
        return answer;
    }

    /**
     * The offset of the first record of this partition that is not older than this, or where the partition ends.
     *
     * @throws BrokerUnavailableException if that could not be found out in time
     */
    long since(int partition, Instant time, Duration atMost) throws BrokerUnavailableException, InterruptedException {
        CompletableFuture<Long> answer = new CompletableFuture<>();
        submit(consumer -> {
            if (!answer.isDone()) {
                TopicPartition topicPartition = reader.partition(partition);
                OffsetAndTimestamp found = consumer.offsetsForTimes(Map.of(topicPartition, time.toEpochMilli()))
                        .get(topicPartition);
                answer.complete(found == null ? endOffset(consumer, partition) : found.offset());
            }
        });
        return within(answer, atMost);
    }

    /** Listens to one partition. The first entry is the first wanted one at this offset or after it. */
    public JournalListener listen(int partition, long from, JournalFilter filter) {
        return listen(Map.of(partition, from), filter);
    }

    /**
     * Listens to several partitions, each from its offset. Order holds within each.
     *
     * @throws IllegalArgumentException if there is no such partition
     */
    public JournalListener listen(Map<Integer, Long> from, JournalFilter filter) {
        return listen(from, filter, () -> {});
    }

    /**
     * The same.
     *
     * @param onArrival is called whenever {@link JournalListener#next} has something new to say; quick, and never fails
     */
    JournalListener listen(Map<Integer, Long> from, JournalFilter filter, Runnable onArrival) {
        for (int partition : from.keySet()) {
            if (partition < 0 || partition >= settings.partitions()) {
                throw new IllegalArgumentException(
                        "partition: expected 0 to " + (settings.partitions() - 1) + ", found " + partition);
            }
        }
        Mailbox mailbox = new Mailbox(settings.mailboxBytes(), onArrival);
        mailboxes.add(mailbox);
        if (closed) {
            mailbox.drop(new ListenerDroppedException(Reason.CLOSED));
        }
        Map<Integer, Feed> feeds = new HashMap<>();
        from.forEach((partition, offset) -> {
            Feed feed = new Feed(partition, offset, filter.and(forgotten.filter()), mailbox, settings.mailboxBytes());
            feeds.put(partition, feed);
            submit(consumer -> attach(consumer, feed));
        });
        return new JournalListener(mailbox, feeds, () -> mailboxes.remove(mailbox));
    }

    /** Listeners now. */
    public int listeners() {
        return mailboxes.size();
    }

    /** Partitions that are being read now. */
    public int assignedPartitions() {
        return assigned;
    }

    /** Listeners that needed a consumer of their own to catch up, since the start. */
    public long backfills() {
        return backfillCount.sum();
    }

    /** Drops all listeners and disconnects, within seconds. */
    @Override
    public void close() {
        closed = true;
        submit(consumer -> {});
        ForgottenTopic owned = own;
        if (owned != null) {
            owned.close();
        }
        backfills.shutdownNow();
        try {
            thread.join(Duration.ofSeconds(10));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void submit(Command command) {
        commands.add(command);
        Consumer<byte[], byte[]> now = polling.get();
        if (now != null) {
            now.wakeup();
        }
    }

    private void run() {
        BackOff backOff = new BackOff();
        while (!closed) {
            try (Consumer<byte[], byte[]> consumer = reader.open("tail")) {
                polling.set(consumer);
                assign(consumer);
                tails.values().forEach(tail -> consumer.seek(reader.partition(tail.partition()), tail.position()));
                while (!closed) {
                    tail(consumer);
                    backOff.reset();
                }
            } catch (RuntimeException e) {
                // not only Kafka's: whatever it is, listeners are better off with a new consumer than with no tail
                if (!closed) {
                    LOGGER.atWarn().setCause(e).log("Tailing the journal failed and is tried again");
                    pause(backOff.next());
                }
            } finally {
                polling.set(null);
            }
        }
        mailboxes.forEach(mailbox -> mailbox.drop(new ListenerDroppedException(Reason.CLOSED)));
    }

    private void tail(Consumer<byte[], byte[]> consumer) {
        try {
            obey(consumer);
            unassignIdle(consumer);
            if (tails.isEmpty()) {
                awaitCommand();
                return;
            }
            for (ConsumerRecord<byte[], byte[]> consumed : consumer.poll(POLL)) {
                PartitionTail tail = tails.get(consumed.partition());
                if (tail != null) {
                    tail.tell(consumed);
                }
            }
        } catch (WakeupException e) {
            LOGGER.trace("There is a command");
        }
    }

    /** Nobody is told anything before it is known what nobody is to be told. */
    private void obey(Consumer<byte[], byte[]> consumer) {
        if (!knowsForgotten && !commands.isEmpty()) {
            try {
                forgotten.readUpToNow();
            } catch (BrokerUnavailableException e) {
                throw new KafkaException(e.getMessage(), e);
            } catch (InterruptedException e) {
                closed = true;
                return;
            }
            knowsForgotten = true;
        }
        for (Command command = commands.peek(); command != null; command = commands.peek()) {
            command.run(consumer);
            commands.removeFirst(); // only now: a command that failed is done again
        }
    }

    private void awaitCommand() {
        try {
            Command command = commands.poll(POLL.toMillis(), TimeUnit.MILLISECONDS);
            if (command != null) {
                commands.addFirst(command);
            }
        } catch (InterruptedException e) {
            closed = true;
        }
    }

    private void attach(Consumer<byte[], byte[]> consumer, Feed feed) {
        if (feed.mailbox().isOver()) {
            return;
        }
        PartitionTail tail = tails.get(feed.partition());
        if (tail == null) {
            long end = endOffset(consumer, feed.partition());
            long from = Math.min(feed.from(), end);
            long start = end - from <= NEAR ? from : end;
            tail = new PartitionTail(feed.partition(), start, settings.mailboxBytes() / 4, System.nanoTime());
            tails.put(feed.partition(), tail);
            assign(consumer);
            consumer.seek(reader.partition(feed.partition()), start);
        }
        if (tail.add(feed)) {
            backfillCount.increment();
            backfills.execute(new Backfill(feed, reader, backfillPermits, settings.patience()));
        }
    }

    private void unassignIdle(Consumer<byte[], byte[]> consumer) {
        long now = System.nanoTime();
        if (tails.values().removeIf(tail -> tail.idle(now, settings.linger().toNanos()))) {
            assign(consumer);
        }
    }

    /** Partitions that stay keep their place. */
    private void assign(Consumer<byte[], byte[]> consumer) {
        consumer.assign(tails.keySet().stream().map(reader::partition).toList());
        assigned = tails.size();
    }

    private long endOffset(Consumer<byte[], byte[]> consumer, int partition) {
        TopicPartition topicPartition = reader.partition(partition);
        Long end = consumer.endOffsets(List.of(topicPartition)).get(topicPartition);
        if (end == null) {
            throw new KafkaException("the brokers did not say where the journal ends");
        }
        return end;
    }

    private void pause(Duration time) {
        try {
            Thread.sleep(time);
        } catch (InterruptedException e) {
            closed = true;
        }
    }
}
