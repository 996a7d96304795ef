package dev.millrace.gateway.rest.requests;

import dev.millrace.gateway.config.GatewayConfig;
import dev.millrace.gateway.kafka.JsonWeight;
import dev.millrace.gateway.rest.problems.ProblemException;
import dev.millrace.schemas.Problem;
import jakarta.inject.Inject;
import jakarta.inject.Singleton;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;

/**
 * Reads request bodies so that all of them together take no more memory than is configured: what has come of them, and
 * what their JSON takes once it is read. What does not fit waits a little, and is then refused. For any thread.
 */
@Singleton
public class Bodies {
    /** What a body may have before it counts: so those of usual size always find a place. */
    static final int FREE_BYTES = 16 * 1024;

    /** How long a body waits for others to be done. */
    static final Duration PATIENCE = Duration.ofSeconds(5);

    private static final int MEMORY_FACTOR = 4;
    private static final int MIN_BYTES = 1024 * 1024;
    private static final byte[] NONE = {};
    private static final Duration SOON = Duration.ofSeconds(1);

    private final int most;
    private final Duration bodyTimeout;
    private final Semaphore coming;
    private final int mostMemory;
    private final Semaphore memory;

    @Inject
    Bodies(GatewayConfig config) {
        this(config.bodiesInFlight().asLongValue(), config.bodyTimeout());
    }

    Bodies(long bytes, Duration bodyTimeout) {
        this.most = Math.clamp(bytes, MIN_BYTES, Integer.MAX_VALUE / MEMORY_FACTOR);
        this.bodyTimeout = bodyTimeout;
        this.coming = new Semaphore(most, true);
        this.mostMemory = most * MEMORY_FACTOR;
        this.memory = new Semaphore(mostMemory, true);
    }

    /** A body that was read. It has its share of the memory until it is closed: once what is in it has been stored. */
    public final class Body implements AutoCloseable {
        private byte[] bytes;
        private int share;

        private Body(byte[] bytes, int share) {
            this.bytes = bytes;
            this.share = share;
        }

        public byte[] bytes() {
            return bytes;
        }

        @Override
        public void close() {
            memory.release(share);
            share = 0;
            bytes = NONE;
        }
    }

    /**
     * The whole body.
     *
     * @param limit in bytes; a longer body is a 413, however it comes
     */
    public Body read(InputStream body, long limit) throws IOException, InterruptedException {
        int counted = 0;
        try {
            long end = System.nanoTime() + bodyTimeout.toNanos();
            ByteArrayOutputStream come = new ByteArrayOutputStream();
            byte[] chunk = new byte[FREE_BYTES];
            for (int read = body.read(chunk); read >= 0; read = body.read(chunk)) {
                come.write(chunk, 0, read);
                if (come.size() > limit) {
                    throw BodyReader.tooLarge(limit);
                }
                int more = Math.min(most, Math.max(0, come.size() - FREE_BYTES)) - counted;
                take(coming, more);
                counted += more;
                if (System.nanoTime() - end > 0) {
                    throw tooSlow();
                }
            }
            byte[] bytes = come.toByteArray();
            int share = (int) Math.min(mostMemory, JsonWeight.of(bytes));
            take(memory, share);
            return new Body(bytes, share);
        } finally {
            coming.release(counted);
        }
    }

    private void take(Semaphore free, int bytes) throws InterruptedException {
        if (bytes > 0 && !free.tryAcquire(bytes, PATIENCE.toMillis(), TimeUnit.MILLISECONDS)) {
            throw new ProblemException(
                    new Problem(
                            503,
                            "too_many_bodies",
                            "Too much is being sent at once",
                            "All request bodies together take more memory than they may"
                                    + " (millrace.gateway.bodies-in-flight). Nothing of this one was accepted.",
                            Map.of("limitBytes", most)),
                    SOON);
        }
    }

    private ProblemException tooSlow() {
        return new ProblemException(Problem.of(
                408,
                "body_too_slow",
                "The body came too slowly",
                "The body: expected all of it within " + bodyTimeout.toSeconds()
                        + " s (millrace.gateway.body-timeout), found less. Nothing was accepted."));
    }
}
