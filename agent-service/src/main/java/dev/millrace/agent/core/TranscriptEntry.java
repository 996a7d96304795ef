package dev.millrace.agent.core;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * One message of a task's transcript: what the model is shown. Appended once and never rewritten; the position is given
 * by {@link TaskContext#transcriptLength()} at the time of appending.
 */
public sealed interface TranscriptEntry {

    /** About what an image costs that is as large as providers take them. */
    long TOKENS_PER_IMAGE = 1_500;

    /** What it adds to the transcript's size, in characters. */
    long chars();

    /** About how many tokens it adds to a prompt. */
    long tokens();

    /**
     * A person or system said this.
     *
     * @param images shown with it; usually none
     */
    record UserText(String text, List<Image> images) implements TranscriptEntry {
        public UserText {
            // what an older version stored has none
            images = images == null ? List.of() : List.copyOf(images);
        }

        /** Words alone. */
        public UserText(String text) {
            this(text, List.of());
        }

        @Override
        public long chars() {
            return text.length()
                    + images.stream().mapToLong(image -> image.data().length()).sum();
        }

        @Override
        public long tokens() {
            return TokenEstimate.PER_MESSAGE + TokenEstimate.of(text) + TOKENS_PER_IMAGE * images.size();
        }
    }

    /**
     * What the conversation before a cut came to, in words. The model is shown it in place of what it sums up; that
     * stays in the transcript.
     *
     * @param text the summary
     * @param request what the task is to do, word for word as it was said; {@code null} = that is shown as it is
     */
    record Summary(String text, @Nullable String request) implements TranscriptEntry {
        @Override
        public long chars() {
            return text.length() + ToolCall.chars(request);
        }

        @Override
        public long tokens() {
            return TokenEstimate.PER_MESSAGE + TokenEstimate.of(text) + TokenEstimate.of(request);
        }
    }

    /**
     * A picture.
     *
     * @param mediaType such as {@code image/png}
     * @param data the file in base64
     */
    record Image(String mediaType, String data) {}

    /**
     * The model said this.
     *
     * @param text {@code null} = nothing but tool calls
     * @param toolCalls empty = nothing but text
     * @param continuation what the model's provider wants to see again with this turn, opaque; {@code null} = nothing
     */
    record AssistantTurn(
            @Nullable String text,
            List<Call> toolCalls,
            @Nullable String continuation) implements TranscriptEntry {
        public AssistantTurn {
            toolCalls = List.copyOf(toolCalls);
        }

        /** Of which the provider wants to see nothing again. */
        public AssistantTurn(@Nullable String text, List<Call> toolCalls) {
            this(text, toolCalls, null);
        }

        @Override
        public long chars() {
            return ToolCall.chars(text)
                    + ToolCall.chars(continuation)
                    + toolCalls.stream()
                            .mapToLong(call -> call.toolName().length()
                                    + (long) call.arguments().length())
                            .sum();
        }

        @Override
        public long tokens() {
            return TokenEstimate.PER_MESSAGE
                    + TokenEstimate.of(text)
                    + TokenEstimate.of(continuation)
                    + toolCalls.stream()
                            .mapToLong(call -> TokenEstimate.PER_MESSAGE
                                    + TokenEstimate.of(call.toolName())
                                    + TokenEstimate.of(call.arguments()))
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
     * What came of a tool call.
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

        @Override
        public long tokens() {
            return TokenEstimate.PER_MESSAGE + TokenEstimate.of(content);
        }
    }
}
