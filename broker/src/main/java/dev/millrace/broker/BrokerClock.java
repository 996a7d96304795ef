package dev.millrace.broker;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;
import org.apache.kafka.common.utils.Time;

/**
 * The system's time, of which the broker may be told that some has passed. Only the clock for durations moves; dates
 * are those of the system. For use from any thread.
 */
final class BrokerClock implements Time {

    private final AtomicLong aheadNanos = new AtomicLong();

    /** From now on it is so much later. */
    void advance(Duration passed) {
        aheadNanos.addAndGet(passed.toNanos());
    }

    @Override
    public long milliseconds() {
        return Time.SYSTEM.milliseconds();
    }

    @Override
    public long nanoseconds() {
        return Time.SYSTEM.nanoseconds() + aheadNanos.get();
    }

    @Override
    public void sleep(long millis) {
        Time.SYSTEM.sleep(millis);
    }

    @Override
    public void waitObject(Object lock, Supplier<Boolean> condition, long deadlineMs) throws InterruptedException {
        Time.SYSTEM.waitObject(lock, condition, deadlineMs);
    }
}
