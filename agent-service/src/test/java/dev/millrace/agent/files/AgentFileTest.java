package dev.millrace.agent.files;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.millrace.agent.AgentDefinition;
import dev.millrace.agent.AgentLimits;
import dev.millrace.agent.KnowledgeUse;
import dev.millrace.agent.approval.ApprovalPolicy;
import dev.millrace.agent.approval.ToolPattern;
import dev.millrace.schemas.JsonObject;
import dev.millrace.schemas.ToolDefinition.Approval;
import dev.millrace.schemas.ToolDefinition.OnExpiry;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class AgentFileTest {

    private static final String WHOLE = """
            ---
            # what this agent is for
            name: clerk
            description: Keeps the books.
            tools: [read_file, "books__*", "!books__delete*"]
            model: powerful
            fallback: house
            temperature: 0.2
            output:
              type: object
              required: [total]
              properties: { total: { type: number } }
            limits:
              iterations: 25
              tokens: 100000
              cost: 0.50
              toolCallsPerStep: 4
              lifeTime: 10m
            approval:
              books__post: { when: "args.amount > 100", expiry: 1h, onExpiry: reject }
              "books__*": never
              write_file: { expiry: 30s, onExpiry: approve }
              "*": always
            sequential: true
            subAgents: [explore, plan]
            knowledge: { mode: disabled, collection: laws, limit: 20, entities: agent }
            expose: [mcp]
            ---

            You keep the books of {{namespace}}. Today is {{date}}. The customer is {{input.customer.name}}.
            """;

    @Test
    @DisplayName("F-158: a file says everything about an agent")
    void shouldReadEveryKey() throws InvalidAgentException {
        AgentDefinition agent = AgentFile.ofText("clerk", WHOLE).definition();

        assertThat(agent.name()).isEqualTo("clerk");
        assertThat(agent.description()).isEqualTo("Keeps the books.");
        assertThat(agent.model())
                .isEqualTo(new AgentDefinition.ModelChoice(
                        "powerful",
                        0.2,
                        "house",
                        JsonObject.of(Map.of(
                                "type",
                                "object",
                                "required",
                                List.of("total"),
                                "properties",
                                Map.of("total", Map.of("type", "number"))))));
        assertThat(agent.limits()).isEqualTo(new AgentLimits(25, 100_000L, 500_000L, 4, 600_000L));
        assertThat(agent.steps()).isEqualTo(new AgentDefinition.Steps(true, List.of("explore", "plan")));
        assertThat(agent.knowledge())
                .isEqualTo(new KnowledgeUse(
                        KnowledgeUse.Mode.DISABLED, "laws", KnowledgeUse.MAX_LIMIT, KnowledgeUse.EntityScope.AGENT));
        assertThat(agent.expose()).containsExactly("mcp");
        assertThat(agent.tools().patterns()).containsExactly("read_file", "books__*", "!books__delete*");
        assertThat(agent.allows("books__list")).isTrue();
        assertThat(agent.allows("books__delete_all")).isFalse();
        assertThat(agent.allows("read_files")).isFalse();
        assertThat(agent.approval().rules())
                .containsExactly(
                        new ApprovalPolicy.Rule(
                                new ToolPattern("books__post"),
                                new Approval.When("args.amount > 100"),
                                3_600_000L,
                                OnExpiry.REJECT),
                        new ApprovalPolicy.Rule(
                                new ToolPattern("write_file"), new Approval.Always(), 30_000L, OnExpiry.APPROVE),
                        new ApprovalPolicy.Rule(new ToolPattern("books__*"), new Approval.Never(), null, null),
                        new ApprovalPolicy.Rule(new ToolPattern("*"), new Approval.Always(), null, null));
        assertThat(agent.prompt().text()).startsWith("You keep the books of {{namespace}}.");
    }

    @Test
    @DisplayName("F-158: what a file leaves out has its default")
    void shouldHaveDefaults() throws InvalidAgentException {
        AgentDefinition agent = AgentFile.ofText("a", """
                ---
                description: d
                tools: []
                ---
                p
                """).definition();

        assertThat(agent.model()).isEqualTo(new AgentDefinition.ModelChoice(null, null));
        assertThat(agent.limits()).isEqualTo(AgentLimits.NONE);
        assertThat(agent.approval()).isEqualTo(ApprovalPolicy.NONE);
        assertThat(agent.steps()).isEqualTo(new AgentDefinition.Steps(false, List.of()));
        assertThat(agent.allows("read_file")).isFalse();
        assertThat(agent.knowledge()).isEqualTo(KnowledgeUse.DEFAULT);
    }

    @Test
    @DisplayName("F-302: an agent whose mode is disabled has no tool of knowledge, whatever its tools say")
    void shouldDoWithoutKnowledge() throws InvalidAgentException {
        String file = """
                ---
                description: d
                tools: ["*", search_knowledge]
                knowledge: { mode: %s }
                ---
                p
                """;
        AgentDefinition with = AgentFile.ofText("a", file.formatted("tool")).definition();
        AgentDefinition without =
                AgentFile.ofText("a", file.formatted("disabled")).definition();
        for (String tool : List.of("search_knowledge", "ingest_document", "search_entities")) {
            assertThat(with.allows(tool)).as(tool).isTrue();
            assertThat(without.allows(tool)).as(tool).isFalse();
        }
        assertThat(without.allows("read_file")).isTrue();
    }

    @Test
    @DisplayName("the version follows what is said, not how it is written")
    void shouldHaveTheVersionOfItsContent() throws InvalidAgentException {
        String version = AgentFile.ofText("clerk", WHOLE).definition().version();

        assertThat(version).matches("[0-9a-f]{12}");
        assertThat(AgentFile.ofText(
                                "clerk",
                                WHOLE.replace("# what", "# other\n# what").replace("\n", "\r\n"))
                        .definition()
                        .version())
                .isEqualTo(version);
        assertThat(AgentFile.ofText("clerk", WHOLE.replace("25", "26"))
                        .definition()
                        .version())
                .isNotEqualTo(version);
        assertThat(AgentFile.ofText("clerk", WHOLE.replace("You keep", "You do not keep"))
                        .definition()
                        .version())
                .isNotEqualTo(version);
    }

    @Test
    @DisplayName("a definition is the same after its way over the topic")
    void shouldTravel() throws InvalidAgentException {
        AgentFile file = AgentFile.ofText("clerk", WHOLE);

        AgentFile read = AgentFile.ofJson(file.toJson());

        assertThat(read.definition()).isEqualTo(file.definition());
        assertThat(read.toJson()).isEqualTo(file.toJson());
    }

    @ParameterizedTest(name = "{0}")
    @CsvSource(delimiter = '|', textBlock = """
            no front matter        | You are.                                              | line 1: expected ---, the beginning of the front matter
            no end                 | ---#description: d                                    | expected a second ---, the end of the front matter, found none
            not YAML               | ---#description: [d#tools: []#---#p                   | line 3: not YAML
            no mapping             | ---#- a#---#p                                         | line 2: expected a mapping of keys to values
            no description         | ---#tools: []#---#p                                   | description: expected a text, found nothing
            no tools               | ---#description: d#---#p                              | tools: expected a list of tools, "*" for all, [] for none, found nothing
            no prompt              | ---#description: d#tools: []#---                      | prompt: expected a prompt below the front matter, found none
            unknown key            | ---#description: d#tools: []#temprature: 1#---#p      | line 4: temprature: expected one of allowedAgents, approval, description, expose, fallback, knowledge, limits, model, name, output, sequential, subAgents, temperature, tools, found this key
            a key twice            | ---#description: d#description: e#tools: []#---#p     | the key "description" is there twice
            a number beyond all    | ---#description: d#tools: []#temperature: 1.5e999#---#p | line 4: expected a number in the range of a 64-bit floating point number, found one beyond it
            alias                  | ---#description: &a d#tools: [*a]#---#p               | line 3: aliases are not supported; write the part out
            another name           | ---#name: b#description: d#tools: []#---#p            | line 2: name: expected the name of the folder, "a", found "b"
            a tool that is none    | ---#description: d#tools: [read file]#---#p           | line 3: tools: expected the name of a tool (letters, digits, '_', '-'), the beginning of one and *, or *, found "read file"
            a star in the middle   | ---#description: d#tools: ["a*b"]#---#p               | line 3: tools: expected the name of a tool (letters, digits, '_', '-'), the beginning of one and *, or *, found "a*b"
            only exclusions        | ---#description: d#tools: ["!a"]#---#p                | line 3: tools: expected something to exclude from, such as *, found only exclusions
            too hot                | ---#description: d#tools: []#temperature: 2.1#---#p   | line 4: temperature: expected a number from 0 to 2, found 2.1
            its own fallback       | ---#description: d#tools: []#model: a#fallback: a#---#p | line 5: fallback: expected another model than model, found "a"
            an answer of no object | ---#description: d#tools: []#output: {type: string}#---#p | line 4: output: expected a JSON Schema with "type": "object", found type "string"
            no schema              | ---#description: d#tools: []#output: {type: object, required: a}#---#p | line 4: output: expected a JSON Schema, found that /required: expected a list, found a text
            no limit               | ---#description: d#tools: []#limits: {tokens: 0}#---#p | line 4: limits.tokens: expected a whole number, 1 or more, found 0
            unknown limit          | ---#description: d#tools: []#limits: {token: 5}#---#p | line 4: limits.token: expected one of cost, iterations, lifeTime, tokens, toolCallsPerStep, found this key
            a time without a unit  | ---#description: d#tools: []#limits: {lifeTime: 5}#---#p | line 4: limits.lifeTime: expected a time such as 30s, 10m, 24h or 7d, found 5
            a word for a flag      | ---#description: d#tools: []#sequential: maybe#---#p  | line 4: sequential: expected true or false, found "maybe"
            a door that is none    | ---#description: d#tools: []#expose: [ftp]#---#p      | line 4: expose: expected a list of: a2a, mcp, found ["ftp"]
            a mode that is none    | ---#description: d#tools: []#knowledge: {mode: on}#---#p | line 4: knowledge.mode: expected
            too many passages      | ---#description: d#tools: []#knowledge: {limit: 21}#---#p | line 4: knowledge.limit: expected at most 20, found 21
            no such scope          | ---#description: d#tools: []#knowledge: {entities: all}#---#p | line 4: knowledge.entities: expected one of thread, agent, global, found "all"
            a bad condition        | ---#description: d#tools: []#approval: {x: {when: "args."}}#---#p | line 4: approval.x: Syntax error
            a bad approval         | ---#description: d#tools: []#approval: {x: sometimes}#---#p | line 4: approval.x: expected always, never, or when, expiry and onExpiry, found "sometimes"
            an unknown field       | ---#description: d#tools: []#---#Hello {{user}}       | prompt: expected {{date}}, {{namespace}} or {{input.field}}, found {{user}}
            """)
    @DisplayName("a broken file is told where, what was expected and what was found")
    void shouldSayWhatIsWrong(String what, String file, String problem) {
        assertThatThrownBy(() -> AgentFile.ofText("a", file.replace("#", "\n")))
                .isInstanceOf(InvalidAgentException.class)
                .message()
                .contains(problem);
    }

    @Test
    @DisplayName("a file has a largest size and depth")
    void shouldHaveALargestSize() throws InvalidAgentException {
        String head = "---\ndescription: d\ntools: []\n---\n";

        assertThat(AgentFile.ofText("a", head + "p".repeat(AgentFile.MAX_CHARS - head.length()))
                        .definition()
                        .name())
                .isEqualTo("a");
        assertThatThrownBy(() -> AgentFile.ofText("a", head + "p".repeat(AgentFile.MAX_CHARS - head.length() + 1)))
                .hasMessage("expected at most 200000 characters, found 200001");
        assertThatThrownBy(() -> AgentFile.ofText(
                        "a", "---\ndescription: d\ntools: " + "[".repeat(40) + "]".repeat(40) + "\n---\np"))
                .hasMessageContaining("levels");
        assertThatThrownBy(() -> AgentFile.ofText("Not A Name", head + "p")).hasMessageContaining("name: expected");
    }
}
