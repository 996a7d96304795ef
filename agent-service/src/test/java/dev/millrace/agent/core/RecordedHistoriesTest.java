package dev.millrace.agent.core;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Histories that a released version of the machine has written, as files: later versions must make the same of them. They
 * are never rewritten. A new {@link Scenario} gets its file by {@code -Dmillrace.histories.record=true}, which leaves
 * existing ones alone.
 */
class RecordedHistoriesTest {

    private static final Path FOLDER = Path.of("src/test/resources/histories");
    private static final String VERSION = "v1";

    static List<Path> files() throws IOException {
        try (Stream<Path> files = Files.list(FOLDER)) {
            return files.filter(file -> file.toString().endsWith(".jsonl"))
                    .sorted()
                    .toList();
        }
    }

    @BeforeAll
    static void record() throws IOException {
        if (Boolean.getBoolean("millrace.histories.record")) {
            Files.createDirectories(FOLDER);
            for (Scenario scenario : Scenario.ALL) {
                if (Files.notExists(fileOf(scenario))) {
                    Files.writeString(
                            fileOf(scenario),
                            RecordedHistory.of(VERSION + "-" + scenario.name(), scenario)
                                    .text());
                }
            }
        }
    }

    private static Path fileOf(Scenario scenario) {
        return FOLDER.resolve(VERSION + "-" + scenario.name() + ".jsonl");
    }

    @ParameterizedTest
    @MethodSource("files")
    @DisplayName("F-124, F-125: a recorded history ends today as it did when it was recorded, and every time")
    void shouldReplay(Path file) throws IOException {
        // given
        String text = Files.readString(file);
        RecordedHistory recorded = RecordedHistory.parse(text);

        // when
        RecordedHistory once = recorded.replay();
        RecordedHistory twice = recorded.replay();

        // then
        assertThat(once.text()).isEqualTo(text);
        assertThat(twice).isEqualTo(once);
    }

    @Test
    void shouldHaveFileForEveryScenario() {
        assertThat(Scenario.ALL)
                .as("-Dmillrace.histories.record=true writes what is missing")
                .allSatisfy(scenario -> assertThat(fileOf(scenario)).exists());
    }
}
