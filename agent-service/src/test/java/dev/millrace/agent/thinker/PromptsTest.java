package dev.millrace.agent.thinker;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.agent.AgentPin;
import dev.millrace.agent.Agents;
import dev.millrace.agent.MemoryIndex;
import dev.millrace.agent.Passages;
import dev.millrace.agent.ToolCatalogue;
import dev.millrace.agent.ToolRouting;
import dev.millrace.agent.approval.Approvals;
import dev.millrace.agent.core.TranscriptEntry;
import dev.millrace.agent.files.BuiltInAgents;
import dev.millrace.agent.topology.OutstandingCall;
import dev.millrace.llm.ChatMessage;
import dev.millrace.schemas.JsonObject;
import dev.millrace.schemas.MalformedEventException;
import dev.millrace.schemas.MemoryDocument;
import dev.millrace.schemas.ToolDefinition;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

class PromptsTest {

    private final MemoryIndex memory = new MemoryIndex(16_384);

    @Test
    @DisplayName("F-077, F-078: the index of memory is the first user message, as it was at the first iteration")
    void shouldKeepTheBeginningWhateverIsRemembered() throws MalformedEventException, InterruptedException {
        remember("facts/user.md", "Ada");

        List<ChatMessage> first = messages(1, "memory_read");
        remember("facts/mill.md", "at Linton");
        List<ChatMessage> second = messages(2, "memory_read", new TranscriptEntry.UserText("and now?"));

        assertThat(first)
                .hasSize(3)
                .element(1)
                .isInstanceOfSatisfying(
                        ChatMessage.UserMessage.class,
                        index ->
                                assertThat(index.text()).startsWith("[Available memory]\n- facts/user.md (3B): Ada\n"));
        assertThat(second).hasSize(4).startsWith(first.toArray(ChatMessage[]::new));
        assertThat(messages(1, "memory_read").get(1).toString()).contains("facts/mill.md", "facts/user.md");
    }

    @Test
    @DisplayName("F-078: what a task remembers itself gets no index into a conversation that began without one")
    void shouldKeepABeginningWithoutMemory() throws MalformedEventException, InterruptedException {
        List<ChatMessage> first = messages(1, "memory_read");
        remember("facts/user.md", "Ada");

        assertThat(messages(2, "memory_read", new TranscriptEntry.UserText("and now?")))
                .hasSize(3)
                .startsWith(first.toArray(ChatMessage[]::new));
    }

    @Test
    @DisplayName("F-079: no index without documents, and none for an agent that could not read them")
    void shouldShowNoIndexWhereItIsOfNoUse() throws MalformedEventException, InterruptedException {
        assertThat(messages(1, "memory_read")).hasSize(2);

        remember("facts/user.md", "Ada");

        assertThat(messages(1, "read_file")).hasSize(2);
    }

    private void remember(String path, String summary) throws MalformedEventException, InterruptedException {
        String updatedAt = "2026-11-21T12:00:00Z";
        memory.of("default")
                .take(
                        path,
                        new MemoryDocument(
                                        "default",
                                        path,
                                        1,
                                        summary,
                                        summary,
                                        summary.length(),
                                        updatedAt,
                                        "people",
                                        "c")
                                .toJson());
    }

    private List<ChatMessage> messages(int iteration, String tool, TranscriptEntry... more)
            throws InterruptedException {
        Agents agents = BuiltInAgents.agents();
        ToolDefinition only = new ToolDefinition(
                tool,
                "reads",
                JsonObject.of(Map.of("type", "object")),
                "tool",
                1_000,
                ToolDefinition.SideEffects.READ_ONLY);
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
        return new Prompts(
                        agents,
                        new ToolRouting(agents, catalogue, new Approvals(Duration.ofHours(1))),
                        memory,
                        new ShownPassages(Passages.NONE))
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
                        Stream.concat(Stream.of(new TranscriptEntry.UserText("hello")), Stream.of(more))
                                .toList())
                .messages();
    }
}
