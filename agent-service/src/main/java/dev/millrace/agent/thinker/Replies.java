package dev.millrace.agent.thinker;

import dev.millrace.agent.AgentDefinition;
import dev.millrace.agent.topology.OutstandingCall;
import dev.millrace.engine.ModelUsage;
import dev.millrace.engine.ReplyLimits;
import dev.millrace.llm.ModelCallException;
import dev.millrace.llm.ModelErrorCode;
import dev.millrace.llm.ModelOutcome;
import dev.millrace.llm.ModelReply;
import dev.millrace.llm.ToolCallRequest;
import dev.millrace.schemas.Event;
import dev.millrace.schemas.Ids;
import dev.millrace.schemas.JsonText;
import dev.millrace.schemas.KnownEventType;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Turns what came of a model call into an event: REASON_DONE, NEED_MORE_INFO, CONTEXT_COMPACTED or MODEL_CALL_FAILED (F-082,
 * F-083), and MODEL_CALL_ABANDONED if nobody waits for it any more. Each says what the call used.
 */
final class Replies {

    /** The longest question to a person, in characters. */
    static final int MAX_QUESTION = 100_000;

    private Replies() {}

    /** @param contextWindow tokens that the model takes that was asked */
    static Event of(OutstandingCall call, ModelOutcome outcome, int contextWindow, Instant now) {
        return switch (ReplyLimits.within(call.callId(), outcome)) {
            case ModelOutcome.Replied replied ->
                checked(call, outcome, replied(call, replied, contextWindow, now), now);
            case ModelOutcome.Failed failed -> failed(call, outcome, Reason.of(failed.error()), now);
        };
    }

    /** The event of a reply, or of its call's failure if nobody could take it. */
    private static Event checked(OutstandingCall call, ModelOutcome outcome, Event reply, Instant now) {
        return ReplyLimits.problem(reply)
                .map(why -> failed(
                        call,
                        outcome,
                        new Reason(
                                ModelErrorCode.BAD_RESPONSE, "The model's reply cannot be taken, since " + why, false),
                        now))
                .orElse(reply);
    }

    /** @param request what was said to the task last in the part that is summed up; {@code null} = nothing */
    static Event ofSummary(OutstandingCall call, ModelOutcome outcome, @Nullable String request, Instant now) {
        return switch (outcome) {
            case ModelOutcome.Failed failed -> failed(call, outcome, Reason.of(failed.error()), now);
            case ModelOutcome.Replied replied
            when replied.reply().text() == null ->
                failed(
                        call,
                        outcome,
                        new Reason(
                                ModelErrorCode.BAD_RESPONSE, "The model was asked for a summary and gave none", false),
                        now);
            case ModelOutcome.Replied replied -> checked(call, outcome, summary(call, replied, request, now), now);
        };
    }

    /** In place of a reply that no broker takes. */
    static Event tooLarge(OutstandingCall call, ModelOutcome outcome, Instant now) {
        return failed(
                call,
                outcome,
                new Reason(ModelErrorCode.BAD_RESPONSE, "The model's reply is larger than a record may be", false),
                now);
    }

    /** What a call had come to that was cut off. The same call may be made and cut off again, so the time is in the id. */
    static Event abandoned(OutstandingCall call, ModelOutcome outcome, Instant now) {
        Map<String, @Nullable Object> payload = new LinkedHashMap<>();
        payload.put("callId", call.callId());
        payload.put("code", ModelErrorCode.CANCELLED.wireName());
        if (outcome instanceof ModelOutcome.Replied replied) {
            payload.put("model", ReplyLimits.modelName(replied.reply().model()));
        }
        putUsage(payload, call, outcome);
        String id = Ids.hash(call.key() + "\nabandoned\n" + now).substring(0, 32);
        return call.event(id, KnownEventType.MODEL_CALL_ABANDONED, now)
                .payload(payload)
                .build();
    }

    private static Event summary(
            OutstandingCall call, ModelOutcome.Replied outcome, @Nullable String request, Instant now) {
        ModelReply reply = outcome.reply();
        Map<String, @Nullable Object> payload = new LinkedHashMap<>();
        payload.put("callId", call.callId());
        payload.put("summary", reply.text());
        if (request != null) {
            payload.put("request", request);
        }
        payload.put("keptFrom", call.transcriptLength());
        putOutcome(payload, call, outcome);
        return call.reply(KnownEventType.CONTEXT_COMPACTED, now)
                .payload(payload)
                .build();
    }

    private static void putOutcome(
            Map<String, @Nullable Object> payload, OutstandingCall call, ModelOutcome.Replied outcome) {
        ModelReply reply = outcome.reply();
        payload.put("model", reply.model());
        payload.put("finishReason", reply.finishReason().wireName());
        putUsage(payload, call, outcome);
        ModelCallException failed = outcome.insteadOf();
        if (failed != null) {
            payload.put(
                    "fallback",
                    Map.of(
                            "code",
                            failed.code().wireName(),
                            "error",
                            Reason.of(failed).error()));
        }
    }

    /** The answer does not have the form that it should, and neither had the one before. */
    static Event mismatch(OutstandingCall call, ModelOutcome outcome, List<String> problems, Instant now) {
        return failed(
                call,
                outcome,
                new Reason(
                        ModelErrorCode.OUTPUT_MISMATCH,
                        JsonText.cut(
                                "Expected an answer of the agent's form, found twice one that is not: "
                                        + String.join("; ", problems),
                                ReplyLimits.MAX_ERROR),
                        false),
                now);
    }

    private static Event replied(OutstandingCall call, ModelOutcome.Replied outcome, int contextWindow, Instant now) {
        ModelReply reply = outcome.reply();
        Map<String, @Nullable Object> payload = new LinkedHashMap<>();
        payload.put("callId", call.callId());
        payload.put("response", reply.text());
        Optional<ToolCallRequest> question = question(reply);
        question.ifPresent(asking -> {
            payload.put("question", asking.arguments().get("question"));
            payload.put("toolCallId", asking.toolCallId());
        });
        payload.put("approach", reply.toolCalls().isEmpty() ? "direct" : "tool_use");
        payload.put("needsClarification", question.isPresent());
        payload.put(
                "toolCalls", reply.toolCalls().stream().map(Replies::toolCall).toList());
        if (question.isEmpty()) {
            payload.put("steps", steps(reply));
        }
        if (reply.reasoning() != null) {
            payload.put("reasoning", reply.reasoning());
        }
        if (reply.continuation() != null) {
            payload.put("continuation", reply.continuation());
        }
        putOutcome(payload, call, outcome);
        payload.put("contextWindow", contextWindow);
        return call.reply(question.isPresent() ? KnownEventType.NEED_MORE_INFO : KnownEventType.REASON_DONE, now)
                .payload(payload)
                .build();
    }

    /** Who asked how often, and what all of it used. */
    private static void putUsage(Map<String, @Nullable Object> payload, OutstandingCall call, ModelOutcome outcome) {
        ModelUsage.put(payload, call.takeovers(), outcome);
        payload.put("agent", AgentDefinition.nameIn(call.agent().reference()));
    }

    /** Why a call failed. */
    private record Reason(ModelErrorCode code, String error, boolean retryable) {
        static Reason of(ModelCallException error) {
            return new Reason(error.code(), JsonText.cut(error.getMessage(), ReplyLimits.MAX_ERROR), error.retryable());
        }
    }

    private static Event failed(OutstandingCall call, ModelOutcome outcome, Reason reason, Instant now) {
        Map<String, @Nullable Object> payload = new LinkedHashMap<>();
        payload.put("callId", call.callId());
        payload.put("code", reason.code().wireName());
        payload.put("error", reason.error());
        payload.put("retryable", reason.retryable());
        if (outcome instanceof ModelOutcome.Replied replied) {
            payload.put("model", ReplyLimits.modelName(replied.reply().model()));
        }
        putUsage(payload, call, outcome);
        return call.reply(KnownEventType.MODEL_CALL_FAILED, now)
                .payload(payload)
                .build();
    }

    /** The first well-formed call of {@code ask_user}; without a question, or with one too long to be shown, it is an ordinary call of an unknown tool. */
    private static Optional<ToolCallRequest> question(ModelReply reply) {
        return reply.toolCalls().stream()
                .filter(call -> call.toolName().equals(Prompts.ASK_USER))
                .filter(call -> call.arguments().get("question") instanceof String text
                        && !text.isBlank()
                        && text.length() <= MAX_QUESTION)
                .findFirst();
    }

    private static Map<String, @Nullable Object> toolCall(ToolCallRequest call) {
        Map<String, @Nullable Object> json = new LinkedHashMap<>();
        json.put("toolCallId", call.toolCallId());
        json.put("toolName", call.toolName());
        json.put("arguments", call.arguments());
        if (call.malformedArguments() != null) {
            json.put("malformedArguments", call.malformedArguments());
        }
        return json;
    }

    /** The plan as people read it in the journal (F-146); the machine makes its own from the tool calls. */
    private static List<Map<String, Object>> steps(ModelReply reply) {
        if (reply.toolCalls().isEmpty()) {
            return List.of(Map.of("index", 0, "description", "Respond to the user", "actionType", "respond"));
        }
        List<Map<String, Object>> steps = new ArrayList<>();
        for (ToolCallRequest call : reply.toolCalls()) {
            steps.add(Map.of(
                    "index",
                    steps.size(),
                    "description",
                    "Call tool: " + call.toolName(),
                    "actionType",
                    "tool_call",
                    "toolName",
                    call.toolName()));
        }
        return steps;
    }
}
