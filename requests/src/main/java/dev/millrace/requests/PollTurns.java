package dev.millrace.requests;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Who may poll, and for how much. A share consumer that has a batch cannot poll before the whole batch is done, so
 * there are several, each in a {@link Seat}, and this decides among them:
 *
 * <ul>
 *   <li>Only one polls at a time, and only when there are permits for the largest batch that it can get: a request is
 *       never locked without being run at once.
 *   <li>The largest that fits goes first, since large batches are cheap. A smaller one gives a larger one that has just
 *       taken a batch {@link #PATIENCE} to be done with it.
 *   <li>When a permit is free and nobody has come to use it for {@link #GROWTH_PATIENCE}, one more seat is needed.
 * </ul>
 *
 * Safe for all threads.
 */
final class PollTurns {

    /**
     * How long a batch may take before its consumer counts as held up: longer than a batch of jobs that cost nothing.
     */
    static final Duration PATIENCE = Duration.ofMillis(5);

    /** How long permits may lie unused before one more consumer is made, which is not cheap. */
    static final Duration GROWTH_PATIENCE = Duration.ofMillis(20);

    private final int maxConcurrent;
    private final long idleNanos;
    private final LongSupplier nanoTime;
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();
    private final List<Seat> seats = new ArrayList<>();
    private int free;
    private @Nullable Seat poller;
    private long takenAt;
    private boolean closed;

    PollTurns(int maxConcurrent, Duration idle, LongSupplier nanoTime) {
        this.maxConcurrent = maxConcurrent;
        this.idleNanos = idle.toNanos();
        this.nanoTime = nanoTime;
        this.free = maxConcurrent;
        this.takenAt = nanoTime.getAsLong();
    }

    private enum State {
        COMING,
        WAITING,
        POLLING,
        WORKING
    }

    /** The place of one consumer. */
    static final class Seat {
        private final int size;
        private State state = State.COMING;
        private long since;
        private int running;

        private Seat(int size) {
            this.size = size;
        }

        /** How many requests the consumer in it takes at most in one poll. */
        int size() {
            return size;
        }
    }

    /** Makes a seat for a new consumer. */
    Seat enter(int size) {
        return locked(() -> {
            Seat seat = new Seat(size);
            seats.add(seat);
            return seat;
        });
    }

    /** Gives a seat up; its consumer is gone. */
    void leave(Seat seat) {
        locked(() -> {
            if (poller == seat) {
                poller = null;
                free += seat.size;
            }
            seats.remove(seat);
            changed.signalAll();
            return seat;
        });
    }

    /** Takes the turn if it is to be had at once. */
    boolean tryTake(Seat seat) {
        return locked(() -> {
            if (seat.state != State.WAITING) {
                move(seat, State.WAITING);
                changed.signalAll();
            }
            return take(seat);
        });
    }

    /**
     * Waits for the turn and takes it.
     *
     * @return false if the seat is to be given up: everything stops, or it was of no use for too long
     */
    boolean awaitTake(Seat seat) throws InterruptedException {
        lock.lockInterruptibly();
        try {
            if (seat.state != State.WAITING) {
                move(seat, State.WAITING);
                changed.signalAll();
            }
            while (!take(seat)) {
                long idleLeft = idleNanos - (nanoTime.getAsLong() - seat.since);
                if (closed || (idleLeft <= 0 && isSurplus(seat))) {
                    return false;
                }
                // with permits at hand it is only somebody else's patience that is waited for
                boolean soon = poller == null && seat.size <= free;
                changedWithin(soon ? PATIENCE.toNanos() : idleLeft > 0 ? idleLeft : idleNanos);
            }
            return true;
        } finally {
            lock.unlock();
        }
    }

    /** Ends the turn with this many requests, each of which needs a permit until {@link #finished}. */
    void taken(Seat seat, int count) {
        locked(() -> {
            poller = null;
            free += seat.size - count;
            seat.running = count;
            takenAt = nanoTime.getAsLong();
            move(seat, State.WORKING);
            changed.signalAll();
            return seat;
        });
    }

    /** Gives one permit of those that this seat has taken back: a job is done, if not acknowledged. */
    void finished(Seat seat) {
        locked(() -> {
            free++;
            seat.running--;
            if (poller == null) {
                changed.signalAll();
            }
            return free;
        });
    }

    /** The size of the seat that is needed now; 0 = none. */
    int need() {
        return locked(() -> {
            if (closed) {
                return 0;
            }
            if (seats.stream().noneMatch(seat -> seat.size == maxConcurrent)) {
                return maxConcurrent;
            }
            boolean served = poller != null
                    || free == 0
                    || seats.stream()
                            .anyMatch(seat -> seat.state == State.COMING
                                    || (seat.state == State.WAITING && seat.size <= free)
                                    || isBrieflyWorking(seat, GROWTH_PATIENCE));
            return served ? 0 : sizeFor(free);
        });
    }

    /** Waits until a seat is needed, or for this long. Returns as {@link #need}. */
    int awaitNeed(Duration limit) throws InterruptedException {
        long end = nanoTime.getAsLong() + limit.toNanos();
        lock.lockInterruptibly();
        try {
            while (true) {
                int size = need();
                long left = end - nanoTime.getAsLong();
                if (size > 0 || left <= 0 || closed) {
                    return size;
                }
                boolean soon = poller == null && free > 0;
                changedWithin(soon ? Math.min(left, PATIENCE.toNanos()) : left);
            }
        } finally {
            lock.unlock();
        }
    }

    /** How many permits are in use by jobs, not by a poll. */
    int running() {
        return locked(() -> maxConcurrent - free - (poller == null ? 0 : poller.size));
    }

    /** How long ago somebody got requests. */
    Duration quiet() {
        return locked(() -> Duration.ofNanos(nanoTime.getAsLong() - takenAt));
    }

    /** How many seats there are. */
    int seats() {
        return locked(seats::size);
    }

    /** Ends all waiting; nobody gets a turn any more. */
    void close() {
        locked(() -> {
            closed = true;
            changed.signalAll();
            return closed;
        });
    }

    boolean isClosed() {
        return locked(() -> closed);
    }

    /** The largest step of the ladder max, max/4, max/16 … 1 that fits. */
    int sizeFor(int permits) {
        int size = maxConcurrent;
        while (size > permits) {
            size = Math.max(1, size / 4);
        }
        return size;
    }

    private boolean take(Seat seat) {
        boolean may = !closed
                && poller == null
                && seat.size <= free
                && seats.stream().noneMatch(other -> other != seat && goesBefore(other, seat));
        if (may) {
            poller = seat;
            free -= seat.size;
            move(seat, State.POLLING);
        }
        return may;
    }

    private boolean goesBefore(Seat other, Seat seat) {
        return switch (other.state) {
            case WAITING ->
                other.size <= free && (other.size > seat.size || (other.size == seat.size && other.since < seat.since));
            case WORKING -> other.size > seat.size && isBrieflyWorking(other, PATIENCE);
            case COMING, POLLING -> false;
        };
    }

    /**
     * When its jobs are done and only the broker is waited for, it will be back soon, and another one would wait as
     * well.
     */
    private boolean isBrieflyWorking(Seat seat, Duration limit) {
        long nanos = seat.running == 0 ? 4 * limit.toNanos() : limit.toNanos();
        return seat.state == State.WORKING && nanoTime.getAsLong() - seat.since < nanos;
    }

    /** One of the full size stays for good, and one more so that there is somebody to take over from it at once. */
    private boolean isSurplus(Seat seat) {
        return seats.size() > 2
                && (seat.size < maxConcurrent
                        || seats.stream().anyMatch(other -> other != seat && other.size == maxConcurrent));
    }

    private void move(Seat seat, State state) {
        seat.state = state;
        seat.since = nanoTime.getAsLong();
    }

    /** Waits for a change, at most this long; the callers look again in any case. */
    @SuppressWarnings("WaitNotInLoop") // the loops are around the calls
    private void changedWithin(long nanos) throws InterruptedException {
        long unused = changed.awaitNanos(nanos);
    }

    private <T> T locked(Supplier<T> action) {
        lock.lock();
        try {
            return action.get();
        } finally {
            lock.unlock();
        }
    }
}
