package dev.millrace.agent.thinker;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.llm.ChatMessage;
import dev.millrace.llm.FinishReason;
import dev.millrace.llm.ModelReply;
import dev.millrace.llm.ModelRequest;
import dev.millrace.llm.ToolCallRequest;
import dev.millrace.schemas.JsonObject;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class OutputCheckTest {

    private static final OutputCheck CHECK = new OutputCheck(JsonObject.of(Map.of(
            "type", "object", "required", List.of("total"), "properties", Map.of("total", Map.of("type", "number")))));

    private static ModelReply saying(@Nullable String text) {
        return new ModelReply(text, null, List.of(), FinishReason.STOP, ModelReply.Usage.NONE, "m");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"{\"total\":1}", " {\"total\":1}\n", "```json\n{\"total\":1}\n```", "```\n{\"total\":1}```"})
    void shouldTakeJsonWithOrWithoutFences(String text) {
        assertThat(CHECK.problems(saying(text))).isEmpty();
        assertThat(OutputCheck.bare(saying(text)).text()).isEqualTo("{\"total\":1}");
    }

    @Test
    @Timeout(value = 10, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
    void shouldReadALongAnswerOnce() {
        String blanks = " ".repeat(900_000);

        assertThat(OutputCheck.bare(saying("```" + blanks + "x" + blanks + "y```"))
                        .text())
                .isEqualTo("x" + blanks + "y");
        assertThat(CHECK.problems(saying("```" + blanks + "x" + blanks + "y"))).isNotEmpty();
    }

    @Test
    void shouldLeaveToolCallsAlone() {
        ModelReply calling = new ModelReply(
                "Let me see",
                null,
                List.of(new ToolCallRequest("a", "search", Map.of())),
                FinishReason.TOOL_CALLS,
                ModelReply.Usage.NONE,
                "m");

        assertThat(CHECK.problems(calling)).isEmpty();
        assertThat(OutputCheck.bare(calling)).isEqualTo(calling);
    }

    @Test
    void shouldAskAgainWithWhatIsWrong() {
        ModelRequest request =
                new ModelRequest("c", null, List.of(new ChatMessage.UserMessage("How much?")), List.of());
        ModelReply reply = saying("About ten");

        ModelRequest again = OutputCheck.again(request, reply, CHECK.problems(reply));

        assertThat(again.messages()).startsWith(request.messages().getFirst());
        assertThat(again.messages().get(1)).isEqualTo(new ChatMessage.AssistantMessage("About ten", List.of()));
        assertThat(((ChatMessage.UserMessage) again.messages().getLast()).text())
                .contains("- /: expected JSON", "nothing but a JSON object");
        assertThat(CHECK.problems(saying(null))).isNotEmpty();
    }
}
