package dev.millrace.tools.files;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.millrace.tool.api.ToolException;
import dev.millrace.tools.CallableTool;
import dev.millrace.tools.Calls;
import java.io.IOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Paths that try to change something outside of the workspace. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
@Tag("slow")
class HostileWritesTest {

    private static final String SECRET = "the-secret";
    private static final int MAX = 10_000;

    @TempDir
    Path temp = Path.of("");

    private Path root = Path.of("");
    private Workspace workspace = new Workspace(root);
    private Map<String, String> outside = Map.of();

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
        workspace = new Workspace(root);
        outside = outside();
    }

    static List<String> paths() {
        return Stream.concat(
                        HostilePathsTest.paths().stream(),
                        Stream.of(
                                "link-to-outside/new.txt",
                                "link-to-outside/new/folder/file.txt",
                                "link-to-outside",
                                "folder-link-inside/link-to-parent/new.txt",
                                "nested/link-to-parent/workspace-too/secret.txt",
                                "link-to-root/tmp/millrace-hostile.txt",
                                "dangling/x",
                                "../new.txt",
                                "../workspace-too/new.txt",
                                "notes.txt/new.txt"))
                .toList();
    }

    @ParameterizedTest(name = "write_file[{index}]")
    @MethodSource("paths")
    void shouldWriteNothingOutside(String path) throws IOException, InterruptedException {
        assertHarmless(
                Calls.tool(new FileTools(any -> workspace, MAX), "write_file"),
                Map.of("path", path, "content", "overwritten"));
    }

    @ParameterizedTest(name = "delete_file[{index}]")
    @MethodSource("paths")
    void shouldDeleteNothingOutside(String path) throws IOException, InterruptedException {
        assertHarmless(Calls.tool(new FileTools(any -> workspace, MAX), "delete_file"), Map.of("path", path));
    }

    @ParameterizedTest(name = "move_file to [{index}]")
    @MethodSource("paths")
    void shouldMoveNothingOut(String path) throws IOException, InterruptedException {
        assertHarmless(
                Calls.tool(new FileTools(any -> workspace, MAX), "move_file"), Map.of("from", "notes.txt", "to", path));
    }

    @ParameterizedTest(name = "move_file from [{index}]")
    @MethodSource("paths")
    void shouldMoveNothingIn(String path) throws IOException, InterruptedException {
        assertHarmless(
                Calls.tool(new FileTools(any -> workspace, MAX), "move_file"), Map.of("from", path, "to", "got"));
        assertThat(
                        Files.isRegularFile(root.resolve("got"), LinkOption.NOFOLLOW_LINKS)
                                ? Files.readString(root.resolve("got"))
                                : "")
                .doesNotContain(SECRET);
    }

    @ParameterizedTest(name = "edit_file[{index}]")
    @MethodSource("paths")
    void shouldEditNothingOutside(String path) throws IOException, InterruptedException {
        assertHarmless(
                Calls.tool(new FileTools(any -> workspace, MAX), "edit_file"),
                Map.of("path", path, "old_string", "secret", "new_string", "x"));
    }

    @ParameterizedTest(name = "get_file_info[{index}]")
    @MethodSource("paths")
    void shouldTellNothingOfWhatIsOutside(String path) throws IOException, InterruptedException {
        assertThat(assertHarmless(
                                Calls.tool(new FileTools(any -> workspace, MAX), "get_file_info"), Map.of("path", path))
                        .replace(path, ""))
                .doesNotContain("secret.txt")
                .doesNotContain("passwd");
    }

    @Test
    void shouldWriteThroughLinksThatStayInside() throws Exception {
        // when
        Calls.result(
                Calls.tool(new FileTools(any -> workspace, MAX), "write_file"),
                Map.of("path", "link-inside", "content", "through"));
        Calls.result(
                Calls.tool(new FileTools(any -> workspace, MAX), "write_file"),
                Map.of("path", "folder-link-inside/new.txt", "content", "new"));
        // then
        assertThat(Files.isSymbolicLink(root.resolve("link-inside"))).isTrue();
        assertThat(root.resolve("nested/deep.txt")).hasContent("through");
        assertThat(root.resolve("nested/new.txt")).hasContent("new");
    }

    @Test
    void shouldDeleteALinkAndNotWhatItLeadsTo() throws Exception {
        // when
        Calls.result(Calls.tool(new FileTools(any -> workspace, MAX), "delete_file"), Map.of("path", "link-to-secret"));
        Calls.result(Calls.tool(new FileTools(any -> workspace, MAX), "delete_file"), Map.of("path", "link-inside"));
        // then
        assertThat(Files.exists(root.resolve("link-to-secret"), LinkOption.NOFOLLOW_LINKS))
                .isFalse();
        assertThat(temp.resolve("secret.txt")).hasContent(SECRET);
        assertThat(root.resolve("nested/deep.txt")).hasContent("deep");
    }

    @Test
    @DisplayName("nobody gets out by putting a link where a folder was, between the look and the writing")
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
                putInPlace(folder, real);
                putInPlace(link, folder);
                putInPlace(folder, link);
                putInPlace(real, folder);
            }
        });
        CallableTool write = Calls.tool(new FileTools(any -> workspace, MAX), "write_file");
        CallableTool edit = Calls.tool(new FileTools(any -> workspace, MAX), "edit_file");
        CallableTool delete = Calls.tool(new FileTools(any -> workspace, MAX), "delete_file");
        int written = 0;
        // when
        for (int i = 0; i < 300; i++) {
            written += works(write, Map.of("path", "swapped/secret.txt", "content", "theirs")) ? 1 : 0;
            works(edit, Map.of("path", "swapped/secret.txt", "old_string", "secret", "new_string", "x"));
            works(delete, Map.of("path", "swapped/secret.txt"));
        }
        end.set(true);
        swapper.join();
        // then
        assertThat(written).isPositive();
        assertThat(outside()).isEqualTo(outside);
    }

    @Test
    @DisplayName("a reader sees the old or the new content, and never a part")
    void shouldWriteInOneStep() throws Exception {
        // given
        String one = "1".repeat(MAX);
        String two = "2".repeat(MAX);
        CallableTool write = Calls.tool(new FileTools(any -> workspace, MAX), "write_file");
        Calls.result(write, Map.of("path", "flips", "content", one));
        AtomicBoolean end = new AtomicBoolean();
        Thread writer = Thread.ofPlatform().start(() -> {
            for (int i = 0; !end.get(); i++) {
                works(write, Map.of("path", "flips", "content", i % 2 == 0 ? two : one));
            }
        });
        // when
        boolean whole = true;
        for (int i = 0; i < 2_000; i++) {
            String read = Files.readString(root.resolve("flips"));
            whole &= read.equals(one) || read.equals(two);
        }
        end.set(true);
        writer.join();
        // then
        assertThat(whole).isTrue();
        try (Stream<Path> left = Files.list(root)) {
            assertThat(left).noneMatch(place -> place.toString().endsWith(".tmp"));
        }
    }

    @Test
    void shouldWriteNoMoreThanTheLimit() throws Exception {
        // given
        CallableTool write = Calls.tool(new FileTools(any -> workspace, MAX), "write_file");
        CallableTool edit = Calls.tool(new FileTools(any -> workspace, MAX), "edit_file");
        // when
        Map<String, Object> fits = Calls.result(write, Map.of("path", "a", "content", "x".repeat(MAX)));
        ToolException tooLarge = Calls.refusal(write, Map.of("path", "b", "content", "é".repeat(MAX / 2) + "x"));
        ToolException growing =
                Calls.refusal(edit, Map.of("path", "a", "old_string", "x", "new_string", "yy", "replace_all", true));
        // then
        assertThat(fits).containsEntry("sizeBytes", MAX).containsEntry("created", true);
        assertThat(tooLarge.code()).isEqualTo("file_too_large");
        assertThat(growing.code()).isEqualTo("file_too_large");
        assertThat(root.resolve("b")).doesNotExist();
        assertThat(root.resolve("a")).hasContent("x".repeat(MAX));
    }

    @Test
    void shouldKeepPermissions() throws Exception {
        // given
        assumeTrue(root.getFileSystem().supportedFileAttributeViews().contains("posix"));
        Path script = Files.writeString(root.resolve("run.sh"), "old");
        Files.setPosixFilePermissions(script, PosixFilePermissions.fromString("rwxr-x---"));
        // when
        Calls.result(
                Calls.tool(new FileTools(any -> workspace, MAX), "write_file"),
                Map.of("path", "run.sh", "content", "new"));
        // then
        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(script)))
                .isEqualTo("rwxr-x---");
    }

    @Test
    void shouldNotMoveOntoSomethingNorIntoItself() {
        // given
        CallableTool move = Calls.tool(new FileTools(any -> workspace, MAX), "move_file");
        // when
        ToolException onto = Calls.refusal(move, Map.of("from", "notes.txt", "to", "nested/deep.txt"));
        ToolException ontoFolder = Calls.refusal(move, Map.of("from", "notes.txt", "to", "nested"));
        ToolException ontoItself = Calls.refusal(move, Map.of("from", "notes.txt", "to", "notes.txt"));
        ToolException intoItself = Calls.refusal(move, Map.of("from", "nested", "to", "nested/in/it"));
        ToolException missing = Calls.refusal(move, Map.of("from", "nothing", "to", "x"));
        // then
        assertThat(List.of(onto, ontoFolder, ontoItself))
                .extracting(ToolException::code)
                .containsOnly("file_exists");
        assertThat(intoItself.code()).isEqualTo("unwritable_file");
        assertThat(missing.code()).isEqualTo("file_not_found");
    }

    /** Moves for the swapper; what the tool has made at the new place meanwhile is put away. */
    private static void putInPlace(Path from, Path to) {
        while (true) {
            try {
                Files.move(from, to);
                return;
            } catch (FileAlreadyExistsException e) {
                List<Boolean> deleted = new ArrayList<>();
                try (Stream<Path> all = Files.walk(to)) {
                    all.sorted(Comparator.reverseOrder())
                            .forEach(place -> deleted.add(place.toFile().delete()));
                } catch (IOException again) {
                    throw new AssertionError(again);
                }
            } catch (IOException e) {
                throw new AssertionError(e);
            }
        }
    }

    /** The call may work or not; outside of the workspace everything is as it was, and nothing of it is told. */
    private String assertHarmless(CallableTool tool, Map<String, @Nullable Object> params)
            throws IOException, InterruptedException {
        String said;
        try {
            said = Calls.result(tool, params).toString();
        } catch (ToolException e) {
            assertThat(e.code()).matches("[a-z_0-9]+");
            said = String.valueOf(e.getMessage());
        }
        assertThat(said).isNotBlank().doesNotContain(SECRET).doesNotContain(temp.toString());
        assertThat(outside()).isEqualTo(outside);
        assertThat(Path.of("/tmp/millrace-hostile.txt")).doesNotExist();
        return said;
    }

    private Map<String, String> outside() throws IOException {
        Map<String, String> found = new TreeMap<>();
        try (Stream<Path> all = Files.walk(temp)) {
            for (Path place : all.filter(place -> !place.startsWith(root)).toList()) {
                found.put(place.toString(), Files.isRegularFile(place) ? Files.readString(place) : "");
            }
        }
        return found;
    }

    private static boolean works(CallableTool tool, Map<String, @Nullable Object> params) {
        try {
            Calls.result(tool, params);
            return true;
        } catch (ToolException e) {
            return false;
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }
}
