package dev.millrace.tools;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.schemas.ToolDefinition;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** Keeps the table of the built-in tools in docs/tools.md; {@code -Dmillrace.docs.write=true} rewrites it. */
class BuiltInToolsDocTest {

    private static final String BEGIN = "<!-- built-in tools: made from their definitions by BuiltInToolsDocTest -->\n";
    private static final String END = "<!-- end of the built-in tools -->\n";

    @Test
    void shouldFindTheTableUpToDate() throws IOException {
        // given
        Path file = docs().resolve("tools.md");
        String text = Files.readString(file);
        int from = text.indexOf(BEGIN) + BEGIN.length();
        int to = text.indexOf(END);
        String expected = text.substring(0, from) + table() + text.substring(to);
        // when
        if (Boolean.getBoolean("millrace.docs.write")) {
            Files.writeString(file, expected);
        }
        // then
        assertThat(Files.readString(file)).isEqualTo(expected);
    }

    private static String table() throws IOException {
        return "| tool | what it does | parameters | side effects | time |\n|---|---|---|---|---|\n"
                + BuiltInTools.definitions().stream()
                        .map(BuiltInToolsDocTest::row)
                        .collect(Collectors.joining())
                + "\n";
    }

    private static String row(ToolDefinition tool) {
        List<?> required = tool.parameters().get("required") instanceof List<?> list ? list : List.of();
        String parameters = tool.parameters().get("properties") instanceof Map<?, ?> properties
                ? properties.keySet().stream()
                        .map(String::valueOf)
                        .sorted(Comparator.comparing((String name) -> !required.contains(name))
                                .thenComparing(Comparator.naturalOrder()))
                        .map(name -> "`" + name + (required.contains(name) ? "`" : "?`"))
                        .collect(Collectors.joining(", "))
                : "";
        return "| `" + tool.name() + "` | " + tool.description() + " | " + parameters + " | "
                + tool.sideEffects().name().toLowerCase(Locale.ROOT).replace('_', '-') + " | "
                + tool.timeoutMs() / 1_000 + " s |\n";
    }

    private static Path docs() {
        Path folder = Path.of("").toAbsolutePath();
        while (!Files.exists(folder.resolve("mvnw"))) {
            folder = Objects.requireNonNull(folder.getParent(), "no folder above this one has an mvnw");
        }
        return folder.resolve("docs");
    }
}
