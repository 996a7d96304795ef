package dev.millrace.engine;

import java.util.function.Supplier;
import org.apache.kafka.common.utils.Time;

/**
 * The clock that Streams has a machine's thread live by: the system's, or up to {@link CommitTimes#AHEAD_MS} ahead of
 * it. Streams punctuates no more than once in a millisecond of its clock, and has what was handed over meanwhile wait
 * for the next one, while its thread polls again and again.
 */
final class MachineTime implements Time {

    @Override
    public long milliseconds() {
        return CommitTimes.ofThread().clock(SYSTEM.milliseconds());
    }

    @Override
    public long nanoseconds() {
        return SYSTEM.nanoseconds();
    }

    @Override
    public void sleep(long ms) {
        SYSTEM.sleep(ms);
    }

    @Override
    public void waitObject(Object lock, Supplier<Boolean> condition, long deadlineMs) throws InterruptedException {
        SYSTEM.waitObject(lock, condition, deadlineMs);
    }
}
