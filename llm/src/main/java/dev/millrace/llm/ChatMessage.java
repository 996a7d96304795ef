package dev.millrace.llm;

import java.util.List;
import org.jspecify.annotations.Nullable;

/** One message of a conversation with a model. */
public sealed interface ChatMessage {

    /** What the model is and how it shall behave; at most one, and first. */
    record SystemMessage(String text) implements ChatMessage {}

    /**
     * What a person, or Millrace in their place, said.
     *
     * @param text may be empty if there are images
     * @param images shown after the text, in order; usually none
     */
    record UserMessage(String text, List<Image> images) implements ChatMessage {
        public UserMessage {
            images = List.copyOf(images);
        }

        /** Words alone. */
        public UserMessage(String text) {
            this(text, List.of());
        }
    }

    /**
     * A picture. Its bytes travel with the request: a URL would have to be fetched by the provider, which not all can
     * do, or by us, on behalf of whoever wrote it.
     *
     * @param mediaType such as {@code image/png}; which ones a model can see is the provider's affair
     * @param base64 the file, base64 with padding, without line breaks
     */
    record Image(String mediaType, String base64) {
        public Image {
            if (!mediaType.startsWith("image/")) {
                throw new IllegalArgumentException("mediaType: expected image/…, found " + mediaType);
            }
        }

        @Override
        public String toString() {
            return "Image[" + mediaType + ", " + base64.length() + " characters]";
        }
    }

    /**
     * What the model said.
     *
     * @param text null if it only called tools
     * @param toolCalls in the model's order; empty if it only answered
     * @param continuation as in {@link ModelReply}; null if there is none
     */
    record AssistantMessage(
            @Nullable String text,
            List<ToolCallRequest> toolCalls,
            @Nullable String continuation) implements ChatMessage {
        public AssistantMessage {
            toolCalls = List.copyOf(toolCalls);
        }

        /** Without anything that the provider wants to see again. */
        public AssistantMessage(@Nullable String text, List<ToolCallRequest> toolCalls) {
            this(text, toolCalls, null);
        }
    }

    /**
     * What came out of one tool call.
     *
     * @param toolCallId the {@link ToolCallRequest#toolCallId} it answers
     * @param content JSON text of the result, or {@code Error: <message>}
     * @param isError whether the call failed
     */
    record ToolMessage(String toolCallId, String toolName, String content, boolean isError) implements ChatMessage {}
}
