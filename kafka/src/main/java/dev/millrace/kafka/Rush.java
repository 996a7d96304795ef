package dev.millrace.kafka;

import java.util.function.LongSupplier;

/** Tells many from few: counts what comes in one window of time and in the one before it. For any thread. */
public final class Rush {

    private final LongSupplier clock;
    private final long window;
    private final int few;
    private long windowStart;
    private int now;
    private int before;

    /**
     * Begins with nothing.
     *
     * @param clock in any unit; where it is set back, counting begins anew
     * @param window how long a window is, in the same unit
     * @param few as many in a window are few
     */
    public Rush(LongSupplier clock, long window, int few) {
        this.clock = clock;
        this.window = window;
        this.few = few;
        this.windowStart = clock.getAsLong();
    }

    /** Counts one more; whether there are many in this moment. */
    public synchronized boolean another() {
        int counted = count();
        now++;
        return Math.max(counted, now) > few;
    }

    /** How many come in a window, in this moment. */
    public synchronized int count() {
        long elapsed = clock.getAsLong() - windowStart;
        if (elapsed >= window || elapsed < 0) {
            before = elapsed >= 0 && elapsed < 2 * window ? now : 0;
            now = 0;
            windowStart += elapsed;
        }
        return Math.max(now, before);
    }
}
