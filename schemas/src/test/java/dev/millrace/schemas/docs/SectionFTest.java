package dev.millrace.schemas.docs;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** The table of {@code docs/section-f.md}. */
class SectionFTest {

    private static final Path CLONE = Path.of("..").toAbsolutePath().normalize();
    private static final Path TABLE = CLONE.resolve("docs/section-f.md");
    private static final Pattern ROW = Pattern.compile("\\| F-(\\d{3}) \\| ([^|]+) \\| (●|≠) \\| ([^|]+) \\|");
    private static final Pattern NAMED = Pattern.compile("`(\\w+)\\.(\\w+)`");
    private static final Pattern DECISION = Pattern.compile("\\]\\((adr/[^)]+)\\)");

    private static final Pattern NUMBERS = Pattern.compile("F-(\\d{3})(?: to F-(\\d{3}))?");

    private record Row(int number, boolean asItSays, String heldBy) {}

    @Test
    @DisplayName("each statement of section F has one row, in order, and what is otherwise on purpose has its decision")
    void shouldHaveARowForEach() throws IOException {
        // when
        List<Row> rows = rows();

        // then
        assertThat(rows)
                .extracting(Row::number)
                .containsExactlyElementsOf(
                        IntStream.rangeClosed(259, 305).boxed().toList());
        assertThat(rows.stream().filter(row -> !row.asItSays()))
                .allSatisfy(row -> assertThat(DECISION.matcher(row.heldBy()).results())
                        .as("F-" + row.number())
                        .isNotEmpty());
    }

    @Test
    @DisplayName("each test that the table of section F names is there and says so by its number, and each decision is")
    void shouldNameWhatIsThere() throws IOException {
        // given
        Map<String, Path> tests = tests();
        List<String> missing = new ArrayList<>();

        // when
        for (Row row : rows()) {
            Matcher named = NAMED.matcher(row.heldBy());
            assertThat(named.find()).as("F-%d names a test", row.number()).isTrue();
            do {
                Path file = tests.get(named.group(1));
                if (file == null
                        || !numbers(Files.readString(file), named.group(2)).contains(row.number())) {
                    missing.add("F-" + row.number() + " " + named.group());
                }
            } while (named.find());
            DECISION.matcher(row.heldBy())
                    .results()
                    .filter(decision -> !Files.exists(TABLE.resolveSibling(decision.group(1))))
                    .forEach(decision -> missing.add("F-" + row.number() + " " + decision.group(1)));
        }

        // then
        assertThat(missing).isEmpty();
    }

    /** The statements that a test says it holds, in its display name; none if there is no such test. */
    private static Set<Integer> numbers(String source, String test) {
        int method = source.indexOf(" void " + test + "(");
        int begin = source.lastIndexOf("\n\n", Math.max(method, 0));
        int name = source.indexOf("@DisplayName(", Math.max(begin, 0));
        return method < 0 || name < 0 || name > method
                ? Set.of()
                : NUMBERS.matcher(source.substring(name, method))
                        .results()
                        .flatMapToInt(found -> IntStream.rangeClosed(
                                Integer.parseInt(found.group(1)),
                                Integer.parseInt(found.group(2) == null ? found.group(1) : found.group(2))))
                        .boxed()
                        .collect(Collectors.toSet());
    }

    /** The files of all modules' tests, by the names of their classes. */
    private static Map<String, Path> tests() throws IOException {
        Map<String, Path> tests = new HashMap<>();
        try (Stream<Path> modules = Files.list(CLONE)) {
            for (Path folder : modules.map(module -> module.resolve("src/test/java"))
                    .filter(Files::isDirectory)
                    .toList()) {
                try (Stream<Path> files = Files.walk(folder)) {
                    files.filter(file -> file.toString().endsWith(".java"))
                            .forEach(file -> tests.putIfAbsent(
                                    file.getFileName().toString().replace(".java", ""), file));
                }
            }
        }
        return tests;
    }

    private static List<Row> rows() throws IOException {
        List<String> lines = Files.readAllLines(TABLE).stream()
                .filter(line -> line.startsWith("| F-"))
                .toList();
        return lines.stream()
                .map(line -> {
                    Matcher row = ROW.matcher(line);
                    assertThat(row.matches()).as(line).isTrue();
                    return new Row(Integer.parseInt(row.group(1)), row.group(3).equals("●"), row.group(4));
                })
                .toList();
    }
}
