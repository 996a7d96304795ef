package dev.millrace.requests;

/**
 * Does the work of one request. Called on a platform thread of its own, by as many at a time as the worker may run:
 * work that computes without end costs one of these, and holds up nothing else.
 */
@FunctionalInterface
public interface RequestHandler {

    /**
     * Does the work and says how it went. May block for as long as it takes: the request stays this worker's own while
     * the call lasts. A request may come more than once, each time with the same {@link Request#callId()}, which is the
     * idempotency key to hand on.
     *
     * <p>What went wrong with the work is a {@link Reply.Failed}. An exception is taken for a bug of the handler: it is
     * logged and answered as {@link ReplyEvents#INTERNAL_ERROR}.
     *
     * @throws InterruptedException if the thread was interrupted, which the worker does when it has to stop and the
     *     grace period is over; the request then goes back to the topic unanswered
     */
    Reply handle(Request request) throws InterruptedException;
}
