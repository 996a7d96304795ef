package dev.millrace.agent.kafka;

import dev.millrace.agent.topology.Occupancy;
import dev.millrace.engine.LaneProducer;
import dev.millrace.schemas.Event;
import dev.millrace.schemas.Ids;
import dev.millrace.schemas.KnownEventType;
import dev.millrace.schemas.Payload;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What this instance says about itself on the system lane: that it has started, at fixed intervals that it is alive,
 * and that it stops. {@link #start} and {@link #close} once each.
 */
public final class InstanceEvents implements AutoCloseable {

    private static final Logger LOGGER = LoggerFactory.getLogger(InstanceEvents.class);
    /** For the last words; without a broker nobody hears them anyway. */
    private static final Duration FAREWELL_LIMIT = Duration.ofSeconds(2);

    private final LaneProducer lanes;
    private final Settings settings;
    private final Occupancy occupancy;
    private final Clock clock;
    private final Instant startedAt;
    private final Thread pulse =
            Thread.ofPlatform().daemon().name("instance-events").unstarted(this::run);

    /**
     * Who it is.
     *
     * @param instance its name, unique among those that run
     * @param version of the software
     * @param heartbeatInterval more than zero
     */
    public record Settings(String instance, String version, Duration heartbeatInterval) {
        public Settings {
            if (instance.isBlank()) {
                throw new IllegalArgumentException("millrace.agent.instance: expected a name, found none");
            }
            if (heartbeatInterval.isNegative() || heartbeatInterval.isZero()) {
                throw new IllegalArgumentException(
                        "millrace.agent.heartbeat-interval: expected more than zero, found " + heartbeatInterval);
            }
        }
    }

    public InstanceEvents(LaneProducer lanes, Settings settings, Occupancy occupancy, Clock clock) {
        this.lanes = lanes;
        this.settings = settings;
        this.occupancy = occupancy;
        this.clock = clock;
        this.startedAt = clock.instant();
    }

    /** Says that it has started and begins to beat. Does not wait. */
    public void start() {
        pulse.start();
    }

    private void run() {
        try {
            say(() -> event(
                    KnownEventType.SYSTEM_STARTED, new Payload.SystemStarted(settings.instance(), settings.version())));
            while (true) {
                Thread.sleep(settings.heartbeatInterval());
                say(this::heartbeat);
            }
        } catch (InterruptedException e) {
            LOGGER.debug("The heartbeat ends");
        }
    }

    /** What cannot be said is said no more; the next beat comes all the same. */
    private void say(Supplier<Event> words) throws InterruptedException {
        try {
            lanes.send(words.get());
        } catch (RuntimeException e) {
            LOGGER.atError().setCause(e).log("This instance could not say that it is there");
        }
    }

    private Event heartbeat() {
        return event(
                KnownEventType.HEARTBEAT,
                new Payload.Heartbeat(
                        settings.instance(),
                        settings.version(),
                        Duration.between(startedAt, clock.instant()).toMillis(),
                        (long) occupancy.active(),
                        (long) occupancy.waiting()));
    }

    private Event event(KnownEventType type, Payload payload) {
        return Event.root(Ids.random(), type, clock.instant())
                .source("agent")
                .payload(payload)
                .build();
    }

    /** Says that it stops, if it ever said that it started; waits for that a moment at most. */
    @Override
    public void close() {
        if (pulse.getState() == Thread.State.NEW) {
            return;
        }
        pulse.interrupt();
        Thread farewell = Thread.ofVirtual().name("farewell").start(() -> {
            try {
                lanes.send(event(
                        KnownEventType.SYSTEM_SHUTTING_DOWN,
                        new Payload.SystemShuttingDown(settings.instance(), "this instance stops")));
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        });
        try {
            if (!farewell.join(FAREWELL_LIMIT)) {
                farewell.interrupt();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
