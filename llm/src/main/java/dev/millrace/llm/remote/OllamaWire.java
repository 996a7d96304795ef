package dev.millrace.llm.remote;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.langchain4j.http.client.HttpClientBuilder;
import dev.langchain4j.model.chat.ChatModel;
import dev.langchain4j.model.chat.StreamingChatModel;
import dev.langchain4j.model.ollama.OllamaChatModel;
import dev.langchain4j.model.ollama.OllamaStreamingChatModel;
import dev.millrace.llm.ChatMessage;
import dev.millrace.llm.ChatMessage.ToolMessage;
import dev.millrace.llm.ModelRequest;
import java.util.List;
import java.util.Map;

/** Ollama's own chat API, which does more than its OpenAI-compatible one. */
final class OllamaWire implements Wire {

    @Override
    public ChatModel whole(RemoteSettings settings, HttpClientBuilder http) {
        return OllamaChatModel.builder()
                .httpClientBuilder(http)
                .baseUrl(settings.baseUrl().toString())
                .customHeaders(headers(settings))
                .modelName(settings.model())
                .maxRetries(0)
                .returnThinking(true)
                .build();
    }

    @Override
    public StreamingChatModel streaming(RemoteSettings settings, HttpClientBuilder http) {
        return OllamaStreamingChatModel.builder()
                .httpClientBuilder(http)
                .baseUrl(settings.baseUrl().toString())
                .customHeaders(headers(settings))
                .modelName(settings.model())
                .returnThinking(true)
                .build();
    }

    private static Map<String, String> headers(RemoteSettings settings) {
        return settings.apiKey() == null
                ? Map.of()
                : Map.of("Authorization", "Bearer " + settings.apiKey().value());
    }

    @Override
    public void complete(ObjectNode body, ModelRequest request, RemoteSettings settings) {
        if (request.tools().isEmpty()) {
            body.remove("tools");
        } else {
            body.set("tools", WireJson.functions(request.tools()));
        }
        nameResults(body.path("messages"), request.messages());
        // what is held to a form cannot call tools
        if (request.responseSchema() != null && request.tools().isEmpty()) {
            body.set("format", WireJson.tree(request.responseSchema().schema()));
        }
        if (settings.contextWindow() != null) {
            // without it Ollama gives a conversation its own default and drops what is older
            WireJson.object(body, "options").put("num_ctx", settings.contextWindow());
        }
        if (settings.thinkingTokens() != null) {
            body.put("think", true); // there is no budget for it
        }
    }

    /** Ollama tells tool results apart by the tool's name, which LangChain4j leaves out. */
    private static void nameResults(JsonNode sent, List<ChatMessage> messages) {
        for (int i = 0; i < messages.size() && sent.size() == messages.size(); i++) {
            if (messages.get(i) instanceof ToolMessage result && sent.get(i) instanceof ObjectNode message) {
                message.put("tool_name", result.toolName());
            }
        }
    }

    @Override
    public boolean read(JsonNode json, Notes notes) {
        notes.model = WireJson.text(json, "model", notes.model);
        notes.input(json.path("prompt_eval_count").asLong(), 0, 0);
        notes.output(json.path("eval_count").asLong(), 0);
        notes.complete |= json.path("done").asBoolean();
        boolean changed = false;
        for (JsonNode call : json.path("message").path("tool_calls")) {
            // each is whole, but LangChain4j joins those without a number of their own
            if (call.path("function") instanceof ObjectNode function) {
                function.put("index", notes.calls++);
                changed = true;
            }
        }
        return changed;
    }
}
