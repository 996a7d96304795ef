package dev.millrace.bench;

import java.time.Duration;

/**
 * Keeps tasks in flight: as soon as one is done, the next one goes in. Its clock starts before a task is sent and stops
 * when whoever sent it knows its end.
 */
interface Driver extends AutoCloseable {

    /** How tasks get in and answers come out, for the report. */
    String ingress();

    /** Keeps so many tasks in flight from now on; 0 = lets those in flight end. Returns at once. */
    void keep(int inFlight);

    /** Keeps so many tasks in flight from now on, and returns when it has done so for so many seconds. */
    default void keep(int inFlight, int seconds) throws InterruptedException {
        keep(inFlight);
        Thread.sleep(Duration.ofSeconds(seconds));
    }

    /** Begins to note how long tasks take; only those that end from now on count. */
    void startNoting();

    /**
     * What was noted since {@link #startNoting}.
     *
     * @throws IllegalStateException if a task did not complete
     */
    Latencies noted();

    @Override
    void close();
}
