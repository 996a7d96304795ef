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
     * Does it, however long it takes. An event may come more than once.
     *
     * <p>Kafka's exceptions and {@link java.io.UncheckedIOException} are taken for an outage: this is called again
     * after a pause that grows from 1 s to 30 s, for as long as the worker runs, and nobody else gets the event
     * meanwhile. So what the event itself is to blame for is to be told by {@link Outcome.GivenUp}. Any other exception
     * is taken for a bug of the handler, and so is one about a record that is too large or cannot be written: it is
     * logged, and the event becomes a dead letter.
     *
     * @throws InterruptedException if the thread was interrupted, which the worker does when it has to stop and the
     *     grace period is over; the event then goes back to the topic. Kafka's InterruptException is treated the same
     */
    Outcome handle(Event event) throws InterruptedException;
}
