package dev.millrace.agent.topology;

import dev.millrace.agent.AgentPin;
import dev.millrace.agent.Agents;
import dev.millrace.agent.ToolRouting;
import dev.millrace.agent.core.Deadlines;
import dev.millrace.agent.core.Meta;
import dev.millrace.agent.core.TaskError;
import dev.millrace.agent.core.TaskEvent;
import dev.millrace.agent.core.TaskLimits;
import dev.millrace.agent.core.TaskState;
import dev.millrace.agent.core.ToolCall;
import dev.millrace.agent.core.Usage;
import dev.millrace.engine.ReplyLimits;
import dev.millrace.schemas.CustomEventType;
import dev.millrace.schemas.Event;
import dev.millrace.schemas.InputTemplate;
import dev.millrace.schemas.Json;
import dev.millrace.schemas.JsonText;
import dev.millrace.schemas.KnownEventType;
import dev.millrace.schemas.MalformedEventException;
import dev.millrace.schemas.StreamType;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Turns events as they travel into events as the machine takes them; the only place that says what is not acceptable. */
final class EventMapping {

    /** A child in the background has completed (F-182). */
    static final String CHILD_COMPLETED = "background_task.completed";
    /** A child in the background has failed or was cancelled (F-182). */
    static final String CHILD_FAILED = "background_task.failed";

    /** As much of a child's answer as its parent is told; in characters. */
    private static final int MAX_NEWS = 20_000;

    private static final String TOO_LARGE =
            "expected at most " + ReplyLimits.MAX_ARGUMENTS_BYTES + " bytes of JSON, found more";

    private final ToolRouting routing;

    EventMapping(ToolRouting routing) {
        this.routing = routing;
    }

    /** What an event is to the machine. */
    sealed interface Mapped {}

    /** Something that happened to a task. */
    record ForTask(TaskEvent event) implements Mapped {}

    /** Nothing to the machine, but a fact all the same: into the journal with it. */
    record RecordOnly() implements Mapped {}

    /**
     * Not acceptable.
     *
     * @param reason stable word, lower snake case
     * @param detail what was expected and found
     */
    record Refused(String reason, String detail) implements Mapped {}

    /** The task that an event is for: the one it names, or, if it can start one, the one with its own id. */
    static @Nullable String taskIdOf(Event event) {
        String named = event.taskId();
        return named == null && startsTasks(event) ? event.id() : named;
    }

    private static boolean startsTasks(Event event) {
        return event.type() instanceof KnownEventType type
                && switch (type) {
                    case MESSAGE_RECEIVED, WEBHOOK_TRIGGERED, SCHEDULE_FIRED -> true;
                    default -> false;
                };
    }

    /**
     * Maps an event from a lane.
     *
     * @param taskId what {@link #taskIdOf} said
     * @param agent who works on the task; any if there is no task yet
     * @param nowMs the clock, in Unix milliseconds
     */
    Mapped fromLane(Event event, String taskId, AgentPin agent, long nowMs) {
        return switch (event.type()) {
            case CustomEventType type
            when type.wireName().equals(CHILD_COMPLETED) || type.wireName().equals(CHILD_FAILED) ->
                childEnded(event, taskId, nowMs);
            case CustomEventType type -> new RecordOnly();
            case StreamType type ->
                new Refused("not_accepted", type.wireName() + " is live text, which is never on a lane");
            case KnownEventType type -> fromLane(type, event, taskId, agent, nowMs);
        };
    }

    /** One that names no task is an environment event like any other. */
    private static Mapped childEnded(Event event, String taskId, long nowMs) {
        String callId = event.text("callId");
        if (event.taskId() == null || callId == null) {
            return new RecordOnly();
        }
        Object result = event.payload().get("result");
        String what = event.text("error") == null
                ? "Background task " + event.text("taskId") + " completed: "
                        + (result instanceof Map<?, ?> answer && answer.get("response") instanceof String response
                                ? response
                                : Json.writeText(result))
                : "Background task failed: " + event.text("error");
        return new ForTask(new TaskEvent.ChildEnded(
                new Meta(event.id(), taskId, event.timestamp(), nowMs),
                callId,
                JsonText.cut(what, MAX_NEWS),
                usage(event)));
    }

    private Mapped fromLane(KnownEventType type, Event event, String taskId, AgentPin agent, long nowMs) {
        if (type.machineOnly()) {
            return new Refused(
                    "not_accepted", type.wireName() + " is written by the task machine and taken from nobody else");
        }
        return switch (type) {
            case SYSTEM_STARTED,
                    SYSTEM_SHUTTING_DOWN,
                    HEARTBEAT,
                    MODEL_CALL_ABANDONED,
                    REFLECTION_COMPLETE,
                    REFLECTION_FAILED,
                    FORGET_REQUESTED,
                    MEMORY_FORGOTTEN,
                    RAG_INGEST,
                    ENTITY_EXTRACT -> new RecordOnly();
            default -> ofTask(type, event, taskId, agent, nowMs);
        };
    }

    /** Maps an event that changes a task: from a lane, or made by the machine itself. */
    Mapped ofTask(KnownEventType type, Event event, String taskId, AgentPin agent, long nowMs) {
        Meta meta = new Meta(event.id(), taskId, event.timestamp(), nowMs);
        try {
            return switch (type) {
                case MESSAGE_RECEIVED, WEBHOOK_TRIGGERED, SCHEDULE_FIRED -> input(event, meta);
                case APPROVAL_DECIDED -> new ForTask(approvalDecided(event, meta));
                case TASK_CREATED -> new ForTask(new TaskEvent.TaskCreated(meta));
                case TASK_SUSPENDED -> new ForTask(new TaskEvent.TaskSuspended(meta, or(event.text("reason"), "")));
                case TASK_RESUMED ->
                    new ForTask(
                            new TaskEvent.TaskResumed(meta, blankIsNone(event.text("newInput")), childLimits(event)));
                case TASK_CANCEL_REQUESTED ->
                    new ForTask(new TaskEvent.CancelRequested(meta, or(event.text("reason"), "cancelled on request")));
                case TASK_FAILED ->
                    new ForTask(new TaskEvent.FailureDeclared(
                            meta,
                            new TaskError(
                                    or(event.text("code"), "declared_failed"),
                                    or(event.text("error"), "declared failed from outside"))));
                case REASON_DONE ->
                    new ForTask(new TaskEvent.ModelReplied(
                            meta,
                            required(event, "callId"),
                            event.text("response"),
                            toolCalls(event, agent),
                            routing.sequential(agent),
                            usage(event),
                            contextWindow(event),
                            event.text("continuation")));
                case NEED_MORE_INFO ->
                    new ForTask(new TaskEvent.QuestionAsked(
                            meta,
                            required(event, "callId"),
                            required(event, "question"),
                            event.text("response"),
                            event.text("toolCallId"),
                            toolCalls(event, agent),
                            usage(event),
                            contextWindow(event),
                            event.text("continuation")));
                case CONTEXT_COMPACTED ->
                    new ForTask(new TaskEvent.Summarised(
                            meta,
                            required(event, "callId"),
                            required(event, "summary"),
                            event.text("request"),
                            usage(event)));
                case MODEL_CALL_FAILED ->
                    new ForTask(new TaskEvent.ModelCallFailed(
                            meta,
                            required(event, "callId"),
                            new TaskError(required(event, "code"), required(event, "error")),
                            usage(event)));
                case STEP_COMPLETED ->
                    new ForTask(new TaskEvent.StepCompleted(meta, whole(event.payload(), "stepIndex")));
                case TOOL_CALL_COMPLETED -> toolCompleted(event, meta);
                case TOOL_CALL_FAILED ->
                    new ForTask(new TaskEvent.ToolReturned(
                            meta, required(event, "callId"), required(event, "error"), true, null, usage(event)));
                default -> new RecordOnly();
            };
        } catch (IllegalArgumentException e) {
            return new Refused("bad_payload", type.wireName() + ": " + e.getMessage());
        }
    }

    /** The agent for the task that this event starts, of which {@link #unknownAgent} says nothing. */
    AgentPin agentFor(Event event, long nowMs) {
        return routing.pin(taskType(event), event, Instant.ofEpochMilli(nowMs), Parentage.agents(event));
    }

    /** Why there is no agent for the task that this event would start, for people; empty = there is one. */
    Optional<String> unknownAgent(Event event) {
        return routing.unknown(taskType(event));
    }

    /** Whether there is still the agent that a task is to go on with. */
    boolean knows(AgentPin agent) {
        return routing.knows(agent);
    }

    /** Why the arguments that a person has changed a call's to cannot be those of its tool; empty if they can. */
    Optional<String> unfit(TaskEvent.ApprovalDecided decision, TaskState state) {
        String arguments = decision.arguments();
        if (arguments == null || !(state instanceof TaskState.Suspended suspended)) {
            return Optional.empty();
        }
        Map<String, @Nullable Object> edited = object(arguments);
        return suspended.undecided().stream()
                .filter(call -> call.callId().equals(decision.callId()))
                .findFirst()
                .flatMap(call -> routing.unfit(call.toolName(), edited));
    }

    private static Map<String, @Nullable Object> object(String json) {
        try {
            return Json.readObject(json.getBytes(StandardCharsets.UTF_8));
        } catch (MalformedEventException e) {
            throw new IllegalArgumentException("written from an object, found none", e);
        }
    }

    private static String taskType(Event event) {
        return or(blankIsNone(event.text("taskType")), Agents.DEFAULT);
    }

    private Mapped input(Event event, Meta meta) {
        String text = event.text("text");
        if (text == null) {
            text = event.text("content");
        }
        String template = event.text("template");
        if (text == null && template != null) {
            InputTemplate input = new InputTemplate(template);
            List<String> problems = input.problems(event.payload());
            if (!problems.isEmpty()) {
                return new Refused("bad_payload", event.type().wireName() + ": " + String.join("; ", problems));
            }
            text = input.fill(event.payload()).orElse(null);
            if (text == null) {
                return new Refused(
                        "bad_payload",
                        event.type().wireName() + ": template: expected to make a text of at most "
                                + InputTemplate.MAX_TEXT + " characters, found one that is longer");
            }
        }
        if (text == null || text.isBlank()) {
            return new Refused(
                    "no_text",
                    event.type().wireName()
                            + ": expected a text, or a template to make one from the payload, found neither");
        }
        String taskType = routing.agentFor(taskType(event));
        TaskEvent.Terms terms = new TaskEvent.Terms(
                event.causalDepth(),
                event.expiry() == null ? Deadlines.NEVER : event.expiry().toEpochMilli(),
                routing.limits(taskType, Parentage.agents(event)).atMost(childLimits(event)),
                Openings.of(event));
        return new ForTask(new TaskEvent.InputReceived(meta, text, taskType, event.effectivePriority(), terms));
    }

    private static TaskLimits childLimits(Event event) {
        return Parentage.of(event, Usage.NONE) == null ? TaskLimits.UNLIMITED : Parentage.limits(event);
    }

    private static TaskEvent approvalDecided(Event event, Meta meta) {
        boolean approved = required(event, "decision").equals("approve");
        Object params = event.payload().get("params");
        String changed = approved && params instanceof Map<?, ?> ? Json.writeText(params) : null;
        if (changed != null && isTooLarge(params)) {
            throw new IllegalArgumentException("params: " + TOO_LARGE);
        }
        return new TaskEvent.ApprovalDecided(
                meta,
                required(event, "callId"),
                approved,
                changed,
                blankIsNone(event.text("reason")),
                blankIsNone(event.text("decidedBy")));
    }

    private static Mapped toolCompleted(Event event, Meta meta) {
        Object result = event.payload().get("result");
        String notification = "notify".equals(event.text("toolName"))
                        && result instanceof Map<?, ?> object
                        && object.get("message") instanceof String message
                ? message
                : null;
        return new ForTask(new TaskEvent.ToolReturned(
                meta, required(event, "callId"), Json.writeText(result), false, notification, usage(event)));
    }

    private List<ToolCall> toolCalls(Event event, AgentPin agent) {
        if (!(event.payload().get("toolCalls") instanceof List<?> list)) {
            return List.of();
        }
        List<ToolCall> calls = new ArrayList<>(list.size());
        for (Object item : list) {
            if (!(item instanceof Map<?, ?> call)) {
                throw new IllegalArgumentException("toolCalls: expected objects, found " + item);
            }
            calls.add(toolCall(call, agent, event.namespace()));
        }
        if (calls.stream().map(ToolCall::toolCallId).distinct().count() < calls.size()) {
            throw new IllegalArgumentException("toolCalls: expected toolCallIds that differ, found one twice");
        }
        return calls;
    }

    private ToolCall toolCall(Map<?, ?> call, AgentPin agent, String namespace) {
        if (!(call.get("toolName") instanceof String toolName) || !(call.get("toolCallId") instanceof String id)) {
            throw new IllegalArgumentException(
                    "toolCalls: expected a toolName and a toolCallId, found " + call.keySet());
        }
        if (call.get("malformedArguments") instanceof String malformed) {
            return new ToolCall(
                    id,
                    toolName,
                    "{}",
                    new ToolCall.Refuse(
                            "invalid_json_arguments",
                            "INVALID JSON ARGUMENTS: expected a JSON object, found: " + cut(malformed)));
        }
        Map<String, @Nullable Object> arguments = arguments(call.get("arguments"));
        String text = Json.writeText(arguments);
        if (isTooLarge(arguments)) {
            return new ToolCall(
                    id,
                    toolName,
                    "{}",
                    new ToolCall.Refuse("invalid_arguments", "VALIDATION ERROR: arguments: " + TOO_LARGE));
        }
        return new ToolCall(id, toolName, text, routing.route(agent, namespace, toolName, arguments));
    }

    /** Whether arguments would leave no room beside them in a request to a worker. */
    private static boolean isTooLarge(@Nullable Object arguments) {
        return Json.write(arguments).length > ReplyLimits.MAX_ARGUMENTS_BYTES;
    }

    private static Map<String, @Nullable Object> arguments(@Nullable Object value) {
        if (value == null) {
            return Map.of();
        }
        if (!(value instanceof Map<?, ?> object)) {
            throw new IllegalArgumentException("toolCalls: expected arguments to be an object, found " + value);
        }
        Map<String, @Nullable Object> arguments = new LinkedHashMap<>();
        object.forEach((name, argument) -> arguments.put(String.valueOf(name), argument));
        return arguments;
    }

    private static Usage usage(Event event) {
        return event.payload().get("usage") instanceof Map<?, ?> usage
                ? new Usage(
                        number(usage.get("inputTokens")),
                        number(usage.get("outputTokens")),
                        number(usage.get("costMicros")))
                : Usage.NONE;
    }

    private static @Nullable Long contextWindow(Event event) {
        return event.payload().get("contextWindow") instanceof Number number ? (Long) number.longValue() : null;
    }

    private static long number(@Nullable Object value) {
        return value instanceof Number number ? number.longValue() : 0;
    }

    private static int whole(Map<String, @Nullable Object> payload, String field) {
        if (payload.get(field) instanceof Integer number) {
            return number;
        }
        throw new IllegalArgumentException(field + ": expected a whole number, found " + payload.get(field));
    }

    private static String required(Event event, String field) {
        String value = event.text(field);
        if (value == null) {
            throw new IllegalArgumentException(
                    field + ": expected a text, found " + event.payload().get(field));
        }
        return value;
    }

    private static @Nullable String blankIsNone(@Nullable String text) {
        return text == null || text.isBlank() ? null : text;
    }

    private static String or(@Nullable String value, String otherwise) {
        return value == null ? otherwise : value;
    }

    private static String cut(String text) {
        return JsonText.cut(text, 200);
    }
}
