package dev.millrace.tools;

import java.time.Duration;
import java.util.function.LongSupplier;

/**
 * Leaves alone what fails again and again: after so many failures in a row nothing is tried for a while, then one call
 * is let through to see. Safe for any thread.
 */
final class CircuitBreaker {

    private final int maxFailures;
    private final long restNanos;
    private final LongSupplier nanoTime;
    // guarded by this
    private int failures;
    private long openUntil;
    private boolean trying;

    CircuitBreaker(int maxFailures, Duration rest, LongSupplier nanoTime) {
        this.maxFailures = maxFailures;
        this.restNanos = rest.toNanos();
        this.nanoTime = nanoTime;
    }

    /** Zero if a call may be made, and then its outcome has to be told; else how long to leave it alone. */
    synchronized Duration enter() {
        if (failures < maxFailures) {
            return Duration.ZERO;
        }
        long left = openUntil - nanoTime.getAsLong();
        if (left > 0) {
            return Duration.ofNanos(left);
        }
        if (trying) {
            return Duration.ofSeconds(1);
        }
        trying = true;
        return Duration.ZERO;
    }

    /** It works, or at least it answers. */
    synchronized void worked() {
        failures = 0;
        trying = false;
    }

    /** It does not work. */
    synchronized void failed() {
        failures = Math.min(failures + 1, maxFailures);
        openUntil = nanoTime.getAsLong() + restNanos;
        trying = false;
    }

    /** Nobody knows: the call was given up for other reasons. */
    synchronized void unknown() {
        trying = false;
    }
}
