package dev.millrace.schemas;

import java.math.BigDecimal;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.Map;

/** Events for tests. */
final class EventSamples {
    static final Instant NOW = Instant.ofEpochMilli(1_700_000_000_000L);
    static final String TRACEPARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

    private EventSamples() {}

    /** Nothing but what an event must have. */
    static Event bare() {
        return Event.root("e1", KnownEventType.HEARTBEAT, NOW).build();
    }

    /** Every field set, and a payload with every kind of JSON value. */
    static Event full() {
        return Event.root("e2/ä€😀", EventType.of("file.changed"), NOW)
                .source("cognitive.reason")
                .taskId("t1")
                .sessionId("s 1")
                .namespace("acme")
                .correlationId("e0")
                .parentEventId("e1")
                .priority(7)
                .causalDepth(2)
                .expiry(NOW.plusSeconds(60))
                .traceparent(TRACEPARENT)
                .tracestate("vendor=1")
                .payload(Map.of(
                        "text",
                        "line one\nline two 😀",
                        "whole",
                        7,
                        "long",
                        1L << 40,
                        "real",
                        new BigDecimal("0.12345678901234567890123"),
                        "flag",
                        true,
                        "list",
                        Arrays.asList(1, "two", null, List.of(), Map.of("a", List.of(1)))))
                .build();
    }
}
