package dev.millrace.agent.thinker;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.agent.AgentPin;
import dev.millrace.agent.Agents;
import dev.millrace.agent.MemoryIndex;
import dev.millrace.agent.ToolCatalogue;
import dev.millrace.agent.ToolRouting;
import dev.millrace.agent.approval.Approvals;
import dev.millrace.agent.core.TranscriptEntry;
import dev.millrace.agent.files.BuiltInAgents;
import dev.millrace.agent.topology.OutstandingCall;
import dev.millrace.llm.ChatMessage;
import dev.millrace.schemas.MalformedEventException;
import dev.millrace.schemas.MemoryDocument;
import dev.millrace.schemas.ToolDefinition;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

class PromptsTest {

    private final MemoryIndex memory = new MemoryIndex(16_384);

    @Test
    @DisplayName("F-077, F-078: the index of memory is the first user message of the first iteration, and of no other")
    void shouldShowMemoryOnTheFirstIterationOnly() throws MalformedEventException {
        remember();

        assertThat(messages(1, "memory_read"))
                .hasSize(3)
                .element(1)
                .isInstanceOfSatisfying(
                        ChatMessage.UserMessage.class,
                        index ->
                                assertThat(index.text()).startsWith("[Available memory]\n- facts/user.md (3B): Ada\n"));
        assertThat(messages(1, "memory_read").getFirst())
                .isEqualTo(messages(2, "memory_read").getFirst());
        assertThat(messages(2, "memory_read")).hasSize(2);
    }

    @Test
    @DisplayName("F-079: no index without documents, and none for an agent that could not read them")
    void shouldShowNoIndexWhereItIsOfNoUse() throws MalformedEventException {
        assertThat(messages(1, "memory_read")).hasSize(2);

        remember();

        assertThat(messages(1, "read_file")).hasSize(2);
    }

    private void remember() throws MalformedEventException {
        memory.of("default")
                .take(
                        "facts/user.md",
                        new MemoryDocument(
                                        "default",
                                        "facts/user.md",
                                        1,
                                        "Ada",
                                        "Ada",
                                        3,
                                        "2026-11-21T12:00:00Z",
                                        "people",
                                        "c")
                                .toJson());
    }

    private List<ChatMessage> messages(int iteration, String tool) {
        Agents agents = BuiltInAgents.agents();
        ToolDefinition only = new ToolDefinition(
                tool, "reads", Map.of("type", "object"), "tool", 1_000, ToolDefinition.SideEffects.READ_ONLY);
        ToolCatalogue catalogue = new ToolCatalogue() {
            @Override
            public @Nullable ToolDefinition find(String toolName) {
                return only;
            }

            @Override
            public List<ToolDefinition> all() {
                return List.of(only);
            }
        };
        return new Prompts(agents, new ToolRouting(agents, catalogue, new Approvals(Duration.ofHours(1))), memory)
                .request(
                        new OutstandingCall(
                                "t1/1",
                                "default",
                                "t1",
                                null,
                                "t1",
                                "t1",
                                null,
                                AgentPin.NONE,
                                100,
                                iteration,
                                1,
                                OutstandingCall.Shown.ALL,
                                0,
                                0),
                        List.of(new TranscriptEntry.UserText("hello")))
                .messages();
    }
}
