package dev.millrace.gateway.rest.streams;

import dev.millrace.gateway.config.GatewayConfig;
import dev.millrace.gateway.kafka.ListenerDroppedException;
import dev.millrace.gateway.rest.streams.EventStream.Shown;
import dev.millrace.schemas.Json;
import jakarta.ws.rs.sse.OutboundSseEvent;
import java.time.Duration;
import java.util.concurrent.Flow;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.jboss.resteasy.reactive.server.jaxrs.OutboundSseEventImpl;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Runs one event stream on a virtual thread of its own: it writes an event only when the client has taken the one
 * before, and gives up on a client that takes none for too long. What waits for a slow client is bounded by the tail's
 * mailbox, what is under way to it by the {@link WriteBudget}.
 */
public final class SsePump implements Flow.Publisher<OutboundSseEvent> {
    private static final Logger LOGGER = LoggerFactory.getLogger(SsePump.class);
    private static final Duration RETRY = Duration.ofSeconds(1);
    /** So long the client of a stream counts as logged in without another look. */
    private static final Duration STANDING_FRESH = Duration.ofSeconds(2);
    /** What is under way exists as text, as bytes, and as what waits for the socket. */
    private static final int COPIES = 3;

    /** What fills the stream; it returns when the stream is over. */
    @FunctionalInterface
    public interface Source {
        void run(Outlet outlet) throws InterruptedException, ListenerDroppedException, ClientGoneException;
    }

    /** Where a source writes to. Each call waits until the client can take it. */
    public interface Outlet extends TaskPast.Waiting {

        /**
         * Waits until the client has taken everything: to be called with empty hands, before there is something to
         * send.
         */
        @Override
        void ready() throws InterruptedException, ClientGoneException;

        /** An event with an id and a name, and data as JSON. */
        void send(String id, Shown shown) throws InterruptedException, ClientGoneException;

        /** An event without a name, so that {@code onmessage} gets it; {@code null} = without an id, too. */
        void message(@Nullable String id, String data) throws InterruptedException, ClientGoneException;

        /** An event with a name, and data that is JSON. */
        void named(String name, String data) throws InterruptedException, ClientGoneException;

        /** An event of nothing but data, in one line. */
        void data(String text) throws InterruptedException, ClientGoneException;

        /**
         * A comment, if nothing was sent for long enough, so that everybody on the way knows that the stream is alive.
         */
        @Override
        void heartbeat() throws InterruptedException, ClientGoneException;

        /** How long until a comment is due. */
        Duration untilHeartbeat();
    }

    private final Source source;
    private final Duration heartbeat;
    private final Duration patience;
    private final WriteBudget budget;
    private final OpenStreams.Slot slot;
    private final Runnable disconnect;

    /**
     * For one subscriber.
     *
     * @param config how long the client may take nothing, and after which silence a comment is sent
     * @param budget that it shares with all others
     * @param slot is closed when the stream is over
     * @param disconnect cuts the connection to a client that is too slow; it can come back and go on where it was
     */
    SsePump(
            Source source,
            GatewayConfig.Stream config,
            WriteBudget budget,
            OpenStreams.Slot slot,
            Runnable disconnect) {
        this.source = source;
        this.heartbeat = config.heartbeat();
        this.patience = config.patience();
        this.budget = budget;
        this.slot = slot;
        this.disconnect = disconnect;
    }

    @Override
    public void subscribe(Flow.Subscriber<? super OutboundSseEvent> subscriber) {
        Flow.Subscription unused = begin(subscriber);
    }

    /** The same, for whoever has to say that the client is gone. */
    Stream begin(Flow.Subscriber<? super OutboundSseEvent> subscriber) {
        Stream stream = new Stream(subscriber);
        subscriber.onSubscribe(stream);
        stream.thread.start();
        return stream;
    }

    final class Stream implements Flow.Subscription, Outlet {
        private final Flow.Subscriber<? super OutboundSseEvent> subscriber;
        private final Semaphore demand = new Semaphore(0);
        private final Thread thread = Thread.ofVirtual().name("event-stream").unstarted(this::run);
        private volatile boolean cancelled;
        /**
         * Of what the client has not taken yet; {@code null} = it has taken everything. For the thread alone, like the
         * next.
         */
        private WriteBudget.@Nullable Hold underWay;

        private boolean ready;
        private boolean loggedOut;
        private long lastLook = System.nanoTime();
        private long lastWrite = System.nanoTime();

        Stream(Flow.Subscriber<? super OutboundSseEvent> subscriber) {
            this.subscriber = subscriber;
        }

        @Override
        public void request(long n) {
            demand.release((int) Math.min(n, Integer.MAX_VALUE / 2));
        }

        /** The client is gone; the source is told when it next writes. */
        void leave() {
            cancelled = true;
            demand.release();
        }

        @Override
        public void cancel() {
            cancelled = true;
            thread.interrupt();
        }

        @Override
        public void send(String id, Shown shown) throws InterruptedException, ClientGoneException {
            requireStanding();
            String text = Json.writeText(shown.data());
            write(
                    new OutboundSseEventImpl.BuilderImpl()
                            .id(id)
                            .name(oneLine(shown.name()))
                            .data(text)
                            .build(),
                    text.length());
        }

        @Override
        public void message(@Nullable String id, String data) throws InterruptedException, ClientGoneException {
            requireStanding();
            var event = new OutboundSseEventImpl.BuilderImpl().data(data);
            write((id == null ? event : event.id(id)).build(), data.length());
        }

        @Override
        public void named(String name, String data) throws InterruptedException, ClientGoneException {
            write(
                    new OutboundSseEventImpl.BuilderImpl()
                            .name(oneLine(name))
                            .data(data)
                            .build(),
                    data.length());
        }

        @Override
        public void data(String text) throws InterruptedException, ClientGoneException {
            message(null, text);
        }

        @Override
        public void heartbeat() throws InterruptedException, ClientGoneException {
            requireStanding();
            if (untilHeartbeat().isZero()) {
                write(new OutboundSseEventImpl.BuilderImpl().comment(" alive").build(), 0);
            }
        }

        /** Ends the stream of a client whose key is revoked, or whose token has expired. */
        private void requireStanding() throws ClientGoneException {
            if (System.nanoTime() - lastLook > STANDING_FRESH.toNanos()) {
                lastLook = System.nanoTime();
                loggedOut = !slot.standing().getAsBoolean();
            }
            if (loggedOut) {
                throw new ClientGoneException();
            }
        }

        @Override
        public Duration untilHeartbeat() {
            return Duration.ofNanos(Math.max(0, heartbeat.toNanos() - (System.nanoTime() - lastWrite)));
        }

        @Override
        public void ready() throws InterruptedException, ClientGoneException {
            if (!ready && !demand.tryAcquire(patience.toMillis(), TimeUnit.MILLISECONDS)) {
                disconnect.run();
                throw new ClientGoneException();
            }
            ready = true;
            taken();
            if (cancelled) {
                throw new ClientGoneException();
            }
        }

        private void taken() {
            if (underWay != null) {
                underWay.close();
                underWay = null;
            }
        }

        private void write(OutboundSseEvent event, int chars) throws InterruptedException, ClientGoneException {
            ready();
            underWay = budget.hold(COPIES * (long) chars, this::cut);
            ready = false;
            lastWrite = System.nanoTime();
            subscriber.onNext(event);
        }

        /** The client takes too long, and others need the room. */
        private void cut() {
            disconnect.run();
            cancel();
        }

        private void run() {
            try {
                source.run(this);
                complete();
            } catch (ClientGoneException e) {
                LOGGER.debug("The client of an event stream is gone");
                if (loggedOut) {
                    goodbye(" logged out");
                }
            } catch (ListenerDroppedException e) {
                LOGGER.atDebug().addKeyValue("reason", e.reason()).log("An event stream was cut off");
                if (e.reason() == ListenerDroppedException.Reason.TOO_SLOW) {
                    disconnect.run();
                } else {
                    goodbye(" shutting down");
                }
            } catch (InterruptedException e) {
                LOGGER.debug("The client of an event stream is gone");
            } catch (RuntimeException e) {
                LOGGER.atError().setCause(e).log("An event stream failed for a reason that nobody expected");
                disconnect.run();
            } finally {
                taken();
                slot.close();
            }
        }

        /**
         * The client may come back soon: to another instance if this one stops, with another login if its own is over.
         */
        private void goodbye(String why) {
            try {
                write(
                        new OutboundSseEventImpl.BuilderImpl()
                                .comment(why)
                                .reconnectDelay(RETRY.toMillis())
                                .build(),
                        0);
                complete();
            } catch (ClientGoneException | InterruptedException e) {
                LOGGER.debug("The client of an event stream is gone");
            }
        }

        private void complete() throws InterruptedException, ClientGoneException {
            ready(); // else the last event could wait for a client that never takes it
            subscriber.onComplete();
        }

        private @Nullable String oneLine(String name) {
            return name.replaceAll("[\\r\\n]", " ");
        }
    }
}
