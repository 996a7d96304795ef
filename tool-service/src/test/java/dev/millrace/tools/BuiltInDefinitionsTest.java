package dev.millrace.tools;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializationFeature;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.millrace.schemas.ToolDefinition;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Objects;
import java.util.TreeMap;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

/**
 * Holds what models are told about the built-in tools to {@code built-in-tools.json}: an agent relies on it, so a change is to
 * be seen. {@code -Dmillrace.docs.write=true} rewrites the file.
 */
class BuiltInDefinitionsTest {

    private static final ObjectMapper MAPPER =
            JsonMapper.builder().enable(SerializationFeature.INDENT_OUTPUT).build();

    @Test
    void shouldPublishWhatIsRecorded() throws IOException {
        // given
        ArrayNode definitions = MAPPER.createArrayNode();
        for (ToolDefinition definition : BuiltInTools.definitions()) {
            definitions.add(inOrder(MAPPER.readTree(definition.toJson())));
        }
        Path recorded = Path.of("src/test/resources/built-in-tools.json");
        // when
        if (Boolean.getBoolean("millrace.docs.write")) {
            Files.writeString(recorded, MAPPER.writeValueAsString(definitions) + "\n");
        }
        // then
        assertThat(MAPPER.writeValueAsString(definitions))
                .isEqualTo(Files.readString(recorded).stripTrailing());
    }

    /** Keys in order, and the required ones: neither means anything. */
    private static JsonNode inOrder(JsonNode node) {
        if (node instanceof ArrayNode array) {
            ArrayNode sorted = MAPPER.createArrayNode();
            array.forEach(each -> sorted.add(inOrder(each)));
            return sorted;
        }
        if (!(node instanceof ObjectNode object)) {
            return node;
        }
        TreeMap<String, JsonNode> fields = new TreeMap<>();
        object.properties().forEach(field -> fields.put(field.getKey(), inOrder(field.getValue())));
        if (fields.get("required") instanceof ArrayNode required) {
            TreeSet<String> names = new TreeSet<>();
            required.forEach(name -> names.add(Objects.requireNonNull(name.asText())));
            fields.put("required", MAPPER.valueToTree(names));
        }
        return MAPPER.createObjectNode().setAll(fields);
    }
}
