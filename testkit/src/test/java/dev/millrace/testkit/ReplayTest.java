package dev.millrace.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

/** The journal is one that {@code ./millrace events TASK --json} has printed, of a task with an approved tool call. */
@ExtendWith(MillraceTest.class)
class ReplayTest {

    private static final Path JOURNAL = Path.of("src/test/resources/journals/parsed.jsonl");

    private static final String AGENT = """
        ---
        description: Reads JSON.
        tools: [json_parse]
        approval:
          json_parse: always
        ---
        You read JSON.
        """;

    @Test
    @DisplayName("the machine of today decides what the journal of a running Millrace says")
    void shouldDecideTheSame(TestMillrace millrace) {
        millrace.agent("reader", AGENT);

        TestReplay replay = millrace.replay(JOURNAL);

        assertThat(replay).decidesTheSame();
        assertThat(replay.steps()).hasSizeGreaterThan(3);
        assertThat(replay.steps().getLast().toState()).isEqualTo("completed");
        assertThat(millrace.journal()).isEmpty();
    }

    @Test
    @DisplayName("where an agent may do less today, that is told with expected and found, and no trace is left")
    void shouldTellWhereItParts(TestMillrace millrace) {
        // given
        millrace.agent("reader", AGENT.replace("approval:", "limits: { iterations: 1 }\napproval:"));

        // when
        TestReplay replay = millrace.replay(JOURNAL);

        // then
        assertThat(replay.partings())
                .anySatisfy(parting -> assertThat(parting)
                        .matches("step \\d+: .*expected .*, found .*")
                        .contains("axIterations"));
        assertThatThrownBy(() -> assertThat(replay).decidesTheSame())
                .hasMessageContaining("Expected the decisions of the journal of task " + replay.taskId());
        millrace.agent("reader", AGENT);
        assertThat(millrace.replay(JOURNAL)).decidesTheSame();
    }

    @Test
    @DisplayName("a journal from which an event has been taken, or that says something else, parts there")
    void shouldTellWhatIsMissing(TestMillrace millrace, @TempDir Path folder) throws IOException {
        millrace.agent("reader", AGENT);
        List<String> lines = Files.readAllLines(JOURNAL);

        Path without = Files.write(
                folder.resolve("without.jsonl"),
                lines.stream()
                        .filter(line -> !line.contains("\"APPROVAL_REQUESTED\""))
                        .toList());
        assertThat(millrace.replay(without).partings()).isNotEmpty();

        Path other = Files.write(
                folder.resolve("other.jsonl"),
                lines.stream()
                        .map(line -> line.contains("\"TASK_COMPLETED\"") ? line.replace("Ada", "Bob") : line)
                        .toList());
        assertThat(millrace.replay(other).partings())
                .singleElement()
                .asString()
                .contains("TASK_COMPLETED", "Ada", "Bob", "expected", "found");
    }

    @Test
    @DisplayName("what is no journal of a task from its start on is refused, with expected and found")
    void shouldRefuseWhatIsNoJournal(TestMillrace millrace, @TempDir Path folder) throws IOException {
        assertThatThrownBy(() -> millrace.replay(JOURNAL)).hasMessageContaining("expected the agent reader");
        millrace.agent("reader", AGENT);
        List<String> lines = Files.readAllLines(JOURNAL);

        Path array = Files.writeString(folder.resolve("array.json"), "[" + String.join(",", lines) + "]");
        assertThat(millrace.replay(array)).decidesTheSame();
        Path page = Files.writeString(
                folder.resolve("page.json"), "{\"events\": [" + String.join(",", lines) + "], \"next\": null}");
        assertThat(millrace.replay(page)).decidesTheSame();

        Path more = Files.writeString(folder.resolve("more.json"), "{\"events\": [], \"next\": \"0:17\"}");
        assertThatThrownBy(() -> millrace.replay(more)).hasMessageContaining("found a page with more behind it");
        Path late = Files.write(folder.resolve("late.jsonl"), lines.subList(1, lines.size()));
        assertThatThrownBy(() -> millrace.replay(late))
                .hasMessageContaining("expected the event that started the task");
        Path text = Files.writeString(folder.resolve("text.json"), "no JSON");
        assertThatThrownBy(() -> millrace.replay(text)).hasMessageContaining("expected events as JSON");
        Path empty = Files.writeString(folder.resolve("empty.json"), "");
        assertThatThrownBy(() -> millrace.replay(empty)).hasMessageContaining("expected events of a task");
    }
}
