package dev.millrace.agent.core;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * One message of a task's transcript: what the model is shown. Appended once and never rewritten; the position is given
 * by {@link TaskContext#transcriptLength()} at the time of appending.
 */
public sealed interface TranscriptEntry {

    /** What it adds to the transcript's size, in characters. */
    long chars();

    /** A person or system said this. */
    record UserText(String text) implements TranscriptEntry {
        @Override
        public long chars() {
            return text.length();
        }
    }

    /**
     * The model said this.
     *
     * @param text {@code null} = nothing but tool calls
     * @param toolCalls empty = nothing but text
     */
    record AssistantTurn(@Nullable String text, List<Call> toolCalls) implements TranscriptEntry {
        public AssistantTurn {
            toolCalls = List.copyOf(toolCalls);
        }

        @Override
        public long chars() {
            return ToolCall.chars(text)
                    + toolCalls.stream()
                            .mapToLong(call -> call.toolName().length()
                                    + (long) call.arguments().length())
                            .sum();
        }
    }

    /**
     * A tool call as the model asked for it.
     *
     * @param toolCallId the provider's id
     * @param toolName the tool's name
     * @param arguments a JSON object as text
     */
    record Call(String toolCallId, String toolName, String arguments) {}

    /**
     * What came of a tool call (F-091).
     *
     * @param toolCallId the provider's id of the call
     * @param toolName the tool's name
     * @param content JSON of the result, or {@code Error: …}
     * @param isError whether the call failed
     */
    record ToolResult(String toolCallId, String toolName, String content, boolean isError) implements TranscriptEntry {
        @Override
        public long chars() {
            return content.length();
        }
    }
}
