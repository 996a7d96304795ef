package dev.millrace.requests;

import java.time.Duration;
import java.util.concurrent.atomic.LongAdder;

/** What {@link WorkerStats} counts. Safe for all threads. */
final class Counters {
    private final WorkerMetrics metrics;
    private final LongAdder taken = new LongAdder();
    private final LongAdder redelivered = new LongAdder();
    private final LongAdder replied = new LongAdder();
    private final LongAdder deadLettered = new LongAdder();
    private final LongAdder returned = new LongAdder();
    private final LongAdder renewed = new LongAdder();
    private volatile long backlog = WorkerStats.UNKNOWN;

    Counters(WorkerMetrics metrics) {
        this.metrics = metrics;
    }

    void taken(int deliveryCount, Duration waited) {
        taken.increment();
        if (deliveryCount > 1) {
            redelivered.increment();
        }
        metrics.begun(waited, deliveryCount);
    }

    void ended(WorkerMetrics.Outcome outcome, Duration ran) {
        metrics.ended(outcome, ran);
    }

    void backlog(long requests) {
        backlog = requests;
        metrics.backlog(requests);
    }

    void replied() {
        replied.increment();
    }

    void deadLettered() {
        deadLettered.increment();
    }

    void returned() {
        returned.increment();
    }

    void renewed(int count) {
        renewed.add(count);
    }

    WorkerStats stats(int running, int consumers) {
        return new WorkerStats(
                running,
                consumers,
                taken.sum(),
                redelivered.sum(),
                replied.sum(),
                deadLettered.sum(),
                returned.sum(),
                renewed.sum(),
                backlog);
    }
}
