package dev.millrace.gateway.rest.streams;

import java.time.Duration;
import java.util.LinkedHashSet;
import java.util.Set;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * What may be under way to the clients of all streams together, in bytes. Who does not find room waits until others are
 * done; those that have not been done for too long are cut off then, and only then. For any thread.
 */
public final class WriteBudget {
    /** So long a client may take for one event although others wait for the room. */
    static final Duration GRACE = Duration.ofSeconds(1);

    private final long limit;
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition freed = lock.newCondition();
    /** The oldest first. Guarded by the lock. */
    private final Set<Hold> holds = new LinkedHashSet<>();

    private long held;

    WriteBudget(long limit) {
        this.limit = limit;
    }

    /** Room for something that is under way. */
    public final class Hold implements AutoCloseable {
        private final long bytes;
        private final Runnable cut;
        private final long sinceNanos = System.nanoTime();

        private Hold(long bytes, Runnable cut) {
            this.bytes = bytes;
            this.cut = cut;
        }

        /** It has been taken, or will not be any more. */
        @Override
        public void close() {
            lock.lock();
            try {
                free(this);
            } finally {
                lock.unlock();
            }
        }
    }

    /**
     * Waits for room. More than fits has all of it for itself.
     *
     * @param cut ends what is under way; called at most once, by any thread
     */
    public Hold hold(long bytes, Runnable cut) throws InterruptedException {
        while (true) {
            Hold late;
            lock.lockInterruptibly();
            try {
                late = late(bytes);
                if (late == null) {
                    Hold hold = new Hold(bytes, cut);
                    holds.add(hold);
                    held += bytes;
                    return hold;
                }
                free(late);
            } finally {
                lock.unlock();
            }
            late.cut.run();
        }
    }

    /** Waits until there is room, and then {@code null}, or until this one has been under way for too long. */
    private @Nullable Hold late(long bytes) throws InterruptedException {
        while (held > 0 && held + bytes > limit) {
            Hold first = holds.iterator().next();
            long left = GRACE.toNanos() - (System.nanoTime() - first.sinceNanos);
            if (left <= 0) {
                return first;
            }
            freed.awaitNanos(left);
        }
        return null;
    }

    private void free(Hold hold) {
        if (holds.remove(hold)) {
            held -= hold.bytes;
            freed.signalAll();
        }
    }

    /** What is under way, in bytes. */
    long held() {
        lock.lock();
        try {
            return held;
        } finally {
            lock.unlock();
        }
    }
}
