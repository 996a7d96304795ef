package dev.millrace.tools.files;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.millrace.schemas.JsonObject;
import dev.millrace.tool.api.ToolContext;
import dev.millrace.tool.api.ToolException;
import dev.millrace.tools.CallContext;
import dev.millrace.tools.CallableTool;
import dev.millrace.tools.Calls;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@DisplayName("workspace-per-namespace: tasks of a namespace see files of their own and no others")
class NamespaceWorkspacesTest {

    private static final ToolContext ACME = new CallContext("task-1", null, "acme", "call-1");
    private static final ToolContext OTHER = new CallContext("task-2", null, "other", "call-2");

    @TempDir
    Path root = Path.of("");

    private FileTools files = new FileTools(Workspace.ofNamespaces(root), 1_000);
    private SearchTools search = new SearchTools(Workspace.ofNamespaces(root));

    @BeforeEach
    void write() throws ToolException, InterruptedException {
        files = new FileTools(Workspace.ofNamespaces(root), 1_000);
        search = new SearchTools(Workspace.ofNamespaces(root));
        tool("write_file").call(JsonObject.of(Map.of("path", "notes.txt", "content", "the secret of acme")), ACME);
    }

    @Test
    @DisplayName("what one writes it reads, finds and lists, in the folder that is called like it")
    void shouldSeeItsOwn() throws ToolException, InterruptedException {
        assertThat(said("read_file", Map.of("path", "notes.txt"), ACME)).contains("the secret");
        assertThat(said("grep_files", Map.of("pattern", "secret"), ACME)).contains("notes.txt");
        assertThat(said("list_files", Map.of(), ACME)).contains("notes.txt");
        assertThat(root.resolve("acme/notes.txt")).hasContent("the secret of acme");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "notes.txt",
                "../acme/notes.txt",
                "acme/notes.txt",
                "../other/../acme/notes.txt",
                "link/notes.txt"
            })
    @DisplayName("nobody else reads, changes, moves or deletes it, by whatever path or link")
    void shouldNotSeeOthers(String path) throws IOException {
        Files.createDirectories(root.resolve("other"));
        Files.createSymbolicLink(root.resolve("other/link"), root.resolve("acme"));

        assertRefused("read_file", Map.of("path", path));
        assertRefused("get_file_info", Map.of("path", path));
        assertRefused("edit_file", Map.of("path", path, "old_string", "the", "new_string", "a"));
        assertRefused("delete_file", Map.of("path", path));
        assertRefused("move_file", Map.of("from", path, "to", "mine.txt"));
        assertThat(root.resolve("acme/notes.txt")).hasContent("the secret of acme");
    }

    @Test
    @DisplayName("nobody else finds or lists it")
    void shouldNotFindOthers() throws ToolException, InterruptedException {
        assertThat(said("grep_files", Map.of("pattern", "secret"), OTHER)).doesNotContain("notes.txt");
        assertThat(said("list_files", Map.of("recursive", true), OTHER)).doesNotContain("notes.txt");
    }

    private String said(String tool, Map<String, @Nullable Object> params, ToolContext context)
            throws ToolException, InterruptedException {
        return String.valueOf(tool(tool).call(JsonObject.of(params), context));
    }

    private void assertRefused(String tool, Map<String, @Nullable Object> params) {
        assertThatThrownBy(() -> tool(tool).call(JsonObject.of(params), OTHER))
                .as("%s %s", tool, params)
                .isInstanceOf(ToolException.class);
    }

    private CallableTool tool(String name) {
        return Calls.tool(name.equals("grep_files") || name.equals("list_files") ? search : files, name);
    }
}
