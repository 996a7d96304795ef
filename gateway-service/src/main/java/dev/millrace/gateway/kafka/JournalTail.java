package dev.millrace.gateway.kafka;

import dev.millrace.gateway.kafka.ListenerDroppedException.Reason;
import dev.millrace.kafka.ClientSettings;
import dev.millrace.kafka.ReaderThread;
import dev.millrace.kafka.TopicEnds;
import dev.millrace.kafka.TopicId;
import dev.millrace.kafka.TopicIdentity;
import dev.millrace.kafka.TopicLog;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.BlockingDeque;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.LinkedBlockingDeque;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.LongAdder;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.InvalidOffsetException;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.WakeupException;
import org.apache.kafka.common.utils.Utils;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Tells listeners what is added to the journal, with one consumer for all of them that reads exactly the partitions
 * that somebody listens to. Each listener gets each record that it wants once and in the order of its partition, from
 * the offset that it named, however far back that is; see {@link Feed}. Broker failures delay entries and never lose or
 * double them. For any thread. What is said here of the journal holds as well for the topic of live text, see
 * {@link #ofTokens}.
 */
public final class JournalTail implements AutoCloseable {
    private static final Logger LOGGER = LoggerFactory.getLogger(JournalTail.class);

    private static final String CLIENT = "millrace-gateway";
    private static final Duration POLL = Duration.ofMillis(500);
    /**
     * A partition that nobody listened to is read when the fetch of the others is over, which waits for records. So
     * long at most, and not for the 500 ms that Kafka's consumers wait if nothing is said.
     */
    private static final ClientSettings SHORT_FETCHES =
            ClientSettings.NONE.with(ConsumerConfig.FETCH_MAX_WAIT_MS_CONFIG, 100);
    /** Between two attempts to read. */
    private static final Duration LONGEST_PAUSE = Duration.ofSeconds(5);
    /** A partition that nobody else listens to is tailed from the listener's beginning if that is no further back. */
    private static final long NEAR = 5_000;
    /** How often is looked whether the topic is still the same. */
    private static final Duration LOOK = Duration.ofSeconds(5);

    private final TailSettings settings;
    private final TopicLog log;
    private final TopicEnds ends;
    private final ForgottenTopic forgotten;
    private final ExecutorService backfills = Executors.newVirtualThreadPerTaskExecutor();
    private final Semaphore backfillPermits;
    private final LongAdder backfillCount = new LongAdder();
    private final Set<Mailbox> mailboxes = ConcurrentHashMap.newKeySet();
    private final BlockingDeque<Command> commands = new LinkedBlockingDeque<>();
    private final MailboxBudget budget;
    /** By partition, what the brokers are being asked for those who begin now. */
    private final Map<Integer, CompletableFuture<Long>> nextEnds = new ConcurrentHashMap<>();

    private final TopicIdentity identity;
    private final ReaderThread thread;
    private volatile int assigned;
    /** What the tail's thread has asked the brokers last. */
    private volatile Future<Long> asked = CompletableFuture.completedFuture(0L);

    private boolean knowsForgotten;

    /** Changed by the tail's thread alone. */
    private final Map<Integer, PartitionTail> tails = new ConcurrentHashMap<>();
    /** Of the topic that the tails are of; {@code null} = not known. For the tail's thread alone, like the next. */
    private @Nullable TopicId topicId;

    private long lookedAtNanos = System.nanoTime() - LOOK.toNanos();

    /** What other threads ask of the tail's. It may throw, and is then done again with the next consumer. */
    @FunctionalInterface
    private interface Command {
        void run(Consumer<byte[], byte[]> consumer) throws InterruptedException;
    }

    /**
     * What tails have in common.
     *
     * @param budget what all listeners together may lag, also those of other tails
     * @param forgotten what nobody is told any more
     * @param ends of topics of the same brokers
     */
    public record Shared(MailboxBudget budget, ForgottenTopic forgotten, TopicEnds ends) {}

    /**
     * Starts its thread; connects when somebody listens.
     *
     * @param shared belongs to somebody else, who closes it
     */
    public JournalTail(Cluster cluster, TailSettings settings, Shared shared) {
        this(settings, shared, new TopicLog(cluster.client(), cluster.topics().journal(), CLIENT), "journal-tail");
    }

    /** The same for the topic of live text. */
    public static JournalTail ofTokens(Cluster cluster, TailSettings settings, Shared shared) {
        return new JournalTail(
                settings,
                shared,
                new TopicLog(cluster.client(), cluster.topics().tokens(), CLIENT),
                "token-tail");
    }

    private JournalTail(TailSettings settings, Shared shared, TopicLog log, String name) {
        this.settings = settings;
        this.budget = shared.budget();
        this.log = log;
        this.forgotten = shared.forgotten();
        this.ends = shared.ends();
        this.backfillPermits = new Semaphore(settings.backfills(), true);
        this.identity = log.identity();
        this.thread = new ReaderThread(name, () -> log.open("tail", SHORT_FETCHES), LONGEST_PAUSE, new Work());
        thread.start();
    }

    /** Why nothing is told now, for people; empty if all is well. */
    public Optional<String> failure() {
        return thread.problem().or(forgotten::problem);
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
        PartitionTail tail = tails.get(partition);
        return tail != null ? tail.position() : await(nextEnd(partition), atMost);
    }

    /** The answer to a question that is under way, or to a new one: of many that begin at once, one asks. */
    private CompletableFuture<Long> nextEnd(int partition) {
        CompletableFuture<Long> end = nextEnds.computeIfAbsent(partition, this::logEnd);
        var unused = end.whenComplete((offset, failure) -> nextEnds.remove(partition, end));
        return end;
    }

    /**
     * Where this partition ends for sure: no record that anybody has seen, at whichever gateway, lies there or behind
     * it.
     *
     * @throws BrokerUnavailableException if that could not be found out in time
     */
    public long logEnd(int partition, Duration atMost) throws BrokerUnavailableException, InterruptedException {
        return await(logEnd(partition), atMost);
    }

    /** Where this partition ends now, as the brokers say. */
    CompletableFuture<Long> logEnd(int partition) {
        return ends.end(log.partition(partition));
    }

    /**
     * The offset of the first record of this partition that is not older than this, or where the partition ends.
     *
     * @throws BrokerUnavailableException if that could not be found out in time
     */
    long since(int partition, Instant time, Duration atMost) throws BrokerUnavailableException, InterruptedException {
        return await(ends.since(log.partition(partition), time), atMost);
    }

    private static long await(CompletableFuture<Long> offset, Duration atMost)
            throws BrokerUnavailableException, InterruptedException {
        try {
            return offset.get(atMost.toMillis(), TimeUnit.MILLISECONDS);
        } catch (TimeoutException | ExecutionException e) {
            throw new BrokerUnavailableException("the end of the journal could not be found out in time", e);
        }
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
        Mailbox mailbox = new Mailbox(settings.mailboxBytes(), settings.mailboxBytes(), budget, onArrival);
        mailboxes.add(mailbox);
        if (!thread.isOpen()) {
            mailbox.drop(new ListenerDroppedException(Reason.CLOSED));
        }
        Map<Integer, Feed> feeds = new HashMap<>();
        List<Command> attaching = new ArrayList<>();
        from.forEach((partition, offset) -> {
            Feed feed = new Feed(partition, offset, filter.and(forgotten.filter()), mailbox);
            feeds.put(partition, feed);
            Command attach = consumer -> attach(consumer, feed);
            attaching.add(attach);
            submit(attach);
        });
        return new JournalListener(mailbox, feeds, () -> {
            mailboxes.remove(mailbox);
            attaching.forEach(commands::remove);
        });
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
        thread.stop();
        submit(consumer -> {});
        asked.cancel(true);
        backfills.shutdownNow();
        thread.close();
        // also if the thread had not begun yet
        dropAll();
    }

    private void dropAll() {
        mailboxes.forEach(mailbox -> mailbox.drop(new ListenerDroppedException(Reason.CLOSED)));
    }

    private void submit(Command command) {
        commands.add(command);
        thread.wakeUp();
    }

    private final class Work implements ReaderThread.Work {
        @Override
        public void read(Consumer<byte[], byte[]> consumer) throws InterruptedException {
            assign(consumer);
            tails.values().forEach(tail -> consumer.seek(log.partition(tail.partition()), tail.position()));
            while (thread.isOpen()) {
                tail(consumer);
                thread.works();
            }
        }

        @Override
        public void end() {
            identity.close();
            dropAll();
        }
    }

    private void tail(Consumer<byte[], byte[]> consumer) throws InterruptedException {
        try {
            obey(consumer);
            unassignIdle(consumer);
            if (tails.isEmpty()) {
                topicId = null; // nothing is told of it, so it may become another one
                lookedAtNanos = System.nanoTime() - LOOK.toNanos();
                awaitCommand();
                return;
            }
            if (System.nanoTime() - lookedAtNanos >= LOOK.toNanos()) {
                look(consumer);
            }
            for (ConsumerRecord<byte[], byte[]> consumed : consumer.poll(POLL)) {
                PartitionTail tail = tails.get(consumed.partition());
                if (tail != null) {
                    tail.tell(consumed);
                }
            }
        } catch (WakeupException e) {
            LOGGER.trace("There is a command");
        } catch (InvalidOffsetException e) {
            mend(consumer);
        }
    }

    /** Whether the topic was deleted and made again, or is another cluster's; if so, it is told from its beginning. */
    private void look(Consumer<byte[], byte[]> consumer) throws InterruptedException {
        TopicId before = topicId;
        TopicId now = identity.find().orElse(before);
        lookedAtNanos = System.nanoTime();
        if (before != null && now != null && !before.equals(now)) {
            LOGGER.atWarn()
                    .addKeyValue("reason", before.changedInto(now))
                    .log("The topic is another one of the same name by now, and is told from its beginning");
            Map<TopicPartition, Long> begins = consumer.beginningOffsets(consumer.assignment());
            for (PartitionTail tail : tails.values()) {
                goOn(consumer, tail, begins.getOrDefault(log.partition(tail.partition()), 0L));
            }
        }
        topicId = now;
    }

    /** Goes on where there is something to read, after the place that was asked for turned out not to be there. */
    private void mend(Consumer<byte[], byte[]> consumer) throws InterruptedException {
        look(consumer);
        Map<TopicPartition, Long> begins = consumer.beginningOffsets(consumer.assignment());
        for (PartitionTail tail : tails.values()) {
            TopicPartition partition = log.partition(tail.partition());
            long begin = begins.getOrDefault(partition, 0L);
            long end = endOffset(tail.partition());
            if (tail.position() > end) {
                LOGGER.atWarn()
                        .addKeyValue("partition", tail.partition())
                        .addKeyValue("offset", end)
                        .log("The brokers have lost records that were told already; what comes next is told");
                goOn(consumer, tail, end);
            } else {
                // what has been deleted meanwhile is not told: what is left is better than nothing
                consumer.seek(partition, Math.max(tail.position(), begin));
            }
        }
    }

    private void goOn(Consumer<byte[], byte[]> consumer, PartitionTail tail, long offset) {
        tail.restart(offset);
        consumer.seek(log.partition(tail.partition()), offset);
    }

    /** Nobody is told anything before it is known what nobody is to be told. */
    private void obey(Consumer<byte[], byte[]> consumer) throws InterruptedException {
        if (!knowsForgotten && !commands.isEmpty()) {
            try {
                forgotten.readUpToNow();
            } catch (BrokerUnavailableException e) {
                throw new KafkaException(e.getMessage(), e);
            }
            knowsForgotten = true;
        }
        for (Command command = commands.peek(); command != null; command = commands.peek()) {
            try {
                command.run(consumer);
            } catch (KafkaException e) {
                throw e; // it is done again
            } catch (RuntimeException e) {
                LOGGER.atError().setCause(e).log("Something that was asked of a tail failed, and is given up");
            }
            commands.remove(command);
        }
    }

    private void awaitCommand() throws InterruptedException {
        Command command = commands.poll(POLL.toMillis(), TimeUnit.MILLISECONDS);
        if (command != null) {
            commands.addFirst(command);
        }
    }

    private void attach(Consumer<byte[], byte[]> consumer, Feed feed) throws InterruptedException {
        if (feed.mailbox().isOver()) {
            return;
        }
        PartitionTail tail = tails.get(feed.partition());
        if (tail == null) {
            long end = endOffset(feed.partition());
            long from = Math.min(feed.from(), end);
            long start = end - from <= NEAR ? from : end;
            tail = new PartitionTail(feed.partition(), start, settings.mailboxBytes() / 4, System.nanoTime());
            tails.put(feed.partition(), tail);
            assign(consumer);
            consumer.seek(log.partition(feed.partition()), start);
        }
        if (feed.from() > tail.position() && feed.from() > endOffset(feed.partition())) {
            LOGGER.atWarn()
                    .addKeyValue("partition", feed.partition())
                    .addKeyValue("offset", feed.from())
                    .log("A listener waits for what is behind the end, and is let go");
            feed.mailbox().evict(new ListenerDroppedException(Reason.TOO_SLOW));
            return;
        }
        if (tail.add(feed)) {
            backfillCount.increment();
            backfills.execute(new Backfill(feed, log, backfillPermits, settings.patience()));
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
        consumer.assign(tails.keySet().stream().map(log::partition).toList());
        assigned = tails.size();
    }

    private long endOffset(int partition) throws InterruptedException {
        CompletableFuture<Long> end = logEnd(partition);
        asked = end;
        if (!thread.isOpen()) {
            end.cancel(true);
        }
        try {
            return end.get();
        } catch (ExecutionException | CancellationException e) {
            throw new KafkaException("the brokers did not say where the journal ends", e);
        }
    }
}
