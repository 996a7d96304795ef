package dev.millrace.kafka;

import java.time.Duration;

/** How long to wait before the next try: twice as long each time, up to a limit. For one thread. */
public final class BackOff {
    private final Duration first;
    private final Duration longest;
    private Duration next;

    /** Begins with the shortest pause. */
    public BackOff(Duration first, Duration longest) {
        this.first = first;
        this.longest = longest;
        this.next = first;
    }

    /** The pause before the next try. */
    public Duration next() {
        Duration now = next;
        Duration doubled = next.multipliedBy(2);
        next = doubled.compareTo(longest) < 0 ? doubled : longest;
        return now;
    }

    /** A try went well. */
    public void reset() {
        next = first;
    }
}
