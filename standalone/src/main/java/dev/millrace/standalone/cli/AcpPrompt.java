package dev.millrace.standalone.cli;

import com.fasterxml.jackson.databind.JsonNode;
import org.jspecify.annotations.Nullable;

/** What an editor's user says, as one text for an agent. */
final class AcpPrompt {

    private AcpPrompt() {}

    /**
     * Links stand where they were put; resources that came with their text stand at the end, each named by its URI.
     *
     * @throws JsonRpcException if there is a block that no agent can be shown, or nothing is said
     */
    static String text(JsonRpcParams params) {
        StringBuilder said = new StringBuilder();
        StringBuilder context = new StringBuilder();
        JsonNode blocks = params.list("prompt");
        String before = "";
        for (int i = 0; i < blocks.size(); i++) {
            String place = "prompt[" + i + "]";
            JsonNode block = blocks.path(i);
            String type = block.path("type").asText();
            switch (type) {
                case "text" -> {
                    // of texts beside each other, each is a thing of its own
                    said.append(before.equals(type) ? "\n" : "").append(text(place, block, "text"));
                }
                case "resource_link" -> link(said, block.path("name").textValue(), text(place, block, "uri"));
                case "resource" -> {
                    JsonNode resource = block.path("resource");
                    String uri = text(place + ".resource", resource, "uri");
                    link(said, null, uri);
                    context.append("\n\n<resource uri=\"")
                            .append(uri)
                            .append("\">\n")
                            .append(text(place + ".resource", resource, "text"))
                            .append("\n</resource>");
                }
                default ->
                    throw JsonRpcParams.expected(
                            place + ".type", "text, resource_link or resource", block.path("type"));
            }
            before = type;
        }
        String text = said.append(context).toString();
        if (text.isBlank()) {
            throw JsonRpcParams.expected(
                    "prompt", "a text that is not blank", params.json().path("prompt"));
        }
        return text;
    }

    private static void link(StringBuilder said, @Nullable String name, String uri) {
        String shown = name == null ? uri.substring(uri.lastIndexOf('/') + 1) : name;
        said.append('[').append(shown).append("](").append(uri).append(')');
    }

    private static String text(String place, JsonNode node, String field) {
        JsonNode value = node.path(field);
        if (!value.isTextual()) {
            throw JsonRpcParams.expected(place + "." + field, "a text", value);
        }
        return value.textValue();
    }
}
