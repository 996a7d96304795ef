package dev.millrace.schemas;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class SpellingTest {

    private static final List<String> KNOWN = List.of("agent", "taskType", "sessionId", "id", "ttl");

    @ParameterizedTest
    @CsvSource({
        "agnet, agent",
        "Agent, agent",
        "task_type, taskType",
        "tasktpye, taskType",
        "session, sessionId",
        "sesionID, sessionId",
        "my-agent, agent"
    })
    void shouldFindWhatWasMeant(String written, String meant) {
        assertThat(Spelling.nearest(written, KNOWN)).contains(meant);
    }

    @ParameterizedTest
    @CsvSource({"prompt", "taskId", "x", "''", "%$!"})
    void shouldNotGuess(String written) {
        assertThat(Spelling.nearest(written, KNOWN)).isEmpty();
    }

    @Test
    void shouldCompareSoManyNamesOfSuchALengthAndNoMore() {
        // given
        List<String> many = IntStream.range(0, 2_000)
                .mapToObj(i -> "n" + i + "x".repeat(10))
                .toList();
        // then
        assertThat(Spelling.nearest("n999" + "x".repeat(10), many)).contains("n999" + "x".repeat(10));
        assertThat(Spelling.nearest("qqqqqqqqqqqq", many)).isEmpty();
        assertThat(Spelling.nearest("a".repeat(1_000_000), List.of("a".repeat(1_000_000), "b")))
                .isPresent();
    }
}
