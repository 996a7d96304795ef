package dev.millrace.engine;

import java.time.Duration;

/**
 * Whether a machine had better wait for what it is handed than poll its consumer. Replies of tools in this process, and
 * of models that answer at once, are here within a millisecond or two. To be woken for each costs Kafka's client two
 * polls and its thread a dozen turns. So it is left alone until they are here, for as long as they are quick and
 * records need not wait for long. Times are of {@link System#nanoTime}. For one thread.
 */
final class QuickReplies {

    /** Quick ones come within this time; if none does, they are not waited for in this way for a while. */
    static final Duration SOON = Duration.ofMillis(3);

    /** That while. */
    static final Duration SLOW_FOR = Duration.ofMillis(200);

    /** For so long records may have to wait meanwhile. */
    static final Duration POLLED_WITHIN = Duration.ofMillis(10);

    private long polledNanos;
    private long slowNanos;

    QuickReplies(long nanos) {
        polledNanos = nanos;
        slowNanos = nanos - SLOW_FOR.toNanos();
    }

    /** Whether to wait for {@link #SOON} before the next poll, if anything is under way. */
    boolean mayCome(long nanos) {
        return nanos - polledNanos < POLLED_WITHIN.toNanos() && nanos - slowNanos >= SLOW_FOR.toNanos();
    }

    /** The consumer has been polled. */
    void polled(long nanos) {
        polledNanos = nanos;
    }

    /** None came soon. */
    void areSlow(long nanos) {
        slowNanos = nanos;
    }
}
