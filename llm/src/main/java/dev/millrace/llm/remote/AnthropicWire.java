package dev.millrace.llm.remote;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.langchain4j.http.client.HttpClientBuilder;
import dev.langchain4j.model.anthropic.AnthropicChatModel;
import dev.langchain4j.model.anthropic.AnthropicStreamingChatModel;
import dev.langchain4j.model.chat.ChatModel;
import dev.langchain4j.model.chat.StreamingChatModel;
import dev.millrace.llm.ChatMessage.AssistantMessage;
import dev.millrace.llm.ChatMessage.UserMessage;
import dev.millrace.llm.ModelRequest;
import dev.millrace.llm.ToolSpec;
import java.util.Iterator;
import java.util.stream.Stream;

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
     * Anthropic wants the thinking back that led to tool calls, signed. Where there is none, since another model or another
     * provider made the calls, the model thinks when it is asked something, and not between its tool calls, which is always
     * allowed.
     */
    private static void think(ObjectNode body, ModelRequest request, RemoteSettings settings) {
        Integer budget = settings.thinkingTokens();
        if (budget == null
                || !(request.messages().getLast() instanceof UserMessage || thoughtBefore(request, settings))) {
            return;
        }
        repeatThoughts(body.path("messages"), request, settings);
        body.putObject("thinking").put("type", "enabled").put("budget_tokens", budget);
        body.remove("temperature"); // not allowed together
        if (body.path("max_tokens").asLong() <= budget) {
            body.put("max_tokens", budget + RemoteSettings.ANTHROPIC_OUTPUT_TOKENS);
        }
    }

    /** Whether the turn whose results are sent came with its thinking. */
    private static boolean thoughtBefore(ModelRequest request, RemoteSettings settings) {
        return turns(request)
                .reduce((first, second) -> second)
                .filter(turn -> !Continuation.read(settings, request, turn).isEmpty())
                .isPresent();
    }

    private static Stream<AssistantMessage> turns(ModelRequest request) {
        return request.messages().stream()
                .filter(AssistantMessage.class::isInstance)
                .map(AssistantMessage.class::cast);
    }

    /** The thinking goes in front of what it led to, unchanged. */
    private static void repeatThoughts(JsonNode messages, ModelRequest request, RemoteSettings settings) {
        Iterator<AssistantMessage> turns = turns(request).iterator();
        for (JsonNode message : messages) {
            if (message.path("role").asText().equals("assistant")
                    && turns.hasNext()
                    && message.path("content") instanceof ArrayNode blocks) {
                int at = 0;
                for (JsonNode thought : Continuation.read(settings, request, turns.next())) {
                    blocks.insert(at++, thought);
                }
            }
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
                json.path("content").forEach(block -> thought(block, notes));
                stop(json, notes);
                notes.complete = true;
            }
            case "message_start" -> message(json.path("message"), notes);
            case "content_block_start" -> thought(json.path("content_block"), notes);
            case "content_block_delta" -> thoughtDelta(json.path("delta"), notes);
            case "message_delta" -> {
                usage(json.path("usage"), notes);
                stop(json.path("delta"), notes);
            }
            case "message_stop" -> notes.complete = true;
            default -> {} // blocks, which LangChain4j reads, and pings
        }
        return false;
    }

    /** One block of thinking, whole or the beginning of one; what is redacted comes in one piece. */
    private static void thought(JsonNode block, Notes notes) {
        String type = block.path("type").asText();
        if (type.equals("thinking") || type.equals("redacted_thinking")) {
            notes.again.add(block.deepCopy());
        }
    }

    /** Blocks come one after the other, so this is about the last one. */
    private static void thoughtDelta(JsonNode delta, Notes notes) {
        if (!(notes.again.path(notes.again.size() - 1) instanceof ObjectNode block)) {
            return;
        }
        switch (delta.path("type").asText()) {
            case "thinking_delta" ->
                block.put(
                        "thinking",
                        block.path("thinking").asText() + delta.path("thinking").asText());
            case "signature_delta" ->
                block.put("signature", delta.path("signature").asText());
            default -> {} // what follows the thinking
        }
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
