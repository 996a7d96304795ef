package dev.millrace.llm;

import org.jspecify.annotations.Nullable;

/**
 * A piece of a reply that is still being made. The texts of all pieces of one kind, joined in order, are what the whole
 * reply says, except where an adapter puts something right at the end (a tool call's missing id, for one): the whole
 * reply is what counts.
 */
public sealed interface ModelDelta {

    /** More of the answer; never empty. */
    record Text(String text) implements ModelDelta {}

    /** More of the thinking that the provider lets us see; never empty. */
    record Reasoning(String text) implements ModelDelta {}

    /**
     * More of a tool call. Providers that send a call in one go are one delta per call.
     *
     * @param index which call of this reply, from 0
     * @param toolCallId the provider's id; null if it has not said one
     * @param toolName as the model wrote it; null if it has not been said yet
     * @param arguments the next piece of the arguments' JSON text, which makes sense only once all are joined; may be
     *     empty
     */
    record ToolCall(
            int index,
            @Nullable String toolCallId,
            @Nullable String toolName,
            String arguments) implements ModelDelta {}
}
