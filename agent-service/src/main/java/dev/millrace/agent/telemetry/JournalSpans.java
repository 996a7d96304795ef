package dev.millrace.agent.telemetry;

import dev.millrace.schemas.Event;
import dev.millrace.schemas.Json;
import dev.millrace.schemas.KnownEventType;
import dev.millrace.schemas.TraceContext;
import dev.millrace.telemetry.FinishedSpan;
import dev.millrace.telemetry.TelemetryKeys;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Reads the journal and tells the spans that it holds: {@code invoke_agent} for each stretch of a task's work, from the event
 * that set it going to its end or to where it waits for somebody, and {@code execute_tool} for each tool call that came to an end.
 * Reading the same again tells the same again. For one thread.
 *
 * <p>Of the beginnings it remembers the latest {@value #REMEMBERED}; a span whose beginning it does not know begins where it
 * ends, or as long before as the event says.
 */
public final class JournalSpans {

    static final int REMEMBERED = 10_000;

    private final boolean content;
    private final Consumer<FinishedSpan> spans;
    private final Map<String, Stretch> stretches = new Recent<>();
    private final Map<String, Event> toolCalls = new Recent<>();

    /** The work of a task in one trace. */
    private static final class Stretch {
        final Instant start;
        final @Nullable String parentSpanId;

        @Nullable
        String taskType;

        Stretch(Instant start, @Nullable String parentSpanId) {
            this.start = start;
            this.parentSpanId = parentSpanId;
        }
    }

    /** Forgets the oldest. */
    private static final class Recent<V> extends LinkedHashMap<String, V> {
        private static final long serialVersionUID = 1;

        @Override
        protected boolean removeEldestEntry(Map.Entry<String, V> eldest) {
            return size() > REMEMBERED;
        }
    }

    /**
     * Tells spans to somebody.
     *
     * @param content whether arguments and results of tools go into them
     */
    public JournalSpans(boolean content, Consumer<FinishedSpan> spans) {
        this.content = content;
        this.spans = spans;
    }

    /**
     * The next event of a partition of the journal, one that was processed.
     *
     * @param known whether it was told before: then it only counts as a beginning
     */
    public void take(Event event, boolean known) {
        String taskId = taskId(event);
        if (taskId == null) {
            return;
        }
        TraceContext task = TraceContext.ofTask(event.namespace(), taskId, event.correlationId(), event.traceparent());
        Stretch stretch =
                stretches.computeIfAbsent(task.spanId(), id -> new Stretch(event.timestamp(), parentOf(event, task)));
        if (!(event.type() instanceof KnownEventType type)) {
            return;
        }
        switch (type) {
            case TASK_CREATED -> stretch.taskType = event.text("taskType");
            case TOOL_CALL_REQUESTED -> {
                String callId = event.text("callId");
                if (callId != null) {
                    toolCalls.put(Event.qualified(event.namespace(), callId), event);
                }
            }
            case TOOL_CALL_COMPLETED, TOOL_CALL_FAILED -> toolEnded(event, task, known);
            case TASK_COMPLETED, TASK_FAILED, TASK_CANCELLED -> ended(event, taskId, task, stretch, known);
            case TASK_STATE_CHANGED -> {
                if ("suspended".equals(event.text("toState"))) {
                    ended(event, taskId, task, stretch, known);
                }
            }
            default -> {} // no beginning and no end
        }
    }

    private static @Nullable String taskId(Event event) {
        boolean root = event.type() == KnownEventType.MESSAGE_RECEIVED;
        return event.taskId() == null && root ? event.id() : event.taskId();
    }

    /** Where the event that sets a task going comes from: the tool call of a parent, else whoever sent it. */
    private static @Nullable String parentOf(Event first, TraceContext task) {
        if (first.fields().get("parent") instanceof Map<?, ?> parent && parent.get("callId") instanceof String callId) {
            return task.ofCall(first.namespace(), callId).spanId();
        }
        // what Millrace itself made may carry the span of a tool call of this very task
        TraceContext sender = first.parentEventId() == null ? TraceContext.parse(first.traceparent()) : null;
        return sender == null ? null : sender.spanId();
    }

    private void ended(Event event, String taskId, TraceContext task, Stretch stretch, boolean known) {
        // what may come in the same trace begins here
        Stretch next = new Stretch(event.timestamp(), stretch.parentSpanId);
        next.taskType = stretch.taskType;
        stretches.put(task.spanId(), next);
        if (known) {
            return;
        }
        Map<String, Object> attributes = new LinkedHashMap<>();
        attributes.put(TelemetryKeys.OPERATION_NAME, TelemetryKeys.INVOKE_AGENT);
        String agent = stretch.taskType;
        if (agent != null) {
            attributes.put(TelemetryKeys.AGENT_NAME, agent);
        }
        String sessionId = event.sessionId();
        attributes.put(TelemetryKeys.CONVERSATION_ID, sessionId == null ? taskId : sessionId);
        attributes.put(TelemetryKeys.TASK_ID, taskId);
        if (event.fields().get("usage") instanceof Map<?, ?> usage) {
            if (usage.get("inputTokens") instanceof Number input) {
                attributes.put(TelemetryKeys.INPUT_TOKENS, input.longValue());
            }
            if (usage.get("outputTokens") instanceof Number output) {
                attributes.put(TelemetryKeys.OUTPUT_TOKENS, output.longValue());
            }
        }
        String error = null;
        if (event.type() == KnownEventType.TASK_FAILED) {
            error = orElse(event.text("code"), "failed");
        } else if (event.type() == KnownEventType.TASK_CANCELLED) {
            error = "cancelled";
        }
        spans.accept(new FinishedSpan(
                agent == null ? TelemetryKeys.INVOKE_AGENT : TelemetryKeys.INVOKE_AGENT + " " + agent,
                FinishedSpan.Kind.INTERNAL,
                task,
                stretch.parentSpanId,
                earlier(stretch.start, event.timestamp()),
                event.timestamp(),
                attributes,
                error));
    }

    private void toolEnded(Event event, TraceContext task, boolean known) {
        String callId = event.text("callId");
        if (callId == null) {
            return;
        }
        Event request = toolCalls.remove(Event.qualified(event.namespace(), callId));
        if (known) {
            return;
        }
        String tool = orElse(event.text("toolName"), "unknown");
        Map<String, Object> attributes = new LinkedHashMap<>();
        attributes.put(TelemetryKeys.OPERATION_NAME, TelemetryKeys.EXECUTE_TOOL);
        attributes.put(TelemetryKeys.TOOL_NAME, tool);
        attributes.put(TelemetryKeys.TOOL_TYPE, "function");
        attributes.put(TelemetryKeys.CALL_ID, callId);
        String toolCallId = request == null ? null : request.text("toolCallId");
        if (toolCallId != null) {
            attributes.put(TelemetryKeys.TOOL_CALL_ID, toolCallId);
        }
        if (event.taskId() != null) {
            attributes.put(TelemetryKeys.TASK_ID, event.taskId());
        }
        if (content && request != null) {
            attributes.put(
                    TelemetryKeys.TOOL_ARGUMENTS,
                    Json.writeText(request.fields().get("params")));
        }
        if (content && event.fields().containsKey("result")) {
            attributes.put(
                    TelemetryKeys.TOOL_RESULT, Json.writeText(event.fields().get("result")));
        }
        spans.accept(new FinishedSpan(
                TelemetryKeys.EXECUTE_TOOL + " " + tool,
                FinishedSpan.Kind.INTERNAL,
                task.ofCall(event.namespace(), callId),
                task.spanId(),
                earlier(begunAt(event, request), event.timestamp()),
                event.timestamp(),
                attributes,
                event.type() == KnownEventType.TOOL_CALL_FAILED ? orElse(event.text("code"), "failed") : null));
    }

    /** When the tool began to run, as far as anybody says. */
    private static Instant begunAt(Event event, @Nullable Event request) {
        if (event.fields().get("durationMs") instanceof Number duration && duration.longValue() > 0) {
            return event.timestamp().minusMillis(duration.longValue());
        }
        return request == null ? event.timestamp() : request.timestamp();
    }

    private static Instant earlier(Instant start, Instant end) {
        return start.isAfter(end) ? end : start; // clocks of several machines
    }

    private static String orElse(@Nullable String text, String otherwise) {
        return text == null ? otherwise : text;
    }
}
