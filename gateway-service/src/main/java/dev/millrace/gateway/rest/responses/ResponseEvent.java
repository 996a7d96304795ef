package dev.millrace.gateway.rest.responses;

import com.fasterxml.jackson.annotation.JsonProperty;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** What a stream tells, in OpenAI's words. {@code number} is the same for the same thing at every instance. */
sealed interface ResponseEvent {

    String type();

    @JsonProperty("sequence_number")
    long number();

    /** How the response stands: it begins, or it is over. */
    record OfResponse(
            String type, @JsonProperty("sequence_number") long number, ResponseView response)
            implements ResponseEvent {}

    /** An item begins, or is over. */
    record OfItem(
            String type,
            @JsonProperty("sequence_number") long number,
            @JsonProperty("output_index") int index,
            ResponseItem item)
            implements ResponseEvent {}

    /** The text of a message begins, or is over. */
    record OfPart(
            String type,
            @JsonProperty("sequence_number") long number,
            @JsonProperty("item_id") String itemId,
            @JsonProperty("output_index") int index,
            @JsonProperty("content_index") int contentIndex,
            ResponseItem.Part part)
            implements ResponseEvent {}

    /** More of a text. */
    record Delta(
            String type,
            @JsonProperty("sequence_number") long number,
            @JsonProperty("item_id") String itemId,
            @JsonProperty("output_index") int index,
            @JsonProperty("content_index") int contentIndex,
            String delta,
            List<Object> logprobs)
            implements ResponseEvent {
        /** The same with so many characters at its end only. */
        Delta rest(int length) {
            return new Delta(
                    type, number, itemId, index, contentIndex, delta.substring(delta.length() - length), logprobs);
        }
    }

    /** All of a text. */
    record Whole(
            String type,
            @JsonProperty("sequence_number") long number,
            @JsonProperty("item_id") String itemId,
            @JsonProperty("output_index") int index,
            @JsonProperty("content_index") int contentIndex,
            String text,
            List<Object> logprobs)
            implements ResponseEvent {}

    /** The arguments of a tool call. */
    record Arguments(
            String type,
            @JsonProperty("sequence_number") long number,
            @JsonProperty("item_id") String itemId,
            @JsonProperty("output_index") int index,
            String arguments)
            implements ResponseEvent {}

    /** How a tool call stands. */
    record OfCall(
            String type,
            @JsonProperty("sequence_number") long number,
            @JsonProperty("item_id") String itemId,
            @JsonProperty("output_index") int index)
            implements ResponseEvent {}

    /** The stream ends here, though the response may go on. */
    record Broken(
            String type,
            @JsonProperty("sequence_number") long number,
            String code,
            String message,
            @Nullable String param)
            implements ResponseEvent {}
}
