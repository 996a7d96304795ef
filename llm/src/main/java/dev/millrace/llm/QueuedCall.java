package dev.millrace.llm;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A call in a {@link ModelDispatcher} and where it stands. */
final class QueuedCall {
    private static final Logger LOGGER = LoggerFactory.getLogger(ModelDispatcher.class);

    /** The oldest first. */
    static final Comparator<QueuedCall> BY_AGE =
            Comparator.<QueuedCall>comparingLong(q -> q.call.arrival()).thenComparingLong(q -> q.submission);

    /** Highest effective priority first, then the oldest. */
    static final Comparator<QueuedCall> BY_PRIORITY =
            Comparator.<QueuedCall>comparingInt(q -> q.call.effectivePriority()).thenComparing(BY_AGE);

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

    // of all models that are asked; the alarm's thread reads both, too
    final AtomicInteger attempts = new AtomicInteger();
    /** Of attempts that gave no reply. */
    final List<ModelCharge> charges = new CopyOnWriteArrayList<>();

    // guarded by the dispatcher's lock
    Phase phase = Phase.WAITING;
    /** Whose turn it waits for; empty = nobody's but its own. */
    String key;
    /** Whether it is the one that asks the rate limiter for its key now. */
    boolean asksForRate;

    @Nullable
    Thread thread;

    /** Who is told what came of it after it was cancelled; null = nobody. */
    @Nullable
    Consumer<ModelOutcome> leftover;

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

    /** What is asked in place of a reply that the review turned down; null = none was so far. */
    @Nullable
    ModelRequest correction;

    QueuedCall(ModelCall call, String key, long submission) {
        this.call = call;
        this.key = key;
        this.submission = submission;
    }

    void charge(@Nullable ModelCharge charge) {
        if (charge != null) {
            charges.add(charge);
        }
    }

    /** The outcome of a call that failed like this. */
    ModelOutcome.Failed failed(ModelCallException error) {
        return new ModelOutcome.Failed(error, attempts.get(), charges);
    }

    /** The outcome of a call that was cut off. */
    ModelOutcome.Failed cancelled() {
        return failed(new ModelCallException(ModelErrorCode.CANCELLED, "the model call was interrupted"));
    }

    /**
     * Hands the outcome over. If it cannot be taken, the call fails: nobody would ever answer it otherwise.
     */
    void complete(ModelOutcome outcome) {
        Thread.interrupted(); // a model may have left the flag behind; the completion is not what was interrupted
        try {
            call.completion().accept(outcome);
        } catch (RuntimeException | Error e) {
            LOGGER.atError()
                    .addKeyValue("callId", call.callId())
                    .setCause(e)
                    .log("the completion of a model call broke; the call fails");
            List<ModelCharge> all = new ArrayList<>(outcome.charges());
            if (outcome instanceof ModelOutcome.Replied replied) {
                all.add(replied.reply().charge());
            }
            ModelCallException error = new ModelCallException(
                    ModelErrorCode.INTERNAL_ERROR,
                    "what came of the model call could not be taken: "
                            + e.getClass().getName());
            tell(call.completion(), new ModelOutcome.Failed(error, outcome.attempts(), all));
        }
    }

    /** Hands an outcome over that may be lost: the call then ends with its task's deadline, if anybody still waits. */
    void tell(Consumer<ModelOutcome> taker, ModelOutcome outcome) {
        Thread.interrupted(); // the call was interrupted, and not what is told about it
        try {
            taker.accept(outcome);
        } catch (RuntimeException e) {
            LOGGER.atError()
                    .addKeyValue("callId", call.callId())
                    .setCause(e)
                    .log("nobody was told what a model call had come to");
        }
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
