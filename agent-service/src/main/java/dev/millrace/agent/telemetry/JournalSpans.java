package dev.millrace.agent.telemetry;

import dev.millrace.schemas.Event;
import dev.millrace.schemas.Json;
import dev.millrace.schemas.JsonObject;
import dev.millrace.schemas.KnownEventType;
import dev.millrace.schemas.Payload;
import dev.millrace.schemas.TraceContext;
import dev.millrace.telemetry.FinishedSpan;
import dev.millrace.telemetry.TelemetryKeys;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Reads the journal and tells the spans that it holds: {@code invoke_agent} for each stretch of a task's work, from the
 * event that set it going to its end or to where it waits for somebody, and {@code execute_tool} for each tool call
 * that came to an end. Reading the same again tells the same again. For one thread.
 *
 * <p>Of the beginnings it remembers the latest {@value #REMEMBERED}; a span whose beginning it does not know begins
 * where it ends, or as long before as the event says.
 */
public final class JournalSpans {

    static final int REMEMBERED = 10_000;

    private final boolean content;
    private final Consumer<FinishedSpan> spans;
    private final Map<String, Stretch> stretches = new Recent<>();
    private final Map<String, ToolCall> toolCalls = new Recent<>();

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
        switch (event.payload()) {
            case Payload.TaskCreated created -> stretch.taskType = created.taskType();
            case Payload.ToolCallRequested requested ->
                toolCalls.put(
                        Event.qualified(event.namespace(), requested.callId()),
                        new ToolCall(event.timestamp(), requested.toolCallId(), requested.params()));
            case Payload.ToolCallCompleted done ->
                toolEnded(event, task, known, new Ended(done.callId(), done.toolName(), done.durationMs(), null));
            case Payload.ToolCallFailed failed ->
                toolEnded(
                        event,
                        task,
                        known,
                        new Ended(failed.callId(), failed.toolName(), failed.durationMs(), failed.code()));
            case Payload.TaskCompleted completed ->
                ended(event, task, stretch, known ? null : new End(taskId, completed.usage(), null));
            case Payload.TaskFailed failed ->
                ended(event, task, stretch, known ? null : new End(taskId, failed.usage(), failed.code()));
            case Payload.TaskCancelled cancelled ->
                ended(event, task, stretch, known ? null : new End(taskId, null, "cancelled"));
            case Payload.TaskStateChanged moved -> {
                if (moved.toState().equals("suspended")) {
                    ended(event, task, stretch, known ? null : new End(taskId, null, null));
                }
            }
            default -> {} // no beginning and no end
        }
    }

    /** A tool call that has been asked for. */
    private record ToolCall(Instant at, String toolCallId, JsonObject params) {}

    /**
     * How a tool call ended.
     *
     * @param durationMs how long the tool ran; {@code null} = not told
     * @param error {@code null} = it did not fail
     */
    private record Ended(
            String callId,
            String tool,
            @Nullable Long durationMs,
            @Nullable String error) {}

    /**
     * How a stretch of work ended.
     *
     * @param usage {@code null} = not told
     * @param error {@code null} = it did not fail
     */
    private record End(
            String taskId,
            Payload.@Nullable Usage usage,
            @Nullable String error) {}

    private static @Nullable String taskId(Event event) {
        boolean root = event.type() == KnownEventType.MESSAGE_RECEIVED;
        return event.taskId() == null && root ? event.id() : event.taskId();
    }

    /** Where the event that sets a task going comes from: the tool call of a parent, else whoever sent it. */
    private static @Nullable String parentOf(Event first, TraceContext task) {
        Payload.Parent parent =
                switch (first.payload()) {
                    case Payload.TaskInput input -> input.parent();
                    case Payload.TaskResumed resumed -> resumed.parent();
                    default -> null;
                };
        if (parent != null) {
            return task.ofCall(first.namespace(), parent.callId()).spanId();
        }
        // what Millrace itself made may carry the span of a tool call of this very task
        TraceContext sender = first.parentEventId() == null ? TraceContext.parse(first.traceparent()) : null;
        return sender == null ? null : sender.spanId();
    }

    /** @param end {@code null} = it was told before */
    private void ended(Event event, TraceContext task, Stretch stretch, @Nullable End end) {
        // what may come in the same trace begins here
        Stretch next = new Stretch(event.timestamp(), stretch.parentSpanId);
        next.taskType = stretch.taskType;
        stretches.put(task.spanId(), next);
        if (end == null) {
            return;
        }
        Map<String, Object> attributes = new LinkedHashMap<>();
        attributes.put(TelemetryKeys.OPERATION_NAME, TelemetryKeys.INVOKE_AGENT);
        String agent = stretch.taskType;
        if (agent != null) {
            attributes.put(TelemetryKeys.AGENT_NAME, agent);
        }
        String sessionId = event.sessionId();
        attributes.put(TelemetryKeys.CONVERSATION_ID, sessionId == null ? end.taskId() : sessionId);
        attributes.put(TelemetryKeys.TASK_ID, end.taskId());
        Payload.Usage usage = end.usage();
        if (usage != null) {
            attributes.put(TelemetryKeys.INPUT_TOKENS, usage.inputTokens());
            attributes.put(TelemetryKeys.OUTPUT_TOKENS, usage.outputTokens());
        }
        spans.accept(new FinishedSpan(
                agent == null ? TelemetryKeys.INVOKE_AGENT : TelemetryKeys.INVOKE_AGENT + " " + agent,
                FinishedSpan.Kind.INTERNAL,
                task,
                stretch.parentSpanId,
                earlier(stretch.start, event.timestamp()),
                event.timestamp(),
                attributes,
                end.error()));
    }

    private void toolEnded(Event event, TraceContext task, boolean known, Ended ended) {
        ToolCall request = toolCalls.remove(Event.qualified(event.namespace(), ended.callId()));
        if (known) {
            return;
        }
        Map<String, Object> attributes = new LinkedHashMap<>();
        attributes.put(TelemetryKeys.OPERATION_NAME, TelemetryKeys.EXECUTE_TOOL);
        attributes.put(TelemetryKeys.TOOL_NAME, ended.tool());
        attributes.put(TelemetryKeys.TOOL_TYPE, "function");
        attributes.put(TelemetryKeys.CALL_ID, ended.callId());
        if (request != null) {
            attributes.put(TelemetryKeys.TOOL_CALL_ID, request.toolCallId());
        }
        if (event.taskId() != null) {
            attributes.put(TelemetryKeys.TASK_ID, event.taskId());
        }
        if (content && request != null) {
            attributes.put(TelemetryKeys.TOOL_ARGUMENTS, Json.writeText(request.params()));
        }
        if (content && event.payload() instanceof Payload.ToolCallCompleted completed) {
            attributes.put(TelemetryKeys.TOOL_RESULT, Json.writeText(completed.result()));
        }
        spans.accept(new FinishedSpan(
                TelemetryKeys.EXECUTE_TOOL + " " + ended.tool(),
                FinishedSpan.Kind.INTERNAL,
                task.ofCall(event.namespace(), ended.callId()),
                task.spanId(),
                earlier(begunAt(event, request, ended.durationMs()), event.timestamp()),
                event.timestamp(),
                attributes,
                ended.error()));
    }

    /** When the tool began to run, as far as anybody says. */
    private static Instant begunAt(Event event, @Nullable ToolCall request, @Nullable Long durationMs) {
        if (durationMs != null && durationMs > 0) {
            return event.timestamp().minusMillis(durationMs);
        }
        return request == null ? event.timestamp() : request.at();
    }

    private static Instant earlier(Instant start, Instant end) {
        return start.isAfter(end) ? end : start; // clocks of several machines
    }
}
