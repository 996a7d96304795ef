package dev.millrace.llm;

import java.time.Duration;

/** What the dispatcher knows of time. A test brings its own and never really waits. */
interface DispatchClock {

    /** Nanoseconds since some fixed moment. */
    long nanoTime();

    /** Blocks the calling thread. */
    void sleep(Duration pause) throws InterruptedException;

    /** Runs the task once after the delay on a thread of its own choice; the task does not block. */
    Alarm after(Duration delay, Runnable task);

    /** Ends what {@link #after} started; nothing runs after this. */
    void stop();

    /** A task that waits for its moment. */
    interface Alarm {
        /** It need not run any more; it may still, if its moment has come. */
        void cancel();
    }
}
