package dev.millrace.llm;

import java.util.List;
import org.jspecify.annotations.Nullable;

/** One message of a conversation with a model. */
public sealed interface ChatMessage {

    /** What the model is and how it shall behave; at most one, and first. */
    record SystemMessage(String text) implements ChatMessage {}

    /** What a person, or Millrace in their place, said. */
    record UserMessage(String text) implements ChatMessage {}

    /**
     * What the model said.
     *
     * @param text null if it only called tools
     * @param toolCalls in the model's order; empty if it only answered
     */
    record AssistantMessage(@Nullable String text, List<ToolCallRequest> toolCalls) implements ChatMessage {
        public AssistantMessage {
            toolCalls = List.copyOf(toolCalls);
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
