package dev.millrace.standalone.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.millrace.schemas.Json;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

class AcpStoryTest {

    private final List<AcpUpdate> told = new ArrayList<>();
    private final AcpStory story = new AcpStory(true, false, told::add);

    @Test
    @DisplayName("what was said of a reply is not said again with it, and what is missing is")
    void shouldSayRepliesOnce() {
        story.take(piece("stream.text", 1, "Hel"));
        story.take(reply("Hello"));
        story.take(completed("Hello"));

        assertThat(words()).containsExactly("agent_message_chunk c1/1 Hel", "agent_message_chunk c1/1 lo");
        assertThat(story.rest()).isEqualTo(new AcpStory.Rest.Answered("stop"));
    }

    @Test
    @DisplayName("words that are withdrawn stand there, so the editor is told that they do not count, and gets the new"
            + " ones as a message of its own")
    void shouldSayWhatDoesNotCount() {
        story.take(piece("stream.text", 1, "Wrong"));
        story.take(piece("stream.restart", 2, null));
        story.take(piece("stream.text", 1, "too late"));
        story.take(piece("stream.text", 2, "Right"));
        story.take(reply("Right"));

        assertThat(words())
                .satisfiesExactly(
                        one -> assertThat(one).isEqualTo("agent_message_chunk c1/1 Wrong"),
                        one -> assertThat(one)
                                .startsWith("agent_message_chunk c1/1")
                                .contains("does not count"),
                        one -> assertThat(one).isEqualTo("agent_message_chunk c1/2 Right"));
    }

    @Test
    @DisplayName(
            "a reply of which pieces were lost is told whole, and one that another call gave up late changes nothing")
    void shouldTrustTheReply() {
        story.take(piece("stream.text", 1, "Hlo"));
        story.take(fact("MODEL_CALL_ABANDONED", Map.of("callId", "c0", "code", "stale")));
        story.take(reply("Hello"));

        assertThat(words())
                .hasSize(3)
                .startsWith("agent_message_chunk c1/1 Hlo")
                .endsWith("agent_message_chunk c1/2 Hello");
    }

    @Test
    @DisplayName("a call that waits for a decision is told before it runs; a rejected one has failed, with who said so")
    void shouldTellToolCalls() {
        Map<String, Object> call =
                Map.of("callId", "t1", "toolCallId", "x", "toolName", "write_file", "params", Map.of());
        story.take(fact("APPROVAL_REQUESTED", call));
        assertThat(story.undecided()).containsOnlyKeys("t1");
        story.take(fact("APPROVAL_DECIDED", Map.of("callId", "t1", "decision", "reject", "decidedBy", "ada")));

        assertThat(story.undecided()).isEmpty();
        assertThat(told)
                .satisfiesExactly(
                        one -> {
                            assertThat(one.sessionUpdate()).isEqualTo("tool_call");
                            assertThat(((AcpUpdate.ToolCall) one).status()).isEqualTo("pending");
                            assertThat(((AcpUpdate.ToolCall) one).kind()).isEqualTo("edit");
                        },
                        one -> assertThat(Json.writeText(one))
                                .contains("tool_call_update", "failed", "rejected by ada"));
    }

    @Test
    @DisplayName("a question rests the task until somebody says something, which an editor that did not say it is told")
    void shouldRestWithAQuestion() {
        story.take(fact("TASK_SUSPENDED", Map.of("question", "Which colour?")));
        assertThat(story.rest()).isEqualTo(new AcpStory.Rest.Asked("Which colour?"));

        story.take(fact("MESSAGE_RECEIVED", Map.of("text", "blue")));
        assertThat(story.rest()).isNull();
        assertThat(words()).last().isEqualTo("user_message_chunk MESSAGE_RECEIVED blue");
    }

    private List<String> words() {
        return told.stream()
                .map(AcpUpdate.Chunk.class::cast)
                .map(one -> one.sessionUpdate() + " " + one.messageId() + " "
                        + one.content().text())
                .toList();
    }

    private static JsonNode piece(String type, int attempt, @Nullable String delta) {
        Map<String, @Nullable Object> piece = new LinkedHashMap<>(Map.of("type", type, "callId", "c1"));
        piece.put("attempt", attempt);
        piece.put("delta", delta);
        return Json.MAPPER.valueToTree(piece);
    }

    private static JsonNode reply(String text) {
        return fact(
                "REASON_DONE",
                Map.of("callId", "c1", "response", text, "toolCalls", List.of(), "finishReason", "stop"));
    }

    private static JsonNode completed(String text) {
        return fact(
                "TASK_COMPLETED",
                Map.of("result", Map.of("taskId", "t", "input", "x", "iterations", 1, "response", text)));
    }

    private static JsonNode fact(String type, Map<String, ?> payload) {
        return Json.MAPPER.valueToTree(Map.of("id", type, "type", type, "timestamp", 1, "payload", payload));
    }
}
