package dev.millrace.llm;

import java.time.Duration;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/** Real time, with one daemon thread for all alarms. */
final class SystemDispatchClock implements DispatchClock {

    private final ScheduledThreadPoolExecutor alarms;

    SystemDispatchClock() {
        alarms = new ScheduledThreadPoolExecutor(
                1, Thread.ofPlatform().daemon().name("model-call-alarms").factory());
        // a settled call's alarm would otherwise stay in the heap until its time-out
        alarms.setRemoveOnCancelPolicy(true);
    }

    @Override
    public long nanoTime() {
        return System.nanoTime();
    }

    @Override
    public void sleep(Duration pause) throws InterruptedException {
        Thread.sleep(pause);
    }

    @Override
    public Alarm after(Duration delay, Runnable task) {
        try {
            ScheduledFuture<?> scheduled = alarms.schedule(task, delay.toNanos(), TimeUnit.NANOSECONDS);
            return () -> scheduled.cancel(false);
        } catch (RejectedExecutionException e) {
            return () -> {}; // stopped: the call that wanted it is being interrupted
        }
    }

    @Override
    public void stop() {
        alarms.shutdownNow();
    }
}
