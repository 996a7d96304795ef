package dev.millrace.client;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Iterator;
import java.util.NoSuchElementException;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Events as they happen, without gap or double: when the connection breaks, or nothing is heard on it for too long,
 * it is opened again after the last event that came, at whatever gateway answers. Who is slow is waited for. For one
 * reader at a time; {@link #close} may be called by any thread. Closing it ends nothing but the listening.
 */
public final class TaskFeed implements Iterable<FeedEvent>, AutoCloseable {

    private static final Duration PAUSE = Duration.ofMillis(300);
    private static final int MOST_WAITING = 1_000;
    private static final Duration FOR_EVER = Duration.ofDays(365);

    /** Either an event, or what ended the feed, or that it is over. */
    private record Item(@Nullable FeedEvent event, @Nullable MillraceException end) {}

    private static final Item OVER = new Item(null, null);

    private final Millrace millrace;
    private final Route route;
    private final BlockingQueue<Item> items = new ArrayBlockingQueue<>(MOST_WAITING);
    private final Thread listener;
    private final Thread watcher;
    private volatile boolean closed;
    private volatile @Nullable InputStream open;
    /** In the time of {@link System#nanoTime}. */
    private volatile long heardAt = System.nanoTime();
    /** Used by the listener only. */
    private @Nullable String lastEventId;
    /** Used by the listener only, in the time of {@link System#nanoTime}. */
    private long patienceEnd;
    /** Used by the reader only: what ended it, told again whenever it is asked. */
    private @Nullable Item ended;

    private TaskFeed(Millrace millrace, Route route, @Nullable String after) {
        this.millrace = millrace;
        this.route = route;
        this.lastEventId = after;
        this.patienceEnd = System.nanoTime() + patience().toNanos();
        this.listener = daemon("millrace-feed", this::listen);
        this.watcher = daemon("millrace-feed-watch", this::watch);
    }

    private static Thread daemon(String name, Runnable work) {
        Thread thread = new Thread(work, name);
        thread.setDaemon(true);
        return thread;
    }

    static TaskFeed open(Millrace millrace, Route route, @Nullable String after) {
        TaskFeed feed = new TaskFeed(millrace, route, after);
        feed.listener.start();
        feed.watcher.start();
        return feed;
    }

    /**
     * The next event; empty if none comes in time, or none will ever come ({@link #isOver}).
     *
     * @throws MillraceException if the gateway is gone for longer than {@link MillraceOptions#patience}, or refuses
     */
    public Optional<FeedEvent> next(Duration limit) throws InterruptedException {
        Item item = ended != null ? ended : items.poll(limit.toNanos(), TimeUnit.NANOSECONDS);
        if (item == null) {
            return Optional.empty();
        }
        if (item.event() == null) {
            ended = item;
        }
        if (item.end() != null) {
            throw item.end();
        }
        return Optional.ofNullable(item.event());
    }

    /** Whether the reader has had everything that there will be. */
    public boolean isOver() {
        return ended != null || (closed && items.isEmpty());
    }

    /** What comes from now on, until it is over; a feed has one sequence of events, however often it is asked for. */
    @Override
    public Iterator<FeedEvent> iterator() {
        return new Iterator<>() {
            private @Nullable FeedEvent waiting;

            @Override
            public boolean hasNext() {
                try {
                    while (waiting == null && !isOver()) {
                        waiting = TaskFeed.this.next(FOR_EVER).orElse(null);
                    }
                } catch (InterruptedException e) {
                    Thread.currentThread().interrupt();
                    throw new MillraceException("Interrupted.", e);
                }
                return waiting != null;
            }

            @Override
            public FeedEvent next() {
                if (!hasNext() || waiting == null) {
                    throw new NoSuchElementException();
                }
                FeedEvent event = waiting;
                waiting = null;
                return event;
            }
        };
    }

    @Override
    public void close() {
        closed = true;
        listener.interrupt();
        watcher.interrupt();
        hangUp();
        items.clear();
        items.offer(OVER);
    }

    private void listen() {
        try {
            boolean over = false;
            while (!closed && !over) {
                long pauseMs = PAUSE.toMillis();
                try {
                    String before = lastEventId;
                    over = listenOnce();
                    // one that told something and ended may be over, which the gateway says when it is asked
                    pauseMs = Objects.equals(before, lastEventId) ? pauseMs : 0;
                } catch (IOException e) {
                    if (System.nanoTime() - patienceEnd > 0) {
                        throw millrace.http().unreachable(e);
                    }
                } catch (RequestRefusedException e) {
                    pauseMs = Math.max(pauseMs, passing(e));
                }
                if (!over) {
                    TimeUnit.MILLISECONDS.sleep(pauseMs);
                }
            }
            end(OVER);
        } catch (MillraceException e) {
            end(new Item(null, e));
        } catch (InterruptedException e) {
            // closed
        } finally {
            watcher.interrupt();
        }
    }

    private void end(Item item) {
        try {
            if (!closed) {
                items.put(item);
            }
        } catch (InterruptedException e) {
            // closed
        }
    }

    /**
     * A task that was just accepted may not be known everywhere yet, and a part that restarts answers 503 for a
     * while.
     */
    private long passing(RequestRefusedException refusal) {
        boolean mayPass = refusal.status() == 404 || refusal.status() == 429 || refusal.status() >= 500;
        if (!mayPass || System.nanoTime() - patienceEnd > 0) {
            throw refusal;
        }
        long left = TimeUnit.NANOSECONDS.toMillis(patienceEnd - System.nanoTime());
        return Math.min(
                Math.max(0, left), refusal.retryAfter().map(Duration::toMillis).orElse(0L));
    }

    /** One connection, until it breaks or the gateway ends it; whether there will be no more. */
    private boolean listenOnce() throws IOException, InterruptedException {
        HttpResponse<InputStream> response = millrace.http().open(route, lastEventId);
        try (BufferedReader lines =
                new BufferedReader(new InputStreamReader(response.body(), StandardCharsets.UTF_8))) {
            if (response.statusCode() == 204) {
                return true;
            }
            if (response.statusCode() != 200) {
                throw GatewayHttp.refusal(response, lines.lines().collect(Collectors.joining("\n")));
            }
            if (!response.headers().firstValue("Content-Type").orElse("").startsWith("text/event-stream")) {
                throw new MillraceException("Expected events from " + route + ". Is that a Millrace gateway?", null);
            }
            heardAt = System.nanoTime();
            open = response.body();
            try {
                SseReader events = new SseReader(() -> heard(lines), lastEventId);
                for (String data = events.next(); data != null && !closed; data = events.next()) {
                    lastEventId = events.lastEventId();
                    pass(data);
                }
            } finally {
                open = null;
                // it was there until now, however long nothing happened
                patienceEnd = System.nanoTime() + patience().toNanos();
            }
        }
        return false;
    }

    private @Nullable String heard(BufferedReader lines) throws IOException {
        String line = lines.readLine();
        heardAt = System.nanoTime();
        return line;
    }

    /** Hangs up on a gateway that says nothing, not even that it is there. */
    private void watch() {
        Duration silence = millrace.http().options().silence();
        try {
            while (!closed && listener.isAlive()) {
                TimeUnit.MILLISECONDS.sleep(Math.max(1, silence.toMillis() / 4));
                if (System.nanoTime() - heardAt > silence.toNanos()) {
                    hangUp();
                }
            }
        } catch (InterruptedException e) {
            // the feed has ended
        }
    }

    private void hangUp() {
        InputStream body = open;
        if (body != null) {
            try {
                body.close();
            } catch (IOException e) {
                // it is gone, which is what was wanted
            }
        }
    }

    private void pass(String data) throws InterruptedException {
        JsonNode json;
        try {
            json = GatewayHttp.JSON.readTree(data);
        } catch (JsonProcessingException e) {
            throw new MillraceException("Expected JSON in the events. Is that a Millrace gateway?", e);
        }
        items.put(new Item(FeedEvents.read(millrace, lastEventId == null ? "" : lastEventId, json), null));
        // what waited here was the reader, not the gateway
        heardAt = System.nanoTime();
    }

    private Duration patience() {
        return millrace.http().options().patience();
    }
}
