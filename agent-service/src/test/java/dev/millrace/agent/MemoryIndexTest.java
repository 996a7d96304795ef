package dev.millrace.agent;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.schemas.MalformedEventException;
import dev.millrace.schemas.MemoryDocument;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

class MemoryIndexTest {

    private final MemoryIndex index = new MemoryIndex();

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
    void shouldForgetWhatIsGone() throws MalformedEventException {
        put("acme", "facts/user.md", 320, "Ada");

        index.of("acme").take("facts/user.md", null);

        assertThat(index.text("acme")).isEmpty();
    }

    private void put(String namespace, String path, long size, String summary) throws MalformedEventException {
        index.of(namespace).take(path, document(namespace, path, size, summary));
    }

    private static byte[] document(String namespace, String path, long size, String summary) {
        return new MemoryDocument(namespace, path, 2, "", summary, size, "2026-11-21T12:00:00Z", "people", "c")
                .toJson();
    }
}
