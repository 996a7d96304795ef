package dev.millrace.schemas;

import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * A place in a trace, as W3C trace context names it, and where the parts of a task stand in theirs. All ids follow from
 * what is in the events, so whoever looks at an event, on any instance and however often, comes to the same ones: a
 * transaction that was aborted and repeated, or a call that was made again after a crash, is the same span.
 *
 * @param traceId 32 lower-case hex characters
 * @param spanId 16 of them
 * @param sampled whether whoever began the trace keeps it
 */
public record TraceContext(String traceId, String spanId, boolean sampled) {

    private static final Pattern HEADER =
            Pattern.compile("[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(?:-.*)?");
    private static final String NO_TRACE = "0".repeat(32);
    private static final String NO_SPAN = "0".repeat(16);

    /** What a {@code traceparent} says; null if it is absent or none. */
    public static @Nullable TraceContext parse(@Nullable String traceparent) {
        if (traceparent == null || traceparent.startsWith("ff")) {
            return null;
        }
        Matcher parts = HEADER.matcher(traceparent);
        if (!parts.matches()
                || parts.group(1).equals(NO_TRACE)
                || parts.group(2).equals(NO_SPAN)) {
            return null;
        }
        return new TraceContext(parts.group(1), parts.group(2), (Integer.parseInt(parts.group(3), 16) & 1) == 1);
    }

    /** The same as a {@code traceparent}. */
    public String header() {
        return "00-" + traceId + '-' + spanId + (sampled ? "-01" : "-00");
    }

    /** Another span of the same trace. */
    public TraceContext at(String otherSpanId) {
        return new TraceContext(traceId, otherSpanId, sampled);
    }

    /**
     * The trace of a chain of events: the one that its events name, else one that follows from its root, so that all
     * that came of one event is one trace also where nobody began one. The span is the one of the task's work in this
     * trace.
     *
     * @param traceparent of any event of the chain; null = it has none
     */
    public static TraceContext ofTask(
            String namespace, String taskId, String correlationId, @Nullable String traceparent) {
        TraceContext named = parse(traceparent);
        String traceId = named != null ? named.traceId() : hash(32, "trace", namespace, correlationId);
        return new TraceContext(
                traceId, hash(16, "invoke_agent", namespace, taskId, traceId), named == null || named.sampled());
    }

    /** The span of a call that a task makes, in this trace. */
    public TraceContext ofCall(String namespace, String callId) {
        return at(hash(16, "call", namespace, callId));
    }

    /**
     * The request of a tool call, with the span of that call as its trace context: what a worker does for it, in
     * whatever language, belongs under it.
     */
    public static Event underItsCall(Event request) {
        String taskId = request.taskId();
        if (taskId == null || !(request.payload() instanceof Payload.ToolCallRequested call)) {
            return request;
        }
        return request.toBuilder()
                .traceparent(ofTask(request.namespace(), taskId, request.correlationId(), request.traceparent())
                        .ofCall(request.namespace(), call.callId())
                        .header())
                .build();
    }

    private static String hash(int length, String... parts) {
        String hash = Ids.hash(String.join("\n", parts)).substring(0, length);
        return hash.startsWith(NO_SPAN) ? "1" + hash.substring(1) : hash; // all zeros would be none
    }
}
