package dev.millrace.agent.thinker;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.agent.core.TranscriptEntry;
import dev.millrace.agent.core.TranscriptEntry.AssistantTurn;
import dev.millrace.agent.core.TranscriptEntry.Call;
import dev.millrace.agent.core.TranscriptEntry.ToolResult;
import dev.millrace.agent.core.TranscriptEntry.UserText;
import java.util.List;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

class RepairTest {

    private static final AssistantTurn TURN =
            new AssistantTurn(null, List.of(new Call("a", "search", "{}"), new Call("b", "fetch", "{}")));
    private static final ToolResult A = new ToolResult("a", "search", "1", false);
    private static final ToolResult B = new ToolResult("b", "fetch", "2", false);
    private static final UserText HI = new UserText("Hi");

    private static ToolResult cancelled(String toolCallId, String toolName) {
        return new ToolResult(toolCallId, toolName, "{\"cancelled\":true,\"reason\":\"process restarted\"}", true);
    }

    @Test
    void shouldLeaveWhatIsWholeAsItIs() {
        List<TranscriptEntry> whole = List.of(HI, TURN, B, A, HI);

        assertThat(Repair.closed(whole)).isEqualTo(whole);
    }

    @Test
    @DisplayName("F-180: a tool call without a result gets one that says so, before anything else is said")
    void shouldCloseOpenCalls() {
        assertThat(Repair.closed(List.of(HI, TURN, A, HI))).containsExactly(HI, TURN, A, cancelled("b", "fetch"), HI);
        assertThat(Repair.closed(List.of(HI, TURN)))
                .containsExactly(HI, TURN, cancelled("a", "search"), cancelled("b", "fetch"));
    }

    @Test
    void shouldDropResultsOfNoCall() {
        assertThat(Repair.closed(List.of(B, HI, TURN, A, A, B, HI, B))).containsExactly(HI, TURN, A, B, HI);
    }
}
