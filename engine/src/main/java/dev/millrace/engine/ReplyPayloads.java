package dev.millrace.engine;

import dev.millrace.llm.ModelErrorCode;
import dev.millrace.llm.ModelOutcome;
import dev.millrace.llm.ToolCallRequest;
import dev.millrace.schemas.JsonObject;
import dev.millrace.schemas.JsonText;
import dev.millrace.schemas.Payload;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What events say of the outcome of a model call.
 *
 * @param callId the call
 * @param takeovers how many instances had the call before and are gone
 * @param agent whose call it is in sums of what was used
 */
public record ReplyPayloads(String callId, int takeovers, String agent) {

    /** MODEL_CALL_FAILED. */
    public Payload.ModelCallFailed failed(
            ModelOutcome outcome, ModelErrorCode code, String error, @Nullable Boolean retryable) {
        ModelUsage used = ModelUsage.of(takeovers, outcome);
        return new Payload.ModelCallFailed(
                callId,
                code.wireName(),
                JsonText.cut(error, ReplyLimits.MAX_ERROR),
                retryable,
                model(outcome),
                used.usage(),
                used.failedAttempts(),
                agent);
    }

    /** MODEL_CALL_ABANDONED, of a call that was cut off. */
    public Payload.ModelCallAbandoned cutOff(ModelOutcome outcome) {
        ModelUsage used = ModelUsage.of(takeovers, outcome);
        return new Payload.ModelCallAbandoned(
                callId,
                ModelErrorCode.CANCELLED.wireName(),
                null,
                model(outcome),
                used.usage(),
                used.failedAttempts(),
                agent);
    }

    /** The tool calls that a model asks for. */
    public static List<Payload.RequestedCall> toolCalls(List<ToolCallRequest> calls) {
        return calls.stream()
                .map(call -> new Payload.RequestedCall(
                        call.toolCallId(), call.toolName(), JsonObject.of(call.arguments()), call.malformedArguments()))
                .toList();
    }

    /** {@code null} = no model replied. */
    private static @Nullable String model(ModelOutcome outcome) {
        return outcome instanceof ModelOutcome.Replied replied
                ? ReplyLimits.modelName(replied.reply().model())
                : null;
    }
}
