package dev.millrace.tools.tasks;

import dev.millrace.api.Entry;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Makes the conversation of a task from its events, which are added in the order of the journal. Not for several
 * threads.
 */
final class TaskMessages {

    private final List<Map<String, @Nullable Object>> messages = new ArrayList<>();
    private final Map<String, String> toolCallIds = new HashMap<>();
    /** The message that starts a task is repeated by TASK_CREATED, but a task that still waits has only that. */
    private boolean created;

    /** All so far. */
    List<Map<String, @Nullable Object>> all() {
        return List.copyOf(messages);
    }

    /** Adds what an event says, if anything. */
    void add(Entry event) {
        Map<String, @Nullable Object> payload = event.payload();
        switch (event.type()) {
            case "TASK_CREATED" -> {
                if (!created) {
                    messages.clear();
                }
                created = true;
                user(payload.get("inputText"));
            }
            case "MESSAGE_RECEIVED", "NEW_MESSAGE", "user_query" ->
                user(payload.get("text") == null ? payload.get("content") : payload.get("text"));
            case "TASK_RESUMED" -> user(payload.get("newInput"));
            case "REASON_DONE", "NEED_MORE_INFO" -> assistant(payload);
            case "TOOL_CALL_REQUESTED" -> {
                if (payload.get("callId") instanceof String callId
                        && payload.get("toolCallId") instanceof String toolCallId) {
                    toolCallIds.put(callId, toolCallId);
                }
            }
            case "TOOL_CALL_COMPLETED" -> tool(payload, payload.get("result"), false);
            case "TOOL_CALL_FAILED" -> tool(payload, "Error: " + payload.get("error"), true);
            default -> {
                // says nothing to anybody
            }
        }
    }

    private void user(@Nullable Object text) {
        if (text instanceof String said) {
            messages.add(message("user", said));
        }
    }

    private void assistant(Map<?, ?> payload) {
        Map<String, @Nullable Object> message = message("assistant", payload.get("response"));
        if (payload.get("question") instanceof String question) {
            message.put("question", question);
        }
        if (payload.get("toolCalls") instanceof List<?> calls && !calls.isEmpty()) {
            message.put("toolCalls", calls);
        }
        messages.add(message);
    }

    private void tool(Map<?, ?> payload, @Nullable Object content, boolean isError) {
        Map<String, @Nullable Object> message = message("tool", content);
        String toolCallId = toolCallIds.get(String.valueOf(payload.get("callId")));
        if (toolCallId != null) {
            message.put("toolCallId", toolCallId);
        }
        message.put("toolName", payload.get("toolName"));
        if (isError) {
            message.put("isError", true);
        }
        messages.add(message);
    }

    private static Map<String, @Nullable Object> message(String role, @Nullable Object content) {
        Map<String, @Nullable Object> message = new LinkedHashMap<>();
        message.put("role", role);
        message.put("content", content);
        return message;
    }
}
