package dev.millrace.engine;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.jspecify.annotations.Nullable;

/**
 * When the machines on one stream thread want to commit and what they have been handed, for the thread to look after
 * them then and to sleep otherwise. Asked by its thread; a machine may leave from any, and any may wake it.
 */
final class CommitTimes {

    /** Over so many commits what they cost is averaged, roughly. */
    private static final int OF_LATE = 4;

    private static final int LITTLE_COST_MS = 4;

    /** So far ahead of the system's clock the thread's may be. */
    static final int AHEAD_MS = 2;

    private static final ThreadLocal<CommitTimes> OF_THREAD = ThreadLocal.withInitial(CommitTimes::new);

    private final List<CommitTiming> machines = new CopyOnWriteArrayList<>();
    private final List<Inbox.Box<?>> boxes = new CopyOnWriteArrayList<>();
    private @Nullable Runnable wakeUp;
    private boolean woken;
    private int polled;
    /** When the commit began that is being made; {@code null} = there is none. */
    private @Nullable Long beganNanos;

    private double costMs;
    private long committedMs;
    private long toldMs;
    private long punctuatedMs;

    /** Those of the calling thread. */
    static CommitTimes ofThread() {
        return OF_THREAD.get();
    }

    void add(CommitTiming machine) {
        machines.add(machine);
    }

    void remove(CommitTiming machine) {
        machines.remove(machine);
    }

    void add(Inbox.Box<?> box) {
        boxes.add(box);
    }

    void remove(Inbox.Box<?> box) {
        boxes.remove(box);
    }

    /** Whether something has been handed over that is still to be taken. */
    boolean handed() {
        return boxes.stream().anyMatch(box -> !box.isEmpty());
    }

    /** Whether this has been handed over before, and taken. */
    boolean isSecond(ConsumerRecord<byte[], byte[]> candidate) {
        for (Inbox.Box<?> box : boxes) {
            if (box.isSecond(candidate)) {
                return true;
            }
        }
        return false;
    }

    /**
     * Waits until something is handed over.
     *
     * @return whether anything has been
     */
    synchronized boolean awaitHanded(Duration limit) throws InterruptedException {
        if (!handed() && limit.isPositive()) {
            TimeUnit.NANOSECONDS.timedWait(this, limit.toNanos());
        }
        return handed();
    }

    /**
     * What time it is for the thread: as the system says, and a millisecond later if something waits to be taken and
     * this one's punctuation is over. Does not go back, unless the system's does.
     *
     * @param systemMs now, in Unix milliseconds
     */
    long clock(long systemMs) {
        long now = toldMs > systemMs + AHEAD_MS ? systemMs : Math.max(toldMs, systemMs);
        toldMs = now < systemMs + AHEAD_MS && punctuatedMs == now && handed() ? now + 1 : now;
        return toldMs;
    }

    /** The machines of the thread are taking what they were handed, at this time of its clock. */
    void punctuated(long now) {
        punctuatedMs = now;
    }

    /** Whether Streams comes to what has been handed over as soon as the poll returns. */
    boolean takes(long systemMs) {
        return clock(systemMs) > punctuatedMs;
    }

    /** Something has been handed over: if the thread waits, it need not any longer. From any thread. */
    synchronized void wake() {
        notifyAll();
        if (wakeUp != null && !woken) {
            woken = true;
            wakeUp.run();
        }
    }

    /** From now on, {@link #wake} calls this, once. */
    synchronized void wakingBy(Runnable wakeUpOfPoll) {
        wakeUp = wakeUpOfPoll;
        woken = false;
    }

    /** The poll is over, and nothing wakes it any more; whether something has. */
    synchronized boolean awake() {
        wakeUp = null;
        return woken;
    }

    /**
     * The thread is about to wait for records: for how long it may.
     *
     * @param limit if nothing is due before
     * @param now Unix milliseconds
     */
    Duration waiting(Duration limit, long now) {
        if (handed()) {
            return Duration.ZERO;
        }
        long due = Long.MAX_VALUE;
        for (CommitTiming machine : machines) {
            due = Math.min(due, machine.dueMs());
        }
        return due == Long.MAX_VALUE || due - now >= limit.toMillis()
                ? limit
                : Duration.ofMillis(Math.min(limit.toMillis(), Math.max(1, due - now)));
    }

    /**
     * It has waited until now.
     *
     * @param now Unix milliseconds
     * @param records that came, each of which is {@linkplain #taken taken} before the thread waits again
     */
    void waited(long now, int records) {
        polled = records;
        beganNanos = null;
        machines.forEach(machine -> machine.turns(now));
    }

    /**
     * Streams commits what all machines of the thread have done, and sends what is left of it, perhaps in several
     * calls: they send what they hold of the changes to their rows.
     *
     * @param nanos now, as of {@link System#nanoTime}
     */
    void commits(long nanos) {
        beganNanos = beganNanos == null ? (Long) nanos : beganNanos;
        machines.forEach(CommitTiming::sendRows);
        machines.forEach(CommitTiming::commits);
    }

    /**
     * It is committed.
     *
     * @param nanos now, as of {@link System#nanoTime}
     * @param now the same in Unix milliseconds
     */
    void committed(long nanos, long now) {
        if (beganNanos != null) {
            double tookMs = (nanos - beganNanos) / 1e6;
            // a pause of the process counts as a commit that is no more than somewhat longer
            costMs += (Math.min(tookMs, 2 * costMs + LITTLE_COST_MS) - costMs) / OF_LATE;
        }
        beganNanos = null;
        committedMs = now;
    }

    /** What a commit takes: the mean of those of late, in milliseconds. */
    double costMs() {
        return costMs;
    }

    /** When the last commit ended, in Unix milliseconds; 0 = there was none. */
    long committedMs() {
        return committedMs;
    }

    /** One of the records that came is being taken. */
    void taken() {
        polled = Math.max(0, polled - 1);
    }

    /** How many things the machines of the thread are doing now, each of which may soon be handed something. */
    int underWay() {
        int things = 0;
        for (CommitTiming machine : machines) {
            things += machine.underWay();
        }
        return things;
    }

    /** How many records came that have not been taken. */
    int polled() {
        return polled;
    }
}
