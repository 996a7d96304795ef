package dev.millrace.llm.remote;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import dev.millrace.llm.ChatMessage;
import dev.millrace.llm.ChatMessage.AssistantMessage;
import dev.millrace.llm.ModelRequest;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** A request together with the settings of the model that gets it. */
record Question(ModelRequest request, RemoteSettings settings) {

    List<ChatMessage> messages() {
        return request.messages();
    }

    /** The model's name at the provider. */
    String model() {
        return Objects.requireNonNullElse(request.model(), settings.model());
    }

    /** Tokens of the reply; null = the provider's own limit. */
    @Nullable
    Integer maxOutputTokens() {
        return request.maxOutputTokens() == null ? settings.maxOutputTokens() : request.maxOutputTokens();
    }

    /**
     * What the provider wants to see again with a turn, if the turn came from this model; else empty, since the
     * signatures in it are of no use to any other.
     */
    JsonNode continued(AssistantMessage turn) {
        if (turn.continuation() != null) {
            try {
                JsonNode json = WireJson.MAPPER.readTree(turn.continuation());
                if (json.path("provider").asText().equals(settings.provider().wireName())
                        && json.path("model").asText().equals(model())) {
                    return json.path("parts");
                }
            } catch (JsonProcessingException e) {
                // not ours: whoever wrote it, the call can do without
            }
        }
        return JsonNodeFactory.instance.arrayNode();
    }

    /** What {@link #continued} reads; null if there are no parts. */
    @Nullable
    String continuation(ArrayNode parts) {
        return parts.isEmpty()
                ? null
                : JsonNodeFactory.instance
                        .objectNode()
                        .put("provider", settings.provider().wireName())
                        .put("model", model())
                        .<JsonNode>set("parts", parts)
                        .toString();
    }
}
