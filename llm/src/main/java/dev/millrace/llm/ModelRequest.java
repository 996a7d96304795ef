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
 * @param fallback which model is asked if that one fails for good and not because of the request; null = the one that
 *     is configured for it
 */
public record ModelRequest(
        String callId,
        @Nullable String model,
        List<ChatMessage> messages,
        List<ToolSpec> tools,
        @Nullable Double temperature,
        @Nullable Integer maxOutputTokens,
        @Nullable ResponseSchema responseSchema,
        @Nullable String fallback) {

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
        this(callId, model, messages, tools, temperature, maxOutputTokens, null, null);
    }

    /** A request for free text that leaves temperature and length to the provider. */
    public ModelRequest(String callId, @Nullable String model, List<ChatMessage> messages, List<ToolSpec> tools) {
        this(callId, model, messages, tools, null, null, null, null);
    }

    /** The same question to another model. */
    public ModelRequest to(@Nullable String other) {
        return new ModelRequest(callId, other, messages, tools, temperature, maxOutputTokens, responseSchema, fallback);
    }

    /** The same question with JSON of this shape for an answer. */
    public ModelRequest answeredWith(ResponseSchema schema) {
        return new ModelRequest(callId, model, messages, tools, temperature, maxOutputTokens, schema, fallback);
    }

    /** The same question with this model for a fallback; null = the one that is configured. */
    public ModelRequest fallingBackTo(@Nullable String other) {
        return new ModelRequest(callId, model, messages, tools, temperature, maxOutputTokens, responseSchema, other);
    }

    /** The same question at the end of another conversation. */
    public ModelRequest with(List<ChatMessage> conversation) {
        return new ModelRequest(
                callId, model, conversation, tools, temperature, maxOutputTokens, responseSchema, fallback);
    }
}
