package dev.millrace.llm;

import java.util.Comparator;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/** A call in a {@link ModelDispatcher} and where it stands. */
final class QueuedCall {

    /** Highest effective priority first, then the oldest. */
    static final Comparator<QueuedCall> ORDER = Comparator.<QueuedCall>comparingInt(q -> q.call.effectivePriority())
            .thenComparingLong(q -> q.call.arrival())
            .thenComparingLong(q -> q.submission);

    /** Where a call stands. */
    enum Phase {
        /** For a permit, or for its provider. */
        WAITING,
        /** With a permit. */
        RUNNING,
        /** Its completion is being called; the id is still taken. */
        DELIVERING,
        /** Cancelled or closed: nobody wants its outcome. */
        DROPPED
    }

    final ModelCall call;
    final long submission;

    /** Counts all models that are asked; the alarm's thread reads it, too. */
    final AtomicInteger attempts = new AtomicInteger();

    // guarded by the dispatcher's lock
    Phase phase = Phase.WAITING;
    /** Whose turn it waits for; empty = nobody's but its own. */
    String key;
    /** Whether it is the one that asks the rate limiter for its key now. */
    boolean asksForRate;

    @Nullable
    Thread thread;

    /** Null before it had its first permit. */
    DispatchClock.@Nullable Alarm alarm;

    // of the thread that runs it; the lock lies between one run and the next
    long deadline;
    /** Counts the model that is asked now. */
    int attemptsOfModel;
    /** The model that is asked since the first one failed for good; null = the first one still is. */
    @Nullable
    String fallback;

    @Nullable
    ModelCallException insteadOf;

    QueuedCall(ModelCall call, String key, long submission) {
        this.call = call;
        this.key = key;
        this.submission = submission;
    }

    void cancelAlarm() {
        if (alarm != null) {
            alarm.cancel();
        }
    }

    void interrupt() {
        if (thread != null) {
            thread.interrupt();
        }
    }
}
