package dev.millrace.kafka;

import dev.millrace.schemas.Backoff;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;
import org.apache.kafka.clients.consumer.CloseOptions;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.errors.WakeupException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A thread that reads until it is closed. Whatever fails is told by {@link #problem}, and the thread begins again with
 * a new consumer, after a pause that grows. For any thread.
 */
public final class ReaderThread implements AutoCloseable {

    /** The pause after a first failure; it doubles up to the longest one. */
    static final Duration FIRST_PAUSE = Duration.ofMillis(500);

    private static final Logger LOGGER = LoggerFactory.getLogger(ReaderThread.class);
    private static final Duration STOP_LIMIT = Duration.ofSeconds(5);

    private final String name;
    private final Supplier<? extends Consumer<byte[], byte[]>> consumers;
    private final Duration longestPause;
    private final Work work;
    private final Thread thread;
    private final AtomicBoolean begun = new AtomicBoolean();
    private final CountDownLatch closed = new CountDownLatch(1);
    private final AtomicReference<@Nullable Consumer<byte[], byte[]>> polling = new AtomicReference<>();
    private volatile @Nullable String problem;

    /** What is done, all by this thread. */
    public interface Work {

        /** Reads while the thread is {@link #isOpen open}; returns before that to go on with a new consumer at once. */
        void read(Consumer<byte[], byte[]> consumer) throws InterruptedException;

        /** Nothing is read any more. */
        default void end() {}
    }

    private record Open(Consumer<byte[], byte[]> consumer) implements AutoCloseable {

        /**
         * One that has no group to leave only says goodbye to its fetches, and that waits behind the last of them until
         * the broker answers it.
         */
        @Override
        public void close() {
            if (consumer.subscription().isEmpty()) {
                consumer.close(CloseOptions.timeout(Duration.ZERO));
            } else {
                consumer.close();
            }
        }
    }

    /**
     * Reads nothing yet.
     *
     * @param name of the thread, and of the reader in logs and in health
     * @param consumers makes the first consumer, and another one after each failure
     * @param longestPause between two attempts
     */
    public ReaderThread(
            String name, Supplier<? extends Consumer<byte[], byte[]>> consumers, Duration longestPause, Work work) {
        this.name = name;
        this.consumers = consumers;
        this.longestPause = longestPause;
        this.work = work;
        this.thread = Thread.ofPlatform().name(name).daemon().unstarted(this::run);
    }

    /** Begins. A second call does nothing. */
    public void start() {
        if (isOpen() && begun.compareAndSet(false, true)) {
            thread.start();
        }
    }

    /** Whether it has not been closed. */
    public boolean isOpen() {
        return closed.getCount() > 0;
    }

    /** What failed before is over. */
    public void works() {
        problem = null;
    }

    /** Ends a poll early, by a {@link WakeupException}. */
    public void wakeUp() {
        Consumer<byte[], byte[]> open = polling.get();
        if (open != null) {
            open.wakeup();
        }
    }

    /** Its name. */
    public String name() {
        return name;
    }

    /** Why it does not read now, for people; empty = it reads, or was not started or is closed. */
    public Optional<String> problem() {
        if (begun.get() && isOpen() && !thread.isAlive()) {
            return Optional.of(name + ": its thread has ended");
        }
        return Optional.ofNullable(problem);
    }

    private void run() {
        Backoff backoff = new Backoff(FIRST_PAUSE, longestPause, name);
        int failures = 0;
        try {
            while (isOpen()) {
                long startedAt = System.nanoTime();
                try (Open open = new Open(consumers.get())) {
                    polling.set(open.consumer());
                    work.read(open.consumer());
                } catch (WakeupException e) {
                    LOGGER.debug("Woken up to stop");
                } catch (InterruptedException e) {
                    LOGGER.atDebug().addKeyValue("reader", name).log("Interrupted while it asked; trying again now");
                } catch (RuntimeException | StackOverflowError | LinkageError e) {
                    if (System.nanoTime() - startedAt > longestPause.toNanos()) {
                        failures = 0;
                    }
                    pauseAfter(e, backoff.after(++failures, null));
                } finally {
                    polling.set(null);
                }
            }
        } finally {
            work.end();
        }
    }

    private void pauseAfter(Throwable e, Duration pause) {
        if (!isOpen()) {
            LOGGER.atDebug().setCause(e).log("Failed while it stopped");
            return;
        }
        problem = name + ": " + e;
        if (e instanceof KafkaException) {
            LOGGER.atWarn()
                    .addKeyValue("reader", name)
                    .addKeyValue("cause", e.toString())
                    .log("Records cannot be read now; trying again");
        } else {
            LOGGER.atError()
                    .addKeyValue("reader", name)
                    .setCause(e)
                    .log("A defect ended a reader of records; it begins again");
        }
        try {
            if (closed.await(pause.toMillis(), TimeUnit.MILLISECONDS)) {
                LOGGER.debug("Stopped while it could not read");
            }
        } catch (InterruptedException interrupted) {
            LOGGER.atDebug().addKeyValue("reader", name).log("Interrupted while it waited; trying again now");
        }
    }

    /** Tells it to stop, without waiting for that. */
    public void stop() {
        closed.countDown();
        wakeUp();
    }

    /** Stops reading, within seconds. */
    @Override
    public void close() {
        stop();
        try {
            if (begun.get() && !thread.join(STOP_LIMIT)) {
                LOGGER.atWarn().addKeyValue("reader", name).log("A reader of records did not stop in time");
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
