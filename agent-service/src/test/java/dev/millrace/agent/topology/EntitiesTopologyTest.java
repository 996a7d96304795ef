package dev.millrace.agent.topology;

import static dev.millrace.agent.topology.TestMachine.event;
import static dev.millrace.agent.topology.TestMachine.message;
import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.agent.Agents;
import dev.millrace.agent.files.AgentFile;
import dev.millrace.agent.files.InvalidAgentException;
import dev.millrace.schemas.Event;
import dev.millrace.schemas.KnownEventType;
import dev.millrace.schemas.Payload;
import dev.millrace.schemas.Topics;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What is to be searched for entities, and when. */
class EntitiesTopologyTest {

    @TempDir
    Path stateDir;

    @ParameterizedTest
    @CsvSource({"thread, thread:s1", "agent, agent:general", "global, global"})
    @DisplayName("F-264, F-267, F-271, F-296, X-42: what was said is searched for entities after the answer, with"
            + " the lowest priority")
    void shouldAskForEntitiesAfterTheAnswer(String entities, String namespace) throws InvalidAgentException {
        try (TestMachine machine = machine("knowledge: { entities: " + entities + " }")) {
            // when
            machine.send(message("m1").sessionId("s1").priority(200));
            assertThat(machine.requests(Topics.KNOWLEDGE_TOOLSET)).isEmpty();
            machine.answer("m1");
            // then
            List<Event> requests = machine.requests(Topics.KNOWLEDGE_TOOLSET);
            assertThat(requests).hasSize(1);
            Event request = requests.getFirst();
            Event completed = machine.journal().stream()
                    .filter(one -> one.type() == KnownEventType.TASK_COMPLETED)
                    .findFirst()
                    .orElseThrow();
            assertThat(request.type()).isEqualTo(KnownEventType.ENTITY_EXTRACT);
            assertThat(request.priority()).isNull();
            assertThat(request.effectivePriority()).isEqualTo(KnownEventType.ENTITY_EXTRACT.code());
            assertThat(request.parentEventId()).isEqualTo(completed.id());
            assertThat(request.taskId()).isEqualTo("m1");
            assertThat(request.payload()).isInstanceOfSatisfying(Payload.EntityExtract.class, wanted -> {
                assertThat(wanted.namespace()).isEqualTo(namespace);
                assertThat(wanted.sourceType()).isEqualTo("message");
                assertThat(wanted.sourceId()).isEqualTo(completed.id());
                assertThat(wanted.content()).endsWith("\n\ndone");
            });
        }
    }

    @Test
    void shouldNotAskForAnAgentThatDoesNotWantIt() throws InvalidAgentException {
        try (TestMachine machine = machine("knowledge: { mode: tool }")) {
            machine.send(message("m1"));
            machine.answer("m1");
            assertThat(machine.requests(Topics.KNOWLEDGE_TOOLSET)).isEmpty();
        }
    }

    @Test
    @DisplayName("F-296: anyone may have a text searched for entities; it is recorded once and handed on once")
    void shouldHandOnWhatAnyoneAsksFor() throws InvalidAgentException {
        try (TestMachine machine = machine("knowledge: { mode: tool }")) {
            Event wanted = event("e1", KnownEventType.ENTITY_EXTRACT)
                    .payload(new Payload.EntityExtract("Ada moved to Turin.", "mail", "4711", null))
                    .build();
            machine.send(wanted);
            machine.send(wanted);
            assertThat(machine.requests(Topics.KNOWLEDGE_TOOLSET))
                    .extracting(Event::id)
                    .containsExactly("e1");
            assertThat(machine.journal()).extracting(Event::id).contains("e1");
        }
    }

    private TestMachine machine(String knowledge) throws InvalidAgentException {
        String file = """
                ---
                description: d
                tools: []
                %s
                ---
                p
                """.formatted(knowledge);
        return new TestMachine(
                stateDir,
                new AdmissionSettings(50, AdmissionSettings.Policy.QUEUE),
                new Agents(List.of(AgentFile.ofText(Agents.DEFAULT, file).definition())));
    }
}
