package dev.millrace.requests;

import java.util.concurrent.atomic.LongAdder;

/** What {@link WorkerStats} counts. Safe for all threads. */
final class Counters {
    private final LongAdder taken = new LongAdder();
    private final LongAdder redelivered = new LongAdder();
    private final LongAdder replied = new LongAdder();
    private final LongAdder deadLettered = new LongAdder();
    private final LongAdder returned = new LongAdder();
    private final LongAdder renewed = new LongAdder();

    void taken(int deliveryCount) {
        taken.increment();
        if (deliveryCount > 1) {
            redelivered.increment();
        }
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
                renewed.sum());
    }
}
