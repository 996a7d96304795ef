package dev.millrace.llm.remote;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.langchain4j.http.client.HttpClientBuilder;
import dev.langchain4j.model.chat.ChatModel;
import dev.langchain4j.model.chat.StreamingChatModel;
import dev.langchain4j.model.openai.OpenAiChatModel;
import dev.langchain4j.model.openai.OpenAiStreamingChatModel;
import dev.millrace.llm.ModelRequest;
import dev.millrace.llm.ResponseSchema;
import org.jspecify.annotations.Nullable;

/** OpenAI's chat completions, and the small ways in which "compatible" servers differ. */
final class OpenAiWire implements Wire {

    @Override
    public ChatModel whole(RemoteSettings settings, HttpClientBuilder http) {
        return OpenAiChatModel.builder()
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
        return OpenAiStreamingChatModel.builder()
                .httpClientBuilder(http)
                .baseUrl(settings.baseUrl().toString())
                .apiKey(key(settings))
                .modelName(settings.model())
                .returnThinking(true)
                .build();
    }

    private static @Nullable String key(RemoteSettings settings) {
        return settings.apiKey() == null ? null : settings.apiKey().value();
    }

    @Override
    public void complete(ObjectNode body, ModelRequest request, RemoteSettings settings) {
        if (!request.tools().isEmpty()) {
            body.set("tools", WireJson.functions(request.tools()));
        }
        ResponseSchema schema = request.responseSchema();
        if (schema != null) {
            ObjectNode format = body.putObject("response_format").put("type", "json_schema");
            ObjectNode named = format.putObject("json_schema").put("name", schema.name());
            named.set("schema", WireJson.tree(schema.schema()));
            // strict mode refuses every schema that leaves members open
            named.put("strict", Boolean.FALSE.equals(schema.schema().get("additionalProperties")));
        }
        // OpenAI's newer models refuse max_tokens, and few other servers know max_completion_tokens
        JsonNode limit = body.get("max_tokens");
        if (limit != null && settings.baseUrl().getHost().endsWith("openai.com")) {
            body.remove("max_tokens");
            body.set("max_completion_tokens", limit);
        }
    }

    @Override
    public boolean read(JsonNode json, Notes notes) {
        notes.model = WireJson.text(json, "model", notes.model);
        JsonNode usage = json.path("usage");
        notes.input(
                usage.path("prompt_tokens").asLong(),
                usage.path("prompt_tokens_details").path("cached_tokens").asLong(),
                0);
        notes.output(
                usage.path("completion_tokens").asLong(),
                usage.path("completion_tokens_details").path("reasoning_tokens").asLong());
        boolean changed = false;
        for (JsonNode choice : json.path("choices")) {
            JsonNode message = choice.has("delta") ? choice.path("delta") : choice.path("message");
            String refusal = message.path("refusal").asText("");
            if (!refusal.isEmpty()) {
                notes.refusal = notes.refusal == null ? refusal : notes.refusal + refusal;
            }
            String finish = choice.path("finish_reason").asText("");
            notes.complete |= !finish.isEmpty();
            if (finish.equals("content_filter")) {
                notes.filtered = finish;
            }
            for (JsonNode call : message.path("tool_calls")) {
                changed |= repair(call, choice.has("delta"));
            }
        }
        return changed;
    }

    /**
     * A call without {@code type} would be dropped in silence, arguments that are an object instead of text would make
     * the whole reply unreadable.
     */
    private static boolean repair(JsonNode node, boolean piece) {
        boolean changed = false;
        if (node instanceof ObjectNode call && !call.path("type").isTextual() && !piece) {
            call.put("type", "function");
            changed = true;
        }
        if (node.path("function") instanceof ObjectNode function
                && function.path("arguments").isContainerNode()) {
            function.put("arguments", function.path("arguments").toString());
            changed = true;
        }
        return changed;
    }
}
