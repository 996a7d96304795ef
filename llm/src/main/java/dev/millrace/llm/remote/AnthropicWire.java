package dev.millrace.llm.remote;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.millrace.llm.ChatMessage;
import dev.millrace.llm.ChatMessage.AssistantMessage;
import dev.millrace.llm.ChatMessage.Image;
import dev.millrace.llm.ChatMessage.SystemMessage;
import dev.millrace.llm.ChatMessage.ToolMessage;
import dev.millrace.llm.ChatMessage.UserMessage;
import dev.millrace.llm.FinishReason;
import dev.millrace.llm.ModelCallException;
import dev.millrace.llm.ModelRequest;
import dev.millrace.llm.ToolCallRequest;
import dev.millrace.llm.ToolSpec;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Anthropic's messages. */
final class AnthropicWire implements Wire {

    private static final String VERSION = "2023-06-01";

    @Override
    public String path(String model, boolean streamed) {
        return "/messages";
    }

    @Override
    public Map<String, String> headers(@Nullable String key) {
        return key == null
                ? Map.of("anthropic-version", VERSION)
                : Map.of("anthropic-version", VERSION, "x-api-key", key);
    }

    @Override
    public ObjectNode body(Question question, boolean streamed) {
        ModelRequest request = question.request();
        ObjectNode body = WireJson.MAPPER
                .createObjectNode()
                .put("model", question.model())
                .put("stream", streamed)
                .put(
                        "max_tokens",
                        Objects.requireNonNullElse(question.maxOutputTokens(), RemoteSettings.ANTHROPIC_OUTPUT_TOKENS));
        if (request.temperature() != null) {
            body.put("temperature", request.temperature());
        }
        boolean thinks = thinks(question);
        ArrayNode messages = WireJson.MAPPER.createArrayNode();
        for (ChatMessage message : question.messages()) {
            switch (message) {
                case SystemMessage(String text) ->
                    body.putArray("system").addObject().put("type", "text").put("text", WireJson.notBlank(text));
                case UserMessage user -> ask(WireJson.turn(messages, "user", "content"), user);
                case AssistantMessage turn -> {
                    ArrayNode blocks = WireJson.turn(messages, "assistant", "content");
                    if (thinks) {
                        question.continued(turn).forEach(blocks::add); // in front of what it led to, unchanged
                    }
                    repeat(blocks, turn);
                }
                case ToolMessage result -> answer(WireJson.turn(messages, "user", "content"), result);
            }
        }
        body.set("messages", messages);
        if (!request.tools().isEmpty()) {
            ArrayNode tools = body.putArray("tools");
            for (ToolSpec tool : request.tools()) {
                WireJson.describe(tools.addObject(), tool, "input_schema");
            }
        }
        if (request.responseSchema() != null) {
            body.putObject("output_config")
                    .putObject("format")
                    .put("type", "json_schema")
                    .set("schema", WireJson.tree(request.responseSchema().schema()));
        }
        Integer budget = question.settings().thinkingTokens();
        if (thinks && budget != null) {
            body.putObject("thinking").put("type", "enabled").put("budget_tokens", budget);
            body.remove("temperature"); // not allowed together
            if (body.path("max_tokens").asLong() <= budget) {
                body.put("max_tokens", budget + RemoteSettings.ANTHROPIC_OUTPUT_TOKENS);
            }
        }
        // Caching has to be asked for: up to the system prompt, which stays the same from call to call, and up to the
        // end,
        // which is the next call's beginning.
        markLast(body.path("system"));
        markLast(messages.path(messages.size() - 1).path("content"));
        return body;
    }

    /**
     * Whether it is asked to think. Anthropic wants the thinking back that led to tool calls, signed. Where there is
     * none, since another model or another provider made the calls, the model thinks when it is asked something, and
     * not between its tool calls, which is always allowed.
     */
    private static boolean thinks(Question question) {
        return question.settings().thinkingTokens() != null
                && (question.messages().getLast() instanceof UserMessage
                        || question.messages().reversed().stream()
                                .filter(AssistantMessage.class::isInstance)
                                .findFirst()
                                .filter(turn -> !question.continued((AssistantMessage) turn)
                                        .isEmpty())
                                .isPresent());
    }

    private static void ask(ArrayNode blocks, UserMessage user) {
        if (!user.text().isBlank() || user.images().isEmpty()) {
            blocks.addObject().put("type", "text").put("text", WireJson.notBlank(user.text()));
        }
        for (Image image : user.images()) {
            blocks.addObject()
                    .put("type", "image")
                    .putObject("source")
                    .put("type", "base64")
                    .put("media_type", image.mediaType())
                    .put("data", image.base64());
        }
    }

    private static void repeat(ArrayNode blocks, AssistantMessage turn) {
        if (WireJson.said(turn) != null) {
            blocks.addObject().put("type", "text").put("text", WireJson.said(turn));
        }
        for (ToolCallRequest call : turn.toolCalls()) {
            blocks.addObject()
                    .put("type", "tool_use")
                    .put("id", call.toolCallId())
                    .put("name", call.toolName())
                    .set("input", WireJson.tree(call.arguments()));
        }
    }

    private static void answer(ArrayNode blocks, ToolMessage result) {
        ObjectNode block = blocks.addObject()
                .put("type", "tool_result")
                .put("tool_use_id", result.toolCallId())
                .put("content", WireJson.notBlank(result.content()));
        if (result.isError()) {
            block.put("is_error", true);
        }
    }

    private static void markLast(JsonNode blocks) {
        if (blocks.path(blocks.size() - 1) instanceof ObjectNode block) {
            block.putObject("cache_control").put("type", "ephemeral");
        }
    }

    @Override
    public void read(JsonNode json, ReplyDraft draft) throws ModelCallException {
        switch (WireJson.text(json, "type")) {
            case "message" -> {
                message(json, draft);
                int index = 0;
                for (JsonNode block : json.path("content")) {
                    block(index++, block, draft);
                }
                stop(json, draft);
                draft.complete();
            }
            case "message_start" -> message(json.path("message"), draft);
            case "content_block_start" -> block(json.path("index").asInt(), json.path("content_block"), draft);
            case "content_block_delta" -> delta(json.path("index").asInt(), json.path("delta"), draft);
            case "message_delta" -> {
                usage(json.path("usage"), draft);
                stop(json.path("delta"), draft);
            }
            case "message_stop" -> draft.complete();
            default -> {} // ends of blocks, and pings
        }
    }

    /** A block, whole or the beginning of one; what is redacted comes in one piece. */
    private static void block(int index, JsonNode block, ReplyDraft draft) throws ModelCallException {
        draft.nextLine();
        switch (WireJson.text(block, "type")) {
            case "text" -> draft.text(WireJson.text(block, "text"));
            case "thinking" -> {
                draft.again.add(block.deepCopy());
                draft.reasoning(WireJson.text(block, "thinking"));
            }
            case "redacted_thinking" -> draft.again.add(block.deepCopy());
            case "tool_use" -> {
                JsonNode input = block.path("input");
                draft.call(
                        index,
                        WireJson.text(block, "id"),
                        WireJson.text(block, "name"),
                        input.isEmpty() ? "" : input.toString());
            }
            default -> {} // what no tool of ours makes it say
        }
    }

    /** Blocks come one after the other, so thinking is about the last one. */
    private static void delta(int index, JsonNode delta, ReplyDraft draft) throws ModelCallException {
        switch (WireJson.text(delta, "type")) {
            case "text_delta" -> draft.text(WireJson.text(delta, "text"));
            case "thinking_delta" -> {
                String thought = WireJson.text(delta, "thinking");
                if (draft.again.path(draft.again.size() - 1) instanceof ObjectNode block) {
                    block.put("thinking", WireJson.text(block, "thinking") + thought);
                }
                draft.reasoning(thought);
            }
            case "signature_delta" -> {
                if (draft.again.path(draft.again.size() - 1) instanceof ObjectNode block) {
                    block.put("signature", WireJson.text(delta, "signature"));
                }
            }
            case "input_json_delta" -> draft.call(index, "", "", WireJson.text(delta, "partial_json"));
            default -> {} // citations and the like
        }
    }

    private static void message(JsonNode message, ReplyDraft draft) {
        draft.model(WireJson.text(message, "model"));
        usage(message.path("usage"), draft);
    }

    private static void stop(JsonNode holder, ReplyDraft draft) {
        draft.finish(
                switch (WireJson.text(holder, "stop_reason")) {
                    case "end_turn", "stop_sequence" -> FinishReason.STOP;
                    case "max_tokens" -> FinishReason.LENGTH;
                    case "tool_use" -> FinishReason.TOOL_CALLS;
                    case "refusal" -> {
                        String words = WireJson.text(holder.path("stop_details"), "explanation");
                        draft.refusal(words.isEmpty() ? "its stop reason is \"refusal\"" : words);
                        yield FinishReason.OTHER;
                    }
                    default -> FinishReason.OTHER;
                });
    }

    /** Anthropic's input tokens are those that had nothing to do with the cache. */
    private static void usage(JsonNode usage, ReplyDraft draft) {
        long fromCache = usage.path("cache_read_input_tokens").asLong();
        long intoCache = usage.path("cache_creation_input_tokens").asLong();
        draft.input(usage.path("input_tokens").asLong() + fromCache + intoCache, fromCache, intoCache);
        draft.output(usage.path("output_tokens").asLong(), 0);
    }
}
