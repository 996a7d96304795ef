package dev.millrace.tools.java;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** What docs/tools.md shows of {@code examples/java-tools} stands there, and that project is for this version. */
class JavaToolsDocTest {

    private static final Pattern QUOTE = Pattern.compile(
            "<!-- from examples/java-tools, held by JavaToolsDocTest -->\n```(?:java|xml)\n(.*?)```\n", Pattern.DOTALL);

    @Test
    void shouldQuoteTheExample() throws IOException {
        // given
        Path example = repository().resolve("examples/java-tools");
        String files = Files.readString(example.resolve("pom.xml"))
                + Files.readString(example.resolve("src/main/java/org/example/orders/OrderTools.java"));
        // when
        List<String> quotes = QUOTE.matcher(Files.readString(repository().resolve("docs/tools.md")))
                .results()
                .map((MatchResult found) -> found.group(1))
                .toList();
        // then
        assertThat(quotes).hasSize(3).allSatisfy(quote -> assertThat(files).contains(quote));
    }

    @Test
    void shouldBeForThisVersion() throws IOException {
        // packed is what comes of a snapshot
        assertThat(version("pom.xml", "millrace").replace("-SNAPSHOT", ""))
                .isEqualTo(version("examples/java-tools/pom.xml", "millrace-tool-api"));
    }

    private static String version(String pom, String artifact) throws IOException {
        return Pattern.compile("<artifactId>" + artifact + "</artifactId>\\s*<version>(.*?)</version>")
                .matcher(Files.readString(repository().resolve(pom)))
                .results()
                .findFirst()
                .orElseThrow()
                .group(1);
    }

    private static Path repository() {
        Path folder = Path.of("").toAbsolutePath();
        while (!Files.exists(folder.resolve("mvnw"))) {
            folder = Objects.requireNonNull(folder.getParent(), "no folder above this one has an mvnw");
        }
        return folder;
    }
}
