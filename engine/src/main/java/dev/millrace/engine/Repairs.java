package dev.millrace.engine;

import dev.millrace.schemas.Backoff;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Puts local state right that has made a machine stop. For one thread. */
final class Repairs {

    private static final Logger LOGGER = LoggerFactory.getLogger(MachineRunner.class);

    /** What is longer ago does not count. */
    private static final Duration MEMORY = Duration.ofMinutes(10);
    /** So often within that time it may fail on a disk with room before a person has to see to it. */
    private static final int MOST = 3;
    /** A disk that was full has room again at once, because what was on it is deleted; it fills up again as quickly. */
    private static final Duration FIRST_PAUSE = Duration.ofSeconds(1);

    private static final Duration LONGEST_PAUSE = Duration.ofSeconds(30);
    private static final Duration LOOK = Duration.ofSeconds(1);

    private final Deque<Long> damages = new ArrayDeque<>();
    private long filledAt;
    private final Backoff backoff = new Backoff(FIRST_PAUSE, LONGEST_PAUSE, "repair");
    private int failures;

    /**
     * Waits for room on the disk for as long as it takes, and deletes what is damaged.
     *
     * @param waitingFor is told what is waited for, for people
     * @return whether a new machine may find it in order; if not, it has failed too often
     */
    boolean repair(LocalState state, Throwable damage, Consumer<String> waitingFor) throws InterruptedException {
        if (Failures.isFullDisk(damage) || !state.hasRoom()) {
            waitingFor.accept("room on the disk of " + state);
            LOGGER.atError()
                    .addKeyValue("folder", state)
                    .log("The disk is full; the machine starts again when it is not");
            awaitRoom(state);
        } else if (isTooOften()) {
            LOGGER.atError()
                    .addKeyValue("folder", state)
                    .setCause(damage)
                    .log("The state on this disk fails again and again; the machine has stopped");
            return false;
        }
        Failures.task(damage).ifPresent(task -> {
            try {
                state.forget(task);
                LOGGER.atWarn()
                        .addKeyValue("folder", state.folder(task))
                        .log("Damaged local state was deleted and is built again from Kafka");
            } catch (UncheckedIOException e) {
                LOGGER.atError().setCause(e).log("Damaged local state could not be deleted");
            }
        });
        return true;
    }

    private void awaitRoom(LocalState state) throws InterruptedException {
        long now = System.nanoTime();
        if (now - filledAt >= MEMORY.toNanos()) {
            failures = 0;
        }
        filledAt = now;
        Thread.sleep(backoff.after(++failures, null));
        while (!state.hasRoom()) {
            Thread.sleep(LOOK);
        }
    }

    private boolean isTooOften() {
        long now = System.nanoTime();
        damages.removeIf(then -> now - then > MEMORY.toNanos());
        damages.add(now);
        return damages.size() > MOST;
    }
}
