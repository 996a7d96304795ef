package dev.millrace.agent.topology;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.agent.core.TranscriptEntry;
import dev.millrace.agent.core.TranscriptEntry.AssistantTurn;
import dev.millrace.agent.core.TranscriptEntry.Call;
import dev.millrace.agent.core.TranscriptEntry.ToolResult;
import dev.millrace.agent.core.TranscriptEntry.UserText;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("F-098: what a task did, for its reflection")
class TaskStoryTest {

    @Test
    @DisplayName("is told in order, between the input and the answer")
    void shouldTellWhatWasDone() {
        List<TranscriptEntry> transcript = List.of(
                new UserText("Where is the gate?"),
                new AssistantTurn("I look.", List.of(new Call("p1", "grep_files", "{\"pattern\":\"gate\"}"))),
                new ToolResult("p1", "grep_files", "no such folder", true),
                new UserText("In src"),
                new AssistantTurn(null, List.of(new Call("p2", "grep_files", "{}"))),
                new ToolResult("p2", "grep_files", "[]", false),
                new AssistantTurn("There is none.", List.of()));

        assertThat(TaskStory.of(1, 6, transcript::get)).isEqualTo("""
                        Assistant: I look.
                        Assistant calls grep_files {"pattern":"gate"}
                        grep_files failed: no such folder
                        User: In src
                        Assistant calls grep_files {}
                        grep_files: []""");
        assertThat(TaskStory.of(1, 1, transcript::get)).isNull();
        assertThat(TaskStory.of(1, 0, transcript::get)).isNull();
    }

    @Test
    @DisplayName("is bounded: of much the newest, of each entry its beginning; what is gone is passed over")
    void shouldBeBounded() {
        List<@Nullable TranscriptEntry> transcript = new ArrayList<>();
        for (int i = 0; i < 100; i++) {
            transcript.add(new ToolResult("p", "read", i + " " + "x".repeat(5_000), false));
        }
        transcript.add(null);

        String story = String.valueOf(TaskStory.of(0, 101, transcript::get));

        assertThat(story)
                .startsWith("… (86 entries before these are left out)\nread: 86 x")
                .contains("read: 99 x")
                .hasSizeLessThan(TaskStory.MAX_CHARS + 100);
    }
}
