package dev.millrace.agent.thinker;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.agent.AgentPin;
import dev.millrace.agent.Agents;
import dev.millrace.agent.MemoryIndex;
import dev.millrace.agent.Passages;
import dev.millrace.agent.ServedTools;
import dev.millrace.agent.ToolRouting;
import dev.millrace.agent.approval.Approvals;
import dev.millrace.agent.core.TranscriptEntry;
import dev.millrace.agent.files.AgentFile;
import dev.millrace.agent.files.InvalidAgentException;
import dev.millrace.agent.topology.OutstandingCall;
import dev.millrace.llm.ChatMessage;
import dev.millrace.llm.FinishReason;
import dev.millrace.llm.LanguageModel;
import dev.millrace.llm.ModelReply;
import dev.millrace.llm.ModelRequest;
import dev.millrace.llm.scripted.Script;
import dev.millrace.llm.scripted.ScriptedModel;
import dev.millrace.schemas.Event;
import dev.millrace.schemas.Payload;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** What agents are shown of documents without having asked, and what becomes of citations. */
class ShownPassagesTest {

    private final List<Passages.Wanted> wanted = new ArrayList<>();
    private final List<ModelRequest> requests = new ArrayList<>();
    private final Passages passages = question -> {
        wanted.add(question);
        return List.of(
                new Passages.Passage("The mill", "mill.md", List.of("The mill", "The wheel"), "Nine revolutions."),
                new Passages.Passage("The weir", "weir.md", List.of(), "It leaks."));
    };

    @Test
    @DisplayName(
            "F-267, F-268, F-302: mode auto: passages stand before the question, the same in each call of the task,"
                    + " and the answer names those that it cites")
    void shouldShowPassagesBeforeTheQuestion() throws InvalidAgentException {
        // given
        ModelTurn turn = turn("mode: auto, collection: mills, limit: 2");
        TranscriptEntry question = new TranscriptEntry.UserText("How fast does it turn?");
        TranscriptEntry asked =
                new TranscriptEntry.AssistantTurn(null, List.of(new TranscriptEntry.Call("c1", "clock", "{}")), null);
        TranscriptEntry result = new TranscriptEntry.ToolResult("c1", "clock", "noon", false);
        // when
        answer(turn, 1, "Nine [1], I think [7].", question);
        Event second = answer(turn, 2, "Nine [1], I think [7].", question, asked, result);
        // then
        assertThat(wanted).containsExactly(new Passages.Wanted("acme", "mills", "How fast does it turn?", 2));
        assertThat(requests.get(0).messages().get(1))
                .isEqualTo(requests.get(1).messages().get(1))
                .isInstanceOfSatisfying(
                        ChatMessage.UserMessage.class,
                        said -> assertThat(said.text())
                                .startsWith("[Known passages]\n")
                                .contains("[1] The mill, The wheel (mill.md)\nNine revolutions.")
                                .endsWith("[2] The weir (weir.md)\nIt leaks."));
        assertThat(requests.get(0).messages().get(2)).isEqualTo(new ChatMessage.UserMessage("How fast does it turn?"));
        assertThat(text(second)).isEqualTo("Nine [1], I think [7].\n\nSources:\n[1] The mill, The wheel (mill.md)");
    }

    @Test
    @DisplayName("F-302: modes tool and disabled put nothing into the prompt")
    void shouldShowNothingOtherwise() throws InvalidAgentException {
        for (String mode : List.of("tool", "disabled")) {
            Event event = answer(turn("mode: " + mode), 1, "Nine [1].", new TranscriptEntry.UserText("How fast?"));
            assertThat(text(event)).isEqualTo("Nine [1].");
        }
        assertThat(wanted).isEmpty();
        assertThat(requests)
                .allSatisfy(request -> assertThat(request.messages()).hasSize(2));
    }

    @Test
    void shouldAddNothingToAnAnswerThatCitesNothing() throws InvalidAgentException {
        ModelTurn turn = turn("mode: auto");
        assertThat(text(answer(turn, 1, "No idea [3].", new TranscriptEntry.UserText("How fast?"))))
                .isEqualTo("No idea [3].");
        // another question is looked up anew, the same one is not
        answer(turn, 1, "x", new TranscriptEntry.UserText("How slow?"));
        answer(turn, 2, "x", new TranscriptEntry.UserText("How slow?"));
        assertThat(wanted).extracting(Passages.Wanted::question).containsExactly("How fast?", "How slow?");
    }

    @Test
    void shouldNotBeTakenForWhatSomebodySaid() throws InvalidAgentException {
        ModelTurn turn = turn("mode: auto");
        Event event = turn.answer(
                call(1),
                List.of(new TranscriptEntry.UserText("Hello")),
                new ScriptedModel(Script.parse("test", "rules:\n  - text: 'You said: {{user}}'\n")),
                Instant.EPOCH);
        assertThat(text(event)).isEqualTo("You said: Hello");
    }

    private ModelTurn turn(String knowledge) throws InvalidAgentException {
        Agents agents = new Agents(List.of(
                AgentFile.ofText(Agents.DEFAULT, """
                        ---
                        description: d
                        tools: []
                        knowledge: { %s }
                        ---
                        p
                        """.formatted(knowledge)).definition()));
        return new ModelTurn(
                agents,
                new ToolRouting(agents, new ServedTools(toolset -> true), new Approvals(Duration.ofHours(1))),
                new MemoryIndex(1_000),
                passages);
    }

    private Event answer(ModelTurn turn, int iteration, String text, TranscriptEntry... transcript) {
        LanguageModel model = new LanguageModel() {
            @Override
            public ModelReply chat(ModelRequest request) {
                requests.add(request);
                return new ModelReply(text, null, List.of(), FinishReason.STOP, ModelReply.Usage.NONE, "m");
            }

            @Override
            public String name() {
                return "m";
            }

            @Override
            public String description() {
                return "m";
            }
        };
        return turn.answer(call(iteration), List.of(transcript), model, Instant.EPOCH);
    }

    private static OutstandingCall call(int iteration) {
        return new OutstandingCall(
                "t1/" + iteration,
                "acme",
                "t1",
                null,
                "t1",
                "t1",
                null,
                new AgentPin(Agents.DEFAULT, null, Map.of(), List.of()),
                100,
                iteration,
                1,
                OutstandingCall.Shown.ALL,
                0,
                0);
    }

    private static @Nullable String text(Event event) {
        return event.payload() instanceof Payload.ReasonDone done ? done.response() : String.valueOf(event);
    }
}
