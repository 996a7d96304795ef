package dev.millrace.tools;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.millrace.schemas.ToolDefinition;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class DefinitionFilesTest {

    @TempDir
    Path folder;

    @Test
    void shouldReadFilesAndFolders() throws IOException {
        // given
        Path one = write("one.json", "{\"name\":\"one\",\"description\":\"d\",\"toolset\":\"words\"}");
        Path more = Files.createDirectory(folder.resolve("more"));
        Files.writeString(
                more.resolve("b.json"),
                "[{\"name\":\"two\",\"description\":\"d\",\"toolset\":\"words\"},"
                        + "{\"name\":\"three\",\"description\":\"d\",\"toolset\":\"geo\",\"approval\":\"always\"}]");
        Files.writeString(more.resolve("readme.md"), "no definition");
        // when, then
        assertThat(DefinitionFiles.read(List.of(one, more)))
                .extracting(ToolDefinition::name)
                .containsExactly("one", "two", "three");
        assertThat(DefinitionFiles.read(List.of())).isEmpty();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "{ | bad.json: Unexpected end-of-input",
                "{'name':'x'} | bad.json: expected a tool definition: description",
                "{'name':'x','description':'d','toolset':'tool'} | x has the toolset \"tool\"",
                "[{'name':'x','description':'d','toolset':'a'},{'name':'x','description':'d','toolset':'a'}] | tool"
                        + " \"x\" is defined twice"
            })
    void shouldNameTheFileThatIsNoGood(String text, String why) throws IOException {
        // given
        Path bad = write("bad.json", text.replace('\'', '"'));
        // when, then
        assertThatThrownBy(() -> DefinitionFiles.read(List.of(bad)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageStartingWith("millrace.tools.definitions: ")
                .hasMessageContaining(why);
    }

    private Path write(String name, String text) throws IOException {
        return Files.writeString(folder.resolve(name), text);
    }
}
