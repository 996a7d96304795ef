package dev.millrace.gateway.kafka;

import dev.millrace.schemas.JournalEntry;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Collection;
import java.util.Deque;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/** What a listener has still to take: bounded by bytes, so that a slow one costs no more than its share. For any thread. */
final class Mailbox {

    /** An entry and what it weighs: about its size in bytes. */
    record Letter(JournalEntry entry, int weight) {}

    private final int capacity;
    private final Runnable onArrival;
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();
    private final Deque<Letter> letters = new ArrayDeque<>();
    private long weight;
    private boolean closed;
    private @Nullable ListenerDroppedException dropped;

    /** For so many bytes; a single larger entry still fits into an empty mailbox. */
    Mailbox(int capacity) {
        this(capacity, () -> {});
    }

    /**
     * The same, that says when it has got something.
     *
     * @param onArrival quick, and never fails; called with every entry and when there will be no more
     */
    Mailbox(int capacity, Runnable onArrival) {
        this.capacity = capacity;
        this.onArrival = onArrival;
    }

    /** Takes the entry if there is room or nobody will read it; otherwise refuses it. */
    boolean offer(Letter letter) {
        lock.lock();
        try {
            if (closed || dropped != null) {
                return true;
            }
            if (!hasRoomFor(letter)) {
                return false;
            }
            add(letter);
            return true;
        } finally {
            lock.unlock();
        }
    }

    /** Like {@link #offer}, but waits for room. */
    boolean offer(Letter letter, Duration atMost) throws InterruptedException {
        lock.lock();
        try {
            long left = atMost.toNanos();
            while (!closed && dropped == null && !hasRoomFor(letter)) {
                if (left <= 0) {
                    return false;
                }
                left = changed.awaitNanos(left);
            }
            if (!closed && dropped == null) {
                add(letter);
            }
            return true;
        } finally {
            lock.unlock();
        }
    }

    /** Takes them all, whether there is room or not: for what was already bounded elsewhere. */
    void addAll(Collection<Letter> bounded) {
        lock.lock();
        try {
            if (!closed && dropped == null) {
                bounded.forEach(this::add);
            }
        } finally {
            lock.unlock();
        }
    }

    /** The listener gets what is here, and then this exception. */
    void drop(ListenerDroppedException reason) {
        lock.lock();
        try {
            if (dropped == null) {
                dropped = reason;
            }
            changed.signalAll();
            onArrival.run();
        } finally {
            lock.unlock();
        }
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
                weight -= letter.weight();
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
        lock.lock();
        try {
            closed = true;
            letters.clear();
            weight = 0;
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }

    boolean isOver() {
        lock.lock();
        try {
            return closed || dropped != null;
        } finally {
            lock.unlock();
        }
    }

    private boolean hasRoomFor(Letter letter) {
        return letters.isEmpty() || weight + letter.weight() <= capacity;
    }

    private void add(Letter letter) {
        letters.add(letter);
        weight += letter.weight();
        changed.signalAll();
        onArrival.run();
    }
}
