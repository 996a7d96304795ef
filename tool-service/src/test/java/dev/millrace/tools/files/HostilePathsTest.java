package dev.millrace.tools.files;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.millrace.tool.api.ToolException;
import dev.millrace.tools.CallableTool;
import dev.millrace.tools.Calls;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Paths that try to get out of the workspace, or to get something out of the tools that is no answer. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
@Tag("slow")
class HostilePathsTest {

    private static final String SECRET = "the-secret";

    @TempDir
    Path temp = Path.of("");

    private Path root = Path.of("");
    private Workspace workspace = new Workspace(root);
    private CallableTool readFile = Calls.tool(new FileTools(any -> workspace, 10_000), "read_file");
    private CallableTool listFiles = Calls.tool(new SearchTools(any -> workspace), "list_files");
    private CallableTool grepFiles = Calls.tool(new SearchTools(any -> workspace), "grep_files");

    @BeforeEach
    void makeWorkspace() throws IOException {
        root = temp.resolve("workspace");
        Files.createDirectories(root.resolve("nested"));
        Files.createDirectories(temp.resolve("workspace-too"));
        Files.createDirectories(temp.resolve("outside"));
        Files.writeString(root.resolve("notes.txt"), "notes");
        Files.writeString(root.resolve("nested/deep.txt"), "deep");
        Files.writeString(temp.resolve("secret.txt"), SECRET);
        Files.writeString(temp.resolve("outside/secret.txt"), SECRET);
        Files.writeString(temp.resolve("workspace-too/secret.txt"), SECRET);
        Files.createSymbolicLink(root.resolve("link-to-secret"), temp.resolve("secret.txt"));
        Files.createSymbolicLink(root.resolve("relative-link-to-secret"), Path.of("../secret.txt"));
        Files.createSymbolicLink(root.resolve("link-to-outside"), temp.resolve("outside"));
        Files.createSymbolicLink(root.resolve("nested/link-to-parent"), Path.of("../.."));
        Files.createSymbolicLink(root.resolve("link-to-link"), Path.of("link-to-secret"));
        Files.createSymbolicLink(root.resolve("dangling"), temp.resolve("nothing-here"));
        Files.createSymbolicLink(root.resolve("loop"), Path.of("loop"));
        Files.createSymbolicLink(root.resolve("link-to-root"), Path.of("/"));
        Files.createSymbolicLink(root.resolve("link-inside"), Path.of("nested/deep.txt"));
        Files.createSymbolicLink(root.resolve("folder-link-inside"), Path.of("nested"));
        Files.createSymbolicLink(root.resolve("nested/cycle"), Path.of(".."));
        workspace = new Workspace(root);
        readFile = Calls.tool(new FileTools(any -> workspace, 10_000), "read_file");
        listFiles = Calls.tool(new SearchTools(any -> workspace), "list_files");
        grepFiles = Calls.tool(new SearchTools(any -> workspace), "grep_files");
    }

    static List<String> paths() {
        return List.of(
                // up and out
                "../secret.txt",
                "./../secret.txt",
                "nested/../../secret.txt",
                "nested/./.././../secret.txt",
                "missing/../../secret.txt",
                "notes.txt/../../secret.txt",
                "../workspace-too/secret.txt",
                "../workspace/../secret.txt",
                "..//secret.txt",
                "....//secret.txt",
                ".../secret.txt",
                "..;/secret.txt",
                "../".repeat(60) + "etc/passwd",
                // Windows' ways
                "..\\secret.txt",
                "nested\\..\\..\\secret.txt",
                "\\etc\\passwd",
                "\\\\server\\share\\secret.txt",
                "\\\\?\\C:\\secret.txt",
                "C:\\Windows\\win.ini",
                "c:/Windows/win.ini",
                "C:secret.txt",
                // absolute ones, and what a shell or a browser would make absolute
                "/etc/passwd",
                "//etc/passwd",
                "/dev/zero",
                "/proc/self/environ",
                "~/secret.txt",
                "~root/.profile",
                "file:///etc/passwd",
                "$HOME/secret.txt",
                // encodings
                "%2e%2e/secret.txt",
                "..%2fsecret.txt",
                "%2e%2e%2fsecret.txt",
                "..%c0%afsecret.txt",
                "..%5csecret.txt",
                "\u2025/secret.txt",
                "\uff0e\uff0e/secret.txt",
                "..\u2215secret.txt",
                "..\u2044secret.txt",
                "\u202e../secret.txt",
                // control characters
                "../secret.txt\0",
                "notes.txt\0.png",
                "\0",
                "notes\n.txt",
                "\u007f",
                // links
                "link-to-secret",
                "relative-link-to-secret",
                "link-to-outside/secret.txt",
                "nested/link-to-parent/secret.txt",
                "link-to-link",
                "dangling",
                "loop",
                "loop/x",
                "link-to-root/etc/passwd",
                "link-to-outside/../secret.txt",
                "folder-link-inside/link-to-parent/secret.txt",
                // too much, or nothing
                "x".repeat(5_000),
                "x".repeat(300),
                "a/".repeat(2_000) + "b",
                " ",
                "nested",
                "nested/",
                ".",
                "missing.txt",
                "notes.txt/x");
    }

    @ParameterizedTest(name = "read_file[{index}]")
    @MethodSource("paths")
    void shouldReadNothingThatIsNotAFileOfTheWorkspace(String path) {
        // when
        ToolException no = Calls.refusal(readFile, Map.of("path", path));
        // then
        assertThat(no.code()).matches("[a-z_]+");
        assertThat(no.getMessage()).isNotBlank().doesNotContain(SECRET).doesNotContain(temp.toString());
    }

    @ParameterizedTest(name = "grep_files[{index}]")
    @MethodSource("paths")
    void shouldSearchNothingOutside(String path) throws InterruptedException {
        // when
        String said;
        try {
            said = Calls.result(grepFiles, Map.of("pattern", "secret|root:", "path", path))
                    .toString();
        } catch (ToolException e) {
            said = String.valueOf(e.getMessage());
        }
        // then
        assertThat(said.replace(path, "")).doesNotContain(SECRET).doesNotContain("root:");
    }

    @ParameterizedTest(name = "list_files[{index}]")
    @MethodSource("paths")
    void shouldListNothingOutside(String path) throws InterruptedException {
        // when
        String said;
        try {
            said = Calls.result(listFiles, Map.of("path", path, "recursive", true))
                    .toString();
        } catch (ToolException e) {
            said = String.valueOf(e.getMessage());
        }
        // then
        assertThat(said.replace(path, "")).doesNotContain("secret.txt").doesNotContain("passwd");
    }

    @Test
    void shouldFollowLinksThatStayInside() throws ToolException, InterruptedException {
        assertThat(Calls.result(readFile, Map.of("path", "link-inside"))).containsEntry("content", "deep");
        assertThat(Calls.result(readFile, Map.of("path", "folder-link-inside/deep.txt")))
                .containsEntry("content", "deep");
        assertThat(Calls.result(readFile, Map.of("path", "nested/../notes.txt")))
                .containsEntry("content", "notes");
        assertThat(Calls.result(readFile, Map.of("path", "nested//deep.txt"))).containsEntry("content", "deep");
        assertThat(Calls.result(readFile, Map.of("path", "./notes.txt"))).containsEntry("content", "notes");
    }

    @Test
    void shouldListLinksAndNotFollowThem() throws ToolException, InterruptedException {
        // when
        List<Map<String, Object>> entries =
                Calls.objects(Calls.result(listFiles, Map.of("recursive", true)), "entries");
        // then
        assertThat(entries)
                .filteredOn(entry -> String.valueOf(entry.get("path")).contains("link"))
                .extracting(entry -> entry.get("type"))
                .containsOnly("symlink");
        assertThat(entries).extracting(entry -> entry.get("path")).contains("nested/deep.txt", "nested/cycle");
        assertThat(entries).noneMatch(entry -> String.valueOf(entry.get("path")).startsWith("nested/cycle/"));
    }

    @Test
    @DisplayName("a pipe, which would block for ever, is no file")
    void shouldNotReadPipes() throws IOException, InterruptedException {
        // given
        Path pipe = root.resolve("pipe");
        assumeTrue(Files.isExecutable(Path.of("/usr/bin/mkfifo")));
        assertThat(new ProcessBuilder("/usr/bin/mkfifo", pipe.toString())
                        .start()
                        .waitFor())
                .isZero();
        // when
        ToolException no = Calls.refusal(readFile, Map.of("path", "pipe"));
        Object matches = callGrep("x").get("matches");
        // then
        assertThat(no.code()).isEqualTo("not_a_file");
        assertThat(matches)
                .asInstanceOf(org.assertj.core.api.InstanceOfAssertFactories.LIST)
                .isNotNull();
    }

    @Test
    @DisplayName("nobody gets out by putting a link where a folder was, between the look and the reading")
    void shouldNotBeFooledByAChangeInBetween() throws Exception {
        // given
        Path folder = root.resolve("swapped");
        Path real = root.resolve("real");
        Path link = root.resolve("link");
        Files.createDirectory(folder);
        Files.writeString(folder.resolve("secret.txt"), "mine");
        Files.createSymbolicLink(link, temp.resolve("outside"));
        AtomicBoolean end = new AtomicBoolean();
        Thread swapper = Thread.ofPlatform().start(() -> {
            while (!end.get()) {
                try {
                    Files.move(folder, real);
                    Files.move(link, folder);
                    Files.move(folder, link);
                    Files.move(real, folder);
                } catch (IOException e) {
                    throw new AssertionError(e);
                }
            }
        });
        List<String> read = new ArrayList<>();
        // when
        for (int i = 0; i < 3_000; i++) {
            try {
                read.add(String.valueOf(Calls.result(readFile, Map.of("path", "swapped/secret.txt"))
                        .get("content")));
            } catch (ToolException e) {
                read.add(e.code());
            }
        }
        end.set(true);
        swapper.join();
        // then
        assertThat(read).doesNotContain(SECRET).contains("mine");
    }

    @Test
    void shouldTakeAWorkspaceThatIsItselfALink() throws IOException, ToolException, InterruptedException {
        // given
        Path link = Files.createSymbolicLink(temp.resolve("workspace-link"), root);
        CallableTool tool = Calls.tool(new FileTools(any -> new Workspace(link), 100), "read_file");
        // when
        Object content = Calls.result(tool, Map.of("path", "notes.txt")).get("content");
        // then
        assertThat(content).isEqualTo("notes");
        assertThat(Calls.refusal(tool, Map.of("path", "link-to-secret")).code()).isEqualTo("path_outside_workspace");
    }

    @Test
    void shouldMakeAWorkspaceThatIsMissing() throws ToolException, InterruptedException {
        // given
        CallableTool tool = Calls.tool(new SearchTools(any -> new Workspace(temp.resolve("new/one"))), "list_files");
        // when
        Map<String, Object> result = Calls.result(tool, Map.of());
        // then
        assertThat(result).containsEntry("path", ".").containsEntry("entries", List.of());
    }

    @Test
    void shouldNotReadWhatIsTooLarge() throws IOException, ToolException, InterruptedException {
        // given
        Files.writeString(root.resolve("at-the-limit"), "x".repeat(10_000));
        Files.writeString(root.resolve("beyond"), "x".repeat(10_001));
        // when
        Object size = Calls.result(readFile, Map.of("path", "at-the-limit")).get("sizeBytes");
        ToolException no = Calls.refusal(readFile, Map.of("path", "beyond"));
        // then
        assertThat(size).isEqualTo(10_000);
        assertThat(no.code()).isEqualTo("file_too_large");
    }

    @Test
    void shouldReadBytesThatAreNoText() throws IOException, ToolException, InterruptedException {
        // given
        Files.write(root.resolve("binary"), new byte[] {(byte) 0xff, (byte) 0xfe, 0});
        // when
        ToolException no = Calls.refusal(readFile, Map.of("path", "binary"));
        Object base64 = Calls.result(readFile, Map.of("path", "binary", "encoding", "base64"))
                .get("content");
        Object latin1 = Calls.result(readFile, Map.of("path", "binary", "encoding", "latin1"))
                .get("content");
        // then
        assertThat(no.code()).isEqualTo("not_text");
        assertThat(base64).isEqualTo("//4A");
        assertThat(latin1).isEqualTo("\u00ff\u00fe\0");
    }

    @Test
    void shouldListNoMoreThanTheLimit() throws IOException, ToolException, InterruptedException {
        // given
        Path many = Files.createDirectory(root.resolve("many"));
        for (int i = 0; i <= SearchTools.MAX_ENTRIES; i++) {
            Files.createFile(many.resolve("f" + i));
        }
        // when
        Map<String, Object> result = Calls.result(listFiles, Map.of("path", "many"));
        // then
        assertThat(Calls.objects(result, "entries")).hasSize(SearchTools.MAX_ENTRIES);
        assertThat(result).containsEntry("truncated", true);
    }

    static Stream<String> patterns() {
        return Stream.of("[", "{a,b", "**/../*", "..", "../*", "/**", "\\", "*".repeat(400));
    }

    @ParameterizedTest
    @MethodSource("patterns")
    void shouldListNothingOutsideWhateverThePattern(String pattern) throws InterruptedException {
        // when
        String said;
        try {
            said = Calls.result(listFiles, Map.of("recursive", true, "pattern", pattern))
                    .toString();
        } catch (ToolException e) {
            said = e.code();
        }
        // then
        assertThat(said).doesNotContain("secret.txt");
    }

    private Map<String, Object> callGrep(String pattern) throws InterruptedException {
        try {
            return Calls.result(grepFiles, Map.of("pattern", pattern));
        } catch (ToolException e) {
            throw new AssertionError(e);
        }
    }
}
