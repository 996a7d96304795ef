package dev.millrace.agent.topology;

import dev.millrace.agent.AgentDefinition;
import dev.millrace.agent.AgentPin;
import dev.millrace.agent.core.Children;
import dev.millrace.agent.core.Effect;
import dev.millrace.agent.core.Fact;
import dev.millrace.agent.core.TaskContext;
import dev.millrace.agent.core.TaskState;
import dev.millrace.agent.core.Usage;
import dev.millrace.schemas.ErrorCode;
import dev.millrace.schemas.Event;
import dev.millrace.schemas.EventType;
import dev.millrace.schemas.Ids;
import dev.millrace.schemas.Json;
import dev.millrace.schemas.JsonText;
import dev.millrace.schemas.KnownEventType;
import dev.millrace.schemas.MalformedEventException;
import dev.millrace.schemas.Notification;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.IntFunction;
import org.jspecify.annotations.Nullable;

/**
 * Turns what the machine decided on one event into events: ids, parent, correlation and trace follow from the cause
 * . One object per event that the machine takes.
 */
final class TaskRecords {

    /**
     * The most bytes of JSON that an event takes of texts which it repeats from others. With its ids and the rest it fits a
     * lane or a request topic then, however the texts are encoded.
     */
    static final int MAX_REPEATED_BYTES = 1_000_000;
    /** As much of what was asked, and of what was answered, as a reflection is told; in bytes of JSON. */
    static final int MAX_REFLECTED_BYTES = 400_000;
    /** The longest error that the parent of a sub-task is told, in characters. */
    static final int MAX_CHILD_ERROR = 20_000;

    private static final String SOURCE_AGENT = "agent";
    private static final String SOURCE_ACT = "cognitive.act";

    private final Event cause;
    private final String idBase;
    private final Instant time;
    private final Map<KnownEventType, Integer> ordinals = new EnumMap<>(KnownEventType.class);

    /** Of an event of the machine's own, at the same time. */
    TaskRecords(Event cause) {
        this(cause, cause.id(), cause.timestamp());
    }

    /**
     * Of any event.
     *
     * @param cause the parent of what follows
     * @param idBase what ids are derived from: of an event that is not in the journal itself not its own id, from which others
     *     may have been derived
     * @param time when it happens, by the machine's clock and not as the event says
     */
    TaskRecords(Event cause, String idBase, Instant time) {
        this.cause = cause;
        this.idBase = idBase;
        this.time = time;
    }

    /** TASK_STATE_CHANGED for a move (X-07, F-138). */
    Event moved(TaskState from, TaskState.Existing to) {
        Map<String, @Nullable Object> payload = new LinkedHashMap<>();
        payload.put("fromState", from.label());
        payload.put("toState", to.label());
        payload.put("triggerEventType", cause.type().wireName());
        payload.put("triggerEventId", cause.id());
        Map<String, @Nullable Object> waitingFor = StateReport.waitingFor(to);
        if (!waitingFor.isEmpty()) {
            payload.put("waitingFor", waitingFor);
        }
        payload.put("budget", StateReport.budget(to.context()));
        return make(KnownEventType.TASK_STATE_CHANGED, SOURCE_AGENT, payload);
    }

    /** MODEL_CALL_REQUESTED, for the journal. */
    Event requested(Effect.CallModel call) {
        return make(
                KnownEventType.MODEL_CALL_REQUESTED,
                SOURCE_AGENT,
                Map.of("callId", call.callId(), "iteration", call.iteration()));
    }

    /** MODEL_CALL_REQUESTED for a summary, for the journal. */
    Event requested(Effect.Summarise call) {
        return make(
                KnownEventType.MODEL_CALL_REQUESTED,
                SOURCE_AGENT,
                Map.of("callId", call.callId(), "iteration", call.iteration(), "purpose", "summary"));
    }

    /** TOOL_CALL_REQUESTED, for the journal and for the workers (F-089). */
    Event requested(Effect.CallTool call, TaskContext context) {
        Map<String, @Nullable Object> payload = new LinkedHashMap<>();
        payload.put("callId", call.callId());
        payload.put("toolCallId", call.toolCallId());
        payload.put("toolName", call.toolName());
        payload.put("params", object(call.arguments()));
        payload.put("taskType", context.taskType());
        payload.put("stepIndex", call.stepIndex());
        payload.put("timeoutMs", call.timeoutMs());
        Event event = make(KnownEventType.TOOL_CALL_REQUESTED, SOURCE_ACT, payload);
        return context.priority() == KnownEventType.MESSAGE_RECEIVED.code()
                ? event
                : event.toBuilder().priority(context.priority()).build();
    }

    /**
     * The event that states a fact.
     *
     * @param agent of the task
     * @param inputs gives the text of the transcript entry at a position
     */
    Event of(Fact fact, TaskContext context, AgentPin agent, IntFunction<String> inputs) {
        return switch (fact) {
            case Fact.Created f ->
                make(KnownEventType.TASK_CREATED, cause.source(), created(f, inputs.apply(context.inputSeq()), agent));
            case Fact.StepDone f ->
                make(
                        KnownEventType.STEP_COMPLETED,
                        SOURCE_ACT,
                        Map.of("stepIndex", f.stepIndex(), "actionsCount", f.actionsCount()));
            case Fact.ToolRefused f -> toolFailed(f.callId(), f.toolName(), f.message(), f.code(), 0);
            case Fact.ChildAccepted f ->
                make(
                        KnownEventType.TOOL_CALL_COMPLETED,
                        SOURCE_AGENT,
                        Map.of(
                                "callId",
                                f.callId(),
                                "toolName",
                                f.toolName(),
                                "result",
                                Map.of("status", "accepted", "task_id", f.childId()),
                                "durationMs",
                                0));
            case Fact.ModelTimedOut f ->
                make(
                        KnownEventType.MODEL_CALL_FAILED,
                        SOURCE_AGENT,
                        Map.of(
                                "callId",
                                f.callId(),
                                "error",
                                "No reply of the model within " + f.timeoutMs() + "ms",
                                "code",
                                "timeout",
                                "retryable",
                                false));
            case Fact.ToolTimedOut f ->
                toolFailed(
                        f.callId(),
                        f.toolName(),
                        "Tool execution timed out after " + f.timeoutMs() + "ms: no worker answered",
                        "tool_timeout",
                        f.timeoutMs());
            case Fact.ApprovalRequested f -> approvalRequested(f, context);
            case Fact.ApprovalExpired f -> decided(f.callId(), f.approved(), "expiry", "nobody decided in time");
            case Fact.ApprovalWithdrawn f -> decided(f.callId(), false, "message", "the task goes on with a message");
            case Fact.Asked f ->
                make(
                        KnownEventType.TASK_SUSPENDED,
                        SOURCE_AGENT,
                        Map.of("reason", "waiting for an answer", "question", f.question()));
            case Fact.Notified f -> make(KnownEventType.TASK_NOTIFY, SOURCE_ACT, Map.of("message", f.message()));
            case Fact.Completed f ->
                make(
                        KnownEventType.TASK_COMPLETED,
                        SOURCE_AGENT,
                        Map.of("result", result(f, context, inputs), "usage", usage(f.usage())));
            case Fact.Failed f ->
                make(
                        KnownEventType.TASK_FAILED,
                        SOURCE_AGENT,
                        Map.of(
                                "error",
                                f.error().message(),
                                "code",
                                f.error().code(),
                                "iterations",
                                f.iterations(),
                                "usage",
                                usage(f.usage())));
            case Fact.Cancelled f -> make(KnownEventType.TASK_CANCELLED, SOURCE_AGENT, Map.of("reason", f.reason()));
        };
    }

    /** MESSAGE_RECEIVED that starts a child: a task of its own, one deeper, with a share of the budget. */
    Event start(Effect.StartChild child, StoredTask parent, TaskContext context) {
        return cause.derive(child.childId(), KnownEventType.MESSAGE_RECEIVED, time)
                .taskId(null)
                .sessionId(null)
                .source(SOURCE_AGENT)
                .causalDepth(context.causalDepth() + 1)
                .priority(context.priority())
                .payload(Map.of(
                        "text",
                        child.input(),
                        "taskType",
                        child.taskType(),
                        Parentage.FIELD,
                        Parentage.field(parent, child.callId(), child.background(), child.limits())))
                .build();
    }

    /** TASK_RESUMED for a child that has completed. */
    Event resume(Effect.ResumeChild child, StoredTask parent) {
        return cause.derive(Children.idOf(child.callId()), KnownEventType.TASK_RESUMED, time)
                .taskId(child.childId())
                .sessionId(null)
                .source(SOURCE_AGENT)
                .payload(Map.of(
                        "newInput",
                        child.input(),
                        Parentage.FIELD,
                        Parentage.field(parent, child.callId(), false, child.limits())))
                .build();
    }

    /** TASK_CANCEL_REQUESTED for a child. */
    Event cancel(Effect.CancelChild child) {
        String id = Ids.hash(idBase + "\ncancel\n" + child.childId()).substring(0, 32);
        return cause.derive(id, KnownEventType.TASK_CANCEL_REQUESTED, time)
                .taskId(child.childId())
                .sessionId(null)
                .source(SOURCE_AGENT)
                .payload(Map.of("reason", child.reason()))
                .build();
    }

    /** What a child that has ended tells its parent; this object was made for the event that says so. */
    Event answer(Parentage parent, StoredTask child) {
        Object result = cause.payload().get("result");
        Usage used = child.usage().minus(parent.reported());
        if (cause.type() == KnownEventType.TASK_COMPLETED) {
            Object response = result instanceof Map<?, ?> compiled ? compiled.get("response") : null;
            Map<String, @Nullable Object> told = new LinkedHashMap<>();
            told.put("task_id", child.taskId());
            told.put("response", response);
            return parent.background()
                    ? toParent(parent, EventType.of(EventMapping.CHILD_COMPLETED), child, used, "result", told)
                    : toParent(parent, KnownEventType.TOOL_CALL_COMPLETED, child, used, "result", told);
        }
        String why = cause.type() == KnownEventType.TASK_CANCELLED
                ? "was cancelled: " + cause.text("reason")
                : "failed: " + cause.text("error") + " (" + cause.text("code") + ")";
        String error = JsonText.cut("Task " + child.taskId() + " " + why, MAX_CHILD_ERROR);
        return parent.background()
                ? toParent(parent, EventType.of(EventMapping.CHILD_FAILED), child, used, "error", error)
                : toParent(parent, KnownEventType.TOOL_CALL_FAILED, child, used, "error", error);
    }

    /** The answer to a parent whose child, for the start of which this object was made, was not started. */
    Event notStarted(Parentage parent, StoredTask child, String why) {
        EventType type =
                parent.background() ? EventType.of(EventMapping.CHILD_FAILED) : KnownEventType.TOOL_CALL_FAILED;
        return toParent(
                parent, type, child, Usage.NONE, "error", "Task " + child.taskId() + " was not started: " + why);
    }

    /** The answer to a parent whose TASK_RESUMED, for which this object was made, was not taken (F-117). */
    Event notResumed(Parentage parent, StoredTask child) {
        String error = child.state() instanceof TaskState.Absent || !parent.isOf(child)
                ? "Task " + child.taskId() + " not found"
                : "Task " + child.taskId() + " is in state "
                        + child.state().label().toUpperCase(Locale.ROOT) + ", can only resume COMPLETED tasks";
        return toParent(parent, KnownEventType.TOOL_CALL_FAILED, child, Usage.NONE, "error", error);
    }

    private Event toParent(Parentage parent, EventType type, StoredTask child, Usage used, String field, Object value) {
        Map<String, @Nullable Object> payload = new LinkedHashMap<>();
        payload.put("callId", parent.callId());
        if (type instanceof KnownEventType) {
            payload.put("toolName", "spawn_task");
        } else {
            payload.put("taskId", child.taskId());
        }
        payload.put(field, value);
        if (type == KnownEventType.TOOL_CALL_FAILED) {
            payload.put("code", ErrorCode.SUB_TASK_FAILED.code());
        }
        payload.put("usage", usage(used));
        return cause.derive(type, 0, time)
                .taskId(parent.taskId())
                .sessionId(parent.sessionId())
                .source(SOURCE_AGENT)
                .payload(payload)
                .build();
    }

    private Event toolFailed(String callId, String toolName, String error, String code, long durationMs) {
        return make(
                KnownEventType.TOOL_CALL_FAILED,
                SOURCE_AGENT,
                Map.of("callId", callId, "toolName", toolName, "error", error, "code", code, "durationMs", durationMs));
    }

    private Map<String, @Nullable Object> created(Fact.Created fact, String inputText, AgentPin agent) {
        Map<String, @Nullable Object> payload = new LinkedHashMap<>(Map.of(
                "inputText",
                inputText,
                "source",
                cause.source(),
                "inputMetadata",
                cause.payload().get("metadata") instanceof Map<?, ?> metadata ? metadata : Map.of(),
                "taskType",
                fact.taskType()));
        String version = AgentDefinition.versionIn(agent.reference());
        if (version != null) {
            payload.put("agentVersion", version);
        }
        return payload;
    }

    private Event approvalRequested(Fact.ApprovalRequested fact, TaskContext context) {
        Map<String, @Nullable Object> payload = new LinkedHashMap<>();
        payload.put("callId", fact.callId());
        payload.put("toolCallId", fact.toolCallId());
        payload.put("toolName", fact.toolName());
        payload.put("params", object(fact.arguments()));
        payload.put("taskType", context.taskType());
        StateReport.putTime(payload, "expiresAt", fact.expiresAtMs());
        if (fact.reason() != null) {
            payload.put("reason", fact.reason());
        }
        return make(KnownEventType.APPROVAL_REQUESTED, SOURCE_AGENT, payload);
    }

    private Event decided(String callId, boolean approved, String decidedBy, String reason) {
        return make(
                KnownEventType.APPROVAL_DECIDED,
                SOURCE_AGENT,
                Map.of(
                        "callId",
                        callId,
                        "decision",
                        approved ? "approve" : "reject",
                        "reason",
                        reason,
                        "decidedBy",
                        decidedBy));
    }

    /** NOTIFICATION_REQUESTED for the event that this object was made for, which is news to the task's owner. */
    Event notification(Notification notification, String callbackUrl) {
        Map<String, @Nullable Object> payload = new LinkedHashMap<>();
        payload.put("callbackUrl", callbackUrl);
        payload.putAll(notification.toJson());
        payload.computeIfPresent(
                "result",
                (field, result) ->
                        result instanceof Map<?, ?> compiled ? repeated(compiled, MAX_REPEATED_BYTES) : result);
        return make(KnownEventType.NOTIFICATION_REQUESTED, SOURCE_AGENT, payload);
    }

    /** REFLECTION_REQUESTED, caused by the event that this object was made for, which is TASK_COMPLETED. */
    Event reflectionOn(Map<?, ?> result, int actionsCount) {
        Map<String, @Nullable Object> payload = new LinkedHashMap<>();
        result.forEach((name, value) -> payload.put(
                String.valueOf(name),
                value instanceof String text ? JsonText.cutToBytes(text, MAX_REFLECTED_BYTES) : value));
        payload.put("actionsCount", actionsCount);
        return make(KnownEventType.REFLECTION_REQUESTED, SOURCE_AGENT, payload);
    }

    /**
     * A compiled result as another event repeats it: its answer first, and of what was asked as much as is left; what is
     * left out is said at the end of each.
     */
    private static Map<String, @Nullable Object> repeated(Map<?, ?> result, long maxBytes) {
        Map<String, @Nullable Object> repeated = new LinkedHashMap<>();
        result.forEach((name, value) -> repeated.put(String.valueOf(name), value));
        long left = maxBytes;
        for (String field : List.of("response", "input")) {
            if (repeated.get(field) instanceof String text) {
                String fitting = JsonText.cutToBytes(text, left);
                repeated.put(field, fitting);
                left -= JsonText.bytes(fitting);
            }
        }
        return repeated;
    }

    /** The compiled result (F-073). */
    private static Map<String, @Nullable Object> result(
            Fact.Completed fact, TaskContext context, IntFunction<String> inputs) {
        Map<String, @Nullable Object> result = new LinkedHashMap<>();
        result.put("taskId", context.taskId());
        result.put("input", inputs.apply(fact.inputSeq()));
        result.put("response", fact.response());
        result.put("iterations", fact.iterations());
        return result;
    }

    private static Map<String, @Nullable Object> usage(Usage usage) {
        Map<String, @Nullable Object> json = new LinkedHashMap<>();
        json.put("inputTokens", usage.inputTokens());
        json.put("outputTokens", usage.outputTokens());
        if (usage.costMicros() > 0) {
            json.put("costMicros", usage.costMicros());
        }
        return json;
    }

    private static Map<String, @Nullable Object> object(String json) {
        try {
            return Json.readObject(json.getBytes(StandardCharsets.UTF_8));
        } catch (MalformedEventException e) {
            // the mapping wrote this text from a JSON value; anything but an object is for the tool to refuse
            return Map.of("arguments", json);
        }
    }

    private Event make(KnownEventType type, String source, Map<String, ? extends @Nullable Object> payload) {
        int ordinal = ordinals.merge(type, 1, Integer::sum) - 1;
        return derive(type, ordinal, source, new LinkedHashMap<>(payload));
    }

    private Event derive(EventType type, int ordinal, String source, Map<String, @Nullable Object> payload) {
        return cause.derive(Ids.derived(idBase, type, ordinal), type, time)
                .source(source)
                .payload(payload)
                .build();
    }
}
