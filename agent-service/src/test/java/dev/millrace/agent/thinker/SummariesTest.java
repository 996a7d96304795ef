package dev.millrace.agent.thinker;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.agent.AgentPin;
import dev.millrace.agent.core.TokenEstimate;
import dev.millrace.agent.core.TranscriptEntry;
import dev.millrace.agent.core.TranscriptEntry.AssistantTurn;
import dev.millrace.agent.core.TranscriptEntry.Call;
import dev.millrace.agent.core.TranscriptEntry.Summary;
import dev.millrace.agent.core.TranscriptEntry.ToolResult;
import dev.millrace.agent.core.TranscriptEntry.UserText;
import dev.millrace.agent.topology.OutstandingCall;
import dev.millrace.llm.ChatMessage;
import dev.millrace.llm.ModelRequest;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

class SummariesTest {

    private static final OutstandingCall CALL = new OutstandingCall(
            "t1/3/summary-4-00000000",
            "default",
            "t1",
            null,
            "m1",
            "e1",
            null,
            AgentPin.NONE,
            100,
            3,
            4,
            new OutstandingCall.Shown(0, 0, true),
            0,
            0);

    private static String asked(List<TranscriptEntry> transcript, int window) {
        ModelRequest request = Summaries.request(CALL, transcript, "fast", window);
        assertThat(request.tools()).isEmpty();
        assertThat(request.model()).isEqualTo("fast");
        assertThat(request.messages()).hasSize(2).first().isInstanceOf(ChatMessage.SystemMessage.class);
        return ((ChatMessage.UserMessage) request.messages().getLast()).text();
    }

    @Test
    @DisplayName("F-179: the older part is written out with all that was said, called and answered")
    void shouldWriteOutTheConversation() {
        String text = asked(
                List.of(
                        new Summary("earlier", "the task"),
                        new UserText("Which is larger?"),
                        new AssistantTurn("Let me see", List.of(new Call("a", "list_files", "{\"path\":\".\"}"))),
                        new ToolResult("a", "list_files", "[\"notes.txt\"]", false)),
                100_000);

        assertThat(text)
                .contains(
                        "earlier",
                        "the task",
                        "User: Which is larger?",
                        "Assistant: Let me see",
                        "Assistant calls list_files {\"path\":\".\"}",
                        "Result of list_files: [\"notes.txt\"]");
    }

    @Test
    @DisplayName("F-179: a part that is too long for one request is shortened, long texts first")
    void shouldFitIntoTheWindow() {
        List<TranscriptEntry> transcript = new ArrayList<>();
        transcript.add(new UserText("The task"));
        for (int i = 0; i < 10; i++) {
            transcript.add(new AssistantTurn(null, List.of(new Call("c" + i, "read", "{}"))));
            transcript.add(new ToolResult("c" + i, "read", "x".repeat(20_000), false));
        }

        String text = asked(transcript, 10_000);

        assertThat(TokenEstimate.of(text)).isLessThan(6_200);
        assertThat(text).contains("The task", "characters left out").doesNotContain("The beginning is left out");
        assertThat(asked(transcript, 500)).contains("The beginning is left out");
    }

    @Test
    @DisplayName("F-179: the last thing that was said to the task is carried from summary to summary")
    void shouldCarryTheRequest() {
        assertThat(Summaries.request(List.of(new UserText("one"), new UserText("two"))))
                .isEqualTo("two");
        assertThat(Summaries.request(List.of(new Summary("s", "one"), new AssistantTurn("hm", List.of()))))
                .isEqualTo("one");
        assertThat(Summaries.request(List.of())).isNull();
    }
}
