package dev.millrace.llm.remote;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.langchain4j.http.client.HttpClientBuilder;
import dev.langchain4j.model.anthropic.AnthropicChatModel;
import dev.langchain4j.model.anthropic.AnthropicStreamingChatModel;
import dev.langchain4j.model.chat.ChatModel;
import dev.langchain4j.model.chat.StreamingChatModel;
import dev.millrace.llm.ChatMessage.UserMessage;
import dev.millrace.llm.ModelRequest;
import dev.millrace.llm.ToolSpec;

/** Anthropic's messages. */
final class AnthropicWire implements Wire {

    /** LangChain4j wants one; a gateway in front of Anthropic may not. */
    private static final String NO_KEY = "none";

    @Override
    public ChatModel whole(RemoteSettings settings, HttpClientBuilder http) {
        return AnthropicChatModel.builder()
                .httpClientBuilder(http)
                .baseUrl(settings.baseUrl().toString())
                .apiKey(key(settings))
                .modelName(settings.model())
                .maxTokens(RemoteSettings.ANTHROPIC_OUTPUT_TOKENS)
                .maxRetries(0)
                .returnThinking(true)
                .build();
    }

    @Override
    public StreamingChatModel streaming(RemoteSettings settings, HttpClientBuilder http) {
        return AnthropicStreamingChatModel.builder()
                .httpClientBuilder(http)
                .baseUrl(settings.baseUrl().toString())
                .apiKey(key(settings))
                .modelName(settings.model())
                .maxTokens(RemoteSettings.ANTHROPIC_OUTPUT_TOKENS)
                .returnThinking(true)
                .build();
    }

    private static String key(RemoteSettings settings) {
        return settings.apiKey() == null ? NO_KEY : settings.apiKey().value();
    }

    @Override
    public void complete(ObjectNode body, ModelRequest request, RemoteSettings settings) {
        if (!request.tools().isEmpty()) {
            ArrayNode tools = body.putArray("tools");
            for (ToolSpec tool : request.tools()) {
                tools.addObject()
                        .put("name", tool.name())
                        .put("description", tool.description())
                        .set("input_schema", WireJson.tree(tool.parameters()));
            }
        }
        if (request.responseSchema() != null) {
            WireJson.object(body, "output_config")
                    .putObject("format")
                    .put("type", "json_schema")
                    .set("schema", WireJson.tree(request.responseSchema().schema()));
        }
        think(body, request, settings);
        cache(body);
    }

    /**
     * Anthropic wants the thinking back that led to tool calls, signed; the transcript does not keep it. So the model
     * thinks when it is asked something, and not between its tool calls, which is always allowed.
     */
    private static void think(ObjectNode body, ModelRequest request, RemoteSettings settings) {
        Integer budget = settings.thinkingTokens();
        if (budget == null || !(request.messages().getLast() instanceof UserMessage)) {
            return;
        }
        body.putObject("thinking").put("type", "enabled").put("budget_tokens", budget);
        body.remove("temperature"); // not allowed together
        if (body.path("max_tokens").asLong() <= budget) {
            body.put("max_tokens", budget + RemoteSettings.ANTHROPIC_OUTPUT_TOKENS);
        }
    }

    /**
     * Caching has to be asked for: up to the system prompt, which stays the same from call to call, and up to the end,
     * which is the next call's beginning.
     */
    private static void cache(ObjectNode body) {
        markLast(body.path("system"));
        JsonNode messages = body.path("messages");
        markLast(messages.path(messages.size() - 1).path("content"));
    }

    private static void markLast(JsonNode blocks) {
        if (blocks.path(blocks.size() - 1) instanceof ObjectNode block) {
            block.putObject("cache_control").put("type", "ephemeral");
        }
    }

    @Override
    public boolean read(JsonNode json, Notes notes) {
        switch (json.path("type").asText()) {
            case "message" -> {
                message(json, notes);
                stop(json, notes);
                notes.complete = true;
            }
            case "message_start" -> message(json.path("message"), notes);
            case "message_delta" -> {
                usage(json.path("usage"), notes);
                stop(json.path("delta"), notes);
            }
            case "message_stop" -> notes.complete = true;
            default -> {} // blocks, which LangChain4j reads, and pings
        }
        return false;
    }

    private static void message(JsonNode message, Notes notes) {
        notes.model = WireJson.text(message, "model", notes.model);
        usage(message.path("usage"), notes);
    }

    private static void stop(JsonNode holder, Notes notes) {
        if (holder.path("stop_reason").asText().equals("refusal")) {
            notes.refusal = WireJson.text(holder.path("stop_details"), "explanation", "its stop reason is \"refusal\"");
        }
    }

    /** Anthropic's input tokens are those that had nothing to do with the cache. */
    private static void usage(JsonNode usage, Notes notes) {
        long fromCache = usage.path("cache_read_input_tokens").asLong();
        long intoCache = usage.path("cache_creation_input_tokens").asLong();
        notes.input(usage.path("input_tokens").asLong() + fromCache + intoCache, fromCache, intoCache);
        notes.output(usage.path("output_tokens").asLong(), 0);
    }
}
