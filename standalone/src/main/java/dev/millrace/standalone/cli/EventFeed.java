package dev.millrace.standalone.cli;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import dev.millrace.schemas.Json;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * A stream of server-sent events, such as those of one task, without gap or double: when the connection breaks, it is
 * opened again after the last event that came. Read by one thread; a thread of its own listens.
 */
final class EventFeed implements AutoCloseable {

    /** A gateway that was there and is gone may be restarting; after this it counts as gone. */
    private static final Duration PATIENCE = Duration.ofSeconds(20);

    private static final Duration PAUSE = Duration.ofMillis(300);

    /** Either an event or what ended the feed. */
    private record Item(@Nullable JsonNode event, @Nullable CommandException end) {}

    private final GatewayClient client;
    private final String path;
    private final BlockingQueue<Item> items = new LinkedBlockingQueue<>();
    private final Thread listener;
    private volatile boolean closed;
    /** Used by the listener only. */
    private @Nullable String lastEventId;
    /** Used by the listener only, in the time of {@link System#nanoTime}. */
    private long patienceEnd = System.nanoTime() + PATIENCE.toNanos();

    private EventFeed(GatewayClient client, String path) {
        this.client = client;
        this.path = path;
        this.listener = Thread.ofVirtual().name("event-feed").unstarted(this::listen);
    }

    /**
     * The events of one task, from its first on.
     *
     * @param live whether with live text
     */
    static EventFeed ofTask(GatewayClient client, String taskId, boolean live) {
        return open(client, TaskCommand.path(taskId, "stream") + (live ? "?tokens=stream" : ""));
    }

    /** The events of any stream. */
    static EventFeed open(GatewayClient client, String path) {
        EventFeed feed = new EventFeed(client, path);
        feed.listener.start();
        return feed;
    }

    /**
     * The next event; empty if none comes in time.
     *
     * @throws CommandException if the gateway is gone or refuses
     */
    Optional<JsonNode> next(Duration limit) throws InterruptedException {
        Item item = items.poll(limit.toNanos(), TimeUnit.NANOSECONDS);
        if (item == null) {
            return Optional.empty();
        }
        if (item.end() != null) {
            throw item.end();
        }
        return Optional.ofNullable(item.event());
    }

    @Override
    public void close() {
        closed = true;
        listener.interrupt();
    }

    private void listen() {
        try {
            while (!closed) {
                try {
                    listenOnce();
                } catch (IOException e) {
                    if (System.nanoTime() - patienceEnd > 0) {
                        throw client.unreachable(e);
                    }
                }
                TimeUnit.MILLISECONDS.sleep(PAUSE.toMillis());
            }
        } catch (CommandException e) {
            items.add(new Item(null, e));
        } catch (InterruptedException e) {
            // closed
        }
    }

    /** One connection, until it breaks or the gateway ends it. */
    private void listenOnce() throws IOException, InterruptedException {
        HttpResponse<InputStream> response = client.open(path, lastEventId);
        try (BufferedReader lines =
                new BufferedReader(new InputStreamReader(response.body(), StandardCharsets.UTF_8))) {
            if (response.statusCode() != 200) {
                refused(response.statusCode(), lines.lines().collect(Collectors.joining("\n")));
                return;
            }
            try {
                SseReader events = new SseReader(lines, lastEventId);
                for (String data = events.next(); data != null; data = events.next()) {
                    lastEventId = events.lastEventId();
                    pass(data);
                }
            } finally {
                // it was there until now, however long nothing happened
                patienceEnd = System.nanoTime() + PATIENCE.toNanos();
            }
        }
    }

    private void pass(String data) {
        try {
            items.add(new Item(Json.MAPPER.readTree(data), null));
        } catch (JsonProcessingException e) {
            throw new CommandException(ExitCodes.FAILED, "Expected JSON in the events. Is that a Millrace gateway?");
        }
    }

    /**
     * A task that was just accepted may not be known everywhere yet, and a part that restarts answers 503 for a while.
     */
    private void refused(int status, String body) {
        boolean mayPass = status == 404 || status >= 500;
        if (!mayPass || System.nanoTime() - patienceEnd > 0) {
            throw new CommandException(
                    ExitCodes.FAILED, "The events cannot be had: " + GatewayClient.problem(status, body));
        }
    }
}
