package dev.millrace.gateway.rest.responses;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonProperty;
import dev.millrace.schemas.Payload;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A response as OpenAI's clients read it. What an agent has of its own, such as its temperature, is not told.
 *
 * @param createdAt Unix seconds
 * @param background what its client has asked for; {@code null} = who asks now does not know
 */
@JsonInclude(JsonInclude.Include.ALWAYS)
record ResponseView(
        String id,
        String object,
        @JsonProperty("created_at") long createdAt,
        String status,
        @Nullable Boolean background,
        @Nullable Fault error,
        @JsonProperty("incomplete_details") @Nullable Reason incompleteDetails,
        @Nullable String instructions,
        String model,
        List<ResponseItem> output,
        @JsonProperty("parallel_tool_calls") boolean parallelToolCalls,
        @JsonProperty("previous_response_id") @Nullable String previousResponseId,
        @Nullable Conversation conversation,
        @Nullable Usage usage,
        Map<String, @Nullable Object> metadata,
        @JsonProperty("tool_choice") String toolChoice,
        List<Object> tools,
        @Nullable Double temperature,
        @JsonProperty("top_p") @Nullable Double topP,
        String truncation,
        Text text,
        boolean store) {

    /** Whether nothing more comes of it. */
    boolean isOver() {
        return !status.equals(Status.QUEUED.word()) && !status.equals(Status.IN_PROGRESS.word());
    }

    /** How a response stands. */
    enum Status {
        QUEUED("queued"),
        IN_PROGRESS("in_progress"),
        COMPLETED("completed"),
        INCOMPLETE("incomplete"),
        FAILED("failed"),
        CANCELLED("cancelled");

        private final String word;

        Status(String word) {
            this.word = word;
        }

        String word() {
            return word;
        }
    }

    /** Why it failed. */
    record Fault(String code, String message) {}

    /** Why it is not all of it. */
    record Reason(String reason) {}

    /** The session. */
    record Conversation(String id) {}

    /** The form of the answers. */
    record Text(Format format) {}

    /** A form of answers. */
    record Format(String type) {}

    /** Tokens of all model calls of the turn. */
    record Usage(
            @JsonProperty("input_tokens") long inputTokens,
            @JsonProperty("input_tokens_details") InputDetails inputDetails,
            @JsonProperty("output_tokens") long outputTokens,
            @JsonProperty("output_tokens_details") OutputDetails outputDetails,
            @JsonProperty("total_tokens") long totalTokens) {
        static Usage of(Payload.Usage used) {
            return new Usage(
                    used.inputTokens(),
                    new InputDetails(orNone(used.cachedInputTokens())),
                    used.outputTokens(),
                    new OutputDetails(orNone(used.reasoningTokens())),
                    used.inputTokens() + used.outputTokens());
        }

        private static long orNone(@Nullable Long number) {
            return number == null ? 0 : number;
        }
    }

    record InputDetails(@JsonProperty("cached_tokens") long cachedTokens) {}

    record OutputDetails(@JsonProperty("reasoning_tokens") long reasoningTokens) {}
}
