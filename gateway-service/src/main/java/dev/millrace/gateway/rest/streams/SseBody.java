package dev.millrace.gateway.rest.streams;

import jakarta.ws.rs.sse.OutboundSseEvent;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Flow;
import java.util.concurrent.LinkedBlockingQueue;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Writes the events of one {@link SsePump} to the body of a response, for a route that does not answer with a stream
 * every time: each when the one before it is written, so that the pump knows what the client has taken.
 */
final class SseBody implements Flow.Subscriber<OutboundSseEvent> {
    private static final Logger LOGGER = LoggerFactory.getLogger(SseBody.class);

    private final BlockingQueue<Optional<OutboundSseEvent>> events = new LinkedBlockingQueue<>();

    /** Runs the stream; returns when it is over. */
    void write(SsePump pump, OutputStream out) {
        SsePump.Stream stream = pump.begin(this);
        try {
            stream.request(1);
            for (Optional<OutboundSseEvent> next = events.take(); next.isPresent(); next = events.take()) {
                out.write(text(next.get()).getBytes(StandardCharsets.UTF_8));
                out.flush();
                stream.request(1);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (IOException | UncheckedIOException e) {
            LOGGER.debug("The client of an event stream is gone");
        } finally {
            stream.leave();
        }
    }

    private static String text(OutboundSseEvent event) {
        if (event.getData() == null) {
            return ":" + event.getComment() + "\n\n";
        }
        return (event.getName() == null ? "" : "event: " + event.getName() + "\n") + "data: " + event.getData()
                + "\n\n";
    }

    /** There will be no more. For any thread, any number of times. */
    void end() {
        events.add(Optional.empty());
    }

    @Override
    public void onSubscribe(Flow.Subscription subscription) {}

    @Override
    public void onNext(OutboundSseEvent event) {
        events.add(Optional.of(event));
    }

    @Override
    public void onError(Throwable failure) {
        end();
    }

    @Override
    public void onComplete() {
        end();
    }
}
