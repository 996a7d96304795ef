package dev.millrace.llm;

import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A model's whole reply.
 *
 * @param text the answer; null if there is none, never empty
 * @param reasoning what the provider let us see of the model's thinking; null if nothing, never empty
 * @param toolCalls in the model's order; empty if it only answered
 * @param model what answered, as the provider calls it
 * @param nextRequestIn how long the provider will take no further request with this key; null if it says nothing like
 *     it
 * @param continuation what the provider wants to see again with this turn when the results of its tool calls are sent:
 *     its thinking, signed. Opaque, and of no meaning to another provider or model; null if it wants nothing
 */
public record ModelReply(
        @Nullable String text,
        @Nullable String reasoning,
        List<ToolCallRequest> toolCalls,
        FinishReason finishReason,
        Usage usage,
        String model,
        @Nullable Duration nextRequestIn,
        @Nullable String continuation) {

    public ModelReply {
        toolCalls = List.copyOf(toolCalls);
        text = text == null || text.isEmpty() ? null : text;
        reasoning = reasoning == null || reasoning.isEmpty() ? null : reasoning;
    }

    /** A reply of a provider that takes further requests and wants to see nothing again. */
    public ModelReply(
            @Nullable String text,
            @Nullable String reasoning,
            List<ToolCallRequest> toolCalls,
            FinishReason finishReason,
            Usage usage,
            String model) {
        this(text, reasoning, toolCalls, finishReason, usage, model, null, null);
    }

    /** What it used. */
    ModelCharge charge() {
        return new ModelCharge(model, usage);
    }

    /** The same reply in other words. */
    public ModelReply saying(@Nullable String words) {
        return new ModelReply(words, reasoning, toolCalls, finishReason, usage, model, nextRequestIn, continuation);
    }

    /** The same reply with other counts. */
    public ModelReply using(Usage counted) {
        return new ModelReply(text, reasoning, toolCalls, finishReason, counted, model, nextRequestIn, continuation);
    }

    /** The same reply of a provider that will take no further request for so long; null = it says nothing like it. */
    public ModelReply beforeNext(@Nullable Duration pause) {
        return new ModelReply(text, reasoning, toolCalls, finishReason, usage, model, pause, continuation);
    }

    /**
     * What one call used. All counts are 0 or more, and 0 also where the provider does not say. They mean the same
     * for every provider, however it counts itself.
     *
     * @param inputTokens all tokens of the request, those from and into the provider's cache included
     * @param outputTokens all tokens of the reply, those of the thinking included
     * @param cachedInputTokens those of the input that came from the provider's cache
     * @param cacheWriteTokens those of the input that were put into it, where that is said and billed apart
     * @param reasoningTokens those of the output that were thinking
     * @param costMicros what it cost, in millionths of a US dollar; null if no price is configured
     */
    public record Usage(
            long inputTokens,
            long outputTokens,
            long cachedInputTokens,
            long cacheWriteTokens,
            long reasoningTokens,
            @Nullable Long costMicros) {

        /** Nothing used, or nothing known. */
        public static final Usage NONE = new Usage(0, 0);

        /** Tokens in and out, and no more known. */
        public Usage(long inputTokens, long outputTokens) {
            this(inputTokens, outputTokens, 0, 0, 0, null);
        }

        /** Whether there is nothing to count: the provider did not say. */
        public boolean isNone() {
            return inputTokens == 0 && outputTokens == 0;
        }

        /** Both together; the cost is that of the part that has one. */
        public Usage plus(Usage other) {
            Long cost = costMicros;
            Long otherCost = other.costMicros;
            return new Usage(
                    inputTokens + other.inputTokens,
                    outputTokens + other.outputTokens,
                    cachedInputTokens + other.cachedInputTokens,
                    cacheWriteTokens + other.cacheWriteTokens,
                    reasoningTokens + other.reasoningTokens,
                    cost == null ? otherCost : otherCost == null ? cost : Long.valueOf(cost + otherCost));
        }

        /** The same at this cost. */
        public Usage costing(long micros) {
            return new Usage(inputTokens, outputTokens, cachedInputTokens, cacheWriteTokens, reasoningTokens, micros);
        }
    }
}
