package dev.millrace.llm.remote;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import dev.millrace.llm.ChatMessage.AssistantMessage;
import dev.millrace.llm.ModelRequest;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * What of a reply the provider wants to see again, as text: with the provider and the model, since the signatures in it are of
 * no use to any other.
 */
final class Continuation {

    private Continuation() {}

    /** Of a reply; null if there is nothing. */
    static @Nullable String write(RemoteSettings settings, ModelRequest request, ArrayNode parts) {
        return parts.isEmpty()
                ? null
                : WireJson.MAPPER
                        .createObjectNode()
                        .put("provider", settings.provider().wireName())
                        .put("model", asked(settings, request))
                        .<com.fasterxml.jackson.databind.node.ObjectNode>set("parts", parts)
                        .toString();
    }

    /** Of a turn, if it came from this model; else empty. */
    static JsonNode read(RemoteSettings settings, ModelRequest request, AssistantMessage turn) {
        if (turn.continuation() == null) {
            return WireJson.MAPPER.createArrayNode();
        }
        try {
            JsonNode json = WireJson.MAPPER.readTree(turn.continuation());
            return json.path("provider").asText().equals(settings.provider().wireName())
                            && json.path("model").asText().equals(asked(settings, request))
                    ? json.path("parts")
                    : WireJson.MAPPER.createArrayNode();
        } catch (JsonProcessingException e) {
            return WireJson.MAPPER.createArrayNode(); // not ours: whoever wrote it, the call can do without
        }
    }

    private static String asked(RemoteSettings settings, ModelRequest request) {
        return Objects.requireNonNullElse(request.model(), settings.model());
    }
}
