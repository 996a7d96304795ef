package dev.millrace.agent;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.schemas.MalformedEventException;
import dev.millrace.schemas.MemoryDocument;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

class MemoryIndexTest {

    private final MemoryIndex index = new MemoryIndex(16_384);

    @Test
    @DisplayName("F-079: one line for each document, and what to do with it; nothing for an empty memory")
    void shouldShowDocumentsByPath() throws MalformedEventException {
        assertThat(index.text("acme")).isEmpty();

        put("acme", "facts/user.md", 320, "Ada");
        put("acme", "episodes/2026-11.md", 1_229, "met Ada");
        put("other", "facts/user.md", 10, "Bob");
        index.of("acme").take("facts/user.md@1", document("acme", "facts/user.md", 5, "old"));

        assertThat(index.text("acme")).hasValue("""
                [Available memory]
                - episodes/2026-11.md (1.2KB): met Ada
                - facts/user.md (320B): Ada
                Use memory_read to load relevant files before responding.""");
    }

    @Test
    @DisplayName("C2: of more documents than fit, the user's and the newest are shown, and how many more there are")
    void shouldShowTheNewestOfMany() throws MalformedEventException {
        for (int i = 0; i < 5_000; i++) {
            index.of("acme")
                    .take(
                            String.format("facts/f%04d.md", i),
                            document("acme", String.format("facts/f%04d.md", i), 1, "s".repeat(100), 1 + i));
        }
        index.of("acme").take("facts/user.md", document("acme", "facts/user.md", 1, "Ada", 0));

        String text = index.text("acme").orElseThrow();

        assertThat(text.getBytes(StandardCharsets.UTF_8)).hasSizeBetween(16_000, 16_384 + 150);
        assertThat(text)
                .contains("- facts/user.md (1B): Ada\n", "- facts/f4999.md", "… and 4")
                .doesNotContain("f0000")
                .endsWith(
                        " more documents; memory_list shows them.\nUse memory_read to load relevant files before responding.");
        assertThat(text.lines().filter(line -> line.startsWith("- ")).toList()).isSorted();
    }

    @Test
    void shouldShowAsManyAsFitAndNotOneMore() throws MalformedEventException {
        String line = "- facts/a.md (1B): ä\n";
        MemoryIndex small = new MemoryIndex(2 * line.getBytes(StandardCharsets.UTF_8).length);
        small.of("acme").take("facts/a.md", document("acme", "facts/a.md", 1, "ä"));
        small.of("acme").take("facts/b.md", document("acme", "facts/b.md", 1, "ä"));
        assertThat(small.text("acme").orElseThrow()).doesNotContain("more documents");

        small.of("acme").take("facts/c.md", document("acme", "facts/c.md", 1, "", 5));

        assertThat(small.text("acme").orElseThrow())
                .contains("facts/c.md", "facts/a.md", "… and 1 more documents")
                .doesNotContain("facts/b.md");
    }

    @Test
    void shouldForgetWhatIsGone() throws MalformedEventException {
        put("acme", "facts/user.md", 320, "Ada");

        index.of("acme").take("facts/user.md", null);

        assertThat(index.text("acme")).isEmpty();
    }

    @Test
    @DisplayName("F-078: a task sees memory as it was at its first call, and never what has been removed")
    void shouldShowATaskTheSameAgain() throws MalformedEventException {
        put("acme", "facts/user.md", 320, "Ada");
        put("acme", "facts/mill.md", 10, "at Linton");
        String first = index.text("acme", "t1", true).orElseThrow();

        put("acme", "facts/mill.md", 12, "at Houghton");

        assertThat(index.text("acme", "t1", false)).hasValue(first);
        assertThat(index.text("acme", "t2", true).orElseThrow()).contains("at Houghton");
        assertThat(index.text("acme", "t3", false))
                .as("its first call was made elsewhere")
                .isPresent();
        assertThat(index.text("other", "t1", false)).isEmpty();

        index.of("acme").take("facts/user.md", null);

        assertThat(index.text("acme", "t1", false).orElseThrow())
                .contains("at Houghton")
                .doesNotContain("Ada");
    }

    @Test
    void shouldStartATaskAnewThatGoesOnFromCompleted() throws MalformedEventException {
        put("acme", "facts/user.md", 320, "Ada");
        index.text("acme", "t1", true);
        put("acme", "facts/user.md", 330, "Ada Byron");

        assertThat(index.text("acme", "t1", true).orElseThrow()).contains("Ada Byron");
        assertThat(index.text("acme", "t1", false).orElseThrow()).contains("Ada Byron");
    }

    @Test
    void shouldForgetWhatTasksWereShownWithTheRest() throws MalformedEventException {
        put("acme", "facts/user.md", 320, "Ada");
        index.text("acme", "t1", true);
        index.of("acme").beginAnew();
        assertThat(index.text("acme", "t1", false)).isEmpty();

        put("acme", "facts/user.md", 320, "Ada");
        index.text("acme", "t2", true);
        index.clear();
        assertThat(index.text("acme", "t2", false)).isEmpty();
    }

    @Test
    @DisplayName("what is kept for tasks is bounded; of more, those that asked last are kept")
    void shouldKeepNoMoreThanFits() throws MalformedEventException {
        MemoryIndex large = new MemoryIndex(2_000_000);
        large.of("acme").take("facts/a.md", document("acme", "facts/a.md", 1, "s".repeat(1_000_000)));
        for (int task = 1; task <= 16; task++) {
            large.text("acme", "t" + task, true);
        }
        large.of("acme").take("facts/a.md", document("acme", "facts/a.md", 1, "new"));

        assertThat(large.text("acme", "t2", false).orElseThrow()).doesNotContain("new");
        assertThat(large.text("acme", "t1", false).orElseThrow()).contains("new");
    }

    private void put(String namespace, String path, long size, String summary) throws MalformedEventException {
        index.of(namespace).take(path, document(namespace, path, size, summary));
    }

    private static byte[] document(String namespace, String path, long size, String summary) {
        return document(namespace, path, size, summary, 0);
    }

    private static byte[] document(String namespace, String path, long size, String summary, long seconds) {
        String updatedAt =
                Instant.parse("2026-11-21T12:00:00Z").plusSeconds(seconds).toString();
        return new MemoryDocument(namespace, path, 2, "", summary, size, updatedAt, "people", "c").toJson();
    }
}
