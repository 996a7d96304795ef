package dev.millrace.agent;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.millrace.agent.approval.Approvals;
import dev.millrace.agent.core.TaskLimits;
import dev.millrace.agent.core.ToolCall;
import dev.millrace.agent.files.AgentFile;
import dev.millrace.agent.files.BuiltInAgents;
import dev.millrace.agent.files.InvalidAgentException;
import dev.millrace.schemas.JsonObject;
import dev.millrace.schemas.MalformedEventException;
import dev.millrace.schemas.ToolDefinition;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

class ToolRoutingTest {

    private final Agents agents = BuiltInAgents.agents();
    private final ServedTools tools = new ServedTools(toolset -> true);
    private final ToolRouting routing = new ToolRouting(agents, tools, new Approvals(Duration.ofHours(1)));

    @BeforeEach
    void serve() throws MalformedEventException {
        for (String name : List.of("read_file", "write_file", "notify", "github__list", "github__delete")) {
            tools.take(
                    name,
                    new ToolDefinition(name, "d", JsonObject.empty(), "tool", 5, ToolDefinition.SideEffects.DESTRUCTIVE)
                            .toJson());
        }
    }

    private static AgentPin pin(String reference, String... above) {
        return new AgentPin(reference, null, Map.of(), List.of(above));
    }

    @Test
    @DisplayName("F-154: the first layer: an agent sees its own tools, in a stable order")
    void shouldShowOwnTools() {
        assertThat(routing.visibleTo("explore", null))
                .extracting(ToolDefinition::name)
                .containsExactly("notify", "read_file");
        assertThat(routing.visibleTo("general", null))
                .extracting(ToolDefinition::name)
                .hasSize(10)
                .contains("spawn_task", "resume_task", "delegate_task", "stop_task");
    }

    @Test
    @DisplayName("F-154, F-301: the second layer: a call outside the list is refused in the specification's words")
    void shouldRefuseOtherTools() {
        assertThat(routing.route(pin("explore"), "default", "write_file", JsonObject.empty()))
                .isEqualTo(new ToolCall.Refuse(
                        "tool_not_allowed", "Tool \"write_file\" is not available for task type \"explore\""));
        assertThat(routing.route(pin("explore"), "default", "read_file", JsonObject.empty()))
                .isEqualTo(new ToolCall.Run("tool", 5, null));
    }

    @Test
    @DisplayName(
            "what is reserved for some namespaces is not there for the others, in lists, calls, sub-tasks and tasks")
    void shouldKeepWhatIsReserved() throws InvalidAgentException {
        use("boss", "---\ndescription: d\ntools: \"*\"\nsubAgents: \"*\"\n---\np");
        ToolRouting reserving = new ToolRouting(
                agents,
                tools,
                new Approvals(Duration.ofHours(1)),
                new Reserved(List.of(
                        new Reserved.Entry(
                                List.of("github__*"), List.of(), List.of("own-4.1"), Set.of("acme", "acme-test")),
                        new Reserved.Entry(List.of("github__list"), List.of("explore"), List.of(), Set.of("globex")))),
                Duration.ofMinutes(15));
        AgentPin boss = pin("boss");
        Map<String, @Nullable Object> toExplore = Map.of("input", "look", "type", "explore");

        assertThat(githubOf(reserving, "acme")).containsExactly("github__delete", "github__list");
        assertThat(githubOf(reserving, "acme-test")).containsExactly("github__delete", "github__list");
        assertThat(githubOf(reserving, "globex")).containsExactly("github__list");
        assertThat(githubOf(reserving, "default")).isEmpty();
        assertThat(reserving.visibleTo("boss", Set.of("default", "globex")).toString())
                .contains("github__list", "explore:")
                .doesNotContain("github__delete");
        assertThat(reserving.visibleTo("boss", Set.of("acme")).toString())
                .contains("github__delete", "general:")
                .doesNotContain("explore");
        assertThat(reserving.route(boss, "globex", "github__list", JsonObject.empty()))
                .isInstanceOf(ToolCall.Run.class);
        assertThat(reserving.route(boss, "default", "github__list", JsonObject.empty()))
                .isEqualTo(new ToolCall.Refuse("tool_not_found", "Tool \"github__list\" not found"));
        assertThat(reserving.route(boss, "globex", "spawn_task", JsonObject.of(toExplore)))
                .isInstanceOf(ToolCall.Spawn.class);
        assertThat(reserving.route(boss, "acme", "spawn_task", JsonObject.of(toExplore)))
                .isInstanceOf(ToolCall.Refuse.class);
        assertThat(reserving.unknown("explore", "globex")).isEmpty();
        assertThat(reserving.unknown("explore", "default"))
                .hasValueSatisfying(why -> assertThat(why).contains("general").doesNotContain("explore,"));
        assertThat(reserving.unknown("general", "default")).isEmpty();
        assertThat(reserving.unknownModel("own-4.1", "general", "acme")).isEmpty();
        assertThat(reserving.unknownModel("own-4.1", "general", "globex")).hasValue("There is no model \"own-4.1\"");
        use("costly", "---\ndescription: d\ntools: []\nmodel: own-4.1\n---\np");
        assertThat(reserving.unknownModel(null, "costly", "globex")).isPresent();
        assertThat(reserving.unknownModel(null, "costly", "acme")).isEmpty();
        assertThat(reserving.unknownModel("another", "costly", "globex")).isEmpty();
    }

    @Test
    void shouldRefuseReservationsOfNothing() {
        for (String wrong : List.of("", "a b", "*a", "a**")) {
            assertThatThrownBy(() -> new Reserved.Entry(List.of(wrong), List.of(), List.of(), Set.of("acme")))
                    .isInstanceOf(IllegalArgumentException.class);
        }
        assertThatThrownBy(() -> new Reserved.Entry(List.of(), List.of(), List.of(), Set.of("acme")))
                .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> new Reserved.Entry(List.of("a"), List.of(), List.of(), Set.of()))
                .isInstanceOf(IllegalArgumentException.class);
    }

    private static List<String> githubOf(ToolRouting routing, String namespace) {
        return routing.visibleTo(pin("boss"), namespace).stream()
                .map(ToolDefinition::name)
                .filter(name -> name.startsWith("github"))
                .toList();
    }

    @Test
    @DisplayName("F-090, F-301: an unknown tool is told, with one that sounds alike")
    void shouldTellUnknownTools() {
        assertThat(routing.route(pin("general"), "default", "ReadFile", JsonObject.empty()))
                .isEqualTo(new ToolCall.Refuse(
                        "tool_not_found", "Tool \"ReadFile\" not found. Did you mean \"read_file\"?"));
    }

    @Test
    @DisplayName("F-168: who names sub-agents can start tasks of them, and of no others")
    void shouldRouteSubTasks() throws InvalidAgentException {
        AgentDefinition boss = AgentFile.ofText("boss", "---\ndescription: d\ntools: []\nsubAgents: [explore]\n---\np")
                .definition();
        agents.add(boss);
        agents.use("boss", boss.version());

        assertThat(routing.route(
                        pin("boss"),
                        "default",
                        "spawn_task",
                        JsonObject.of(Map.of("input", "look", "type", "explore"))))
                .isEqualTo(new ToolCall.Spawn("explore", "look", false));
        assertThat(routing.route(
                        pin("boss"),
                        "default",
                        "spawn_task",
                        JsonObject.of(Map.of("input", "look", "type", "explore", "background", true))))
                .isEqualTo(new ToolCall.Spawn("explore", "look", true));
        assertThat(routing.route(
                        pin("boss"), "default", "spawn_task", JsonObject.of(Map.of("input", "look", "type", "plan"))))
                .isEqualTo(new ToolCall.Refuse(
                        "invalid_arguments", "VALIDATION ERROR: type: expected one of [explore], found plan"));
        assertThat(routing.route(pin("boss"), "default", "spawn_task", JsonObject.of(Map.of("input", " "))))
                .isInstanceOf(ToolCall.Refuse.class);
        assertThat(routing.route(
                        pin("boss"),
                        "default",
                        "resume_task",
                        JsonObject.of(Map.of("input", "more", "task_id", "../x"))))
                .isInstanceOf(ToolCall.Refuse.class);
        assertThat(routing.route(pin("explore"), "default", "spawn_task", JsonObject.of(Map.of("input", "look"))))
                .isEqualTo(new ToolCall.Refuse(
                        "tool_not_allowed", "Tool \"spawn_task\" is not available for task type \"explore\""));
        assertThat(routing.visibleTo("boss", null))
                .extracting(ToolDefinition::name)
                .containsExactly("ask_question", "delegate_task", "resume_task", "spawn_task", "stop_task");
    }

    @Test
    @DisplayName("F-304: ask_question asks one of the sub-agents in a session of its own, and waits")
    void shouldRouteQuestions() throws InvalidAgentException {
        use("boss", "---\ndescription: d\ntools: []\nsubAgents: [explore]\n---\np");

        assertThat(routing.route(
                        pin("boss"),
                        "default",
                        "ask_question",
                        JsonObject.of(Map.of("agent", "explore", "question", "Where is it?"))))
                .isEqualTo(new ToolCall.Spawn(
                        "explore", "Where is it?", false, new ToolCall.Errand("Where is it?", TaskLimits.NONE, false)));
        assertThat(routing.route(
                        pin("boss"),
                        "default",
                        "ask_question",
                        JsonObject.of(Map.of("agent", "plan", "question", "x"))))
                .isEqualTo(new ToolCall.Refuse(
                        "invalid_arguments", "VALIDATION ERROR: agent: expected one of [explore], found plan"));
        assertThat(routing.route(
                        pin("boss"),
                        "default",
                        "ask_question",
                        JsonObject.of(Map.of("agent", "explore", "question", " "))))
                .isInstanceOf(ToolCall.Refuse.class);
        assertThat(routing.route(
                        pin("explore"),
                        "default",
                        "ask_question",
                        JsonObject.of(Map.of("agent", "plan", "question", "x"))))
                .isInstanceOf(ToolCall.Refuse.class);
    }

    @Test
    @DisplayName("F-253: delegate_task and stop_task, with what is expected of each argument")
    void shouldRouteDelegatedTasks() throws InvalidAgentException {
        use("boss", "---\ndescription: d\ntools: []\nsubAgents: [explore, general]\n---\np");
        Map<String, Object> least = Map.of("description", "a look", "prompt", "look");
        String child = "0123456789abcdef0123456789abcdef";

        assertThat(delegated(least, Map.of()))
                .isEqualTo(new ToolCall.Spawn(
                        "general", "look", false, new ToolCall.Errand("a look", TaskLimits.NONE, false)));
        assertThat(delegated(least, Map.of("background", true)))
                .isEqualTo(
                        new ToolCall.Spawn("general", "look", true, new ToolCall.Errand("a look", 15 * 60_000, false)));
        assertThat(delegated(
                        least,
                        Map.of("subagent_type", "explore", "background", true, "timeout", 60, "cleanup", "delete")))
                .isEqualTo(new ToolCall.Spawn("explore", "look", true, new ToolCall.Errand("a look", 60_000, true)));
        assertThat(delegated(least, Map.of("task_id", child))).isEqualTo(new ToolCall.Resume(child, "look"));
        assertThat(routing.route(pin("boss"), "default", "stop_task", JsonObject.of(Map.of("task_id", child))))
                .isEqualTo(new ToolCall.Stop(child));

        assertThat(problem(least, Map.of("description", " "))).contains("description: expected a text of 1 to 500");
        assertThat(problem(least, Map.of("prompt", ""))).contains("prompt: expected a text");
        assertThat(problem(least, Map.of("subagent_type", "plan"))).contains("expected one of [explore, general]");
        assertThat(problem(least, Map.of("timeout", 0))).contains("from 1 to 604800, found 0");
        assertThat(problem(least, Map.of("timeout", 604_801))).contains("from 1 to 604800");
        assertThat(delegated(least, Map.of("timeout", 604_800))).isInstanceOf(ToolCall.Spawn.class);
        assertThat(problem(least, Map.of("timeout", "1m"))).contains("found 1m");
        assertThat(problem(least, Map.of("cleanup", "burn"))).contains("expected keep or delete, found burn");
        assertThat(problem(least, Map.of("background", "yes"))).contains("expected true or false, found yes");
        assertThat(problem(least, Map.of("task_id", child, "background", true))).contains("task_id: expected no");
        assertThat(problem(least, Map.of("task_id", "../x"))).contains("task_id: expected the id of a sub-task");
    }

    private ToolCall.Route delegated(Map<String, Object> least, Map<String, Object> more) {
        Map<String, @Nullable Object> arguments = new HashMap<>(least);
        arguments.putAll(more);
        return routing.route(pin("boss"), "default", "delegate_task", JsonObject.of(arguments));
    }

    private String problem(Map<String, Object> least, Map<String, Object> more) {
        return delegated(least, more) instanceof ToolCall.Refuse refuse ? refuse.message() : "none";
    }

    @Test
    @DisplayName("all agents above bind a task: tools, approvals, sub-agents and limits, over several levels")
    void shouldBindByAllAbove() throws InvalidAgentException {
        String strict = use("strict", """
                ---
                description: d
                tools: ["*", "!notify"]
                approval: { write_file: { expiry: 1m, onExpiry: approve } }
                limits: { iterations: 3 }
                subAgents: [explore, plan]
                ---
                p
                """);
        String eager = use("eager", """
                ---
                description: d
                tools: "*"
                approval: { "*": never, write_file: { expiry: 1h } }
                subAgents: "*"
                ---
                p
                """);
        AgentPin child = pin(eager, eager, strict);

        assertThat(routing.route(child, "default", "write_file", JsonObject.empty()))
                .isEqualTo(new ToolCall.Run("tool", 5, new ToolCall.Approval(60_000, false)));
        assertThat(routing.route(child, "default", "read_file", JsonObject.empty()))
                .isEqualTo(new ToolCall.Run("tool", 5, null));
        assertThat(routing.route(child, "default", "notify", JsonObject.empty()))
                .isEqualTo(new ToolCall.Refuse(
                        "tool_not_allowed",
                        "Tool \"notify\" is not available for task type \"strict\", for which this task does a part of"
                                + " the work"));
        assertThat(routing.route(
                        child, "default", "spawn_task", JsonObject.of(Map.of("input", "x", "type", "general"))))
                .isEqualTo(new ToolCall.Refuse(
                        "invalid_arguments", "VALIDATION ERROR: type: expected one of [explore, plan], found general"));
        assertThat(routing.visibleTo(child, "default"))
                .extracting(ToolDefinition::name)
                .contains("write_file", "spawn_task")
                .doesNotContain("notify");
        assertThat(routing.limits("eager", "default", child.above()).maxIterations())
                .isEqualTo(3);
        assertThat(child.binding()).containsExactly(eager, strict);
    }

    @Test
    @DisplayName("where an agent above is gone, nothing is allowed")
    void shouldAllowNothingWithoutAllAbove() {
        AgentPin child = pin("general", "gone@0123456789ab");

        assertThat(routing.visibleTo(child, "default")).isEmpty();
        assertThat(routing.route(child, "default", "read_file", JsonObject.empty()))
                .isInstanceOf(ToolCall.Refuse.class);
        assertThat(routing.route(child, "default", "spawn_task", JsonObject.of(Map.of("input", "x"))))
                .isInstanceOf(ToolCall.Refuse.class);
    }

    private String use(String name, String file) throws InvalidAgentException {
        AgentDefinition agent = AgentFile.ofText(name, file).definition();
        agents.add(agent);
        agents.use(name, agent.version());
        return agent.reference();
    }

    @Test
    @DisplayName("a file's tools, exclusions, approvals and order hold for exactly its version")
    void shouldFollowTheVersion() throws InvalidAgentException {
        AgentDefinition old = AgentFile.ofText("clerk", """
            ---
            description: d
            tools: ["github__*", "!github__delete"]
            approval: { github__list: { when: 'args.owner != "us"', expiry: 1m } }
            sequential: true
            ---
            p
            """).definition();
        AgentDefinition now = AgentFile.ofText("clerk", "---\ndescription: d\ntools: []\n---\np")
                .definition();
        agents.add(old);
        agents.add(now);
        agents.use("clerk", now.version());

        assertThat(routing.route(pin(old.reference()), "default", "github__list", JsonObject.of(Map.of("owner", "us"))))
                .isEqualTo(new ToolCall.Run("tool", 5, null));
        assertThat(routing.route(
                        pin(old.reference()), "default", "github__list", JsonObject.of(Map.of("owner", "them"))))
                .isEqualTo(new ToolCall.Run(
                        "tool", 5, new ToolCall.Approval(60_000, false, "condition `args.owner != \"us\"` holds")));
        assertThat(routing.route(pin(old.reference()), "default", "github__delete", JsonObject.empty()))
                .isEqualTo(new ToolCall.Refuse(
                        "tool_not_allowed", "Tool \"github__delete\" is not available for task type \"clerk\""));
        assertThat(routing.sequential(pin(old.reference()))).isTrue();
        assertThat(routing.sequential(pin("clerk"))).isFalse();
        assertThat(routing.visibleTo("clerk", null)).isEmpty();
    }

    @Test
    @DisplayName("nobody is asked for a call that its tool cannot take; the model is told at once")
    void shouldRefuseBeforeSomebodyIsAsked() throws Exception {
        String clerk = use("clerk", """
                ---
                description: d
                tools: "*"
                approval: { refund: { when: args.amount > 100 } }
                ---
                p
                """);
        serve("refund", Map.of("orderId", Map.of("type", "string"), "amount", Map.of("type", "number")));

        assertThat(routing.route(
                        pin(clerk), "default", "refund", JsonObject.of(Map.of("orderId", "X1", "amount", "59.90"))))
                .isEqualTo(new ToolCall.Refuse(
                        "invalid_arguments", "VALIDATION ERROR: /amount string found, number expected"));
        assertThat(routing.route(pin(clerk), "default", "refund", JsonObject.of(Map.of("amount", 101))))
                .isInstanceOf(ToolCall.Refuse.class);
        assertThat(routing.route(
                        pin(clerk), "default", "refund", JsonObject.of(Map.of("orderId", "X1", "amount", 101))))
                .isEqualTo(new ToolCall.Run(
                        "tool", 5, new ToolCall.Approval(3_600_000, false, "condition `args.amount > 100` holds")));
        assertThat(routing.route(pin(clerk), "default", "refund", JsonObject.of(Map.of("amount", 1))))
                .as("nobody has to agree, so its worker says no")
                .isEqualTo(new ToolCall.Run("tool", 5, null));
        assertThat(routing.unfit("refund", JsonObject.of(Map.of("orderId", "X1"))))
                .isPresent();
        assertThat(routing.unfit("nobodys", JsonObject.empty())).isEmpty();

        serve("refund", Map.of("order", Map.of("type", "string")));
        assertThat(routing.route(pin(clerk), "default", "refund", JsonObject.of(Map.of("order", "X1", "amount", 101))))
                .as("by the definition that is served now")
                .isInstanceOf(ToolCall.Refuse.class);
    }

    /** All of these are required, and no others. */
    private void serve(String name, Map<String, Object> properties) throws MalformedEventException {
        Map<String, @Nullable Object> schema = Map.of(
                "type",
                "object",
                "required",
                List.copyOf(properties.keySet()),
                "additionalProperties",
                false,
                "properties",
                properties);
        tools.take(
                name,
                new ToolDefinition(name, "d", JsonObject.of(schema), "tool", 5, ToolDefinition.SideEffects.DESTRUCTIVE)
                        .toJson());
    }
}
