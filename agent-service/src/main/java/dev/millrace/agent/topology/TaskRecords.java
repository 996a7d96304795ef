package dev.millrace.agent.topology;

import dev.millrace.agent.AgentDefinition;
import dev.millrace.agent.AgentPin;
import dev.millrace.agent.KnowledgeUse;
import dev.millrace.agent.core.Children;
import dev.millrace.agent.core.Effect;
import dev.millrace.agent.core.Fact;
import dev.millrace.agent.core.TaskContext;
import dev.millrace.agent.core.TaskEvent;
import dev.millrace.agent.core.TaskState;
import dev.millrace.agent.core.Usage;
import dev.millrace.schemas.BackgroundEnd;
import dev.millrace.schemas.ErrorCode;
import dev.millrace.schemas.Event;
import dev.millrace.schemas.EventType;
import dev.millrace.schemas.ForgetScope;
import dev.millrace.schemas.Ids;
import dev.millrace.schemas.JsonObject;
import dev.millrace.schemas.JsonText;
import dev.millrace.schemas.KnownEventType;
import dev.millrace.schemas.MalformedEventException;
import dev.millrace.schemas.Notification;
import dev.millrace.schemas.Payload;
import java.time.Instant;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.function.IntFunction;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Turns what the machine decided on one event into events: ids, parent, correlation and trace follow from the cause.
 * One object per event that the machine takes.
 */
final class TaskRecords {

    /**
     * The most bytes of JSON that an event takes of texts which it repeats from others. With its ids and the rest it
     * fits a lane or a request topic then, however the texts are encoded.
     */
    static final int MAX_REPEATED_BYTES = 1_000_000;
    /** Characters of what was said that are looked through for entities, of question and answer half each. */
    private static final int MAX_EXTRACTED = 99_000;

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
     * @param idBase what ids are derived from: of an event that is not in the journal itself not its own id, from which
     *     others may have been derived
     * @param time when it happens, by the machine's clock and not as the event says
     */
    TaskRecords(Event cause, String idBase, Instant time) {
        this.cause = cause;
        this.idBase = idBase;
        this.time = time;
    }

    /** TASK_STATE_CHANGED for a move. */
    Event moved(TaskState from, TaskState.Existing to) {
        return make(
                KnownEventType.TASK_STATE_CHANGED,
                SOURCE_AGENT,
                new Payload.TaskStateChanged(
                        from.label(),
                        to.label(),
                        cause.type().wireName(),
                        cause.id(),
                        StateReport.waitingFor(to),
                        StateReport.budget(to.context())));
    }

    /** MODEL_CALL_REQUESTED, for the journal. */
    Event requested(Effect.CallModel call) {
        return make(
                KnownEventType.MODEL_CALL_REQUESTED,
                SOURCE_AGENT,
                new Payload.ModelCallRequested(call.callId(), call.iteration(), null, null));
    }

    /** MODEL_CALL_REQUESTED for a summary, for the journal. */
    Event requested(Effect.Summarise call) {
        return make(
                KnownEventType.MODEL_CALL_REQUESTED,
                SOURCE_AGENT,
                new Payload.ModelCallRequested(call.callId(), call.iteration(), null, "summary"));
    }

    /** TOOL_CALL_REQUESTED, for the journal and for the workers. */
    Event requested(Effect.CallTool call, TaskContext context) {
        Event event = make(
                KnownEventType.TOOL_CALL_REQUESTED,
                SOURCE_ACT,
                new Payload.ToolCallRequested(
                        call.callId(),
                        call.toolCallId(),
                        call.toolName(),
                        object(call.arguments()),
                        context.taskType(),
                        (long) call.stepIndex(),
                        call.timeoutMs()));
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
                make(
                        KnownEventType.TASK_CREATED,
                        cause.source(),
                        new Payload.TaskCreated(
                                inputs.apply(context.inputSeq()),
                                cause.source(),
                                metadata(),
                                f.taskType(),
                                AgentDefinition.versionIn(agent.reference())));
            case Fact.StepDone f ->
                make(
                        KnownEventType.STEP_COMPLETED,
                        SOURCE_ACT,
                        new Payload.StepCompleted(f.stepIndex(), f.actionsCount()));
            case Fact.ToolRefused f -> toolFailed(f.callId(), f.toolName(), f.message(), f.code(), 0);
            case Fact.ChildAccepted f ->
                make(
                        KnownEventType.TOOL_CALL_COMPLETED,
                        SOURCE_AGENT,
                        new Payload.ToolCallCompleted(f.callId(), f.toolName(), accepted(f), 0L, null));
            case Fact.ChildStopping f ->
                make(
                        KnownEventType.TOOL_CALL_COMPLETED,
                        SOURCE_AGENT,
                        new Payload.ToolCallCompleted(
                                f.callId(),
                                f.toolName(),
                                Map.of("status", "stopping", "task_id", f.childId()),
                                0L,
                                null));
            case Fact.ModelTimedOut f ->
                make(
                        KnownEventType.MODEL_CALL_FAILED,
                        SOURCE_AGENT,
                        new Payload.ModelCallFailed(
                                f.callId(), f.error().code(), f.error().message(), false, null, null, List.of(), null));
            case Fact.ToolTimedOut f ->
                toolFailed(f.callId(), f.toolName(), f.message(), "tool_timeout", f.timeoutMs());
            case Fact.ApprovalRequested f ->
                make(
                        KnownEventType.APPROVAL_REQUESTED,
                        SOURCE_AGENT,
                        new Payload.ApprovalRequested(
                                f.callId(),
                                f.toolCallId(),
                                f.toolName(),
                                object(f.arguments()),
                                context.taskType(),
                                StateReport.time(f.expiresAtMs()),
                                f.reason()));
            case Fact.ApprovalExpired f ->
                decided(f.callId(), f.approved(), Fact.ApprovalExpired.DECIDED_BY, Fact.ApprovalExpired.REASON);
            case Fact.ApprovalWithdrawn f -> decided(f.callId(), false, "message", "the task goes on with a message");
            case Fact.Asked f ->
                make(
                        KnownEventType.TASK_SUSPENDED,
                        SOURCE_AGENT,
                        new Payload.TaskSuspended("waiting for an answer", f.question()));
            case Fact.Notified(TaskEvent.Notice notice) ->
                make(
                        KnownEventType.TASK_NOTIFY,
                        SOURCE_ACT,
                        new Payload.TaskNotify(notice.message(), notice.channelId(), notice.replyTo()));
            case Fact.Completed f ->
                make(
                        KnownEventType.TASK_COMPLETED,
                        SOURCE_AGENT,
                        new Payload.TaskCompleted(
                                new Payload.Result(
                                        context.taskId(), inputs.apply(f.inputSeq()), f.response(), f.iterations()),
                                usage(f.usage())));
            case Fact.Failed f ->
                make(
                        KnownEventType.TASK_FAILED,
                        SOURCE_AGENT,
                        new Payload.TaskFailed(
                                f.error().message(), f.error().code(), (long) f.iterations(), usage(f.usage())));
            case Fact.Cancelled f ->
                make(
                        KnownEventType.TASK_CANCELLED,
                        SOURCE_AGENT,
                        new Payload.TaskCancelled(f.reason(), f.response(), f.notice()));
        };
    }

    private static JsonObject accepted(Fact.ChildAccepted fact) {
        return JsonObject.builder()
                .put("status", "accepted")
                .put("task_id", fact.childId())
                .putIfPresent("session_id", fact.sessionId())
                .build();
    }

    private JsonObject metadata() {
        JsonObject metadata = cause.payload() instanceof Payload.TaskInput input ? input.metadata() : null;
        return metadata == null ? JsonObject.empty() : metadata;
    }

    /** MESSAGE_RECEIVED that starts a child: a task of its own, one deeper, with a share of the budget. */
    Event start(Effect.StartChild child, StoredTask parent, TaskContext context) {
        return cause.derive(child.childId(), KnownEventType.MESSAGE_RECEIVED, time)
                .taskId(null)
                .sessionId(child.errand() == null ? null : child.childId())
                .source(SOURCE_AGENT)
                .causalDepth(context.causalDepth() + 1)
                .priority(context.priority())
                .payload(new Payload.MessageReceived(
                        child.input(),
                        null,
                        List.of(),
                        List.of(),
                        child.taskType(),
                        null,
                        null,
                        null,
                        Parentage.told(parent, child.callId(), child.background(), child.limits(), child.errand())))
                .build();
    }

    /** TASK_RESUMED for a child that has completed. */
    Event resume(Effect.ResumeChild child, StoredTask parent) {
        return cause.derive(Children.idOf(child.callId()), KnownEventType.TASK_RESUMED, time)
                .taskId(child.childId())
                .sessionId(null)
                .source(SOURCE_AGENT)
                .payload(new Payload.TaskResumed(
                        child.input(), Parentage.told(parent, child.callId(), false, child.limits(), null)))
                .build();
    }

    /** TASK_CANCEL_REQUESTED for a child. */
    Event cancel(Effect.CancelChild child) {
        String id = Ids.hash(idBase + "\ncancel\n" + child.childId()).substring(0, 32);
        return cause.derive(id, KnownEventType.TASK_CANCEL_REQUESTED, time)
                .taskId(child.childId())
                .sessionId(null)
                .source(SOURCE_AGENT)
                .payload(new Payload.TaskCancelRequested(child.reason()))
                .build();
    }

    /** What a child that has ended tells its parent; this object was made for the event that says so. */
    Event answer(Parentage parent, StoredTask child) {
        Usage used = child.usage().minus(parent.reported());
        return switch (cause.payload()) {
            case Payload.TaskCompleted completed -> {
                JsonObject told = JsonObject.builder()
                        .put("task_id", child.taskId())
                        .put("response", completed.result().response())
                        .build();
                yield toParent(parent, child, used, told, null, BackgroundEnd.COMPLETED);
            }
            case Payload.TaskCancelled cancelled ->
                ended(parent, child, used, "was cancelled: " + cancelled.reason(), BackgroundEnd.STOPPED);
            case Payload.TaskFailed failed ->
                ended(
                        parent,
                        child,
                        used,
                        "failed: " + failed.error() + " (" + failed.code() + ")",
                        ErrorCode.TASK_TIMEOUT.code().equals(failed.code())
                                ? BackgroundEnd.TIMEOUT
                                : BackgroundEnd.FAILED);
            default -> throw new IllegalArgumentException("expected the end of a task, found " + cause.type());
        };
    }

    private Event ended(Parentage parent, StoredTask child, Usage used, String why, BackgroundEnd end) {
        String error = JsonText.cut("Task " + child.taskId() + " " + why, MAX_CHILD_ERROR);
        return toParent(parent, child, used, null, error, end);
    }

    /** The answer to a parent whose child, for the start or going on of which this object was made, does not. */
    Event notStarted(Parentage parent, StoredTask child, String why) {
        String what = cause.type() == KnownEventType.TASK_RESUMED ? " does not go on: " : " was not started: ";
        String error = JsonText.cut("Task " + child.taskId() + what + why, MAX_CHILD_ERROR);
        return toParent(parent, child, Usage.NONE, null, error, BackgroundEnd.FAILED);
    }

    /** The answer to a parent whose TASK_RESUMED, for which this object was made, was not taken. */
    Event notResumed(Parentage parent, StoredTask child) {
        String error = child.state() instanceof TaskState.Absent || !parent.isOf(child)
                ? "Task " + child.taskId() + " not found"
                : "Task " + child.taskId() + " is in state "
                        + child.state().label().toUpperCase(Locale.ROOT) + ", can only resume COMPLETED tasks";
        // who lets a child go on always waits for it
        return toParent(parent.inForeground(), child, Usage.NONE, null, error, BackgroundEnd.FAILED);
    }

    /** FORGET_REQUESTED for the session of a child that was to leave nothing behind. */
    Event forget(StoredTask child) {
        String id = Ids.hash(idBase + "\nforget\n" + child.taskId()).substring(0, 32);
        return cause.derive(id, KnownEventType.FORGET_REQUESTED, time)
                .taskId(null)
                .source(SOURCE_AGENT)
                .payload(new Payload.ForgetRequested(
                        ForgetScope.Kind.SESSION.wireName(),
                        null,
                        child.sessionId(),
                        null,
                        "a delegated task that was to leave nothing behind has ended"))
                .build();
    }

    /**
     * What a parent is told of a child.
     *
     * @param error {@code null} = it has completed with the result
     * @param end how it has ended, if the parent went on meanwhile
     */
    private Event toParent(
            Parentage parent,
            StoredTask child,
            Usage used,
            @Nullable Object result,
            @Nullable String error,
            BackgroundEnd end) {
        Payload payload;
        EventType type;
        if (parent.background()) {
            boolean apart = parent.errand() != null;
            // a part of the work fails, however it has ended
            BackgroundEnd told = apart || error == null ? end : BackgroundEnd.FAILED;
            type = told.type();
            payload = new Payload.BackgroundTaskEnded(
                    parent.callId(),
                    child.taskId(),
                    result,
                    error,
                    usage(used),
                    apart ? child.sessionId() : null,
                    apart ? told.state() : null);
        } else if (error == null) {
            type = KnownEventType.TOOL_CALL_COMPLETED;
            payload = new Payload.ToolCallCompleted(parent.callId(), "spawn_task", result, null, usage(used));
        } else {
            type = KnownEventType.TOOL_CALL_FAILED;
            payload = new Payload.ToolCallFailed(
                    parent.callId(), "spawn_task", error, ErrorCode.SUB_TASK_FAILED.code(), null, usage(used));
        }
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
                new Payload.ToolCallFailed(callId, toolName, error, code, durationMs, null));
    }

    private Event decided(String callId, boolean approved, String decidedBy, String reason) {
        return make(
                KnownEventType.APPROVAL_DECIDED,
                SOURCE_AGENT,
                new Payload.ApprovalDecided(callId, approved ? "approve" : "reject", null, reason, decidedBy));
    }

    /** NOTIFICATION_REQUESTED for the event that this object was made for, which is news to the task's owner. */
    Event notification(Notification notification, String callbackUrl) {
        JsonObject.Builder payload =
                JsonObject.builder().put("callbackUrl", callbackUrl).putAll(notification.toJson());
        if (cause.payload() instanceof Payload.TaskCompleted completed) {
            payload.put("result", repeated(completed.result()));
        }
        return make(KnownEventType.NOTIFICATION_REQUESTED, SOURCE_AGENT, new Payload.Unknown(payload.build()));
    }

    /**
     * A result as another event repeats it: its answer first, and of what was asked as much as is left; what is left
     * out is said at the end of each.
     */
    private static JsonObject repeated(Payload.Result result) {
        String response = result.response() == null ? null : JsonText.cutToBytes(result.response(), MAX_REPEATED_BYTES);
        long left = response == null ? MAX_REPEATED_BYTES : MAX_REPEATED_BYTES - JsonText.bytes(response);
        return JsonObject.builder()
                .put("taskId", result.taskId())
                .put("input", JsonText.cutToBytes(result.input(), left))
                .put("response", response)
                .put("iterations", result.iterations())
                .build();
    }

    /** REFLECTION_REQUESTED, caused by the event that this object was made for, which is TASK_COMPLETED. */
    Event reflectionOn(Payload.Result result, int actionsCount, @Nullable String steps) {
        return make(
                KnownEventType.REFLECTION_REQUESTED,
                SOURCE_AGENT,
                new Payload.ReflectionRequested(
                        result.taskId(),
                        JsonText.cutToBytes(result.input(), MAX_REFLECTED_BYTES),
                        result.response() == null ? null : JsonText.cutToBytes(result.response(), MAX_REFLECTED_BYTES),
                        result.iterations(),
                        actionsCount,
                        steps));
    }

    /**
     * ENTITY_EXTRACT of what was said, caused by the event that this object was made for, which is TASK_COMPLETED. It
     * has the priority of its type, however urgent its task was.
     */
    Event extractionOf(Payload.Result result, KnowledgeUse.EntityScope scope, String agent) {
        String response = result.response();
        String half = JsonText.cut(result.input(), MAX_EXTRACTED / 2);
        String said = response == null ? half : half + "\n\n" + JsonText.cut(response, MAX_EXTRACTED / 2 - 2);
        String namespace =
                switch (scope) {
                    case GLOBAL -> scope.wireName();
                    case AGENT -> scope.wireName() + ':' + agent;
                    case THREAD ->
                        scope.wireName() + ':' + (cause.sessionId() == null ? cause.taskId() : cause.sessionId());
                };
        return cause.derive(Ids.derived(idBase, KnownEventType.ENTITY_EXTRACT, 0), KnownEventType.ENTITY_EXTRACT, time)
                .source(SOURCE_AGENT)
                .priority(null)
                .payload(new Payload.EntityExtract(said, "message", cause.id(), namespace))
                .build();
    }

    /** The scope that {@link #extractionOf} named; empty = the event is not from there. */
    static Optional<KnowledgeUse.EntityScope> scope(Payload.EntityExtract extraction) {
        String namespace = extraction.namespace() == null ? "" : extraction.namespace();
        return extraction.sourceType().equals("message")
                ? Stream.of(KnowledgeUse.EntityScope.values())
                        .filter(scope ->
                                namespace.equals(scope.wireName()) || namespace.startsWith(scope.wireName() + ':'))
                        .findFirst()
                : Optional.empty();
    }

    private static Payload.Usage usage(Usage usage) {
        return new Payload.Usage(
                usage.inputTokens(),
                usage.outputTokens(),
                null,
                null,
                usage.costMicros() > 0 ? (Long) usage.costMicros() : null,
                null,
                null);
    }

    private static JsonObject object(String json) {
        try {
            return JsonObject.read(json);
        } catch (MalformedEventException e) {
            // the mapping wrote this text from a JSON value; anything but an object is for the tool to refuse
            return JsonObject.of(Map.of("arguments", json));
        }
    }

    private Event make(KnownEventType type, String source, Payload payload) {
        int ordinal = ordinals.merge(type, 1, Integer::sum) - 1;
        return cause.derive(Ids.derived(idBase, type, ordinal), type, time)
                .source(source)
                .payload(payload)
                .build();
    }
}
