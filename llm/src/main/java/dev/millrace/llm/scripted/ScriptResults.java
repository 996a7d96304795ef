package dev.millrace.llm.scripted;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.MissingNode;
import com.fasterxml.jackson.databind.node.TextNode;
import dev.millrace.llm.ChatMessage.ToolMessage;
import java.util.List;
import java.util.stream.Collectors;

/** Paths into tool results. */
final class ScriptResults {

    private static final JsonMapper JSON = JsonMapper.builder()
            .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
            .build();

    private ScriptResults() {}

    /**
     * What a path leads to.
     *
     * @param failed whether it is the result of a call that failed
     */
    record Found(JsonNode node, boolean failed) {}

    /** Every result on its own line, {@code <tool>: <content>}. */
    static String all(Turn turn) {
        return turn.results().stream()
                .map(r -> r.toolName() + ": " + r.content())
                .collect(Collectors.joining("\n"));
    }

    /**
     * What the path leads to: nothing = the latest result; a tool's name = its latest result; then keys, indexes and
     * {@code *} for every element. A path into an error, or into a result that is no JSON, leads to its whole text.
     */
    static Found find(Turn turn, List<String> path) {
        for (ToolMessage result : turn.results().reversed()) {
            if (path.isEmpty() || result.toolName().equals(path.getFirst())) {
                boolean whole = path.size() < 2 || result.isError();
                return new Found(
                        whole
                                ? TextNode.valueOf(result.content())
                                : into(result.content(), path.subList(1, path.size())),
                        result.isError());
            }
        }
        return new Found(MissingNode.getInstance(), false);
    }

    private static JsonNode into(String content, List<String> path) {
        JsonNode tree = tree(content);
        return tree.isMissingNode() ? TextNode.valueOf(content) : walk(tree, path);
    }

    private static JsonNode walk(JsonNode node, List<String> path) {
        if (path.isEmpty()) {
            return node;
        }
        List<String> rest = path.subList(1, path.size());
        String step = path.getFirst();
        if (step.equals("*")) {
            ArrayNode all = JsonNodeFactory.instance.arrayNode();
            for (JsonNode element : node) {
                JsonNode found = walk(element, rest);
                if (!found.isMissingNode()) {
                    all.add(found);
                }
            }
            return all;
        }
        if (node.isArray()) {
            return step.matches("[0-9]{1,6}")
                    ? walk(node.path(Integer.parseInt(step)), rest)
                    : MissingNode.getInstance();
        }
        return walk(node.path(step), rest);
    }

    /** Texts as they are, lists of simple values with commas, everything else as JSON. */
    static String asText(JsonNode node) {
        if (node.isArray()) {
            boolean simple = true;
            for (JsonNode element : node) {
                simple &= element.isValueNode();
            }
            if (simple) {
                return node.valueStream().map(JsonNode::asText).collect(Collectors.joining(", "));
            }
        }
        return node.isValueNode() ? node.asText() : node.toString();
    }

    /** {@link #asText} as it stands within the quotes of a JSON text. */
    static String escaped(JsonNode node) {
        String quoted = TextNode.valueOf(asText(node)).toString();
        return quoted.substring(1, quoted.length() - 1);
    }

    /** A JSON value: a text that is JSON as it is, everything else as a value of its own type. */
    static String asJson(JsonNode node) {
        return node.isTextual() && !tree(node.asText()).isMissingNode() ? node.asText() : node.toString();
    }

    static boolean isJsonObject(String text) {
        return tree(text).isObject();
    }

    /** Missing if the text is no JSON. */
    private static JsonNode tree(String text) {
        try {
            return JSON.readTree(text);
        } catch (JsonProcessingException e) {
            return MissingNode.getInstance();
        }
    }
}
