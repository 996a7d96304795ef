package dev.millrace.gateway.rest;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What OpenAI clients are answered, whole or in pieces.
 *
 * @param id of the answer
 * @param created in Unix seconds
 * @param model the agent
 */
record ChatCompletion(String id, long created, String model) {

    private static final String WHOLE = "chat.completion";
    private static final String PIECE = "chat.completion.chunk";

    /** The whole answer. */
    Map<String, @Nullable Object> whole(ChatRun.Answer answer) {
        Map<String, @Nullable Object> message = new LinkedHashMap<>();
        message.put("role", "assistant");
        message.put("content", answer.text());
        message.put("refusal", null);
        Map<String, @Nullable Object> choice = new LinkedHashMap<>();
        choice.put("index", 0);
        choice.put("message", message);
        choice.put("logprobs", null);
        choice.put("finish_reason", answer.finishReason());
        Map<String, @Nullable Object> json = frame(WHOLE, List.of(choice));
        json.put("usage", answer.usage());
        return json;
    }

    /** The first piece: who speaks. */
    Map<String, @Nullable Object> begin() {
        return piece(Map.of("role", "assistant", "content", ""), null);
    }

    /** More of the text. */
    Map<String, @Nullable Object> delta(String text) {
        return piece(Map.of("content", text), null);
    }

    /** The piece that ends the text. */
    Map<String, @Nullable Object> end(String finishReason) {
        return piece(Map.of(), finishReason);
    }

    /** The piece with what was used, which has no choices. */
    Map<String, @Nullable Object> usage(ChatRun.Answer answer) {
        Map<String, @Nullable Object> json = frame(PIECE, List.of());
        json.put("usage", answer.usage());
        return json;
    }

    private Map<String, @Nullable Object> piece(Map<String, Object> delta, @Nullable String finishReason) {
        Map<String, @Nullable Object> choice = new LinkedHashMap<>();
        choice.put("index", 0);
        choice.put("delta", delta);
        choice.put("logprobs", null);
        choice.put("finish_reason", finishReason);
        return frame(PIECE, List.of(choice));
    }

    private Map<String, @Nullable Object> frame(String object, List<?> choices) {
        Map<String, @Nullable Object> json = new LinkedHashMap<>();
        json.put("id", id);
        json.put("object", object);
        json.put("created", created);
        json.put("model", model);
        json.put("choices", choices);
        return json;
    }
}
