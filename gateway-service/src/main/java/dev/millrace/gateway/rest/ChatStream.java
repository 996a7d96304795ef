package dev.millrace.gateway.rest;

import dev.millrace.schemas.Json;
import io.vertx.core.http.HttpServerResponse;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * An answer in pieces, as server-sent events of data alone. A write waits until the client takes it; a client that
 * takes nothing for too long is cut off. For one thread.
 */
final class ChatStream implements AutoCloseable {

    private static final long NOT_WRITING = Long.MAX_VALUE;
    /** What is written exists as text, as bytes, and as what waits for the socket. */
    private static final int COPIES = 3;

    private static final Duration LOOK = Duration.ofSeconds(1);

    private final OutputStream out;
    private final HttpServerResponse response;
    private final WriteBudget budget;
    private final Duration heartbeat;
    private final Thread watchdog;
    private final AtomicLong writingSince = new AtomicLong(NOT_WRITING);
    private long lastWrite = System.nanoTime();

    /**
     * Begins.
     *
     * @param budget that it shares with all others
     * @param heartbeat after so much silence a comment is sent
     * @param patience how long the client may take nothing
     */
    ChatStream(
            OutputStream out, HttpServerResponse response, WriteBudget budget, Duration heartbeat, Duration patience) {
        this.out = out;
        this.response = response;
        this.budget = budget;
        this.heartbeat = heartbeat;
        this.watchdog = Thread.ofVirtual().name("chat-stream-watchdog").start(() -> watch(patience));
    }

    private void watch(Duration patience) {
        try {
            while (true) {
                Thread.sleep(LOOK);
                long since = writingSince.get();
                if (since != NOT_WRITING && System.nanoTime() - since > patience.toNanos()) {
                    response.reset();
                    return;
                }
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt(); // the stream is closed
        }
    }

    void send(Map<String, ? extends @Nullable Object> json) throws ClientGoneException, InterruptedException {
        write("data: " + Json.writeText(json) + "\n\n");
    }

    /** What OpenAI's clients end a stream at. */
    void done() throws ClientGoneException, InterruptedException {
        write("data: [DONE]\n\n");
    }

    /** A comment, if there was nothing for long enough. */
    void beat() throws ClientGoneException, InterruptedException {
        if (System.nanoTime() - lastWrite > heartbeat.toNanos()) {
            write(": alive\n\n");
        }
    }

    private void write(String text) throws ClientGoneException, InterruptedException {
        WriteBudget.Hold underWay = budget.hold(COPIES * (long) text.length(), response::reset);
        writingSince.set(System.nanoTime());
        try {
            out.write(text.getBytes(StandardCharsets.UTF_8));
            out.flush();
            lastWrite = System.nanoTime();
        } catch (IOException | UncheckedIOException e) {
            throw new ClientGoneException();
        } finally {
            writingSince.set(NOT_WRITING);
            underWay.close();
        }
    }

    @Override
    public void close() {
        watchdog.interrupt();
    }
}
