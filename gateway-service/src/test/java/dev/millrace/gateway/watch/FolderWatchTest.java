package dev.millrace.gateway.watch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** With real files. */
class FolderWatchTest {

    private static final Duration LIMIT = Duration.ofSeconds(30);
    private static final Duration DEBOUNCE = Duration.ofMillis(300);

    @TempDir
    Path folder;

    private final ConcurrentLinkedQueue<FileChange> told = new ConcurrentLinkedQueue<>();
    private final AtomicBoolean away = new AtomicBoolean();
    private @Nullable FolderWatch watch;

    @AfterEach
    void close() {
        if (watch != null) {
            watch.close();
        }
    }

    @Test
    @DisplayName("what is made, changed, touched and removed is told, once it is left alone; what was there is not")
    void shouldTellChanges() throws Exception {
        // given
        Files.writeString(folder.resolve("old.txt"), "old");
        watch(100);

        // when
        for (int i = 0; i < 20; i++) {
            Files.writeString(folder.resolve("new.txt"), "x".repeat(i + 1));
        }
        Files.setLastModifiedTime(folder.resolve("old.txt"), FileTime.from(Instant.EPOCH));

        // then
        awaitTold("created new.txt 20", "modified old.txt 3");

        // when
        Files.writeString(folder.resolve("new.txt"), "shorter");
        Files.delete(folder.resolve("old.txt"));

        // then
        awaitTold("created new.txt 20", "modified old.txt 3", "modified new.txt 7", "deleted old.txt 0");
    }

    @Test
    @DisplayName("folders that come later are watched with all in them, and take their files along when they go")
    void shouldFollowFolders() throws Exception {
        // given
        watch(100);

        // when
        Path inner = Files.createDirectories(folder.resolve("a/b"));
        Files.writeString(inner.resolve("c.txt"), "c");

        // then
        awaitTold("created a/b/c.txt 1");

        // when
        Files.move(folder.resolve("a"), folder.resolve("z"));

        // then
        awaitTold("created a/b/c.txt 1", "deleted a/b/c.txt 0", "created z/b/c.txt 1");
    }

    @Test
    @DisplayName("what is to be ignored, links, and files that come and go at once are not told of")
    void shouldPassOver() throws Exception {
        // given
        Path outside = Files.createTempDirectory("outside");
        watch(100);

        // when
        Files.createDirectories(folder.resolve(".git/objects"));
        Files.writeString(folder.resolve(".git/objects/x"), "x");
        Files.writeString(folder.resolve("a.tmp"), "x");
        Files.createDirectories(folder.resolve("build/classes"));
        Files.writeString(folder.resolve("build/classes/A"), "x");
        Files.createSymbolicLink(folder.resolve("link"), outside);
        Files.createSymbolicLink(folder.resolve("self"), folder);
        Files.writeString(outside.resolve("secret"), "x");
        Files.writeString(folder.resolve("short"), "x");
        Files.delete(folder.resolve("short"));
        Files.writeString(folder.resolve("last"), "x");

        // then
        awaitTold("created last 1");
        Files.delete(outside.resolve("secret"));
        Files.delete(outside);
    }

    @Test
    @DisplayName("there is a limit to how many files are watched; those at it are, and one that goes makes room")
    void shouldBeBounded() throws Exception {
        // given: the folder itself counts
        watch(3);

        // when
        Files.writeString(folder.resolve("a"), "x");
        awaitTold("created a 1");
        Files.writeString(folder.resolve("b"), "x");
        awaitTold("created a 1", "created b 1");
        Files.writeString(folder.resolve("c"), "x");
        Files.writeString(folder.resolve("a"), "xx");

        // then
        awaitTold("created a 1", "created b 1", "modified a 2");

        // when
        Files.delete(folder.resolve("b"));
        awaitTold("created a 1", "created b 1", "modified a 2", "deleted b 0");
        Files.writeString(folder.resolve("c"), "xx");

        // then
        awaitTold("created a 1", "created b 1", "modified a 2", "deleted b 0", "created c 2");
    }

    @Test
    @DisplayName("what could not be told is told later, under the same id and as it is then")
    void shouldTellAgain() throws Exception {
        // given
        watch(100);
        away.set(true);

        // when
        Files.writeString(folder.resolve("a"), "x");
        await().atMost(LIMIT).until(() -> !told.isEmpty());
        Files.writeString(folder.resolve("a"), "xx");
        away.set(false);

        // then
        await().atMost(LIMIT).until(() -> told.stream().anyMatch(change -> change.size() == 2));
        assertThat(told).allMatch(change -> change.kind() == FileChange.Kind.CREATED);
        assertThat(told.stream().map(FileChange::id).collect(Collectors.toSet()))
                .hasSize(1);
    }

    @Test
    @DisplayName("what makes no sense is refused")
    void shouldRefuseNonsense() {
        assertThatThrownBy(() -> settings(folder.resolve("none"), DEBOUNCE, List.of(), 1))
                .hasMessageStartingWith("folder: expected a folder that is there");
        assertThatThrownBy(() -> settings(folder, Duration.ZERO, List.of(), 1))
                .hasMessageStartingWith("debounce: expected 1 ms or more");
        assertThatThrownBy(() -> settings(folder, DEBOUNCE, List.of(), 0))
                .hasMessageStartingWith("max-files: expected 1 or more");
        assertThatThrownBy(() -> new FolderWatch(settings(folder, DEBOUNCE, List.of("[a"), 1), change -> true))
                .hasMessage("ignore: expected patterns such as *.tmp or build/**, found [a");
    }

    private void watch(int maxFiles) throws IOException {
        watch = new FolderWatch(
                settings(folder, DEBOUNCE, List.of(".*", "*.tmp", "build/**"), maxFiles),
                change -> told.add(change) && !away.get());
    }

    private static FolderWatch.Settings settings(Path folder, Duration debounce, List<String> ignore, int maxFiles) {
        return new FolderWatch.Settings("test", folder, debounce, ignore, maxFiles);
    }

    private void awaitTold(String... changes) {
        await().atMost(LIMIT).until(() -> told.size() >= changes.length);
        assertThat(told.stream()
                        .map(change -> change.kind().name().toLowerCase(Locale.ROOT) + " " + change.path() + " "
                                + change.size()))
                .containsExactlyInAnyOrder(changes);
    }
}
