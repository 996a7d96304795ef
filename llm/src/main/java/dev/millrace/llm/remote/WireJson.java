package dev.millrace.llm.remote;

import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
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

    /** Tools as OpenAI and Ollama want them. */
    static ArrayNode functions(List<ToolSpec> tools) {
        ArrayNode functions = MAPPER.createArrayNode();
        for (ToolSpec tool : tools) {
            ObjectNode function = functions
                    .addObject()
                    .put("type", "function")
                    .putObject("function")
                    .put("name", tool.name())
                    .put("description", tool.description());
            function.set("parameters", tree(tool.parameters()));
        }
        return functions;
    }

    /** The text of a member, or what stands in for it if there is none or an empty one. */
    static @Nullable String text(JsonNode json, String member, @Nullable String otherwise) {
        String text = json.path(member).asText("");
        return text.isEmpty() ? otherwise : text;
    }

    /** The object there, made if it is absent. */
    static ObjectNode object(ObjectNode parent, String member) {
        return parent.get(member) instanceof ObjectNode there ? there : parent.putObject(member);
    }
}
