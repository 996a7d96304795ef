package dev.millrace.gateway.rest;

import dev.millrace.schemas.Json;
import dev.millrace.schemas.MalformedEventException;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.InterruptedIOException;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.common.utils.Utils;
import org.jspecify.annotations.Nullable;

/**
 * Reads server-sent events as the HTML standard says, one at a time. Blocks while there is none, but no longer than
 * {@link #LIMIT}: a stream that is open and says nothing, heartbeats aside, would hold up the whole run.
 */
public final class SseClient implements AutoCloseable {
    private static final Duration LIMIT = Duration.ofSeconds(60);

    private final HttpResponse<InputStream> response;
    private final BufferedReader lines;
    private final Look look;
    private String last = "nothing";
    private volatile boolean late;

    /** One event, or a comment, which has neither name nor data. */
    public record SseEvent(
            @Nullable String id,
            @Nullable String name,
            String data,
            @Nullable String comment) {

        public Map<String, @Nullable Object> json() {
            try {
                return Json.readObject(data.getBytes(StandardCharsets.UTF_8));
            } catch (MalformedEventException e) {
                throw new AssertionError(data, e);
            }
        }
    }

    /** Looks at the data of an event. */
    @FunctionalInterface
    interface Look {
        void at(String data) throws IOException, InterruptedException;
    }

    SseClient(HttpResponse<InputStream> response, Look look) {
        this.response = response;
        this.look = look;
        this.lines = new BufferedReader(new InputStreamReader(response.body(), StandardCharsets.UTF_8));
    }

    public HttpResponse<InputStream> response() {
        return response;
    }

    /** The next event, comments passed over; {@code null} = the stream has ended. */
    @Nullable
    public SseEvent next() throws IOException {
        return inTime(() -> {
            SseEvent event = read();
            while (event != null && event.comment() != null) {
                event = read();
            }
            return event;
        });
    }

    /** The next event or comment; {@code null} = the stream has ended. */
    @Nullable
    public SseEvent nextOrComment() throws IOException {
        return inTime(this::read);
    }

    @FunctionalInterface
    private interface Reading {
        @Nullable
        SseEvent next() throws IOException;
    }

    /** What is read; closes the stream, and with it ends the reading, when the time is up. */
    private @Nullable SseEvent inTime(Reading reading) throws IOException {
        CompletableFuture<Void> end = CompletableFuture.runAsync(
                this::endLate, CompletableFuture.delayedExecutor(LIMIT.toMillis(), TimeUnit.MILLISECONDS));
        SseEvent event = null;
        try {
            event = reading.next();
        } catch (IOException e) {
            if (!late) {
                throw e;
            }
        } finally {
            end.cancel(false);
        }
        if (late) {
            throw new AssertionError(
                    response.uri() + ": expected an event within " + LIMIT.toSeconds() + " s, last came " + last);
        }
        return event;
    }

    private void endLate() {
        late = true;
        Utils.closeQuietly(response.body(), "the stream");
    }

    private @Nullable SseEvent read() throws IOException {
        String id = null;
        String name = null;
        String comment = null;
        List<String> data = new ArrayList<>();
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            if (line.isEmpty()) {
                if (name != null || comment != null || !data.isEmpty()) {
                    if (comment == null) {
                        look(String.join("\n", data));
                    }
                    SseEvent event = new SseEvent(id, name, String.join("\n", data), comment);
                    last = event.toString();
                    return event;
                }
            } else if (line.startsWith(":")) {
                comment = line.substring(1);
            } else {
                String[] field = line.split(":", 2);
                String value = field[1].startsWith(" ") ? field[1].substring(1) : field[1];
                switch (field[0]) {
                    case "id" -> id = value;
                    case "event" -> name = value;
                    case "data" -> data.add(value);
                    default -> throw new AssertionError("a field that is not in the standard: " + line);
                }
            }
        }
        return null;
    }

    private void look(String data) throws IOException {
        try {
            look.at(data);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new InterruptedIOException();
        }
    }

    /** The events up to the end of the stream. */
    public List<SseEvent> rest() throws IOException {
        List<SseEvent> events = new ArrayList<>();
        for (SseEvent event = next(); event != null; event = next()) {
            events.add(event);
        }
        return events;
    }

    @Override
    public void close() throws IOException {
        lines.close();
    }
}
