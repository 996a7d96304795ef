package dev.millrace.agent.thinker;

import dev.millrace.agent.topology.OutstandingCall;
import dev.millrace.kafka.Rush;
import dev.millrace.schemas.Event;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.DelayQueue;
import java.util.concurrent.Delayed;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Tells the world what models say while they say it. Pieces are gathered per call for a few milliseconds and sent by
 * one thread, so that no model call waits for a broker; what cannot be sent is lost, and nothing but the picture of
 * somebody who watches suffers. While many calls have something to say, those of all are gathered for as long, since a
 * request to the brokers for each of them would cost more than the models' own replies do. For any thread.
 */
public final class LiveText implements AutoCloseable {

    private static final Logger LOGGER = LoggerFactory.getLogger(LiveText.class);
    private static final Duration LAST_WORDS = Duration.ofSeconds(2);
    private static final Duration WINDOW = Duration.ofMillis(20);
    /** So many that come due within that time are few: more than those of one quick task after the other. */
    static final int FEW = 20;

    private final Settings settings;
    private final Sink sink;
    private final Clock clock;
    private final ConcurrentMap<String, CallStream> open = new ConcurrentHashMap<>();
    private final DelayQueue<Due> due = new DelayQueue<>();
    private final Rush rush = new Rush(System::nanoTime, WINDOW.toNanos(), FEW);
    private final Thread sender;
    private volatile boolean closed;

    /**
     * How replies are told.
     *
     * @param enabled whether they are, and models are asked for them piece by piece
     * @param batch how long pieces are gathered, zero or more: those of a call, and those of all while there are many
     */
    public record Settings(boolean enabled, Duration batch) {

        /** As it is if nothing is configured. */
        public static final Settings DEFAULT = new Settings(true, Duration.ofMillis(20));

        public Settings {
            if (batch.isNegative()) {
                throw new IllegalArgumentException(
                        "millrace.agent.tokens.batch: expected zero or more, found " + batch);
            }
        }
    }

    /** Where it goes. Called by one thread; may block for a while, and may throw, which costs what was to be sent. */
    @FunctionalInterface
    public interface Sink {

        /** Takes an event, after those before it; it may keep it for some milliseconds. */
        void take(Event event);

        /** Keeps nothing back of what it has taken. Returns at once. */
        default void flush() {}
    }

    /**
     * A call whose pieces are to be sent at this time, in nanoseconds of the system's clock; null = no call, wake up.
     */
    private record Due(@Nullable CallStream stream, long atNanos) implements Delayed {
        @Override
        public long getDelay(TimeUnit unit) {
            return unit.convert(atNanos - System.nanoTime(), TimeUnit.NANOSECONDS);
        }

        @Override
        public int compareTo(Delayed other) {
            return other instanceof Due that
                    ? Long.signum(atNanos - that.atNanos)
                    : Long.compare(getDelay(TimeUnit.NANOSECONDS), other.getDelay(TimeUnit.NANOSECONDS));
        }
    }

    /** Starts its thread. */
    public LiveText(Settings settings, Sink sink, Clock clock) {
        this.settings = settings;
        this.sink = sink;
        this.clock = clock;
        this.sender = Thread.ofPlatform().daemon().name("live-text").start(this::run);
    }

    /**
     * What listens to this call; {@code null} = nobody wants to know.
     *
     * @param asker who asks whom
     */
    @Nullable
    CallStream listen(OutstandingCall call, CallStream.Asker asker) {
        return settings.enabled() && !closed ? new CallStream(call, asker, this::schedule) : null;
    }

    /**
     * Has a call begin, so that {@link #cancel} knows of it.
     *
     * @param begin whether it has begun; not if it runs already
     */
    boolean watch(String key, CallStream stream, BooleanSupplier begin) {
        CallStream before = open.put(key, stream);
        if (begin.getAsBoolean()) {
            return true;
        }
        open.remove(key, stream);
        if (before != null) {
            open.put(key, before);
            if (before.isOver()) {
                open.remove(key, before); // it came to its end just now
            }
        }
        return false;
    }

    /** The call has come to its end, which is this event. */
    void end(String key, CallStream stream, Event reply) {
        stream.ended(reply);
        open.remove(key, stream);
    }

    /** What the model has said to this call so far; {@code null} = nothing, or nobody listens. */
    @Nullable
    String said(String key) {
        CallStream stream = open.get(key);
        return stream == null ? null : stream.said();
    }

    /** Nobody waits for this call any more. */
    void cancel(String key) {
        CallStream stream = open.remove(key);
        if (stream != null) {
            stream.cancelled();
        }
    }

    /** Called by a stream that has something to send: once until it is sent, twice if it is to go soon after all. */
    private void schedule(CallStream stream, boolean soon) {
        long now = System.nanoTime();
        due.add(new Due(
                stream,
                soon
                        ? now
                        : Math.max(now, stream.sentAtNanos() + settings.batch().toNanos())));
    }

    private void run() {
        while (true) {
            try {
                Due first = due.take();
                boolean many = rush.another();
                if (many) {
                    Thread.sleep(settings.batch());
                }
                send(first);
                for (Due next = due.poll(); next != null; next = due.poll()) {
                    rush.another();
                    send(next);
                }
                if (!many) {
                    flush();
                }
                if (closed && due.isEmpty()) {
                    return;
                }
            } catch (InterruptedException e) {
                return;
            }
        }
    }

    private void send(Due due) {
        if (due.stream() != null) {
            send(due.stream());
        }
    }

    /** What breaks with one stream costs that stream, and not the thread that sends those of all. */
    private void send(CallStream stream) {
        List<Event> events;
        try {
            events = stream.drain(clock.instant(), System.nanoTime());
        } catch (RuntimeException e) {
            LOGGER.atError().setCause(e).log("Live text of a call could not be told");
            return;
        }
        for (Event event : events) {
            try {
                sink.take(event);
            } catch (RuntimeException e) {
                LOGGER.atDebug()
                        .addKeyValue("taskId", event.taskId())
                        .setCause(e)
                        .log("Live text was lost");
            }
        }
    }

    private void flush() {
        try {
            sink.flush();
        } catch (RuntimeException e) {
            LOGGER.atDebug().setCause(e).log("Live text is not sent at once");
        }
    }

    /** Sends what is there, within seconds. */
    @Override
    public void close() {
        closed = true;
        due.add(new Due(null, System.nanoTime()));
        try {
            if (!sender.join(LAST_WORDS)) {
                sender.interrupt();
            }
        } catch (InterruptedException e) {
            sender.interrupt();
            Thread.currentThread().interrupt();
        }
    }
}
