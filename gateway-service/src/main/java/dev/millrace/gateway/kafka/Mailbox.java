package dev.millrace.gateway.kafka;

import dev.millrace.schemas.EventCodec;
import dev.millrace.schemas.JournalCursor;
import dev.millrace.schemas.JournalEntry;
import dev.millrace.schemas.MalformedEventException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What a listener has still to take: bounded by bytes, so that a slow one costs no more than its share, and all
 * together no more than the {@link MailboxBudget}. Beside it is kept, bounded the same, what may be taken only after a
 * backfill. For any thread.
 */
final class Mailbox {
    private static final Logger LOGGER = LoggerFactory.getLogger(Mailbox.class);

    /** What an entry weighs beside its payload: its fields and the objects that they are in. */
    private static final int ENTRY_WEIGHT = 512;

    /**
     * An entry, which may wait in many mailboxes.
     *
     * @param weight about what it takes in memory, in bytes
     * @param holders how many mailboxes have it
     */
    record Letter(JournalEntry entry, int weight, AtomicInteger holders) {
        Letter(JournalEntry entry, int weight) {
            this(entry, weight, new AtomicInteger());
        }

        /** The record as a letter; {@code null} if it is no event. */
        static @Nullable Letter of(ConsumerRecord<byte[], byte[]> consumed) {
            try {
                JournalEntry entry = new JournalEntry(
                        new JournalCursor(consumed.partition(), consumed.offset()),
                        EventCodec.fromRecord(
                                consumed.headers(), consumed.value(), Instant.ofEpochMilli(consumed.timestamp())));
                long weight = ENTRY_WEIGHT + (consumed.value() == null ? 0 : JsonWeight.of(consumed.value()));
                return new Letter(entry, (int) Math.min(weight, Integer.MAX_VALUE));
            } catch (MalformedEventException e) {
                LOGGER.atDebug()
                        .addKeyValue("partition", consumed.partition())
                        .addKeyValue("offset", consumed.offset())
                        .addKeyValue("errorCode", e.code())
                        .log("A topic holds a record that is no event; listeners do not see it");
                return null;
            }
        }

        /** What the record takes as it is, unread. */
        static int weight(ConsumerRecord<byte[], byte[]> consumed) {
            return ENTRY_WEIGHT + Math.max(0, consumed.serializedValueSize());
        }

        long offset() {
            return entry.cursor().offset();
        }
    }

    private final int capacity;
    private final int asideCapacity;
    private final Runnable onArrival;
    private final MailboxBudget budget;
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();
    private final Deque<Letter> letters = new ArrayDeque<>();
    /** By partition. */
    private final Map<Integer, List<Letter>> aside = new HashMap<>();

    private long waiting;
    private long asideWeight;
    private long takenAtNanos;
    private boolean closed;
    private @Nullable ListenerDroppedException dropped;

    /**
     * Empty.
     *
     * @param capacity for so many bytes; a single larger entry still fits if it is empty
     * @param asideCapacity how many bytes more may be kept aside
     * @param budget that it shares with all others
     * @param onArrival quick, and never fails; called with every entry and when there will be no more
     */
    Mailbox(int capacity, int asideCapacity, MailboxBudget budget, Runnable onArrival) {
        this.capacity = capacity;
        this.asideCapacity = asideCapacity;
        this.budget = budget;
        this.onArrival = onArrival;
        budget.open(this);
    }

    /** Takes the entry if there is room or nobody will read it; otherwise refuses it. */
    boolean offer(Letter letter) {
        lock.lock();
        try {
            if (over()) {
                return true;
            }
            if (!letters.isEmpty() && waiting + letter.weight() > capacity) {
                return false;
            }
        } finally {
            lock.unlock();
        }
        if (!budget.take(letter, this)) {
            return false;
        }
        lock.lock();
        try {
            if (over()) {
                budget.give(letter);
            } else {
                add(letter);
            }
            return true;
        } finally {
            lock.unlock();
        }
    }

    /** Keeps an entry of this partition for later, if there is room or nobody will read it. */
    boolean setAside(int partition, Letter letter) {
        lock.lock();
        try {
            if (over()) {
                return true;
            }
            if (asideWeight + letter.weight() > asideCapacity) {
                return false;
            }
        } finally {
            lock.unlock();
        }
        if (!budget.take(letter, this)) {
            return false;
        }
        lock.lock();
        try {
            if (over()) {
                budget.give(letter);
            } else {
                aside.computeIfAbsent(partition, number -> new ArrayList<>()).add(letter);
                asideWeight += letter.weight();
            }
            return true;
        } finally {
            lock.unlock();
        }
    }

    /** What was kept aside of this partition is not wanted any more. */
    void forgetAside(int partition) {
        lock.lock();
        try {
            takeAside(partition).forEach(budget::give);
        } finally {
            lock.unlock();
        }
    }

    /**
     * What was kept aside of this partition follows now, from this offset on, whether there is room or not.
     *
     * @return the offset after the last of it; {@code from} if there is nothing
     */
    long addAside(int partition, long from) {
        lock.lock();
        try {
            long next = from;
            for (Letter letter : takeAside(partition)) {
                if (letter.offset() < from) {
                    budget.give(letter);
                } else {
                    add(letter);
                    next = letter.offset() + 1;
                }
            }
            return next;
        } finally {
            lock.unlock();
        }
    }

    private List<Letter> takeAside(int partition) {
        List<Letter> kept = aside.remove(partition);
        if (kept == null) {
            return List.of();
        }
        asideWeight -= kept.stream().mapToLong(Letter::weight).sum();
        return kept;
    }

    /**
     * Waits until half of what is here has been taken, or nobody will read it.
     *
     * @param patience how long the listener may take nothing
     * @return whether it is so
     */
    boolean awaitRoom(Duration patience) throws InterruptedException {
        lock.lock();
        try {
            long since = System.nanoTime();
            long half = waiting / 2;
            while (!over() && waiting > half) {
                long quiet = System.nanoTime() - (takenAtNanos - since > 0 ? takenAtNanos : since);
                if (quiet >= patience.toNanos()) {
                    return false;
                }
                changed.awaitNanos(patience.toNanos() - quiet);
            }
            return true;
        } finally {
            lock.unlock();
        }
    }

    /** The listener gets what is here, and then this exception. */
    void drop(ListenerDroppedException reason) {
        lock.lock();
        try {
            end(reason);
        } finally {
            lock.unlock();
        }
    }

    /** The listener gets this exception, and what is here is given up: it can have it when it comes back. */
    void evict(ListenerDroppedException reason) {
        lock.lock();
        try {
            clear();
            end(reason);
        } finally {
            lock.unlock();
        }
    }

    private void end(ListenerDroppedException reason) {
        if (dropped == null) {
            dropped = reason;
        }
        changed.signalAll();
        onArrival.run();
    }

    /** The next entry; {@code null} if none comes within this time. */
    @Nullable
    JournalEntry take(Duration atMost) throws InterruptedException, ListenerDroppedException {
        lock.lock();
        try {
            long left = atMost.toNanos();
            while (letters.isEmpty() && dropped == null && left > 0) {
                left = changed.awaitNanos(left);
            }
            Letter letter = letters.poll();
            if (letter != null) {
                waiting -= letter.weight();
                takenAtNanos = System.nanoTime();
                budget.give(letter);
                changed.signalAll();
                return letter.entry();
            }
            if (dropped != null) {
                throw dropped;
            }
            return null;
        } finally {
            lock.unlock();
        }
    }

    /** Nobody reads any more. */
    void close() {
        budget.close(this);
        lock.lock();
        try {
            closed = true;
            clear();
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }

    private void clear() {
        letters.forEach(budget::give);
        letters.clear();
        waiting = 0;
        List.copyOf(aside.keySet()).forEach(partition -> takeAside(partition).forEach(budget::give));
    }

    boolean isOver() {
        lock.lock();
        try {
            return over();
        } finally {
            lock.unlock();
        }
    }

    /** What is here, in bytes, with what is kept aside. */
    long weight() {
        lock.lock();
        try {
            return waiting + asideWeight;
        } finally {
            lock.unlock();
        }
    }

    private boolean over() {
        return closed || dropped != null;
    }

    private void add(Letter letter) {
        letters.add(letter);
        waiting += letter.weight();
        changed.signalAll();
        onArrival.run();
    }
}
