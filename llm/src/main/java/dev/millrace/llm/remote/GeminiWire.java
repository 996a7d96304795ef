package dev.millrace.llm.remote;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.MissingNode;
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
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.Iterator;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Google's Gemini. */
final class GeminiWire implements Wire {

    /**
     * Gemini 3 wants the signature back of the thinking that led to tool calls. This is Google's own word for "there is
     * none, go on without", for calls that another model made.
     */
    private static final String NO_SIGNATURE = "skip_thought_signature_validator";

    @Override
    public String path(String model, boolean streamed) {
        String name = URLEncoder.encode(model, StandardCharsets.UTF_8).replace("%2F", "/");
        return "/models/" + name + (streamed ? ":streamGenerateContent?alt=sse" : ":generateContent");
    }

    @Override
    public Map<String, String> headers(@Nullable String key) {
        return key == null ? Map.of() : Map.of("x-goog-api-key", key);
    }

    @Override
    public ObjectNode body(Question question, boolean streamed) {
        ModelRequest request = question.request();
        boolean third = question.model().startsWith("gemini-3");
        ObjectNode body = WireJson.MAPPER.createObjectNode();
        ArrayNode contents = body.putArray("contents");
        for (ChatMessage message : question.messages()) {
            switch (message) {
                case SystemMessage(String text) ->
                    body.putObject("systemInstruction")
                            .putArray("parts")
                            .addObject()
                            .put("text", WireJson.notBlank(text));
                case UserMessage user -> ask(WireJson.turn(contents, "user", "parts"), user);
                case AssistantMessage turn ->
                    repeat(
                            WireJson.turn(contents, "model", "parts"),
                            turn,
                            question.continued(turn).iterator(),
                            third);
                // as many results in one turn as there were calls
                case ToolMessage result ->
                    WireJson.turn(contents, "user", "parts")
                            .addObject()
                            .putObject("functionResponse")
                            .put("id", result.toolCallId())
                            .put("name", result.toolName())
                            .putObject("response")
                            .put("response", WireJson.notBlank(result.content()));
            }
        }
        if (!request.tools().isEmpty()) {
            ArrayNode functions = body.putArray("tools").addObject().putArray("functionDeclarations");
            for (ToolSpec tool : request.tools()) {
                WireJson.describe(functions.addObject(), tool, "parametersJsonSchema");
            }
        }
        ObjectNode generation = body.putObject("generationConfig");
        if (request.temperature() != null) {
            generation.put("temperature", request.temperature());
        }
        if (question.maxOutputTokens() != null) {
            generation.put("maxOutputTokens", question.maxOutputTokens());
        }
        // before Gemini 3 a request with both is refused
        if (request.responseSchema() != null && (request.tools().isEmpty() || third)) {
            generation
                    .put("responseMimeType", "application/json")
                    .set(
                            "responseJsonSchema",
                            WireJson.tree(request.responseSchema().schema()));
        }
        if (question.settings().thinkingTokens() != null) {
            generation
                    .putObject("thinkingConfig")
                    .put("includeThoughts", true)
                    .put("thinkingBudget", question.settings().thinkingTokens());
        }
        return body;
    }

    private static void ask(ArrayNode parts, UserMessage user) {
        if (!user.text().isBlank() || user.images().isEmpty()) {
            parts.addObject().put("text", WireJson.notBlank(user.text()));
        }
        for (Image image : user.images()) {
            parts.addObject()
                    .putObject("inlineData")
                    .put("mimeType", image.mediaType())
                    .put("data", image.base64());
        }
    }

    /**
     * Each signature stands where it came: with its tool call. The first call of a turn is the one that must have one.
     */
    private static void repeat(
            ArrayNode parts, AssistantMessage turn, Iterator<JsonNode> signatures, boolean mustBeSigned) {
        if (WireJson.said(turn) != null) {
            parts.addObject().put("text", WireJson.said(turn));
        }
        boolean first = true;
        for (ToolCallRequest call : turn.toolCalls()) {
            ObjectNode part = parts.addObject();
            part.putObject("functionCall")
                    .put("id", call.toolCallId())
                    .put("name", call.toolName())
                    .set("args", WireJson.tree(call.arguments()));
            JsonNode signature = signatures.hasNext() ? signatures.next() : MissingNode.getInstance();
            if (signature.isTextual()) {
                part.set("thoughtSignature", signature);
            } else if (first && mustBeSigned) {
                part.put("thoughtSignature", NO_SIGNATURE);
            }
            first = false;
        }
    }

    @Override
    public void read(JsonNode json, ReplyDraft draft) throws ModelCallException {
        draft.model(WireJson.text(json, "modelVersion"));
        JsonNode usage = json.path("usageMetadata");
        long thoughts = usage.path("thoughtsTokenCount").asLong();
        draft.input(
                usage.path("promptTokenCount").asLong(),
                usage.path("cachedContentTokenCount").asLong(),
                0);
        draft.output(usage.path("candidatesTokenCount").asLong() + thoughts, thoughts);
        String blocked = WireJson.text(json.path("promptFeedback"), "blockReason");
        if (!blocked.isEmpty()) {
            draft.finished(draft.filtered(blocked));
        }
        JsonNode candidate = json.path("candidates").path(0);
        for (JsonNode part : candidate.path("content").path("parts")) {
            if (part.path("thought").asBoolean()) {
                draft.reasoning(WireJson.text(part, "text"));
            } else {
                draft.text(WireJson.text(part, "text"));
            }
            JsonNode call = part.path("functionCall");
            if (call.isObject()) {
                draft.wholeCall(WireJson.text(call, "id"), WireJson.text(call, "name"), call.path("args"));
                draft.signature(part.path("thoughtSignature"));
            }
        }
        String finish = WireJson.text(candidate, "finishReason");
        if (!finish.isEmpty()) {
            draft.finished(
                    switch (finish) {
                        case "STOP" -> FinishReason.STOP;
                        case "MAX_TOKENS" -> FinishReason.LENGTH;
                        case "SAFETY",
                                "RECITATION",
                                "LANGUAGE",
                                "BLOCKLIST",
                                "PROHIBITED_CONTENT",
                                "SPII",
                                "IMAGE_SAFETY" -> draft.filtered(finish);
                        default -> FinishReason.OTHER;
                    });
        }
    }
}
