package dev.millrace.schemas;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * How long to pause before the next attempt: twice as long each time, less up to a half, which follows from the seed
 * and not from chance, so that a run can be repeated and many that failed together do not come back together.
 *
 * @param first after the first failure
 * @param longest the longest
 * @param seed such as a call id
 */
public record Backoff(Duration first, Duration longest, String seed) {

    private static final int MAX_DOUBLINGS = 30;

    /**
     * The pause after the n-th failure.
     *
     * @param failures 1 or more
     * @param asked what the other side wants at least; {@code null} = it does not say
     */
    public Duration after(int failures, @Nullable Duration asked) {
        Duration full = first.multipliedBy(1L << Math.min(failures - 1, MAX_DOUBLINGS));
        Duration capped = full.compareTo(longest) < 0 ? full : longest;
        long spread = Long.parseLong(Ids.hash(seed + '\n' + failures).substring(0, 4), 16);
        Duration pause = capped.multipliedBy(0x20000 - spread - 1).dividedBy(0x20000);
        return asked != null && asked.compareTo(pause) > 0 ? asked : pause;
    }

    /**
     * Sleeps for the pause after the n-th failure.
     *
     * @param failures 1 or more
     * @param asked what the other side wants at least; {@code null} = it does not say
     * @param end by {@link System#nanoTime}
     * @return false, at once, if it would last until then
     */
    public boolean pause(int failures, @Nullable Duration asked, long end) throws InterruptedException {
        Duration pause = after(failures, asked);
        if (System.nanoTime() + pause.toNanos() - end >= 0) {
            return false;
        }
        Thread.sleep(pause);
        return true;
    }
}
