package dev.millrace.agent.thinker;

import dev.millrace.llm.ChatMessage;
import dev.millrace.llm.ModelReply;
import dev.millrace.llm.ModelRequest;
import dev.millrace.schemas.JsonObject;
import dev.millrace.schemas.JsonShape;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Holds a model to the form that its agent's answers have. Not every provider keeps to a schema, and none does where
 * tools are offered too and it cannot do both; so each answer is checked, and one that does not fit is asked for once
 * more.
 */
final class OutputCheck {

    private static final String FENCE = "```";
    private static final String LANGUAGE = "json";

    private final JsonShape shape;

    /** Of answers that fit this schema. */
    OutputCheck(JsonObject schema) {
        this.shape = JsonShape.of(schema);
    }

    /** What stands in the system prompt, since not every provider tells the model. */
    static String instructions(String schema) {
        return "\n\nYour final answer is a JSON object that fits this JSON Schema, and nothing else:\n" + schema;
    }

    /** What does not fit; empty if all does, or if the reply is no final answer. */
    List<String> problems(ModelReply reply) {
        return reply.toolCalls().isEmpty() ? shape.problems(json(reply.text())) : List.of();
    }

    /** The reply with nothing around the JSON. */
    static ModelReply bare(ModelReply reply) {
        return reply.toolCalls().isEmpty() ? reply.saying(json(reply.text())) : reply;
    }

    /** Models like to put JSON between fences. By hand: a regular expression may take for ever over many blanks. */
    private static String json(@Nullable String text) {
        String stripped = text == null ? "" : text.strip();
        if (stripped.length() < 2 * FENCE.length() || !stripped.startsWith(FENCE) || !stripped.endsWith(FENCE)) {
            return stripped;
        }
        // by hand: a pattern goes through a long run of blanks again from each of them
        String inner = stripped.substring(FENCE.length(), stripped.length() - FENCE.length());
        return (inner.startsWith(LANGUAGE) ? inner.substring(LANGUAGE.length()) : inner).strip();
    }

    /** The request once more, with the answer that did not fit and what is wrong with it. */
    static ModelRequest again(ModelRequest request, ModelReply reply, List<String> problems) {
        List<ChatMessage> messages = new ArrayList<>(request.messages());
        messages.add(new ChatMessage.AssistantMessage(reply.text() == null ? "" : reply.text(), List.of()));
        messages.add(new ChatMessage.UserMessage("Your answer does not have the required form:\n- "
                + String.join("\n- ", problems)
                + "\nAnswer again, with nothing but a JSON object that fits the schema."));
        return request.with(messages);
    }
}
