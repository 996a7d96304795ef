package dev.millrace.tools.tasks;

import com.fasterxml.jackson.annotation.JsonInclude;
import dev.millrace.api.Entry;
import dev.millrace.schemas.Event;
import dev.millrace.schemas.EventType;
import dev.millrace.schemas.Payload;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Makes the conversation of a task from its events, which are added in the order of the journal. Not for several
 * threads.
 */
final class TaskMessages {

    private final List<Message> messages = new ArrayList<>();
    private final Map<String, String> toolCallIds = new HashMap<>();
    /** The message that starts a task is repeated by TASK_CREATED, but a task that still waits has only that. */
    private boolean created;

    /** What somebody said. */
    @JsonInclude(JsonInclude.Include.NON_NULL)
    record Message(
            String role,

            @JsonInclude(JsonInclude.Include.ALWAYS) @Nullable
            Object content,

            @Nullable String question,
            @Nullable List<Call> toolCalls,
            @Nullable String toolCallId,
            @Nullable String toolName,
            @Nullable Boolean isError) {}

    /** A call that the model asked for. */
    @JsonInclude(JsonInclude.Include.NON_NULL)
    record Call(
            String toolCallId,
            String toolName,
            Map<String, @Nullable Object> arguments,
            @Nullable String malformedArguments) {}

    /** All so far. */
    List<Message> all() {
        return List.copyOf(messages);
    }

    /** Adds what an event says, if anything. */
    void add(Entry entry) {
        Event event = Event.root(entry.id(), EventType.of(entry.type()), Instant.EPOCH)
                .payload(entry.payload())
                .build();
        switch (event.payload()) {
            case Payload.TaskCreated said -> {
                if (!created) {
                    messages.clear();
                }
                created = true;
                user(said.inputText());
            }
            case Payload.MessageReceived said -> user(said.text() == null ? said.content() : said.text());
            case Payload.TaskResumed said -> user(said.newInput());
            case Payload.ReasonDone said -> assistant(said.response(), null, said.toolCalls());
            case Payload.NeedMoreInfo said -> assistant(said.response(), said.question(), said.toolCalls());
            case Payload.ToolCallRequested asked -> toolCallIds.put(asked.callId(), asked.toolCallId());
            case Payload.ToolCallCompleted done -> tool(done.callId(), done.toolName(), done.result(), null);
            case Payload.ToolCallFailed failed ->
                tool(failed.callId(), failed.toolName(), "Error: " + failed.error(), true);
            default -> {
                // says nothing to anybody
            }
        }
    }

    private void user(@Nullable String text) {
        if (text != null) {
            messages.add(new Message("user", text, null, null, null, null, null));
        }
    }

    private void assistant(@Nullable String response, @Nullable String question, List<Payload.RequestedCall> asked) {
        List<Call> calls = asked.stream()
                .map(call -> new Call(call.toolCallId(), call.toolName(), call.arguments(), call.malformedArguments()))
                .toList();
        messages.add(new Message("assistant", response, question, calls.isEmpty() ? null : calls, null, null, null));
    }

    private void tool(String callId, String toolName, @Nullable Object content, @Nullable Boolean isError) {
        messages.add(new Message("tool", content, null, null, toolCallIds.get(callId), toolName, isError));
    }
}
