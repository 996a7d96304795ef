package dev.millrace.bench;

import java.time.Duration;

/** For closing: an interrupt ends the wait, and stays known to the thread. */
final class Uninterrupted {

    private Uninterrupted() {}

    /** Waits until a thread has ended, or so long. */
    static void join(Thread thread, Duration limit) {
        try {
            thread.join(limit);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
