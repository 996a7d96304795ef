package dev.millrace.requests;

import dev.millrace.schemas.Event;

/**
 * Does something about events that nobody waits for an answer to. Called on a platform thread of its own, by many at a
 * time.
 */
@FunctionalInterface
public interface NoticeHandler {

    /** How it went. */
    sealed interface Outcome {

        /** It is done. */
        record Done() implements Outcome {}

        /**
         * It cannot be done; the event becomes a dead letter.
         *
         * @param code why, a stable word in lower snake case
         * @param detail why, for people
         */
        record GivenUp(String code, String detail) implements Outcome {}
    }

    /**
     * Does it, however long it takes. An event may come more than once. An exception is taken for a bug of the handler:
     * it is logged, and the event becomes a dead letter.
     *
     * @throws InterruptedException if the thread was interrupted, which the worker does when it has to stop and the
     *     grace period is over; the event then goes back to the topic
     */
    Outcome handle(Event event) throws InterruptedException;
}
