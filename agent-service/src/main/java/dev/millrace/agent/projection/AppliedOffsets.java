package dev.millrace.agent.projection;

import dev.millrace.schemas.JournalCursor;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/** How far the projection has come since it started, so that a reader can wait for a place. For any thread. */
final class AppliedOffsets {
    private final Map<Integer, Long> offsets = new ConcurrentHashMap<>();
    private final LongAdder applied = new LongAdder();
    private final LongAdder malformed = new LongAdder();
    private final LongAdder skipped = new LongAdder();
    private final AtomicInteger waiting = new AtomicInteger();
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition moved = lock.newCondition();

    /** A record has been taken, which {@link #advance} tells of later. */
    void taken() {
        applied.increment();
    }

    /** Every record up to this one is in the store. */
    void advance(JournalCursor cursor) {
        offsets.put(cursor.partition(), cursor.offset());
        if (waiting.get() > 0) {
            lock.lock();
            try {
                moved.signalAll();
            } finally {
                lock.unlock();
            }
        }
    }

    /** Nothing of what there is now is in the store. */
    void beginAnew() {
        offsets.clear();
    }

    void malformed() {
        malformed.increment();
    }

    void skipped() {
        skipped.increment();
    }

    /** Blocks until this record is in the store, at most so long; whether it is. */
    boolean await(JournalCursor cursor, Duration atMost) throws InterruptedException {
        if (has(cursor)) {
            return true;
        }
        long left = atMost.toNanos();
        waiting.incrementAndGet();
        lock.lock();
        try {
            while (!has(cursor) && left > 0) {
                left = moved.awaitNanos(left);
            }
            return has(cursor);
        } finally {
            lock.unlock();
            waiting.decrementAndGet();
        }
    }

    private boolean has(JournalCursor cursor) {
        return offsets.getOrDefault(cursor.partition(), -1L) >= cursor.offset();
    }

    /** Records taken since the start, malformed ones included. */
    long appliedCount() {
        return applied.sum();
    }

    /** Records that a defect kept from being taken, since the start. */
    long skippedCount() {
        return skipped.sum();
    }

    /** Records that were no events, since the start. */
    long malformedCount() {
        return malformed.sum();
    }
}
