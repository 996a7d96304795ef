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

    private static final ThreadLocal<CommitTimes> OF_THREAD = ThreadLocal.withInitial(CommitTimes::new);

    private final List<CommitTiming> machines = new CopyOnWriteArrayList<>();
    private final List<Inbox.Box<?>> boxes = new CopyOnWriteArrayList<>();
    private @Nullable Runnable wakeUp;
    private boolean woken;
    private int polled;

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
            machine.pauses(now);
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
        machines.forEach(machine -> machine.resumes(now));
    }

    /** Has the machines send what they hold of the changes to their rows. */
    void sendRows() {
        machines.forEach(CommitTiming::sendRows);
    }

    /** A machine has asked for a commit, and Streams commits what all machines of a thread have done. */
    void commits(long now, double costMs) {
        machines.forEach(machine -> machine.isCommitted(now, costMs));
    }

    /** One of the records that came is being taken. */
    void taken() {
        polled = Math.max(0, polled - 1);
    }

    /** Whether anything is being done now that may soon be handed over. */
    boolean isAnyUnderWay() {
        return machines.stream().anyMatch(CommitTiming::isAnyUnderWay);
    }

    /** How many records came that have not been taken. */
    int polled() {
        return polled;
    }
}
