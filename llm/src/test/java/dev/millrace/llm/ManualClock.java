package dev.millrace.llm;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** Time that passes only when the test says so, or when somebody sleeps. */
final class ManualClock implements DispatchClock {

    final List<Duration> slept = new ArrayList<>();
    private final List<Pending> alarms = new ArrayList<>();
    private long now;

    private record Pending(long due, Runnable task) {}

    @Override
    public synchronized long nanoTime() {
        return now;
    }

    @Override
    public synchronized void sleep(Duration pause) throws InterruptedException {
        if (Thread.interrupted()) {
            throw new InterruptedException();
        }
        slept.add(pause);
        now += pause.toNanos();
    }

    @Override
    public synchronized Alarm after(Duration delay, Runnable task) {
        Pending alarm = new Pending(now + delay.toNanos(), task);
        alarms.add(alarm);
        return () -> cancel(alarm);
    }

    private synchronized void cancel(Pending alarm) {
        alarms.remove(alarm);
    }

    @Override
    public synchronized void stop() {
        alarms.clear();
    }

    /** Lets time pass and runs what is due. */
    void advance(Duration by) {
        List<Pending> due;
        synchronized (this) {
            now += by.toNanos();
            due = alarms.stream().filter(alarm -> alarm.due() <= now).toList();
            alarms.removeAll(due);
        }
        due.forEach(alarm -> alarm.task().run());
    }
}
