package dev.millrace.telemetry;

import java.time.Duration;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicLong;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Notices that virtual threads of this process do not run any more: all that carries them is held by some that never
 * give way, so that requests, streams and model calls stand still while the process looks alive. A platform thread
 * starts a virtual one each second; if {@link #PATIENCE} of its own seconds pass and that one has not run, the carriers
 * stand. Seconds in which the watch did not run either, as on a machine that sleeps or is short of everything, do not
 * count. Safe for any thread.
 */
public final class CarrierWatch implements AutoCloseable {

    /** How long a virtual thread may take to get its turn. */
    public static final Duration PATIENCE = Duration.ofSeconds(30);

    private static final Duration TICK = Duration.ofSeconds(1);
    private static final Logger LOGGER = LoggerFactory.getLogger(CarrierWatch.class);

    private final Executor carriers;
    private final Duration tick;
    private final long patienceTicks;
    private final AtomicLong answered = new AtomicLong();
    private final Thread thread =
            Thread.ofPlatform().daemon().name("carrier-watch").unstarted(this::watch);
    private volatile boolean turning = true;

    /** Watches the virtual threads of this process, once it is started. */
    public static CarrierWatch ofThisProcess() {
        return new CarrierWatch(
                probe -> Thread.ofVirtual().name("carrier-probe").start(probe), TICK, PATIENCE.dividedBy(TICK));
    }

    /** The same for what runs probes, with another clock. */
    CarrierWatch(Executor carriers, Duration tick, long patienceTicks) {
        this.carriers = carriers;
        this.tick = tick;
        this.patienceTicks = patienceTicks;
    }

    /** Begins to watch. Once. */
    public void start() {
        thread.start();
    }

    /** Whether virtual threads get their turn. */
    public boolean isTurning() {
        return turning;
    }

    private void watch() {
        long asked = 0;
        long waited = 0;
        try {
            while (true) {
                if (answered.get() == asked) {
                    waited = 0;
                    if (!turning) {
                        turning = true;
                        LOGGER.warn("Virtual threads run again");
                    }
                    long number = ++asked;
                    carriers.execute(() -> answered.set(number));
                } else if (++waited == patienceTicks) {
                    turning = false;
                    LOGGER.error(
                            "Virtual threads do not run any more: something computes without end on all that carries"
                                    + " them. The process has to be restarted");
                }
                Thread.sleep(tick);
            }
        } catch (InterruptedException e) {
            LOGGER.debug("Watching no more");
        }
    }

    @Override
    public void close() {
        thread.interrupt();
    }
}
