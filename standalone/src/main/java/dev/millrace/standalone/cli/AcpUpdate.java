package dev.millrace.standalone.cli;

import com.fasterxml.jackson.annotation.JsonInclude;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Something that an editor is told of a conversation, in the words of the Agent Client Protocol. */
sealed interface AcpUpdate {

    String sessionUpdate();

    /** A text block. */
    record Text(String type, String text) {
        Text(String text) {
            this("text", text);
        }
    }

    /** More of a message; what has another {@code messageId} is another message. */
    record Chunk(String sessionUpdate, Text content, String messageId) implements AcpUpdate {

        static Chunk ofUser(String text, String messageId) {
            return new Chunk("user_message_chunk", new Text(text), messageId);
        }

        static Chunk ofAgent(String text, String messageId) {
            return new Chunk("agent_message_chunk", new Text(text), messageId);
        }

        static Chunk thought(String text, String messageId) {
            return new Chunk("agent_thought_chunk", new Text(text), messageId);
        }
    }

    /** A part of what a tool call has brought. */
    record Content(String type, Text content) {
        Content(String text) {
            this("content", new Text(text));
        }
    }

    /** A tool call as it is new, or what has changed of it: {@code null} = that has not. */
    @JsonInclude(JsonInclude.Include.NON_NULL)
    record ToolCall(
            String sessionUpdate,
            String toolCallId,
            @Nullable String title,
            @Nullable String name,
            @Nullable String kind,
            String status,
            @Nullable List<Content> content,
            @Nullable Object rawInput,
            @Nullable Object rawOutput)
            implements AcpUpdate {

        /** A call that nobody has heard of yet. */
        static ToolCall begun(String callId, String tool, String title, String kind, String status, Object input) {
            return new ToolCall("tool_call", callId, title, tool, kind, status, null, input, null);
        }

        /** It goes on, with this input. */
        static ToolCall running(String callId, String title, Object input) {
            return new ToolCall("tool_call_update", callId, title, null, null, "in_progress", null, input, null);
        }

        /** It has ended, well or not, with words of which the output is more. */
        static ToolCall ended(String callId, String status, String words, @Nullable Object output) {
            return new ToolCall(
                    "tool_call_update", callId, null, null, null, status, List.of(new Content(words)), null, output);
        }
    }

    /** How much of what the model can read is in use, in tokens. */
    record Usage(String sessionUpdate, long used, long size) implements AcpUpdate {
        Usage(long used, long size) {
            this("usage_update", used, size);
        }
    }

    /** Something to know, for editors that have a place for that. */
    record Notice(String sessionUpdate, String severity, String title) implements AcpUpdate {
        Notice(String title) {
            this("notice", "info", title);
        }
    }
}
