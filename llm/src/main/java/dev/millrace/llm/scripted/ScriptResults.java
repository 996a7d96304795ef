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
    static JsonNode find(Turn turn, List<String> path) {
        for (ToolMessage result : turn.results().reversed()) {
            if (path.isEmpty()) {
                return TextNode.valueOf(result.content());
            }
            if (result.toolName().equals(path.getFirst())) {
                return path.size() == 1 || result.isError()
                        ? TextNode.valueOf(result.content())
                        : into(result.content(), path.subList(1, path.size()));
            }
        }
        return MissingNode.getInstance();
    }

    private static JsonNode into(String content, List<String> path) {
        try {
            return walk(JSON.readTree(content), path);
        } catch (JsonProcessingException e) {
            return TextNode.valueOf(content);
        }
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
}
