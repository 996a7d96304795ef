package dev.millrace.gateway.rest.responses;

import dev.millrace.gateway.rest.streams.ClientGoneException;

/** Lets through what a client has not seen; of a text that it has seen in part, the rest. For one thread. */
final class ResponseSequel implements ResponseStory.Sink {
    private final long after;
    private final ResponseStory.Sink sink;
    private long last;

    /**
     * Behind this number.
     *
     * @param after -1 = it has seen nothing
     */
    ResponseSequel(long after, ResponseStory.Sink sink) {
        this.after = after;
        this.sink = sink;
        this.last = after;
    }

    /** The number of the last event that was let through, or that the client had seen. */
    long last() {
        return last;
    }

    @Override
    public void send(ResponseEvent event) throws InterruptedException, ClientGoneException {
        if (event.number() <= after) {
            return;
        }
        last = event.number();
        long unseen = event.number() - after;
        sink.send(
                event instanceof ResponseEvent.Delta delta
                                && unseen < delta.delta().length()
                        ? delta.rest((int) unseen)
                        : event);
    }
}
