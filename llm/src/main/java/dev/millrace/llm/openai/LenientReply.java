package dev.millrace.llm.openai;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.nio.charset.StandardCharsets;

/**
 * Puts right what some "compatible" servers get slightly wrong about tool calls, before LangChain4j reads the reply: a
 * call without {@code type} would be dropped in silence, arguments that are an object instead of text would make the
 * whole reply unreadable.
 */
final class LenientReply {

    private static final JsonMapper JSON = new JsonMapper();

    private LenientReply() {}

    /** The body, rewritten only where a tool call needs it; as it came if it is no JSON. */
    static byte[] of(byte[] body) {
        if (!new String(body, StandardCharsets.UTF_8).contains("\"tool_calls\"")) {
            return body;
        }
        try {
            JsonNode reply = JSON.readTree(body);
            boolean changed = false;
            for (JsonNode choice : reply.path("choices")) {
                for (JsonNode call : choice.path("message").path("tool_calls")) {
                    changed |= repair(call);
                }
            }
            return changed ? JSON.writeValueAsBytes(reply) : body;
        } catch (IOException e) {
            return body; // whoever reads it next complains about it
        }
    }

    private static boolean repair(JsonNode node) {
        boolean changed = false;
        if (node instanceof ObjectNode call && !call.path("type").isTextual()) {
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
