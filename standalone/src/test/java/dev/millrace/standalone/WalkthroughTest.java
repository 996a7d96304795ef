package dev.millrace.standalone;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What tests the documents is itself tested. */
class WalkthroughTest {

    private static final String PAGE = """
            # A page

            <!-- goes on, after: ready -->
            ```sh
            echo ready; exec sleep 60
            ```

            Then:

            ```sh
            echo "one $COLOR"
            echo at localhost:8080
            ```

            ```text
            one …
            at 127.0.0.1:1
            ```

            <!-- file: some/where.yaml -->
            ```yaml
            at: localhost:8080
            ```
            """;

    @TempDir
    Path folder;

    @Test
    void shouldFollowAPage() throws Exception {
        try (Walkthrough walk = new Walkthrough(folder, Map.of("COLOR", "red")).with("localhost:8080", "127.0.0.1:1")) {
            assertThat(Walkthrough.blocks(PAGE)).hasSize(2);
            String printed = "";
            for (Walkthrough.Block block : Walkthrough.blocks(PAGE)) {
                printed = walk.follow(block);
            }
            assertThat(printed).isEqualTo("one red\nat 127.0.0.1:1\n");
            walk.write(PAGE);
            assertThat(folder.resolve("some/where.yaml")).hasContent("at: 127.0.0.1:1\n");
        }
    }

    @Test
    void shouldNoticeWhereItIsWrong() {
        try (Walkthrough walk = new Walkthrough(folder, Map.of())) {
            assertThatThrownBy(() -> walk.follow(new Walkthrough.Block("echo two", null, "one")))
                    .isInstanceOf(AssertionError.class);
            assertThatThrownBy(() -> walk.follow(new Walkthrough.Block("echo one; echo two", null, "one")))
                    .isInstanceOf(AssertionError.class);
            assertThatThrownBy(() -> walk.follow(new Walkthrough.Block("echo no; false", null, null)))
                    .isInstanceOf(Walkthrough.DeviationError.class)
                    .hasMessageContaining("found exit code 1")
                    .hasMessageEndingWith("no\n");
            assertThatThrownBy(() -> walk.follow(new Walkthrough.Block("echo no", "ready", null)))
                    .isInstanceOf(Walkthrough.DeviationError.class)
                    .hasMessageContaining("found an end");
        }
    }

    @Test
    void shouldTakeDotsForAnything() {
        assertThat("a 1 b").matches(Walkthrough.pattern("a … b"));
        assertThat("a\nx\ny\nb").matches(Walkthrough.pattern("a\n…\nb"));
        assertThat("a\nb").doesNotMatch(Walkthrough.pattern("a…"));
        assertThat("a.b").doesNotMatch(Walkthrough.pattern("a+b"));
    }
}
