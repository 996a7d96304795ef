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
import dev.millrace.llm.ResponseSchema;
import dev.millrace.llm.ToolCallRequest;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** OpenAI's chat completions, and the small ways in which "compatible" servers differ. */
final class OpenAiWire implements Wire {

    @Override
    public String path(String model, boolean streamed) {
        return "/chat/completions";
    }

    @Override
    public Map<String, String> headers(@Nullable String key) {
        return key == null ? Map.of() : Map.of("Authorization", "Bearer " + key);
    }

    @Override
    public ObjectNode body(Question question, boolean streamed) {
        ObjectNode body = WireJson.MAPPER.createObjectNode().put("model", question.model());
        ArrayNode messages = body.putArray("messages");
        for (ChatMessage message : question.messages()) {
            add(messages.addObject(), message);
        }
        if (question.request().temperature() != null) {
            body.put("temperature", question.request().temperature());
        }
        if (question.maxOutputTokens() != null) {
            // OpenAI's newer models refuse max_tokens, and few other servers know max_completion_tokens
            boolean openAi = question.settings().baseUrl().getHost().endsWith("openai.com");
            body.put(openAi ? "max_completion_tokens" : "max_tokens", question.maxOutputTokens());
        }
        body.put("stream", streamed);
        if (streamed) {
            body.putObject("stream_options").put("include_usage", true);
        }
        WireJson.putFunctions(body, question.request().tools());
        ResponseSchema schema = question.request().responseSchema();
        if (schema != null) {
            ObjectNode format = body.putObject("response_format").put("type", "json_schema");
            ObjectNode named = format.putObject("json_schema").put("name", schema.name());
            named.set("schema", WireJson.tree(schema.schema()));
            // strict mode refuses every schema that leaves members open
            named.put("strict", Boolean.FALSE.equals(schema.schema().get("additionalProperties")));
        }
        return body;
    }

    private static void add(ObjectNode sent, ChatMessage message) {
        switch (message) {
            case SystemMessage(String text) -> sent.put("role", "system").put("content", WireJson.notBlank(text));
            case UserMessage user
            when user.images().isEmpty() -> sent.put("role", "user").put("content", WireJson.notBlank(user.text()));
            case UserMessage user -> {
                ArrayNode content = sent.put("role", "user").putArray("content");
                if (!user.text().isBlank()) {
                    content.addObject().put("type", "text").put("text", user.text());
                }
                for (Image image : user.images()) {
                    content.addObject()
                            .put("type", "image_url")
                            .putObject("image_url")
                            .put("url", "data:" + image.mediaType() + ";base64," + image.base64())
                            .put("detail", "low");
                }
            }
            case AssistantMessage turn -> {
                sent.put("role", "assistant");
                if (WireJson.said(turn) != null) {
                    sent.put("content", WireJson.said(turn));
                }
                for (ToolCallRequest call : turn.toolCalls()) {
                    ObjectNode function = sent.withArray("tool_calls")
                            .addObject()
                            .put("id", call.toolCallId())
                            .put("type", "function")
                            .putObject("function");
                    // what was malformed stays out: servers that render arguments into a prompt choke on it
                    function.put("name", call.toolName())
                            .put("arguments", WireJson.write(WireJson.tree(call.arguments())));
                }
            }
            case ToolMessage result ->
                sent.put("role", "tool")
                        .put("tool_call_id", result.toolCallId())
                        .put("content", WireJson.notBlank(result.content()));
        }
    }

    @Override
    public void read(JsonNode json, ReplyDraft draft) throws ModelCallException {
        draft.model(WireJson.text(json, "model"));
        JsonNode usage = json.path("usage");
        draft.input(
                usage.path("prompt_tokens").asLong(),
                usage.path("prompt_tokens_details").path("cached_tokens").asLong(),
                0);
        draft.output(
                usage.path("completion_tokens").asLong(),
                usage.path("completion_tokens_details").path("reasoning_tokens").asLong());
        JsonNode choice = json.path("choices").path(0);
        boolean whole = !choice.has("delta");
        JsonNode message = choice.path(whole ? "message" : "delta");
        draft.reasoning(WireJson.text(message, "reasoning_content"));
        draft.text(WireJson.text(message, "content"));
        for (JsonNode part : message.path("content")) {
            draft.text(WireJson.text(part, "text")); // some servers have parts here, too
        }
        int next = 0;
        for (JsonNode call : message.path("tool_calls")) {
            JsonNode arguments = call.path("function").path("arguments");
            draft.call(
                    call.path("index").asInt(whole ? next++ : ReplyDraft.NO_INDEX),
                    WireJson.text(call, "id"),
                    WireJson.text(call.path("function"), "name"),
                    arguments.isContainerNode() ? arguments.toString() : arguments.asText(""));
        }
        draft.refusal(WireJson.text(message, "refusal"));
        String finish = WireJson.text(choice, "finish_reason");
        if (!finish.isEmpty()) {
            draft.finished(
                    switch (finish) {
                        case "stop" -> FinishReason.STOP;
                        case "length" -> FinishReason.LENGTH;
                        case "tool_calls", "function_call" -> FinishReason.TOOL_CALLS;
                        case "content_filter" -> draft.filtered(finish);
                        default -> FinishReason.OTHER;
                    });
        }
    }
}
