package dev.millrace.knowledge.ingest;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.millrace.http.guarded.GuardedHttp;
import dev.millrace.requests.NamespaceFolder;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class FetcherTest {

    private final GuardedHttp http = new GuardedHttp(new GuardedHttp.Limits(List.of(), 1_000, 5_000, 100_000));

    @TempDir
    private Path root = Path.of("");

    private final Fetcher fetcher =
            new Fetcher(http, namespace -> Optional.of(NamespaceFolder.of(root, namespace)), 1_000);

    @BeforeEach
    void write() throws Exception {
        Files.writeString(Files.createDirectories(root.resolve("acme")).resolve("notes.md"), "the secret of acme");
    }

    @AfterEach
    void close() throws IOException {
        http.close();
    }

    @Test
    @DisplayName("a namespace takes in files of its own workspace")
    void shouldFetchItsOwn() throws Exception {
        assertThat(fetcher.fetch("acme", new Source("notes.md")).bytes())
                .asString()
                .isEqualTo("the secret of acme");
    }

    @ParameterizedTest
    @ValueSource(strings = {"notes.md", "../acme/notes.md", "acme/notes.md", "link/notes.md"})
    @DisplayName("and nobody else's, by whatever path or link")
    void shouldNotFetchOthers(String path) throws Exception {
        Files.createDirectories(root.resolve("other"));
        Files.createSymbolicLink(root.resolve("other/link"), root.resolve("acme"));

        assertThatThrownBy(() -> fetcher.fetch("other", new Source(path)))
                .isInstanceOf(IngestException.class)
                .hasMessageContaining("expected a file of the workspace");
    }
}
