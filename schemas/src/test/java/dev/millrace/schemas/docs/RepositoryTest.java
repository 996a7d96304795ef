package dev.millrace.schemas.docs;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Predicate;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** What holds for the repository as a whole. */
class RepositoryTest {

    private static final Pattern NUMBER = Pattern.compile("\\b(?:F-\\d{3}|X-\\d{2})\\b");
    /** A section of notes that the first authors worked with. */
    private static final Pattern ELSEWHERE = Pattern.compile("\\b(?:SPEC|DESIGN|STYLE)(?:\\.md)?`? (?:§|[A-G]\\.?\\d)");

    private static final Pattern ROW = Pattern.compile("(?m)^\\| (F-\\d{3}|X-\\d{2}) \\| [^|]+ \\| [^|]*\\|$");
    private static final int STATEMENTS = 305;
    private static final Path ROOT = root();
    private static final Path DOCUMENT = ROOT.resolve("docs").resolve("specification.md");
    /** Of one section, statement by statement: SectionFTest holds it. */
    private static final Path TABLE = ROOT.resolve("docs").resolve("section-f.md");

    private static final Pattern TEXT =
            Pattern.compile(".*\\.(?:java|json|jsonl|md|properties|txt|yaml|yml|xml|js|py|sh)");
    /** Of the script that breaks promises: a folder, and a change of a file there. */
    private static final Pattern FOLDER = Pattern.compile("String ([A-Z]+) = \"([^\"]+/)\";");

    private static final Pattern CHANGE =
            Pattern.compile("change\\(\\s*([A-Z]+) \\+ \"([^\"]+)\",\\s*\"((?:[^\"\\\\]|\\\\.)*)\",");
    /** Folders with what is built, fetched or kept by tools. */
    private static final Set<String> NOT_OURS = Set.of("target", "node_modules", "data", "workspace");

    @Test
    @DisplayName("each statement stands in docs/specification.md once, from the first to the last")
    void shouldHaveEachNumberOnce() throws IOException {
        List<String> rows = rows();

        assertThat(rows)
                .doesNotHaveDuplicates()
                .containsAll(IntStream.rangeClosed(1, STATEMENTS)
                        .mapToObj("F-%03d"::formatted)
                        .toList());
        assertThat(rows).filteredOn(row -> row.startsWith("F-")).hasSize(STATEMENTS);
    }

    @Test
    @DisplayName("each number that a test names stands in docs/specification.md")
    void shouldKnowTheNumbersOfTests() throws IOException {
        Map<String, Path> named = found(NUMBER, path -> path.toString().contains("/src/test/"));

        assertThat(named).hasSizeGreaterThan(100);
        assertThat(rows()).containsAll(named.keySet());
    }

    @Test
    @DisplayName(
            "no number stands in main code or in another document, and no reference to what is not in the repository")
    void shouldBeTheOnlyPlaceBesideTests() throws IOException {
        assertThat(found(
                        Pattern.compile(NUMBER + "|" + ELSEWHERE),
                        file -> !file.equals(DOCUMENT) && !file.equals(TABLE) && (isMain(file) || isDocument(file))))
                .isEmpty();
    }

    private static boolean isMain(Path file) {
        return file.toString().contains("/src/main/");
    }

    private static boolean isDocument(Path file) {
        return file.toString().endsWith(".md") && !file.toString().contains("/src/test/");
    }

    @Test
    @DisplayName("no two classes of the product have one name, whatever their packages are called")
    void shouldGiveNoNameTwice() throws IOException {
        assertThat(files())
                .filteredOn(file -> isMain(file) && file.toString().endsWith(".java"))
                .extracting(file -> String.valueOf(file.getFileName()))
                .filteredOn(name -> !name.equals("package-info.java"))
                .hasSizeGreaterThan(500)
                .doesNotHaveDuplicates();
    }

    @Test
    @DisplayName("comments keep within 120 columns, which the formatter does not see to")
    void shouldKeepCommentsWithinTheLine() throws IOException {
        Pattern comment = Pattern.compile("(?m)^(?= *(?:\\*|//|/\\*)).{121,}$");

        assertThat(found(comment, file -> isMain(file) && file.toString().endsWith(".java")))
                .isEmpty();
    }

    @Test
    @DisplayName("what breaks the promises of the README on purpose finds its places in the code")
    void shouldFitTheBreaks() throws IOException {
        // given
        String script = Files.readString(ROOT.resolve("scripts").resolve("BreakPromises.java"));
        Map<String, String> folders = FOLDER.matcher(script)
                .results()
                .collect(Collectors.toMap(found -> found.group(1), found -> found.group(2)));
        List<MatchResult> changes = CHANGE.matcher(script).results().toList();

        // when
        List<String> unfit = new ArrayList<>();
        for (MatchResult change : changes) {
            String file = folders.get(change.group(1)) + change.group(2);
            String from = change.group(3).translateEscapes();
            String text = Files.readString(ROOT.resolve(file));
            if (!text.contains(from) || text.indexOf(from) != text.lastIndexOf(from)) {
                unfit.add(file + ": " + from);
            }
        }

        // then
        assertThat(changes).hasSize(script.split("[ (]change\\(\\n", -1).length - 1);
        assertThat(changes).hasSizeGreaterThan(20);
        assertThat(unfit).isEmpty();
    }

    private static List<String> rows() throws IOException {
        return ROW.matcher(Files.readString(DOCUMENT))
                .results()
                .map((MatchResult row) -> row.group(1))
                .toList();
    }

    /** What of a pattern stands in files of the repository, with a file for each. */
    private static Map<String, Path> found(Pattern pattern, Predicate<Path> wanted) throws IOException {
        Map<String, Path> found = new TreeMap<>();
        for (Path file : files()) {
            if (wanted.test(file) && TEXT.matcher(file.toString()).matches()) {
                Matcher match = pattern.matcher(Files.readString(file));
                while (match.find()) {
                    found.put(match.group(), ROOT.relativize(file));
                }
            }
        }
        return found;
    }

    private static List<Path> files() throws IOException {
        List<Path> files = new ArrayList<>();
        Files.walkFileTree(ROOT, new SimpleFileVisitor<>() {
            @Override
            public FileVisitResult preVisitDirectory(Path folder, BasicFileAttributes attributes) {
                String name = String.valueOf(folder.getFileName());
                boolean ours = folder.equals(ROOT) || (!NOT_OURS.contains(name) && !name.startsWith("."));
                return ours ? FileVisitResult.CONTINUE : FileVisitResult.SKIP_SUBTREE;
            }

            @Override
            public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) {
                if (attributes.isRegularFile()) {
                    files.add(file);
                }
                return FileVisitResult.CONTINUE;
            }

            @Override
            public FileVisitResult visitFileFailed(Path file, IOException gone) {
                return FileVisitResult.CONTINUE;
            }
        });
        return files;
    }

    private static Path root() {
        Path folder = Path.of("").toAbsolutePath();
        while (!Files.exists(folder.resolve("mvnw"))) {
            folder = Objects.requireNonNull(folder.getParent(), "no folder above this one has an mvnw");
        }
        return folder;
    }
}
