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
import dev.millrace.agent.core.TranscriptEntry;
import dev.millrace.agent.core.Usage;
import dev.millrace.engine.ReplyLimits;
import dev.millrace.schemas.BackgroundEnd;
import dev.millrace.schemas.CustomEventType;
import dev.millrace.schemas.EnvironmentType;
import dev.millrace.schemas.Event;
import dev.millrace.schemas.InputTemplate;
import dev.millrace.schemas.Json;
import dev.millrace.schemas.JsonObject;
import dev.millrace.schemas.JsonText;
import dev.millrace.schemas.KnownEventType;
import dev.millrace.schemas.MalformedEventException;
import dev.millrace.schemas.Payload;
import dev.millrace.schemas.Payload.TaskInput;
import dev.millrace.schemas.StreamType;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Turns events as they travel into events as the machine takes them; the only place that says what is not acceptable.
 */
final class EventMapping {

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
        return named == null && event.payload() instanceof TaskInput ? event.id() : named;
    }

    /**
     * Maps an event from a lane, whose payload is as its type's schema has it.
     *
     * @param taskId what {@link #taskIdOf} said
     * @param agent who works on the task; any if there is no task yet
     * @param nowMs the clock, in Unix milliseconds
     */
    Mapped fromLane(Event event, String taskId, AgentPin agent, long nowMs) {
        return switch (event.type()) {
            case EnvironmentType type -> fromOthers(event, taskId, nowMs);
            case CustomEventType type -> fromOthers(event, taskId, nowMs);
            case StreamType type ->
                new Refused("not_accepted", type.wireName() + " is live text, which is never on a lane");
            case KnownEventType type ->
                type.machineOnly()
                        ? new Refused(
                                "not_accepted",
                                type.wireName() + " is written by the task machine and taken from nobody else")
                        : ofTask(event, taskId, agent, nowMs);
        };
    }

    /** One that names no task is an environment event like any other. */
    private static Mapped fromOthers(Event event, String taskId, long nowMs) {
        if (!(event.payload() instanceof Payload.BackgroundTaskEnded ended)
                || event.taskId() == null
                || ended.callId() == null) {
            return new RecordOnly();
        }
        Object result = ended.result();
        String what = ended.error() == null
                ? "Background task " + ended.taskId() + " completed: "
                        + (result instanceof Map<?, ?> answer && answer.get("response") instanceof String response
                                ? response
                                : Json.writeText(result))
                : failed(event) + ended.error();
        return new ForTask(new TaskEvent.ChildEnded(
                new Meta(event.id(), taskId, event.timestamp(), nowMs),
                ended.callId(),
                JsonText.cut(what, MAX_NEWS),
                usage(ended.usage())));
    }

    private static String failed(Event event) {
        return switch (BackgroundEnd.of(event.type()).orElse(BackgroundEnd.FAILED)) {
            case TIMEOUT -> "Background task timed out: ";
            case STOPPED -> "Background task stopped: ";
            case COMPLETED, FAILED -> "Background task failed: ";
        };
    }

    /** Maps an event that changes a task, and is as its type's schema has it. */
    Mapped ofTask(Event event, String taskId, AgentPin agent, long nowMs) {
        Meta meta = new Meta(event.id(), taskId, event.timestamp(), nowMs);
        try {
            return switch (event.payload()) {
                case TaskInput input -> input(event, input, meta);
                case Payload.ApprovalDecided decided -> new ForTask(approvalDecided(decided, meta));
                case Payload.TaskSuspended suspended ->
                    new ForTask(new TaskEvent.TaskSuspended(meta, or(suspended.reason(), "")));
                case Payload.TaskResumed resumed ->
                    new ForTask(new TaskEvent.TaskResumed(meta, blankIsNone(resumed.newInput()), childLimits(event)));
                case Payload.TaskCancelRequested request ->
                    new ForTask(new TaskEvent.CancelRequested(
                            meta,
                            or(request.reason(), "cancelled on request"),
                            Boolean.TRUE.equals(request.interrupt()) ? new TaskEvent.Interruption(null) : null));
                case Payload.TaskFailed failed ->
                    new ForTask(new TaskEvent.FailureDeclared(meta, new TaskError(failed.code(), failed.error())));
                case Payload.ReasonDone done ->
                    new ForTask(new TaskEvent.ModelReplied(
                            meta,
                            done.callId(),
                            done.response(),
                            toolCalls(done.toolCalls(), event, agent),
                            routing.sequential(agent),
                            usage(done.usage()),
                            done.contextWindow(),
                            done.continuation()));
                case Payload.NeedMoreInfo asked ->
                    new ForTask(new TaskEvent.QuestionAsked(
                            meta,
                            asked.callId(),
                            asked.question(),
                            asked.response(),
                            asked.toolCallId(),
                            toolCalls(asked.toolCalls(), event, agent),
                            usage(asked.usage()),
                            asked.contextWindow(),
                            asked.continuation()));
                case Payload.ContextCompacted compacted ->
                    new ForTask(new TaskEvent.Summarised(
                            meta,
                            compacted.callId(),
                            compacted.summary(),
                            compacted.request(),
                            usage(compacted.usage())));
                case Payload.ModelCallFailed failed ->
                    new ForTask(new TaskEvent.ModelCallFailed(
                            meta,
                            failed.callId(),
                            new TaskError(failed.code(), failed.error()),
                            usage(failed.usage())));
                case Payload.ToolCallCompleted completed -> new ForTask(toolCompleted(completed, meta));
                case Payload.ToolCallFailed failed ->
                    new ForTask(new TaskEvent.ToolReturned(
                            meta, failed.callId(), failed.error(), true, null, usage(failed.usage())));
                case Payload.SystemStarted ignored -> new RecordOnly();
                case Payload.SystemShuttingDown ignored -> new RecordOnly();
                case Payload.Heartbeat ignored -> new RecordOnly();
                case Payload.ModelCallAbandoned ignored -> new RecordOnly();
                case Payload.ReflectionComplete ignored -> new RecordOnly();
                case Payload.ReflectionFailed ignored -> new RecordOnly();
                case Payload.Forgetting ignored -> new RecordOnly();
                case Payload.RagIngest ignored -> new RecordOnly();
                case Payload.EntityExtract ignored -> new RecordOnly();
                default -> new Refused("bad_payload", event.type().wireName() + ": expected what its schema says");
            };
        } catch (IllegalArgumentException e) {
            return new Refused("bad_payload", event.type().wireName() + ": " + e.getMessage());
        }
    }

    /** The agent for the task that this event starts, of which {@link #unknownAgent} says nothing. */
    AgentPin agentFor(Event event, long nowMs) {
        return routing.pin(taskType(event.payload()), event, Instant.ofEpochMilli(nowMs), Parentage.agents(event));
    }

    /** Why there is no agent for the task that this event would start, or no model, for people; empty = there is. */
    Optional<String> unknownAgent(Event event) {
        String taskType = taskType(event.payload());
        String model = event.payload() instanceof Payload.MessageReceived message ? message.model() : null;
        return routing.unknown(taskType, event.namespace())
                .or(() -> routing.unknownModel(model, taskType, event.namespace()));
    }

    /** Whether there is an agent of this name for the tasks of a namespace. */
    boolean isAgent(String name, String namespace) {
        return routing.unknown(name, namespace).isEmpty();
    }

    /** Whether this agent may give another one the word. */
    boolean mayAddress(AgentPin agent, String name) {
        return routing.mayAddress(agent, name);
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
        JsonObject edited = object(arguments);
        return suspended.undecided().stream()
                .filter(call -> call.callId().equals(decision.callId()))
                .findFirst()
                .flatMap(call -> routing.unfit(call.toolName(), edited));
    }

    private static JsonObject object(String json) {
        try {
            return JsonObject.read(json);
        } catch (MalformedEventException e) {
            throw new IllegalArgumentException("written from an object, found none", e);
        }
    }

    private static String taskType(Payload start) {
        return start instanceof TaskInput input ? or(blankIsNone(input.taskType()), Agents.DEFAULT) : Agents.DEFAULT;
    }

    private Mapped input(Event event, TaskInput said, Meta meta) {
        String text = said instanceof Payload.MessageReceived message && message.text() == null
                ? message.content()
                : said.text();
        String template = said.template();
        if (text == null && template != null) {
            InputTemplate input = new InputTemplate(template);
            List<String> problems = input.problems(event.fields());
            if (!problems.isEmpty()) {
                return new Refused("bad_payload", event.type().wireName() + ": " + String.join("; ", problems));
            }
            text = input.fill(event.fields()).orElse(null);
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
        text = spoken(said, text);
        String taskType = routing.agentFor(taskType(said), event.namespace());
        TaskEvent.Terms terms = new TaskEvent.Terms(
                event.causalDepth(),
                event.expiry() == null ? Deadlines.NEVER : event.expiry().toEpochMilli(),
                routing.limits(taskType, event.namespace(), Parentage.agents(event))
                        .atMost(childLimits(event)),
                said instanceof Payload.MessageReceived message
                        ? opening(message, event, meta.nowMs())
                        : TaskEvent.Opening.NONE);
        return new ForTask(new TaskEvent.InputReceived(meta, text, taskType, event.effectivePriority(), terms));
    }

    /** As the model is shown it: with the name of whoever says it, if that is known. */
    private static String spoken(TaskInput said, String text) {
        return said instanceof Payload.MessageReceived message
                        && message.sender() != null
                        && message.sender().name() != null
                ? StreamsTranscripts.spoken(message.sender().name(), text)
                : text;
    }

    /** What a message brings along beside its text. */
    private TaskEvent.Opening opening(Payload.MessageReceived message, Event event, long nowMs) {
        Payload.Observed observed = message.observed();
        if (observed != null && observed.call() != null) {
            return new TaskEvent.Opening(List.of(), List.of(), openingCall(observed, observed.call(), event, nowMs));
        }
        Payload.Fork fork = message.fork();
        if (fork != null) {
            return new TaskEvent.Opening(
                    ForkedTranscript.entries(fork.before()),
                    images(message.images()),
                    null,
                    ForkedTranscript.entries(fork.after()));
        }
        if (message.history().isEmpty() && message.images().isEmpty() && observed == null) {
            return TaskEvent.Opening.NONE;
        }
        Stream<TranscriptEntry> history = message.history().stream().map(EventMapping::entry);
        return new TaskEvent.Opening(
                observed == null
                        ? history.toList()
                        : Stream.concat(history, observed(observed).stream()).toList(),
                images(message.images()));
    }

    /** The call that is all the work of a task. */
    private ToolCall openingCall(Payload.Observed observed, Payload.OpeningCall call, Event event, long nowMs) {
        AgentPin agent = unknownAgent(event).isPresent() ? AgentPin.NONE : agentFor(event, nowMs);
        ToolCall routed = toolCall(
                new Payload.RequestedCall("call_" + observed.eventId(), call.tool(), call.arguments(), null),
                agent,
                event.namespace());
        return switch (routed.route()) {
            case ToolCall.Run run -> routed;
            case ToolCall.Refuse refuse -> routed;
            case ToolCall.Spawn own -> ownOfTheMachine(routed);
            case ToolCall.Resume own -> ownOfTheMachine(routed);
            case ToolCall.Stop own -> ownOfTheMachine(routed);
        };
    }

    private static ToolCall ownOfTheMachine(ToolCall call) {
        return new ToolCall(
                call.toolCallId(),
                call.toolName(),
                call.arguments(),
                new ToolCall.Refuse(
                        "tool_not_allowed",
                        "A rule cannot call " + call.toolName() + "; the handler agent has an agent do the work"));
    }

    /** An event that a rule hands over, as messages: that there is one, that the model asks for it, what it is. */
    static List<TranscriptEntry> observed(Payload.Observed observed) {
        List<TranscriptEntry> entries = new ArrayList<>();
        if (observed.systemPrompt() != null) {
            entries.add(systemMessage(observed.systemPrompt()));
        }
        entries.add(new TranscriptEntry.UserText("Observed event: " + observed.type() + "\nEvent ID: "
                + observed.eventId() + "\nTime: " + observed.time()
                + (observed.guide() == null ? "" : "\n\n" + observed.guide())
                + (observed.failure() == null
                        ? ""
                        : "\n\nAn agent was given this event before, in another session, and failed: "
                                + observed.failure().error())));
        String tool = observed.toolName();
        if (tool != null && observed.event() != null) {
            String callId = "call_" + observed.eventId();
            entries.add(new TranscriptEntry.AssistantTurn(
                    null,
                    List.of(new TranscriptEntry.Call(
                            callId, tool, Json.writeText(Map.of("event_ids", List.of(observed.eventId())))))));
            entries.add(new TranscriptEntry.ToolResult(callId, tool, Json.writeText(observed.event()), false));
        }
        return entries;
    }

    private static TranscriptEntry systemMessage(String text) {
        return new TranscriptEntry.UserText("<system_message>\n" + text + "\n</system_message>");
    }

    private static TranscriptEntry entry(Payload.Message said) {
        return switch (said.role()) {
            case "assistant" -> new TranscriptEntry.AssistantTurn(said.text(), List.of());
            // the agent's own prompt is the one system message, and comes before what a client wants of it
            case "system" -> systemMessage(said.text());
            default -> new TranscriptEntry.UserText(said.text(), images(said.images()));
        };
    }

    private static List<TranscriptEntry.Image> images(List<Payload.Image> images) {
        return images.stream()
                .map(image -> new TranscriptEntry.Image(image.mediaType(), image.data()))
                .toList();
    }

    private static TaskLimits childLimits(Event event) {
        return Parentage.of(event, Usage.NONE) == null ? TaskLimits.UNLIMITED : Parentage.limits(event);
    }

    private static TaskEvent approvalDecided(Payload.ApprovalDecided decided, Meta meta) {
        boolean approved = decided.decision().equals("approve");
        JsonObject params = decided.params();
        String changed = approved && params != null ? Json.writeText(params) : null;
        if (changed != null && isTooLarge(params)) {
            throw new IllegalArgumentException("params: " + TOO_LARGE);
        }
        return new TaskEvent.ApprovalDecided(
                meta,
                decided.callId(),
                approved,
                changed,
                blankIsNone(decided.reason()),
                blankIsNone(decided.decidedBy()));
    }

    private static TaskEvent toolCompleted(Payload.ToolCallCompleted completed, Meta meta) {
        return new TaskEvent.ToolReturned(
                meta,
                completed.callId(),
                Json.writeText(completed.result()),
                false,
                notice(completed),
                usage(completed.usage()));
    }

    /** What a call says that does nothing itself; {@code null} = it is none of these. */
    private static TaskEvent.@Nullable Notice notice(Payload.ToolCallCompleted completed) {
        if (!(completed.result() instanceof Map<?, ?> said)) {
            return null;
        }
        return switch (completed.toolName()) {
            case TaskEvent.Notice.TO_OWNER ->
                said.get("message") instanceof String message ? new TaskEvent.Notice(message) : null;
            case TaskEvent.Notice.TO_CHANNEL ->
                said.get("text") instanceof String text && said.get("channelId") instanceof String channelId
                        ? new TaskEvent.Notice(text, channelId, said.get("replyTo") instanceof String to ? to : null)
                        : null;
            default -> null;
        };
    }

    private List<ToolCall> toolCalls(List<Payload.RequestedCall> requested, Event event, AgentPin agent) {
        List<ToolCall> calls = requested.stream()
                .map(call -> toolCall(call, agent, event.namespace()))
                .toList();
        if (calls.stream().map(ToolCall::toolCallId).distinct().count() < calls.size()) {
            throw new IllegalArgumentException("toolCalls: expected toolCallIds that differ, found one twice");
        }
        return calls;
    }

    private ToolCall toolCall(Payload.RequestedCall call, AgentPin agent, String namespace) {
        if (call.malformedArguments() != null) {
            return new ToolCall(
                    call.toolCallId(),
                    call.toolName(),
                    "{}",
                    new ToolCall.Refuse(
                            "invalid_json_arguments",
                            "INVALID JSON ARGUMENTS: expected a JSON object, found: "
                                    + JsonText.cut(call.malformedArguments(), 200)));
        }
        String text = Json.writeText(call.arguments());
        if (isTooLarge(call.arguments())) {
            return new ToolCall(
                    call.toolCallId(),
                    call.toolName(),
                    "{}",
                    new ToolCall.Refuse("invalid_arguments", "VALIDATION ERROR: arguments: " + TOO_LARGE));
        }
        return new ToolCall(
                call.toolCallId(),
                call.toolName(),
                text,
                routing.route(agent, namespace, call.toolName(), call.arguments()));
    }

    /** Whether arguments would leave no room beside them in a request to a worker. */
    private static boolean isTooLarge(@Nullable Object arguments) {
        return Json.write(arguments).length > ReplyLimits.MAX_ARGUMENTS_BYTES;
    }

    private static Usage usage(Payload.@Nullable Usage usage) {
        return usage == null
                ? Usage.NONE
                : new Usage(
                        usage.inputTokens(), usage.outputTokens(), usage.costMicros() == null ? 0 : usage.costMicros());
    }

    private static @Nullable String blankIsNone(@Nullable String text) {
        return text == null || text.isBlank() ? null : text;
    }

    private static String or(@Nullable String value, String otherwise) {
        return value == null ? otherwise : value;
    }
}
