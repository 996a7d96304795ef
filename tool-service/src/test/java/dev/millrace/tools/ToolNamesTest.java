package dev.millrace.tools;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.stream.Stream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

class ToolNamesTest {

    @Test
    @DisplayName("F-170: <server>__<tool>, as it is where it fits")
    void shouldJoinServerAndTool() {
        assertThat(ToolNames.of("everything", "get-sum")).isEqualTo("everything__get-sum");
        assertThat(ToolNames.of("s", "t".repeat(61))).hasSize(64).endsWith("ttt");
    }

    @Test
    void shouldCutWhatIsTooLongAndKeepItApart() {
        // when
        String first = ToolNames.of("server", "t".repeat(80) + "1");
        String second = ToolNames.of("server", "t".repeat(80) + "2");
        // then
        assertThat(first).hasSize(64).startsWith("server__ttt").isNotEqualTo(second);
        assertThat(ToolNames.of("server", "t".repeat(80) + "1")).isEqualTo(first);
    }

    @Test
    void shouldReplaceWhatModelsDoNotTakeAndKeepItApart() {
        // when, then
        assertThat(Stream.of(
                                ToolNames.of("my server", "read.file"),
                                ToolNames.of("my_server", "read.file"),
                                ToolNames.of("my_server", "read file"))
                        .distinct())
                .hasSize(3)
                .allMatch(name -> name.matches("my_server__read_file_[0-9a-f]{8}"));
        assertThat(ToolNames.of("größe", "日本")).matches("gr__e_____[0-9a-f]{8}");
    }

    @Test
    void shouldKnowWhoseToolANameMayBe() {
        for (String server : new String[] {"everything", "my server", "x".repeat(90)}) {
            assertThat(ToolNames.mayBeOf(server, ToolNames.of(server, "tool"))).isTrue();
            assertThat(ToolNames.mayBeOf(server, "read_file")).isFalse();
        }
    }
}
