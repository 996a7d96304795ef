package dev.millrace.llm;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * One question to a model.
 *
 * @param callId ours, equal on every attempt
 * @param model which model is asked; null = the default one
 * @param messages the conversation, oldest first, at least one; the system message, if any, is first
 * @param tools what the model may call, several at once if it likes; empty = it can only answer
 * @param temperature 0 to 2; null = the provider's own
 * @param maxOutputTokens 1 or more; null = the provider's own
 * @param responseSchema what the text of the answer must look like; null = free text
 */
public record ModelRequest(
        String callId,
        @Nullable String model,
        List<ChatMessage> messages,
        List<ToolSpec> tools,
        @Nullable Double temperature,
        @Nullable Integer maxOutputTokens,
        @Nullable ResponseSchema responseSchema) {

    public ModelRequest {
        messages = List.copyOf(messages);
        tools = List.copyOf(tools);
        if (messages.isEmpty()) {
            throw new IllegalArgumentException("messages of " + callId + ": expected at least one, found none");
        }
    }

    /** A request for free text. */
    public ModelRequest(
            String callId,
            @Nullable String model,
            List<ChatMessage> messages,
            List<ToolSpec> tools,
            @Nullable Double temperature,
            @Nullable Integer maxOutputTokens) {
        this(callId, model, messages, tools, temperature, maxOutputTokens, null);
    }

    /** A request for free text that leaves temperature and length to the provider. */
    public ModelRequest(String callId, @Nullable String model, List<ChatMessage> messages, List<ToolSpec> tools) {
        this(callId, model, messages, tools, null, null, null);
    }

    /** The same question to another model. */
    public ModelRequest to(@Nullable String other) {
        return new ModelRequest(callId, other, messages, tools, temperature, maxOutputTokens, responseSchema);
    }

    /** The same question with JSON of this shape for an answer. */
    public ModelRequest answeredWith(ResponseSchema schema) {
        return new ModelRequest(callId, model, messages, tools, temperature, maxOutputTokens, schema);
    }
}
