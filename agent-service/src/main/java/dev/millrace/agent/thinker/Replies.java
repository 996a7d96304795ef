package dev.millrace.agent.thinker;

import dev.millrace.agent.topology.OutstandingCall;
import dev.millrace.llm.ModelCallException;
import dev.millrace.llm.ModelErrorCode;
import dev.millrace.llm.ModelOutcome;
import dev.millrace.llm.ModelReply;
import dev.millrace.llm.ToolCallRequest;
import dev.millrace.schemas.Event;
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
 * F-083).
 */
final class Replies {

    private static final String BAD_RESPONSE = ModelErrorCode.BAD_RESPONSE.wireName();

    private Replies() {}

    /** @param contextWindow tokens that the model takes that was asked */
    static Event of(OutstandingCall call, ModelOutcome outcome, int contextWindow, Instant now) {
        return switch (outcome) {
            case ModelOutcome.Replied replied -> replied(call, replied, contextWindow, now);
            case ModelOutcome.Failed failed -> failed(call, failed.error(), now);
        };
    }

    /** @param request what was said to the task last in the part that is summed up; {@code null} = nothing */
    static Event ofSummary(OutstandingCall call, ModelOutcome outcome, @Nullable String request, Instant now) {
        return switch (outcome) {
            case ModelOutcome.Failed failed -> failed(call, failed.error(), now);
            case ModelOutcome.Replied replied
            when replied.reply().text() == null ->
                failed(call, BAD_RESPONSE, "The model was asked for a summary and gave none", false, now);
            case ModelOutcome.Replied replied -> summary(call, replied, request, now);
        };
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
        payload.put("usage", usage(reply.usage(), call.takeovers() + outcome.attempts()));
        ModelCallException failed = outcome.insteadOf();
        if (failed != null) {
            payload.put("fallback", Map.of("code", failed.code().wireName(), "error", failed.getMessage()));
        }
    }

    static Event tooLarge(OutstandingCall call, Instant now) {
        return failed(call, BAD_RESPONSE, "The model's reply is larger than a record may be", false, now);
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
        putOutcome(payload, call, outcome);
        payload.put("contextWindow", contextWindow);
        return call.reply(question.isPresent() ? KnownEventType.NEED_MORE_INFO : KnownEventType.REASON_DONE, now)
                .payload(payload)
                .build();
    }

    /**
     * What is known of what a reply used.
     *
     * @param attempts how often a model was asked for it; of all but the last one nobody knows what they used
     */
    private static Map<String, Object> usage(ModelReply.Usage usage, int attempts) {
        Map<String, Object> json = new LinkedHashMap<>();
        json.put("inputTokens", usage.inputTokens());
        json.put("outputTokens", usage.outputTokens());
        if (usage.cachedInputTokens() > 0) {
            json.put("cachedInputTokens", usage.cachedInputTokens());
        }
        if (usage.reasoningTokens() > 0) {
            json.put("reasoningTokens", usage.reasoningTokens());
        }
        if (usage.costMicros() != null) {
            json.put("costMicros", usage.costMicros());
        }
        if (attempts > 1) {
            json.put("attempts", attempts);
            json.put("uncountedAttempts", attempts - 1);
        }
        return json;
    }

    private static Event failed(OutstandingCall call, ModelCallException error, Instant now) {
        return failed(call, error.code().wireName(), error.getMessage(), error.retryable(), now);
    }

    private static Event failed(OutstandingCall call, String code, String error, boolean retryable, Instant now) {
        return call.reply(KnownEventType.MODEL_CALL_FAILED, now)
                .payload(Map.of("callId", call.callId(), "code", code, "error", error, "retryable", retryable))
                .build();
    }

    /** The first well-formed call of {@code ask_user}; without a question it is an ordinary call of an unknown tool. */
    private static Optional<ToolCallRequest> question(ModelReply reply) {
        return reply.toolCalls().stream()
                .filter(call -> call.toolName().equals(Prompts.ASK_USER))
                .filter(call -> call.arguments().get("question") instanceof String text && !text.isBlank())
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
