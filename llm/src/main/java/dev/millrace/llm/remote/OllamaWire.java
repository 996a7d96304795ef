package dev.millrace.llm.remote;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.millrace.llm.ChatMessage;
import dev.millrace.llm.ChatMessage.AssistantMessage;
import dev.millrace.llm.ChatMessage.SystemMessage;
import dev.millrace.llm.ChatMessage.ToolMessage;
import dev.millrace.llm.ChatMessage.UserMessage;
import dev.millrace.llm.FinishReason;
import dev.millrace.llm.ModelCallException;
import dev.millrace.llm.ModelRequest;
import dev.millrace.llm.ToolCallRequest;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Ollama's own chat API, which does more than its OpenAI-compatible one. */
final class OllamaWire implements Wire {

    @Override
    public String path(String model, boolean streamed) {
        return "/api/chat";
    }

    @Override
    public Map<String, String> headers(@Nullable String key) {
        return key == null ? Map.of() : Map.of("Authorization", "Bearer " + key);
    }

    @Override
    public boolean streamsLines() {
        return true;
    }

    @Override
    public ObjectNode body(Question question, boolean streamed) {
        ModelRequest request = question.request();
        RemoteSettings settings = question.settings();
        ObjectNode body = WireJson.MAPPER
                .createObjectNode()
                .put("model", question.model())
                .put("stream", streamed);
        ArrayNode messages = body.putArray("messages");
        for (ChatMessage message : question.messages()) {
            add(messages.addObject(), message);
        }
        ObjectNode options = body.putObject("options");
        if (request.temperature() != null) {
            options.put("temperature", request.temperature());
        }
        if (question.maxOutputTokens() != null) {
            options.put("num_predict", question.maxOutputTokens());
        }
        if (settings.contextWindow() != null) {
            // without it Ollama gives a conversation its own default and drops what is older
            options.put("num_ctx", settings.contextWindow());
        }
        WireJson.putFunctions(body, request.tools());
        // what is held to a form cannot call tools
        if (request.responseSchema() != null && request.tools().isEmpty()) {
            body.set("format", WireJson.tree(request.responseSchema().schema()));
        }
        if (settings.thinkingTokens() != null) {
            body.put("think", true); // there is no budget for it
        }
        return body;
    }

    private static void add(ObjectNode sent, ChatMessage message) {
        switch (message) {
            case SystemMessage(String text) -> sent.put("role", "system").put("content", WireJson.notBlank(text));
            case UserMessage user
            when user.images().isEmpty() -> sent.put("role", "user").put("content", WireJson.notBlank(user.text()));
            case UserMessage user -> {
                ArrayNode images = sent.put("role", "user")
                        .put("content", user.text().strip())
                        .putArray("images");
                user.images().forEach(image -> images.add(image.base64()));
            }
            case AssistantMessage turn -> {
                sent.put("role", "assistant");
                if (WireJson.said(turn) != null) {
                    sent.put("content", WireJson.said(turn));
                }
                for (ToolCallRequest call : turn.toolCalls()) {
                    sent.withArray("tool_calls")
                            .addObject()
                            .put("id", call.toolCallId())
                            .putObject("function")
                            .put("name", call.toolName())
                            .set("arguments", WireJson.tree(call.arguments()));
                }
            }
            case ToolMessage result ->
                // results are told apart by the tool's name
                sent.put("role", "tool")
                        .put("tool_name", result.toolName())
                        .put("content", WireJson.notBlank(result.content()));
        }
    }

    @Override
    public void read(JsonNode json, ReplyDraft draft) throws ModelCallException {
        draft.model(WireJson.text(json, "model"));
        draft.input(json.path("prompt_eval_count").asLong(), 0, 0);
        draft.output(json.path("eval_count").asLong(), 0);
        JsonNode message = json.path("message");
        draft.reasoning(WireJson.text(message, "thinking"));
        draft.text(WireJson.text(message, "content"));
        for (JsonNode call : message.path("tool_calls")) {
            JsonNode function = call.path("function");
            draft.wholeCall(WireJson.text(call, "id"), WireJson.text(function, "name"), function.path("arguments"));
        }
        if (json.path("done").asBoolean()) {
            draft.finished(
                    switch (WireJson.text(json, "done_reason")) {
                        case "stop" -> FinishReason.STOP;
                        case "length" -> FinishReason.LENGTH;
                        default -> FinishReason.OTHER;
                    });
        }
    }
}
