package dev.millrace.bench;

import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/** Notes how long tasks took. Safe for any thread. */
final class Tally {

    private final AtomicReference<@Nullable String> failure = new AtomicReference<>();
    private volatile Latencies noted = new Latencies();

    /** Forgets what was noted so far. */
    void restart() {
        noted = new Latencies();
    }

    /** A task that was sent then has completed now. */
    void completed(long sentNanos) {
        noted.note((System.nanoTime() - sentNanos) / 1e6);
    }

    /** A task did not complete; the first one is kept. */
    void failed(String how) {
        failure.compareAndSet(null, how);
    }

    /** What was noted so far. */
    Latencies latencies() {
        requireNoFailure();
        return noted.copy();
    }

    /** How many have completed. */
    int count() {
        requireNoFailure();
        return noted.count();
    }

    private void requireNoFailure() {
        String how = failure.get();
        if (how != null) {
            throw new IllegalStateException("expected every task to complete, found: " + how);
        }
    }
}
