package dev.millrace.gateway.rest.agui;

import com.fasterxml.jackson.annotation.JsonInclude;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** What a run tells, in AG-UI's words. */
sealed interface AguiEvent {
    String type();

    record RunStarted(String type, String threadId, String runId, Map<String, String> metadata) implements AguiEvent {
        RunStarted(String threadId, String runId, String taskId) {
            this("RUN_STARTED", threadId, runId, Map.of("taskId", taskId));
        }
    }

    record TextStart(String type, String messageId, String role) implements AguiEvent {
        TextStart(String messageId) {
            this("TEXT_MESSAGE_START", messageId, "assistant");
        }
    }

    record TextContent(String type, String messageId, String delta) implements AguiEvent {
        TextContent(String messageId, String delta) {
            this("TEXT_MESSAGE_CONTENT", messageId, delta);
        }
    }

    record TextEnd(String type, String messageId) implements AguiEvent {
        TextEnd(String messageId) {
            this("TEXT_MESSAGE_END", messageId);
        }
    }

    record ToolStart(String type, String toolCallId, String toolCallName) implements AguiEvent {
        ToolStart(String toolCallId, String toolCallName) {
            this("TOOL_CALL_START", toolCallId, toolCallName);
        }
    }

    record ToolArgs(String type, String toolCallId, String delta) implements AguiEvent {
        ToolArgs(String toolCallId, String delta) {
            this("TOOL_CALL_ARGS", toolCallId, delta);
        }
    }

    record ToolEnd(String type, String toolCallId) implements AguiEvent {
        ToolEnd(String toolCallId) {
            this("TOOL_CALL_END", toolCallId);
        }
    }

    record ToolResult(String type, String messageId, String toolCallId, String content, String role)
            implements AguiEvent {
        ToolResult(String messageId, String toolCallId, String content) {
            this("TOOL_CALL_RESULT", messageId, toolCallId, content, "tool");
        }
    }

    /** All messages of the thread as they count, after some words were withdrawn. */
    record Snapshot(String type, List<Object> messages) implements AguiEvent {
        Snapshot(List<Object> messages) {
            this("MESSAGES_SNAPSHOT", messages);
        }
    }

    record RunFinished(String type, String threadId, String runId, Outcome outcome, List<Usage> usage)
            implements AguiEvent {
        RunFinished(String threadId, String runId, Outcome outcome, Usage usage) {
            this("RUN_FINISHED", threadId, runId, outcome, List.of(usage));
        }
    }

    record RunError(String type, String message, String code) implements AguiEvent {
        RunError(String message, String code) {
            this("RUN_ERROR", message, code);
        }
    }

    record Usage(long inputTokens, long outputTokens, long totalTokens) {}

    /** Why a run is over that did not fail. */
    sealed interface Outcome {
        String type();

        record Success(String type) implements Outcome {
            Success() {
                this("success");
            }
        }

        record Cancelled(String type) implements Outcome {
            Cancelled() {
                this("cancelled");
            }
        }

        record Interrupted(String type, List<Interrupt> interrupts) implements Outcome {
            Interrupted(List<Interrupt> interrupts) {
                this("interrupt", interrupts);
            }
        }
    }

    /** Something that the task needs of a person. */
    @JsonInclude(JsonInclude.Include.NON_NULL)
    record Interrupt(
            String id,
            String reason,
            String message,
            Object responseSchema,
            @Nullable String expiresAt,
            Map<String, Object> metadata) {}

    /** A message of the agent, as the client keeps it. */
    @JsonInclude(JsonInclude.Include.NON_NULL)
    record Message(
            String id,
            String role,
            @Nullable String content,
            @Nullable List<Call> toolCalls,
            @Nullable String toolCallId) {}

    record Call(String id, String type, Function function) {}

    record Function(String name, String arguments) {}
}
