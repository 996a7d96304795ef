package dev.millrace.llm.remote;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.millrace.llm.ChatMessage.AssistantMessage;
import dev.millrace.llm.ToolSpec;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** JSON as the providers have in common. */
final class WireJson {

    static final JsonMapper MAPPER = JsonMapper.builder()
            .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
            .enable(DeserializationFeature.USE_BIG_DECIMAL_FOR_FLOATS)
            .build();

    private WireJson() {}

    static JsonNode tree(Map<String, @Nullable Object> values) {
        return MAPPER.valueToTree(values);
    }

    static String write(JsonNode json) {
        try {
            return MAPPER.writeValueAsString(json);
        } catch (JsonProcessingException e) {
            throw new IllegalArgumentException("a request: expected JSON values", e);
        }
    }

    /** Adds tools as OpenAI and Ollama want them. */
    static void putFunctions(ObjectNode body, List<ToolSpec> tools) {
        if (!tools.isEmpty()) {
            ArrayNode functions = body.putArray("tools");
            for (ToolSpec tool : tools) {
                describe(functions.addObject().put("type", "function").putObject("function"), tool, "parameters");
            }
        }
    }

    /** Puts in what a tool is; its schema passes unchanged. */
    static void describe(ObjectNode function, ToolSpec tool, String schema) {
        function.put("name", tool.name()).put("description", tool.description()).set(schema, tree(tool.parameters()));
    }

    /** The content of the last turn if it has this role; else of a new turn. */
    static ArrayNode turn(ArrayNode turns, String role, String content) {
        JsonNode last = turns.path(turns.size() - 1);
        return last.path("role").asText().equals(role) && last.path(content) instanceof ArrayNode parts
                ? parts
                : turns.addObject().put("role", role).putArray(content);
    }

    /** A text that all providers accept: some refuse blank ones. */
    static String notBlank(String text) {
        return text.isBlank() ? "(empty)" : text;
    }

    /** What is sent as the text of a turn; null if it only called tools. */
    static @Nullable String said(AssistantMessage turn) {
        String text = turn.text() == null ? "" : turn.text();
        return text.isBlank() && !turn.toolCalls().isEmpty() ? null : notBlank(text);
    }

    /** The text of a member; empty if there is none. */
    static String text(JsonNode json, String member) {
        return json.path(member).asText("");
    }
}
