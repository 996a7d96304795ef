package dev.millrace.llm;

import dev.millrace.llm.ChatMessage.AssistantMessage;
import dev.millrace.llm.ChatMessage.SystemMessage;
import dev.millrace.llm.ChatMessage.ToolMessage;
import dev.millrace.llm.ChatMessage.UserMessage;
import dev.millrace.schemas.JsonObject;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Builds conversations for tests. */
public final class Requests {

    private final List<ChatMessage> messages = new ArrayList<>();
    private List<ToolSpec> tools = List.of();
    private String callId = "task-1/1/0";

    private Requests() {}

    public static Requests user(String text) {
        return new Requests().thenUser(text);
    }

    public static Requests system(String text) {
        Requests requests = new Requests();
        requests.messages.add(new SystemMessage(text));
        return requests;
    }

    public Requests thenUser(String text) {
        messages.add(new UserMessage(text));
        return this;
    }

    public Requests thenAssistant(String text) {
        messages.add(new AssistantMessage(text, List.of()));
        return this;
    }

    public Requests thenCalls(ToolCallRequest... calls) {
        messages.add(new AssistantMessage(null, List.of(calls)));
        return this;
    }

    public Requests thenResult(String toolCallId, String tool, String content) {
        messages.add(new ToolMessage(toolCallId, tool, content, content.startsWith("Error: ")));
        return this;
    }

    /** One round: the model calls a tool and gets this back. */
    public Requests thenTool(String tool, String content) {
        String id = "tool-" + messages.size();
        return thenCalls(new ToolCallRequest(id, tool, Map.of())).thenResult(id, tool, content);
    }

    public Requests offering(String... names) {
        return offering(List.of(names).stream()
                .map(name -> new ToolSpec(name, "does " + name, JsonObject.of(Map.of("type", "object"))))
                .toArray(ToolSpec[]::new));
    }

    public Requests offering(ToolSpec... specs) {
        tools = List.of(specs);
        return this;
    }

    public Requests callId(String id) {
        callId = id;
        return this;
    }

    public ModelRequest build() {
        return build(null);
    }

    public ModelRequest build(@Nullable String model) {
        return new ModelRequest(callId, model, messages, tools);
    }
}
