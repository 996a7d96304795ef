package dev.millrace.llm.remote;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.langchain4j.http.client.HttpClientBuilder;
import dev.langchain4j.model.chat.ChatModel;
import dev.langchain4j.model.chat.StreamingChatModel;
import dev.langchain4j.model.googleai.GoogleAiGeminiChatModel;
import dev.langchain4j.model.googleai.GoogleAiGeminiStreamingChatModel;
import dev.millrace.llm.ChatMessage.AssistantMessage;
import dev.millrace.llm.ModelRequest;
import dev.millrace.llm.ToolSpec;
import java.util.Iterator;
import java.util.Objects;
import java.util.Set;

/** Google's Gemini. */
final class GeminiWire implements Wire {

    /** LangChain4j wants one; a gateway in front of Google may not. */
    private static final String NO_KEY = "none";

    private static final Set<String> FILTERS =
            Set.of("SAFETY", "RECITATION", "LANGUAGE", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "IMAGE_SAFETY");

    /**
     * Gemini 3 wants the signature back of the thinking that led to tool calls. This is Google's own word for "there is none,
     * go on without", for calls that another model made.
     */
    private static final String NO_SIGNATURE = "skip_thought_signature_validator";

    @Override
    public ChatModel whole(RemoteSettings settings, HttpClientBuilder http) {
        return GoogleAiGeminiChatModel.builder()
                .httpClientBuilder(http)
                .baseUrl(settings.baseUrl().toString())
                .apiKey(key(settings))
                .modelName(settings.model())
                .maxRetries(0)
                .returnThinking(true)
                .build();
    }

    @Override
    public StreamingChatModel streaming(RemoteSettings settings, HttpClientBuilder http) {
        return GoogleAiGeminiStreamingChatModel.builder()
                .httpClientBuilder(http)
                .baseUrl(settings.baseUrl().toString())
                .apiKey(key(settings))
                .modelName(settings.model())
                .returnThinking(true)
                .build();
    }

    private static String key(RemoteSettings settings) {
        return settings.apiKey() == null ? NO_KEY : settings.apiKey().value();
    }

    @Override
    public void complete(ObjectNode body, ModelRequest request, RemoteSettings settings) {
        joinTurns(body);
        if (!request.tools().isEmpty()) {
            ArrayNode functions = body.putArray("tools").addObject().putArray("functionDeclarations");
            for (ToolSpec tool : request.tools()) {
                functions
                        .addObject()
                        .put("name", tool.name())
                        .put("description", tool.description())
                        .set("parametersJsonSchema", WireJson.tree(tool.parameters()));
            }
        }
        // before Gemini 3 a request with both is refused
        boolean both = !request.tools().isEmpty()
                && !Objects.requireNonNullElse(request.model(), settings.model())
                        .startsWith("gemini-3");
        if (request.responseSchema() != null && !both) {
            WireJson.object(body, "generationConfig")
                    .put("responseMimeType", "application/json")
                    .set(
                            "responseJsonSchema",
                            WireJson.tree(request.responseSchema().schema()));
        }
        if (settings.thinkingTokens() != null) {
            WireJson.object(body, "generationConfig")
                    .putObject("thinkingConfig")
                    .put("includeThoughts", true)
                    .put("thinkingBudget", settings.thinkingTokens());
        }
        repeatSignatures(body.path("contents"), request, settings);
        if (Objects.requireNonNullElse(request.model(), settings.model()).startsWith("gemini-3")) {
            for (JsonNode content : body.path("contents")) {
                sign(content.path("parts"));
            }
        }
    }

    /** Each signature stands where it came: with its tool call. */
    private static void repeatSignatures(JsonNode contents, ModelRequest request, RemoteSettings settings) {
        Iterator<AssistantMessage> turns = request.messages().stream()
                .filter(AssistantMessage.class::isInstance)
                .map(AssistantMessage.class::cast)
                .iterator();
        for (JsonNode content : contents) {
            if (content.path("role").asText().equals("model") && turns.hasNext()) {
                Iterator<JsonNode> signatures =
                        Continuation.read(settings, request, turns.next()).iterator();
                for (JsonNode part : content.path("parts")) {
                    if (part instanceof ObjectNode call && call.has("functionCall") && signatures.hasNext()) {
                        JsonNode signature = signatures.next();
                        if (signature.isTextual()) {
                            call.set("thoughtSignature", signature);
                        }
                    }
                }
            }
        }
    }

    /** LangChain4j gives each tool result a turn of its own; Gemini wants as many in one turn as there were calls. */
    private static void joinTurns(ObjectNode body) {
        ArrayNode joined = WireJson.MAPPER.createArrayNode();
        for (JsonNode content : body.path("contents")) {
            JsonNode last = joined.path(joined.size() - 1);
            if (last.path("role").equals(content.path("role"))
                    && last.path("parts") instanceof ArrayNode parts
                    && content.path("parts") instanceof ArrayNode more) {
                parts.addAll(more);
            } else {
                joined.add(content);
            }
        }
        body.set("contents", joined);
    }

    /** The first call of a turn is the one that carries the signature. */
    private static void sign(JsonNode parts) {
        for (JsonNode part : parts) {
            if (part instanceof ObjectNode call && call.has("functionCall")) {
                if (!call.hasNonNull("thoughtSignature")) {
                    call.put("thoughtSignature", NO_SIGNATURE);
                }
                return;
            }
        }
    }

    @Override
    public boolean read(JsonNode json, Notes notes) {
        notes.model = WireJson.text(json, "modelVersion", notes.model);
        JsonNode usage = json.path("usageMetadata");
        long thoughts = usage.path("thoughtsTokenCount").asLong();
        notes.input(
                usage.path("promptTokenCount").asLong(),
                usage.path("cachedContentTokenCount").asLong(),
                0);
        notes.output(usage.path("candidatesTokenCount").asLong() + thoughts, thoughts);
        String blocked = json.path("promptFeedback").path("blockReason").asText("");
        if (!blocked.isEmpty()) {
            notes.filtered = blocked;
            notes.complete = true;
        }
        for (JsonNode candidate : json.path("candidates")) {
            for (JsonNode part : candidate.path("content").path("parts")) {
                if (part.has("functionCall")) {
                    notes.signature(part.path("thoughtSignature"));
                }
            }
            String finish = candidate.path("finishReason").asText("");
            notes.complete |= !finish.isEmpty();
            if (FILTERS.contains(finish)) {
                notes.filtered = finish;
            }
        }
        return false;
    }
}
