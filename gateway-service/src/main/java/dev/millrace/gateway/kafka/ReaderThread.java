package dev.millrace.gateway.kafka;

import dev.millrace.schemas.Backoff;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A thread that works until it is told to stop. Whatever else ends its work is told by {@link #failure}, and the work begins
 * again after a pause that grows. For any thread.
 */
final class ReaderThread implements AutoCloseable {
    private static final Logger LOGGER = LoggerFactory.getLogger(ReaderThread.class);
    static final Backoff BACKOFF = new Backoff(Duration.ofMillis(100), Duration.ofSeconds(5), "");
    private static final Duration STOP_LIMIT = Duration.ofSeconds(10);

    private final String name;
    private final Work work;
    private final Thread thread;
    private final CountDownLatch closed = new CountDownLatch(1);
    private volatile @Nullable String failure;

    /** What is done; it returns when it is told to stop. */
    @FunctionalInterface
    interface Work {
        void run() throws InterruptedException;
    }

    /** Does nothing yet, see {@link #start}. */
    ReaderThread(String name, Work work) {
        this.name = name;
        this.work = work;
        this.thread = Thread.ofPlatform().daemon().name(name).unstarted(this::run);
    }

    /** Begins. A second call does nothing. */
    synchronized void start() {
        if (thread.getState() == Thread.State.NEW) {
            thread.start();
        }
    }

    /** The work told to this goes well: what failed before is over. */
    void works() {
        failure = null;
    }

    /** Why it does not work now, for people; empty if it does, or has not begun. */
    Optional<String> failure() {
        return Optional.ofNullable(failure);
    }

    private void run() {
        int failures = 0;
        while (closed.getCount() > 0) {
            try {
                work.run();
                return;
            } catch (InterruptedException e) {
                return;
            } catch (Throwable e) { // also errors: a thread that dies in silence helps nobody
                if (failure == null) {
                    failures = 0;
                }
                failure = name + ": " + e;
                LOGGER.atError().setCause(e).log("A reader failed for a reason that nobody expected; it begins again");
            }
            try {
                if (closed.await(BACKOFF.after(++failures, null).toMillis(), TimeUnit.MILLISECONDS)) {
                    return;
                }
            } catch (InterruptedException e) {
                return;
            }
        }
    }

    /** Waits, for seconds at most, until the work has ended, which somebody else has told it to. */
    @Override
    public void close() {
        closed.countDown();
        try {
            if (thread.getState() != Thread.State.NEW && !thread.join(STOP_LIMIT)) {
                LOGGER.warn("The thread {} did not stop in time", name);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
