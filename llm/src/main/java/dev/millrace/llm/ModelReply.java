package dev.millrace.llm;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A model's whole reply.
 *
 * @param text the answer; null if there is none, never empty
 * @param reasoning what the provider let us see of the model's thinking; null if nothing, never empty
 * @param toolCalls in the model's order; empty if it only answered
 * @param model what answered, as the provider calls it
 */
public record ModelReply(
        @Nullable String text,
        @Nullable String reasoning,
        List<ToolCallRequest> toolCalls,
        FinishReason finishReason,
        Usage usage,
        String model) {

    public ModelReply {
        toolCalls = List.copyOf(toolCalls);
        text = text == null || text.isEmpty() ? null : text;
        reasoning = reasoning == null || reasoning.isEmpty() ? null : reasoning;
    }

    /**
     * Tokens of one call.
     *
     * @param inputTokens 0 or more; 0 also where the provider does not say
     * @param outputTokens 0 or more; 0 also where the provider does not say
     */
    public record Usage(long inputTokens, long outputTokens) {

        /** Nothing used, or nothing known. */
        public static final Usage NONE = new Usage(0, 0);
    }
}
