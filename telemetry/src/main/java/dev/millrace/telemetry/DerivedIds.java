package dev.millrace.telemetry;

import io.opentelemetry.sdk.trace.IdGenerator;
import org.jspecify.annotations.Nullable;

/** Gives the span that this thread starts next the ids that follow from its event. */
final class DerivedIds implements IdGenerator {

    private static final ThreadLocal<@Nullable Ids> NEXT = new ThreadLocal<>();

    private final IdGenerator random = IdGenerator.random();

    private record Ids(String traceId, String spanId) {}

    void set(String traceId, String spanId) {
        NEXT.set(new Ids(traceId, spanId));
    }

    void clear() {
        NEXT.remove();
    }

    @Override
    public String generateSpanId() {
        Ids ids = NEXT.get();
        return ids == null ? random.generateSpanId() : ids.spanId();
    }

    @Override
    public String generateTraceId() {
        Ids ids = NEXT.get();
        return ids == null ? random.generateTraceId() : ids.traceId();
    }
}
