package dev.millrace.tools.mcp;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.stream.Stream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

class McpNamesTest {

    @Test
    @DisplayName("F-170: <server>__<tool>, as it is where it fits")
    void shouldJoinServerAndTool() {
        assertThat(McpNames.of("everything", "get-sum")).isEqualTo("everything__get-sum");
        assertThat(McpNames.of("s", "t".repeat(61))).hasSize(64).endsWith("ttt");
    }

    @Test
    void shouldCutWhatIsTooLongAndKeepItApart() {
        // when
        String first = McpNames.of("server", "t".repeat(80) + "1");
        String second = McpNames.of("server", "t".repeat(80) + "2");
        // then
        assertThat(first).hasSize(64).startsWith("server__ttt").isNotEqualTo(second);
        assertThat(McpNames.of("server", "t".repeat(80) + "1")).isEqualTo(first);
    }

    @Test
    void shouldReplaceWhatModelsDoNotTakeAndKeepItApart() {
        // when, then
        assertThat(Stream.of(
                                McpNames.of("my server", "read.file"),
                                McpNames.of("my_server", "read.file"),
                                McpNames.of("my_server", "read file"))
                        .distinct())
                .hasSize(3)
                .allMatch(name -> name.matches("my_server__read_file_[0-9a-f]{8}"));
        assertThat(McpNames.of("größe", "日本")).matches("gr__e_____[0-9a-f]{8}");
    }

    @Test
    void shouldKnowWhoseToolANameMayBe() {
        for (String server : new String[] {"everything", "my server", "x".repeat(90)}) {
            assertThat(McpNames.mayBeOf(server, McpNames.of(server, "tool"))).isTrue();
            assertThat(McpNames.mayBeOf(server, "read_file")).isFalse();
        }
    }
}
