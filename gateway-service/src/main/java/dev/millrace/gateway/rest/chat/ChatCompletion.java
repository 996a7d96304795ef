package dev.millrace.gateway.rest.chat;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonProperty;
import java.util.List;
import org.eclipse.microprofile.openapi.annotations.enums.SchemaType;
import org.eclipse.microprofile.openapi.annotations.media.Schema;
import org.jspecify.annotations.Nullable;

/**
 * What OpenAI clients are answered, whole or in pieces.
 *
 * @param id of the answer
 * @param created in Unix seconds
 * @param model the agent
 */
record ChatCompletion(String id, long created, String model) {

    /** The whole answer. */
    @Schema(name = "ChatCompletion")
    record Whole(
            String id,
            @Schema(examples = "chat.completion") String object,
            long created,
            String model,
            List<Choice> choices,

            @Schema(implementation = Object.class, type = SchemaType.OBJECT, additionalProperties = Schema.True.class)
            Usage usage) {}

    /** The answer, of which there is one. */
    @Schema(name = "ChatChoice")
    record Choice(
            int index,
            Message message,
            @Nullable Object logprobs,
            @JsonProperty("finish_reason") String finishReason) {}

    /** What the agent says. */
    @Schema(name = "ChatAnswer")
    record Message(String role, String content, @Nullable String refusal) {}

    /** Tokens. */
    record Usage(
            @JsonProperty("prompt_tokens") long promptTokens,
            @JsonProperty("completion_tokens") long completionTokens,
            @JsonProperty("total_tokens") long totalTokens,
            @JsonProperty("prompt_tokens_details") PromptDetails promptTokensDetails,

            @JsonProperty("completion_tokens_details") CompletionDetails completionTokensDetails) {}

    /** Of the tokens that the models read. */
    record PromptDetails(@JsonProperty("cached_tokens") long cachedTokens) {}

    /** Of the tokens that the models wrote. */
    record CompletionDetails(
            @JsonProperty("reasoning_tokens") long reasoningTokens) {}

    /** A piece of the answer; the one with what was used has no choices. */
    record Piece(
            String id,
            String object,
            long created,
            String model,
            List<PieceChoice> choices,

            @JsonInclude(JsonInclude.Include.NON_NULL) @Nullable
            Usage usage) {}

    /** A piece of the answer, of which there is one. */
    record PieceChoice(
            int index,
            Delta delta,
            @Nullable Object logprobs,
            @JsonProperty("finish_reason") @Nullable String finishReason) {}

    /** What is new. */
    @JsonInclude(JsonInclude.Include.NON_NULL)
    record Delta(@Nullable String role, @Nullable String content) {}

    /** The whole answer. */
    Whole whole(ChatRun.Answer answer) {
        Choice choice = new Choice(0, new Message("assistant", answer.text(), null), null, answer.finishReason());
        return new Whole(id, "chat.completion", created, model, List.of(choice), answer.usage());
    }

    /** The first piece: who speaks. */
    Piece begin() {
        return piece(new Delta("assistant", ""), null);
    }

    /** More of the text. */
    Piece delta(String text) {
        return piece(new Delta(null, text), null);
    }

    /** The piece that ends the text. */
    Piece end(String finishReason) {
        return piece(new Delta(null, null), finishReason);
    }

    /** The piece with what was used. */
    Piece usage(ChatRun.Answer answer) {
        return piece(List.of(), answer.usage());
    }

    private Piece piece(Delta delta, @Nullable String finishReason) {
        return piece(List.of(new PieceChoice(0, delta, null, finishReason)), null);
    }

    private Piece piece(List<PieceChoice> choices, @Nullable Usage usage) {
        return new Piece(id, "chat.completion.chunk", created, model, choices, usage);
    }
}
