package dev.millrace.standalone;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.schemas.ErrorCode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

class TroubleshootingDocTest {

    private static final Path DOCUMENT = Path.of("..", "docs", "troubleshooting.md");
    /** Where a problem is made, with its status and its code. */
    private static final Pattern PROBLEM = Pattern.compile(
            "(?:(?:Problem\\.of|new Problem)\\(\\s*\\w+,|(?:conflict|refused|IngestException|ToolException|Kind)\\()\\s*\"([a-z_]+)\"");

    private static final Pattern ROW = Pattern.compile("(?m)^\\| ((?:`[a-z0-9_]+`(?:, )?)+) \\|");
    private static final Pattern CODE = Pattern.compile("`([a-z0-9_]+)`");

    @Test
    @DisplayName(
            "docs/troubleshooting.md says of every code that an answer, a task, a call or a dead letter may have what to do")
    void shouldSayWhatToDo() throws IOException {
        // given
        Set<String> codes =
                Arrays.stream(ErrorCode.values()).map(ErrorCode::code).collect(Collectors.toCollection(TreeSet::new));
        for (String source : sources()) {
            codes.addAll(all(PROBLEM, source));
        }

        // when
        Set<String> told = told();

        // then
        assertThat(codes).contains("unknown_task", "iteration_limit", "not_suspendable", "bad_token");
        assertThat(told).containsAll(codes);
    }

    @Test
    @DisplayName("docs/troubleshooting.md has no code that nothing has")
    void shouldHaveNoCodeTooMany() throws IOException {
        // given
        Set<String> known =
                Arrays.stream(ErrorCode.values()).map(ErrorCode::code).collect(Collectors.toCollection(TreeSet::new));
        String all = String.join("\n", sources());

        // then
        assertThat(told()).allMatch(code -> known.contains(code) || all.contains('"' + code + '"'));
    }

    private static Set<String> told() throws IOException {
        Set<String> told = new TreeSet<>();
        for (String row : all(ROW, Files.readString(DOCUMENT))) {
            told.addAll(all(CODE, row));
        }
        return told;
    }

    private static Set<String> all(Pattern pattern, String text) {
        Set<String> found = new TreeSet<>();
        Matcher matcher = pattern.matcher(text);
        while (matcher.find()) {
            found.add(matcher.group(1));
        }
        return found;
    }

    private static Set<String> sources() throws IOException {
        Set<String> sources = new TreeSet<>();
        try (Stream<Path> modules = Files.list(Path.of(".."))) {
            for (Path main : modules.map(module -> module.resolve("src/main/java"))
                    .filter(Files::isDirectory)
                    .toList()) {
                try (Stream<Path> files = Files.walk(main)) {
                    for (Path file : files.filter(path -> path.toString().endsWith(".java"))
                            .toList()) {
                        sources.add(Files.readString(file));
                    }
                }
            }
        }
        return sources;
    }
}
