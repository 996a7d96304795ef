package dev.millrace.gateway.kafka;

import java.time.Duration;

/** How long to wait before the next try: twice as long each time, up to a limit. For one thread. */
final class BackOff {
    private static final Duration FIRST = Duration.ofMillis(100);
    private static final Duration LAST = Duration.ofSeconds(5);

    private Duration next = FIRST;

    Duration next() {
        Duration now = next;
        Duration doubled = next.multipliedBy(2);
        next = doubled.compareTo(LAST) < 0 ? doubled : LAST;
        return now;
    }

    /** A try went well. */
    void reset() {
        next = FIRST;
    }
}
