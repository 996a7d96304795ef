package dev.millrace.telemetry;

import dev.millrace.schemas.TraceContext;
import java.time.Instant;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A span that is over.
 *
 * @param parentSpanId null = it is the first of its trace
 * @param attributes by the names in {@link TelemetryKeys}: String, Long, Double, Boolean, or a List of String
 * @param errorType why it failed, as a stable word; null = it did not
 */
public record FinishedSpan(
        String name,
        Kind kind,
        TraceContext place,
        @Nullable String parentSpanId,
        Instant start,
        Instant end,
        Map<String, Object> attributes,
        @Nullable String errorType) {

    /** Who is on the other side. */
    public enum Kind {
        /** Nobody. */
        INTERNAL,
        /** Somebody who asked us. */
        SERVER,
        /** Somebody whom we asked. */
        CLIENT
    }
}
