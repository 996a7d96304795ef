package dev.millrace.gateway.kafka;

import dev.millrace.kafka.TopicLog;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.jspecify.annotations.Nullable;

/** Reads the dead letters, the newest first. Each call has a consumer of its own; few run at once. For any thread. */
public final class DeadLetterReader {
    private static final int AT_ONCE = 4;
    /** So many records of a partition are read at a time. */
    private static final int WINDOW = 200;
    /** No call looks at more; a filter that finds little then gives a short page with a next one. */
    private static final int MAX_LOOKED_AT = 5_000;
    /** Who looks for one of them alone goes further back. */
    private static final int MAX_SOUGHT = 100_000;
    /** Nor does it go on once it has read so many bytes. */
    private static final long MAX_READ_BYTES = 64L * 1024 * 1024;

    private static final Comparator<DeadLetter> OLDEST_FIRST = Comparator.comparingLong(DeadLetter::timestampMs)
            .thenComparingInt(DeadLetter::partition)
            .thenComparingLong(DeadLetter::offset);

    private final TopicLog log;
    private final Semaphore permits = new Semaphore(AT_ONCE);

    /**
     * Connects when it is asked.
     */
    public DeadLetterReader(Cluster cluster) {
        this.log = new TopicLog(
                cluster.client(), cluster.topics().deadLetters(), "millrace-gateway", TopicLog.WHAT_IS_LEFT);
    }

    /**
     * Some dead letters, the newest first.
     *
     * @param letters may be fewer than asked for although there are more
     * @param next for each partition the offset below which the next page begins; empty = this is the last page
     */
    public record Page(List<DeadLetter> letters, Map<Integer, Long> next) {
        public Page {
            letters = List.copyOf(letters);
            next = Map.copyOf(next);
        }
    }

    /**
     * One that was looked for.
     *
     * @param letter empty if there was none as far as was looked
     * @param lookedAt how many of the newest
     * @param all whether these were all that there are
     */
    public record Sought(Optional<DeadLetter> letter, int lookedAt, boolean all) {}

    private record Read(Page page, int lookedAt) {}

    /**
     * Reads a page.
     *
     * @param before {@link Page#next} of the page before; empty = the newest ones
     * @param wanted what to leave out
     * @param limit at most so many, 1 or more
     * @param atMost how long this may take
     * @throws BrokerUnavailableException if it takes longer
     */
    public Page page(Map<Integer, Long> before, Predicate<DeadLetter> wanted, int limit, Duration atMost)
            throws BrokerUnavailableException, InterruptedException {
        return read(
                        before,
                        wanted,
                        limit,
                        atMost,
                        (lookedAt, bytes) -> lookedAt < MAX_LOOKED_AT && bytes < MAX_READ_BYTES)
                .page();
    }

    /**
     * Looks for the newest one, through many more than a page would.
     *
     * @param wanted which it may be
     * @param atMost how long this may take; it ends by itself after half of that
     * @throws BrokerUnavailableException if it takes longer
     */
    public Sought newest(Predicate<DeadLetter> wanted, Duration atMost)
            throws BrokerUnavailableException, InterruptedException {
        long end = System.nanoTime() + atMost.toNanos() / 2;
        Read read = read(
                Map.of(), wanted, 1, atMost, (lookedAt, bytes) -> lookedAt < MAX_SOUGHT && System.nanoTime() - end < 0);
        return new Sought(
                read.page().letters().stream().findFirst(),
                read.lookedAt(),
                read.page().next().isEmpty());
    }

    /** Whether it goes on after having looked at so many records and read so many bytes. */
    private interface Bound {
        boolean goesOn(int lookedAt, long bytes);
    }

    private Read read(Map<Integer, Long> before, Predicate<DeadLetter> wanted, int limit, Duration atMost, Bound bound)
            throws BrokerUnavailableException, InterruptedException {
        long deadline = System.nanoTime() + atMost.toNanos();
        if (!permits.tryAcquire(atMost.toNanos(), TimeUnit.NANOSECONDS)) {
            throw new BrokerUnavailableException("too many others read the dead letters", null);
        }
        try (Consumer<byte[], byte[]> consumer = log.open("dead-letters", TopicLog.NO_MORE)) {
            List<Backward> partitions = partitions(consumer, before, deadline);
            List<DeadLetter> letters = new ArrayList<>();
            int lookedAt = 0;
            for (; letters.size() < limit && bound.goesOn(lookedAt, bytesRead(partitions)); lookedAt++) {
                Optional<Backward> newest = newest(partitions);
                if (newest.isEmpty()) {
                    break;
                }
                DeadLetter letter = newest.get().take();
                if (wanted.test(letter)) {
                    letters.add(letter);
                }
            }
            return new Read(new Page(letters, next(partitions)), lookedAt);
        } catch (KafkaException e) {
            throw new BrokerUnavailableException("the brokers did not tell the dead letters", e);
        } finally {
            permits.release();
        }
    }

    /**
     * Reads one of them whole.
     *
     * @param partition of {@link DeadLetter#place}
     * @param offset of the same
     * @param atMost how long this may take
     * @return empty if there is none, or no more
     * @throws BrokerUnavailableException if it takes longer
     */
    public Optional<WholeDeadLetter> letter(int partition, long offset, Duration atMost)
            throws BrokerUnavailableException, InterruptedException {
        long deadline = System.nanoTime() + atMost.toNanos();
        if (!permits.tryAcquire(atMost.toNanos(), TimeUnit.NANOSECONDS)) {
            throw new BrokerUnavailableException("too many others read the dead letters", null);
        }
        try (Consumer<byte[], byte[]> consumer = log.open("dead-letter", TopicLog.NO_MORE)) {
            Optional<TopicPartition> place = log.partitions(consumer, atMost).stream()
                    .filter(one -> one.partition() == partition)
                    .findFirst();
            if (place.isEmpty()
                    || consumer.beginningOffsets(List.of(place.get())).getOrDefault(place.get(), 0L) > offset
                    || consumer.endOffsets(List.of(place.get())).getOrDefault(place.get(), 0L) <= offset) {
                return Optional.empty();
            }
            consumer.assign(List.of(place.get()));
            consumer.seek(place.get(), offset);
            List<WholeDeadLetter> found = new ArrayList<>();
            TopicLog.readTo(Map.of(place.get(), offset + 1), consumer, deadline, letter -> {
                if (letter.offset() == offset) {
                    found.add(new WholeDeadLetter(letter));
                }
            });
            return found.stream().findFirst();
        } catch (KafkaException e) {
            throw new BrokerUnavailableException("the brokers did not tell the dead letter", e);
        } finally {
            permits.release();
        }
    }

    private static long bytesRead(List<Backward> partitions) {
        return partitions.stream().mapToLong(partition -> partition.bytesRead).sum();
    }

    private List<Backward> partitions(Consumer<byte[], byte[]> consumer, Map<Integer, Long> before, long deadline) {
        List<TopicPartition> all =
                log.partitions(consumer, Duration.ofNanos(Math.max(1, deadline - System.nanoTime())));
        Map<TopicPartition, Long> begins = consumer.beginningOffsets(all);
        Map<TopicPartition, Long> ends = consumer.endOffsets(all);
        return all.stream()
                .map(partition -> new Backward(
                        consumer,
                        partition,
                        begins.getOrDefault(partition, 0L),
                        Math.min(
                                before.getOrDefault(partition.partition(), Long.MAX_VALUE),
                                ends.getOrDefault(partition, 0L)),
                        deadline))
                .toList();
    }

    private static Optional<Backward> newest(Collection<Backward> partitions) {
        Backward newest = null;
        for (Backward partition : partitions) {
            DeadLetter head = partition.head();
            DeadLetter best = newest == null ? null : newest.head();
            if (head != null && (best == null || OLDEST_FIRST.compare(head, best) > 0)) {
                newest = partition;
            }
        }
        return Optional.ofNullable(newest);
    }

    private static Map<Integer, Long> next(List<Backward> partitions) {
        Map<Integer, Long> next = new HashMap<>();
        partitions.forEach(partition -> next.put(partition.partition.partition(), partition.before));
        return partitions.stream().anyMatch(partition -> partition.before > partition.begin) ? next : Map.of();
    }

    /** A partition from its end to its beginning. For one thread. */
    private static final class Backward {
        private final Consumer<byte[], byte[]> consumer;
        private final TopicPartition partition;
        private final long begin;
        private final long deadline;
        private final Deque<DeadLetter> window = new ArrayDeque<>();
        private long windowFrom;
        private long bytesRead;
        /** Everything from here on has been taken. */
        private long before;

        Backward(Consumer<byte[], byte[]> consumer, TopicPartition partition, long begin, long before, long deadline) {
            this.consumer = consumer;
            this.partition = partition;
            this.begin = begin;
            this.before = Math.max(begin, before);
            this.windowFrom = this.before;
            this.deadline = deadline;
        }

        /** The newest that is not taken; {@code null} = there is none. */
        @Nullable
        DeadLetter head() {
            while (window.isEmpty() && windowFrom > begin) {
                before = windowFrom;
                windowFrom = Math.max(begin, windowFrom - WINDOW);
                read(windowFrom, before);
            }
            if (window.isEmpty()) {
                before = begin;
            }
            return window.peekLast();
        }

        DeadLetter take() {
            DeadLetter letter = window.removeLast();
            before = letter.offset();
            return letter;
        }

        private void read(long from, long to) {
            consumer.assign(List.of(partition));
            consumer.seek(partition, from);
            TopicLog.readTo(Map.of(partition, to), consumer, deadline, letter -> {
                bytesRead += Math.max(0, letter.serializedValueSize());
                if (letter.offset() < to) {
                    window.add(new DeadLetter(letter));
                }
            });
        }
    }
}
