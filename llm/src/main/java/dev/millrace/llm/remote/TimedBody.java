package dev.millrace.llm.remote;

import java.io.IOException;
import java.io.InputStream;
import java.io.InterruptedIOException;
import java.net.http.HttpResponse.BodySubscriber;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Flow;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * A response's body that can be read against a clock, which the JDK's own stream cannot. Reading obeys an interrupt at
 * once, even if there is something left to read. Closing it early closes the connection; closing it at its end leaves
 * the connection to the next request. One piece is asked for at a time, so that a slow reader slows the sender down.
 */
final class TimedBody extends InputStream implements BodySubscriber<TimedBody> {

    /** Nothing came in time. */
    static final class LateException extends IOException {
        LateException() {
            super("nothing came in time");
        }
    }

    private sealed interface Signal {}

    private record Piece(List<ByteBuffer> buffers) implements Signal {}

    private record Broken(Throwable cause) implements Signal {}

    private record End() implements Signal {}

    private final LongSupplier nanosLeft;
    private final BlockingQueue<Signal> signals = new LinkedBlockingQueue<>();
    private final CompletableFuture<Flow.Subscription> subscription = new CompletableFuture<>();

    // below: the reading thread's own
    private List<ByteBuffer> buffers = List.of();
    private int next;
    private boolean atEnd;

    /**
     * A body for one response.
     *
     * @param nanosLeft how long a read may still wait; asked at each one, on its thread
     */
    TimedBody(LongSupplier nanosLeft) {
        this.nanosLeft = nanosLeft;
    }

    @Override
    public CompletionStage<TimedBody> getBody() {
        return CompletableFuture.completedStage(this);
    }

    @Override
    public void onSubscribe(Flow.Subscription granted) {
        subscription.complete(granted);
        granted.request(1);
    }

    @Override
    public void onNext(List<ByteBuffer> item) {
        signals.add(new Piece(item));
    }

    @Override
    public void onError(Throwable cause) {
        signals.add(new Broken(cause));
    }

    @Override
    public void onComplete() {
        signals.add(new End());
    }

    @Override
    public int read() throws IOException {
        ByteBuffer buffer = readable();
        return buffer == null ? -1 : buffer.get() & 0xFF;
    }

    @Override
    public int read(byte[] into, int offset, int length) throws IOException {
        if (length == 0) {
            return 0;
        }
        ByteBuffer buffer = readable();
        if (buffer == null) {
            return -1;
        }
        int count = Math.min(length, buffer.remaining());
        buffer.get(into, offset, count);
        return count;
    }

    @Override
    public void close() {
        if (!atEnd) {
            var unused = subscription.thenAccept(Flow.Subscription::cancel);
        }
    }

    /** A buffer with something in it; null at the end. */
    private @Nullable ByteBuffer readable() throws IOException {
        if (Thread.currentThread().isInterrupted()) {
            throw new InterruptedIOException("interrupted while reading the reply");
        }
        while (!atEnd) {
            while (next < buffers.size()) {
                if (buffers.get(next).hasRemaining()) {
                    return buffers.get(next);
                }
                next++;
            }
            switch (take()) {
                case Piece(List<ByteBuffer> more) -> {
                    buffers = more;
                    next = 0;
                    var unused = subscription.thenAccept(granted -> granted.request(1));
                }
                case Broken(Throwable cause) -> throw new IOException(cause);
                case End() -> atEnd = true;
            }
        }
        return null;
    }

    private Signal take() throws IOException {
        try {
            Signal signal = signals.poll(Math.max(0, nanosLeft.getAsLong()), TimeUnit.NANOSECONDS);
            if (signal == null) {
                throw new LateException();
            }
            return signal;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            InterruptedIOException interrupted = new InterruptedIOException("interrupted while awaiting the reply");
            interrupted.initCause(e);
            throw interrupted;
        }
    }
}
