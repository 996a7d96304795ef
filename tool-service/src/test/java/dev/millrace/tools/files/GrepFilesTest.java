package dev.millrace.tools.files;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.requests.Reply;
import dev.millrace.tool.api.ToolException;
import dev.millrace.tools.CallableTool;
import dev.millrace.tools.Calls;
import dev.millrace.tools.ToolExecutor;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class GrepFilesTest {

    @TempDir
    Path root = Path.of("");

    private CallableTool grep = Calls.tool(new SearchTools(any -> new Workspace(root)), "grep_files");

    @BeforeEach
    void makeTool() {
        grep = Calls.tool(new SearchTools(any -> new Workspace(root)), "grep_files");
    }

    @Test
    void shouldTellWhereAPatternIs() throws IOException, ToolException, InterruptedException {
        // given
        Files.createDirectory(root.resolve("docs"));
        Files.writeString(root.resolve("docs/a.md"), "one\r\ntwo TODO\n");
        Files.writeString(root.resolve("b.txt"), "todo: three");
        // when
        Map<String, Object> result = Calls.result(grep, Map.of("pattern", "(?i)todo"));
        // then
        assertThat(Calls.objects(result, "matches"))
                .containsExactly(
                        Map.of("path", "b.txt", "line", 1, "text", "todo: three"),
                        Map.of("path", "docs/a.md", "line", 2, "text", "two TODO"));
        assertThat(result).containsEntry("truncated", false);
    }

    @Test
    void shouldLookOnlyWhereItIsTold() throws IOException, ToolException, InterruptedException {
        // given
        Files.createDirectory(root.resolve("docs"));
        Files.writeString(root.resolve("docs/a.md"), "x");
        Files.writeString(root.resolve("docs/a.txt"), "x");
        Files.writeString(root.resolve("b.md"), "x");
        // when
        Map<String, Object> inFolder = Calls.result(grep, Map.of("pattern", "x", "path", "docs", "include", "*.md"));
        Map<String, Object> inFile = Calls.result(grep, Map.of("pattern", "x", "path", "b.md"));
        // then
        assertThat(Calls.objects(inFolder, "matches"))
                .extracting(match -> match.get("path"))
                .containsExactly("docs/a.md");
        assertThat(Calls.objects(inFile, "matches"))
                .extracting(match -> match.get("path"))
                .containsExactly("b.md");
    }

    @Test
    void shouldStopAtTheLimit() throws IOException, ToolException, InterruptedException {
        // given
        Files.writeString(
                root.resolve("exact.txt"), "x\n".repeat(SearchTools.MAX_MATCHES).strip());
        Map<String, Object> exact = Calls.result(grep, Map.of("pattern", "x"));
        Files.writeString(root.resolve("more.txt"), "x");
        // when
        Map<String, Object> more = Calls.result(grep, Map.of("pattern", "x"));
        // then
        assertThat(exact).containsEntry("truncated", false);
        assertThat(Calls.objects(exact, "matches")).hasSize(SearchTools.MAX_MATCHES);
        assertThat(more).containsEntry("truncated", true);
        assertThat(Calls.objects(more, "matches")).hasSize(SearchTools.MAX_MATCHES);
    }

    @Test
    void shouldPassOverBinaryFilesAndCutLongLines() throws IOException, ToolException, InterruptedException {
        // given
        Files.write(root.resolve("binary"), new byte[] {'x', 0, 'x'});
        Files.writeString(root.resolve("long.txt"), "x".repeat(100_000));
        // when
        List<Map<String, Object>> matches = Calls.objects(Calls.result(grep, Map.of("pattern", "x")), "matches");
        // then
        assertThat(matches).hasSize(1);
        assertThat(String.valueOf(matches.getFirst().get("text"))).hasSizeLessThan(600);
    }

    @Test
    void shouldRefuseWhatIsNoPattern() {
        assertThat(Calls.refusal(grep, Map.of("pattern", "(")).code()).isEqualTo("bad_pattern");
        assertThat(Calls.refusal(grep, Map.of("pattern", "x{99999999999}")).code())
                .isEqualTo("bad_pattern");
        assertThat(Calls.refusal(grep, Map.of("pattern", "x", "include", "[")).code())
                .isEqualTo("bad_pattern");
    }

    @ParameterizedTest
    @ValueSource(strings = {"^(a+)+b$", "(a|a)*b", "(.*)(.*)(.*)(.*)(.*)(.*)(.*)(.*)b", "(?:|){100}\\z", "(a?){100}b"})
    void shouldTakeNoLongerForATrap(String trap) throws IOException, ToolException, InterruptedException {
        // given
        Files.writeString(root.resolve("trap.txt"), "a".repeat(20_000) + "!");
        long start = System.nanoTime();
        // when
        Calls.result(grep, Map.of("pattern", trap));
        // then
        assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(Duration.ofSeconds(30));
    }

    @Test
    void shouldEndASearchThatTakesTooLong() throws IOException, InterruptedException {
        // given: as much work as a pattern can make
        Files.writeString(root.resolve("long.txt"), "a".repeat(4_000_000));
        ToolExecutor executor = Calls.executor(grep);
        long start = System.nanoTime();
        // when
        Reply reply =
                executor.handle(Calls.request("grep_files", Map.of("pattern", "(?:\\pL{900})+".repeat(11) + "b"), 300));
        // then
        assertThat(reply)
                .isInstanceOfSatisfying(
                        Reply.Failed.class,
                        failed -> assertThat(failed.error()).isEqualTo("Tool execution timed out after 300ms"));
        assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(Duration.ofSeconds(30));
    }

    @ParameterizedTest
    @ValueSource(strings = {"(a)\\1", "a(?=b)", "(?<!a)b", "a{1001}", "((a{100}){100}){100}"})
    void shouldSayThatRe2DoesNotKnowAPattern(String pattern) {
        // when
        ToolException no = Calls.refusal(grep, Map.of("pattern", pattern));
        // then
        assertThat(no.code()).isEqualTo("bad_pattern");
        assertThat(no).hasMessageContaining("as RE2 has them");
    }

    @Test
    void shouldSurviveALongLine() throws IOException, ToolException, InterruptedException {
        // given
        Files.writeString(root.resolve("deep.txt"), "xy".repeat(200_000));
        // when
        Map<String, Object> result = Calls.result(grep, Map.of("pattern", "^(x|y)*$"));
        // then
        assertThat(Calls.objects(result, "matches")).hasSize(1);
    }
}
