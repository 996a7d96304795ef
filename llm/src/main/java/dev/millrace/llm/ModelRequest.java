package dev.millrace.llm;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * One question to a model.
 *
 * @param callId ours, equal on every attempt
 * @param model which model is asked; null = the default one
 * @param messages the conversation, oldest first, at least one; the system message, if any, is first
 * @param tools what the model may call; empty = it can only answer
 * @param temperature 0 to 2; null = the provider's own
 * @param maxOutputTokens 1 or more; null = the provider's own
 */
public record ModelRequest(
        String callId,
        @Nullable String model,
        List<ChatMessage> messages,
        List<ToolSpec> tools,
        @Nullable Double temperature,
        @Nullable Integer maxOutputTokens) {

    public ModelRequest {
        messages = List.copyOf(messages);
        tools = List.copyOf(tools);
        if (messages.isEmpty()) {
            throw new IllegalArgumentException("messages of " + callId + ": expected at least one, found none");
        }
    }

    /** A request that leaves temperature and length to the provider. */
    public ModelRequest(String callId, @Nullable String model, List<ChatMessage> messages, List<ToolSpec> tools) {
        this(callId, model, messages, tools, null, null);
    }
}
