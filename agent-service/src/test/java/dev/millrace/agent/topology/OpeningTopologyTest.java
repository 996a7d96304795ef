package dev.millrace.agent.topology;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.agent.core.TranscriptEntry;
import dev.millrace.agent.core.TranscriptEntry.AssistantTurn;
import dev.millrace.agent.core.TranscriptEntry.Image;
import dev.millrace.agent.core.TranscriptEntry.UserText;
import dev.millrace.schemas.Event;
import dev.millrace.schemas.EventSchemas;
import dev.millrace.schemas.KnownEventType;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.kafka.streams.state.KeyValueIterator;
import org.apache.kafka.streams.state.KeyValueStore;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A message may bring along what was said before. */
class OpeningTopologyTest {

    private TestMachine machine;

    @BeforeEach
    @SuppressWarnings("NullAway") // a field of a test
    void start(@TempDir Path stateDir) {
        machine = new TestMachine(stateDir, new AdmissionSettings(5, AdmissionSettings.Policy.QUEUE), 1);
    }

    @AfterEach
    void stop() {
        machine.close();
    }

    @Test
    @DisplayName("history and images are in the transcript, before and with the text")
    void shouldShowTheModelWhatWasSaidBefore() {
        // given
        Map<String, String> image = Map.of("mediaType", "image/png", "data", "aGk=");
        Event message = TestMachine.event("m1", KnownEventType.MESSAGE_RECEIVED)
                .source("user")
                .payload(Map.of(
                        "text",
                        "And this?",
                        "images",
                        List.of(image),
                        "history",
                        List.of(
                                Map.of("role", "system", "text", "Be brief."),
                                Map.of("role", "user", "text", "What is it?", "images", List.of(image)),
                                Map.of("role", "assistant", "text", "A mill."))))
                .build();

        // when
        machine.send(message);

        // then
        Image png = new Image("image/png", "aGk=");
        assertThat(EventSchemas.problems(message)).isEmpty();
        assertThat(transcript())
                .containsExactly(
                        new UserText("<system_message>\nBe brief.\n</system_message>"),
                        new UserText("What is it?", List.of(png)),
                        new AssistantTurn("A mill.", List.of()),
                        new UserText("And this?", List.of(png)));
        assertThat(machine.model.last().transcriptLength()).isEqualTo(4);
    }

    @Test
    void shouldTellTheTextAsTheInput() {
        // given
        machine.send(TestMachine.event("m1", KnownEventType.MESSAGE_RECEIVED)
                .source("user")
                .payload(Map.of("text", "now", "history", List.of(Map.of("role", "user", "text", "before")))));

        // when
        machine.answer("m1");

        // then
        assertThat(machine.journal())
                .filteredOn(event -> event.type() == KnownEventType.TASK_COMPLETED)
                .singleElement()
                .satisfies(event -> assertThat((Map<?, ?>) event.fields().get("result"))
                        .extracting("input")
                        .isEqualTo("now"));
    }

    private List<TranscriptEntry> transcript() {
        KeyValueStore<String, TranscriptEntry> store = machine.rows(TaskStores.TRANSCRIPTS);
        List<TranscriptEntry> entries = new ArrayList<>();
        try (KeyValueIterator<String, TranscriptEntry> all = store.all()) {
            all.forEachRemaining(row -> entries.add(row.value));
        }
        return entries;
    }
}
