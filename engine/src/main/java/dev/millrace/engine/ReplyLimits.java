package dev.millrace.engine;

import dev.millrace.llm.ModelCallException;
import dev.millrace.llm.ModelOutcome;
import dev.millrace.llm.ModelReply;
import dev.millrace.llm.ToolCallRequest;
import dev.millrace.schemas.Event;
import dev.millrace.schemas.EventSchemas;
import dev.millrace.schemas.Json;
import dev.millrace.schemas.JsonText;
import dev.millrace.schemas.Payload;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * What a model may reply, so that the reply and whatever follows from it can be events. What the model can do better
 * the next time becomes a tool call with malformed arguments, which is refused and says why; for the rest the call
 * fails.
 */
public final class ReplyLimits {

    /**
     * The longest text of a reply, in bytes of JSON; a longer one fails its call. It leaves room on a lane for what
     * else an event has, so that the result of a sub-task fits where the reply did.
     */
    public static final int MAX_TEXT_BYTES = 1_000_000;
    /** The largest arguments of one tool call, in bytes of JSON; with larger ones the call is refused. */
    public static final int MAX_ARGUMENTS_BYTES = 1_000_000;
    /** The most tool calls of one reply; with more the model call fails. */
    public static final int MAX_TOOL_CALLS = 1_000;
    /** The longest name of a tool, in characters; what is beyond is cut, and no tool has that name. */
    public static final int MAX_TOOL_NAME = 128;
    /** The longest id of a tool call, in characters; a call whose id is longer or blank gets one of ours. */
    public static final int MAX_TOOL_CALL_ID = 512;
    /** As much of malformed arguments as an event has, in characters. */
    public static final int MAX_MALFORMED = 10_000;
    /** As much of what a provider says about a failure as an event has, in characters. */
    public static final int MAX_ERROR = 10_000;

    private static final int MAX_REASONING = 100_000;
    private static final int MAX_MODEL_NAME = 256;
    /** How deep arguments lie in a reply's payload: below the list, and below the call. */
    private static final int ARGUMENTS_LEVEL = 4;
    /** As much of arguments as the model is shown of what it wrote. */
    private static final int SHOWN_ARGUMENTS = 100;

    private ReplyLimits() {}

    /** The same outcome with tool calls that an event can have, each with an id that no other one of the reply has. */
    public static ModelOutcome within(String callId, ModelOutcome outcome) {
        return switch (outcome) {
            case ModelOutcome.Failed failed -> failed;
            case ModelOutcome.Replied(
                    ModelReply reply,
                    int attempts,
                    @Nullable ModelCallException insteadOf,
                    var charges) -> new ModelOutcome.Replied(within(callId, reply), attempts, insteadOf, charges);
        };
    }

    private static ModelReply within(String callId, ModelReply reply) {
        List<ToolCallRequest> calls = new ArrayList<>();
        Set<String> ids = new HashSet<>();
        for (ToolCallRequest call : reply.toolCalls()) {
            String given = call.toolCallId();
            boolean usable = !given.isBlank() && given.length() <= MAX_TOOL_CALL_ID && ids.add(given);
            String id = usable ? given : ToolCallRequest.derivedId(callId, calls.size());
            ids.add(id);
            calls.add(within(id, JsonText.cut(call.toolName(), MAX_TOOL_NAME), call));
        }
        return new ModelReply(
                reply.text(),
                reply.reasoning() == null ? null : JsonText.cut(reply.reasoning(), MAX_REASONING),
                calls,
                reply.finishReason(),
                reply.usage(),
                modelName(reply.model()),
                reply.nextRequestIn(),
                reply.continuation());
    }

    private static ToolCallRequest within(String id, String name, ToolCallRequest call) {
        String malformed = call.malformedArguments();
        if (malformed != null) {
            return new ToolCallRequest(id, name, Map.of(), JsonText.cut(malformed, MAX_MALFORMED));
        }
        return unfit(call.arguments())
                .map(why -> new ToolCallRequest(id, name, Map.of(), why))
                .orElseGet(() -> new ToolCallRequest(id, name, call.arguments()));
    }

    /** What a model is told of arguments that no event can have. */
    private static Optional<String> unfit(Map<String, @Nullable Object> arguments) {
        Optional<String> odd = EventSchemas.unfit(arguments, ARGUMENTS_LEVEL);
        if (odd.isPresent()) {
            return odd.map(what -> "one with " + what);
        }
        int bytes = Json.write(arguments).length;
        return bytes <= MAX_ARGUMENTS_BYTES
                ? Optional.empty()
                : Optional.of("one of " + bytes + " bytes, where at most " + MAX_ARGUMENTS_BYTES + " fit: "
                        + JsonText.cut(Json.writeText(arguments), SHOWN_ARGUMENTS));
    }

    /** Why an event that tells a reply cannot be taken by anybody, for people; empty if it can. */
    public static Optional<String> problem(Event reply) {
        String text = reply.payload() instanceof Payload.ReasonDone done
                ? done.response()
                : reply.payload() instanceof Payload.NeedMoreInfo asked ? asked.response() : null;
        long bytes = text == null ? 0 : JsonText.bytes(text);
        if (bytes > MAX_TEXT_BYTES) {
            return Optional.of("its text has " + bytes + " bytes, and may have at most " + MAX_TEXT_BYTES);
        }
        return EventSchemas.problems(reply).stream().findFirst().map(problem -> JsonText.cut(problem, MAX_ERROR));
    }

    /** The name of a model as an event has it. */
    public static String modelName(String model) {
        return model.isEmpty() ? "unknown" : JsonText.cut(model, MAX_MODEL_NAME);
    }
}
