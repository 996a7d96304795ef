package dev.millrace.schemas;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.millrace.schemas.ToolDefinition.SideEffects;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ToolDefinitionTest {

    @Test
    void shouldEqualItselfReadBack() throws MalformedEventException {
        // given
        ToolDefinition definition = new ToolDefinition(
                "read_file",
                "Reads a file.",
                Map.of(
                        "type",
                        "object",
                        "required",
                        List.of("path"),
                        "properties",
                        Map.of("max", Map.of("minimum", 1L))),
                "tool",
                5_000,
                SideEffects.READ_ONLY);

        // then
        assertThat(ToolDefinition.fromJson(definition.toJson())).isEqualTo(definition);
        assertThat(ToolDefinition.key("read_file")).isEqualTo("tool/read_file");
    }

    @Test
    void shouldAssumeTheWorstOfAToolThatSaysLittle() throws MalformedEventException {
        // when
        ToolDefinition definition = read("{\"name\": \"a\", \"description\": \"b\", \"toolset\": \"c\", \"later\": 1}");

        // then
        assertThat(definition)
                .isEqualTo(
                        new ToolDefinition("a", "b", Map.of("type", "object"), "c", 30_000, SideEffects.DESTRUCTIVE));
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '`', textBlock = """
            null                                                            | found null
            []                                                              | expected a tool definition
            {"name": "a"                                                    | expected a tool definition
            {"name": "a", "toolset": "c"}                                   | description: expected a text, found none
            {"name": "a b", "description": "b", "toolset": "c"}             | tool name: expected 1 to 64 letters
            {"name": "a", "description": "b", "toolset": "c/d"}             | toolset of a: expected 1 to 64 letters
            {"name": "a", "description": "b", "toolset": "c", "timeoutMs": 0} | timeoutMs of a: expected 1 or more, found 0
            {"name": "a", "description": "b", "toolset": "c", "sideEffects": "NONE"} | not one of the values accepted
            """)
    void shouldSayWhatIsWrong(String json, String reason) {
        assertThatThrownBy(() -> read(json))
                .isInstanceOfSatisfying(
                        MalformedEventException.class, e -> assertThat(e.code()).isEqualTo("bad_definition"))
                .hasMessageContaining(reason);
    }

    private static ToolDefinition read(String json) throws MalformedEventException {
        return ToolDefinition.fromJson(json.getBytes(StandardCharsets.UTF_8));
    }
}
