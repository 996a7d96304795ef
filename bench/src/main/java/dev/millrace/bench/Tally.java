package dev.millrace.bench;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/** Notes how long tasks took. Safe for any thread. */
final class Tally {

    private final AtomicReference<ConcurrentLinkedQueue<Double>> millis =
            new AtomicReference<>(new ConcurrentLinkedQueue<>());
    private final AtomicInteger count = new AtomicInteger();
    private final AtomicReference<@Nullable String> failure = new AtomicReference<>();

    /** Forgets what was noted so far. */
    void restart() {
        millis.set(new ConcurrentLinkedQueue<>());
        count.set(0);
    }

    /** A task that was sent then has completed now. */
    void completed(long sentNanos) {
        millis.get().add((System.nanoTime() - sentNanos) / 1e6);
        count.incrementAndGet();
    }

    /** A task did not complete; the first one is kept. */
    void failed(String how) {
        failure.compareAndSet(null, how);
    }

    Latencies latencies() {
        requireNoFailure();
        List<Double> sorted = new ArrayList<>(millis.get());
        return new Latencies(sorted);
    }

    /** How many have completed. */
    int count() {
        requireNoFailure();
        return count.get();
    }

    private void requireNoFailure() {
        String how = failure.get();
        if (how != null) {
            throw new IllegalStateException("expected every task to complete, found: " + how);
        }
    }
}
