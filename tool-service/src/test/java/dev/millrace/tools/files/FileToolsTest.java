package dev.millrace.tools.files;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.tool.api.ToolException;
import dev.millrace.tools.CallableTool;
import dev.millrace.tools.Calls;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@DisplayName("F-169: the tools on files")
class FileToolsTest {

    @TempDir
    Path root = Path.of("");

    private CallableTool write = Calls.tool(new FileTools(any -> new Workspace(root), 1_000), "write_file");
    private CallableTool edit = Calls.tool(new FileTools(any -> new Workspace(root), 1_000), "edit_file");

    @BeforeEach
    void makeTools() {
        write = Calls.tool(new FileTools(any -> new Workspace(root), 1_000), "write_file");
        edit = Calls.tool(new FileTools(any -> new Workspace(root), 1_000), "edit_file");
    }

    @Test
    void shouldMakeAndReplaceAFile() throws ToolException, InterruptedException {
        // when
        Map<String, Object> made = Calls.result(write, Map.of("path", "a/b/c.txt", "content", "grüß"));
        Map<String, Object> replaced = Calls.result(write, Map.of("path", "a/b/c.txt", "content", ""));
        // then
        assertThat(made).containsEntry("created", true).containsEntry("sizeBytes", 6);
        assertThat(replaced).containsEntry("created", false).containsEntry("sizeBytes", 0);
        assertThat(root.resolve("a/b/c.txt")).isEmptyFile();
    }

    @Test
    void shouldWriteInTheEncodingThatIsAskedFor() throws ToolException, InterruptedException, IOException {
        // when
        Calls.result(write, Map.of("path", "l", "content", "ü", "encoding", "latin1"));
        Calls.result(write, Map.of("path", "b", "content", "AP8=", "encoding", "base64"));
        // then
        assertThat(Files.readAllBytes(root.resolve("l"))).containsExactly(0xfc);
        assertThat(Files.readAllBytes(root.resolve("b"))).containsExactly(0, 0xff);
        assertThat(Calls.refusal(write, Map.of("path", "x", "content", "€", "encoding", "latin1"))
                        .code())
                .isEqualTo("not_text");
        assertThat(Calls.refusal(write, Map.of("path", "x", "content", "?", "encoding", "base64"))
                        .code())
                .isEqualTo("not_base64");
        assertThat(root.resolve("x")).doesNotExist();
    }

    @Test
    void shouldEditOneOccurrenceOrAll() throws ToolException, InterruptedException, IOException {
        // given
        Path file = Files.writeString(root.resolve("f"), "one two two");
        // when
        Map<String, Object> one = Calls.result(edit, Map.of("path", "f", "old_string", "one", "new_string", "three"));
        ToolException twice = Calls.refusal(edit, Map.of("path", "f", "old_string", "two", "new_string", "x"));
        ToolException never = Calls.refusal(edit, Map.of("path", "f", "old_string", "four", "new_string", "x"));
        Map<String, Object> all =
                Calls.result(edit, Map.of("path", "f", "old_string", "two", "new_string", "$1\\", "replace_all", true));
        // then
        assertThat(one).containsEntry("replacements", 1);
        assertThat(all).containsEntry("replacements", 2).containsEntry("sizeBytes", 13);
        assertThat(file).hasContent("three $1\\ $1\\");
        assertThat(never.getMessage()).isEqualTo("String not found in f");
        assertThat(twice.getMessage())
                .startsWith("String appears multiple times in f — provide more context to make it");
    }

    @Test
    void shouldNotEditWhatIsNoText() throws IOException {
        // given
        Files.write(root.resolve("binary"), new byte[] {(byte) 0xff, 'a'});
        // then
        assertThat(Calls.refusal(edit, Map.of("path", "binary", "old_string", "a", "new_string", "b"))
                        .code())
                .isEqualTo("not_text");
    }

    @Test
    void shouldMoveAndDelete() throws ToolException, InterruptedException, IOException {
        // given
        Files.createDirectories(root.resolve("folder"));
        Files.writeString(root.resolve("folder/f"), "x");
        Workspace workspace = new Workspace(root);
        // when
        Calls.result(
                Calls.tool(new FileTools(any -> workspace, 1_000), "move_file"),
                Map.of("from", "folder", "to", "new/place"));
        Calls.result(
                Calls.tool(new FileTools(any -> workspace, 1_000), "move_file"),
                Map.of("from", "new/place/f", "to", "g"));
        // then
        assertThat(root.resolve("g")).hasContent("x");
        assertThat(root.resolve("folder")).doesNotExist();
        Calls.result(Calls.tool(new FileTools(any -> workspace, 1_000), "delete_file"), Map.of("path", "g"));
        assertThat(root.resolve("g")).doesNotExist();
        assertThat(Calls.refusal(Calls.tool(new FileTools(any -> workspace, 1_000), "delete_file"), Map.of("path", "g"))
                        .code())
                .isEqualTo("file_not_found");
        assertThat(Calls.refusal(
                                Calls.tool(new FileTools(any -> workspace, 1_000), "delete_file"),
                                Map.of("path", "new"))
                        .code())
                .isEqualTo("not_a_file");
    }

    @Test
    void shouldTellWhatAPathIs() throws ToolException, InterruptedException, IOException {
        // given
        Files.writeString(root.resolve("f"), "12345");
        CallableTool info = Calls.tool(new FileTools(any -> new Workspace(root), 1_000), "get_file_info");
        // then
        assertThat(Calls.result(info, Map.of("path", "f")))
                .containsEntry("type", "file")
                .containsEntry("sizeBytes", 5L)
                .containsKey("modifiedAt");
        assertThat(Calls.result(info, Map.of("path", "."))).containsEntry("type", "directory");
        assertThat(Calls.refusal(info, Map.of("path", "missing")).code()).isEqualTo("file_not_found");
    }
}
