package dev.millrace.standalone;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import dev.millrace.testing.FreePort;
import dev.millrace.testing.HttpApi;
import dev.millrace.testing.ServiceProcess;
import dev.millrace.testing.StubModelServer;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Several things at once from outside: children in the background, and tool calls of one step. */
class SubAgentsIT {

    private static final Duration LIMIT = Duration.ofSeconds(60);
    private static final String NEWS = "Background task";

    /** In the metrics of tool-service: a worker has begun with a request. */
    private static final Pattern TAKEN = Pattern.compile("millrace_requests_wait_seconds_count\\{[^}]*} [1-9]");

    /** What the children and the sleepers do; the parent's model is a server of the test, which sees what it is shown. */
    private static final String SCRIPT = """
            rules:
              - system: 'You are the teller'
                text: "the tale is told"
              - system: 'You are the failer'
                fail: { code: auth_failed, message: "the key is wrong" }
              - system: 'You are the sleeper'
                steps:
                  - calls: [{ tool: sleep, arguments: { duration: 5 } }]
                  - text: "slept {{result.sleep.sleptSeconds}}"
              - system: 'You are the (pair|queue)'
                steps:
                  - calls:
                      - { tool: sleep, arguments: { duration: 2 } }
                      - { tool: sleep, arguments: { duration: 1.9 } }
                  - text: "{{results}}"
            """;

    @TempDir
    Path folder;

    @Test
    @DisplayName("three children in the background, one fails, tool-service restarts: the parent is told all of it")
    void shouldFinishWithAFailedChildAndARestart() throws IOException {
        // given
        agent("boss", "tools: [sleep]\nmodel: watched\nsubAgents: [teller, failer, sleeper]");
        agent("teller", "tools: []");
        agent("failer", "tools: []");
        agent("sleeper", "tools: [sleep]");
        int brokerPort = FreePort.find();
        int agentPort = FreePort.find();
        int toolsPort = FreePort.find();
        int gatewayPort = FreePort.find();
        try (StubModelServer model = StubModelServer.start(SubAgentsIT::boss);
                ServiceProcess broker = ServiceProcess.standalone(
                                "broker", "--port", String.valueOf(brokerPort), "--data", "data")
                        .start(folder)
                        .awaitOutput("Kafka is ready", ServiceProcess.START_LIMIT);
                ServiceProcess agent = service("agent-service", brokerPort, agentPort)
                        .env("MILLRACE_AGENT_STATE_DIR", folder.resolve("agent").toString())
                        .env("MILLRACE_LLM_SCRIPTED_SCRIPT", script().toString())
                        .jvm("-Dmillrace.llm.models.watched.provider=openai")
                        .jvm("-Dmillrace.llm.models.watched.base-url=" + model.baseUrl())
                        .start(folder);
                ServiceProcess gateway = service("gateway-service", brokerPort, gatewayPort)
                        .env("MILLRACE_GATEWAY_AGENT_URL", "http://127.0.0.1:" + agentPort)
                        .start(folder)) {
            HttpApi api = HttpApi.onPort(gatewayPort);
            String parent;
            List<String> children;
            String sleeper;
            try (ServiceProcess tools = tools(brokerPort, toolsPort)) {
                agent.awaitReady();
                tools.awaitReady();
                gateway.awaitReady();
                awaitTool(api, "sleeper");
                parent = submit(api, "Have it done.", "boss");
                await().atMost(LIMIT)
                        .until(() -> ofType(api.events(parent), "TOOL_CALL_COMPLETED")
                                        .size()
                                == 3);
                children = ofType(api.events(parent), "TOOL_CALL_COMPLETED").stream()
                        .map(event -> event.at("/payload/result/task_id").asText())
                        .toList();
                sleeper = children.get(2);
                assertThat(api.awaitEnd(children.get(0), LIMIT).path("state").asText())
                        .isEqualTo("completed");
                assertThat(api.awaitEnd(children.get(1), LIMIT).path("state").asText())
                        .isEqualTo("failed");
                await().atMost(LIMIT)
                        .until(() -> TAKEN.matcher(new HttpApi(tools.management("/q/metrics"))
                                        .get("")
                                        .body())
                                .find());

                // when
                tools.stop(LIMIT);
            }
            assertThat(ofType(api.events(sleeper), "TOOL_CALL_COMPLETED")).isEmpty();
            assertThat(ofType(api.events(parent), "TASK_COMPLETED")).isEmpty();
            try (ServiceProcess tools = tools(brokerPort, toolsPort)) {
                JsonNode ended = api.awaitEnd(parent, LIMIT.multipliedBy(2));

                // then
                assertThat(ended.path("state").asText()).isEqualTo("completed");
                assertThat(ended.path("response").asText()).isEqualTo("All three are in.");
                assertThat(news(model.requests().getLast()))
                        .satisfiesExactlyInAnyOrder(
                                one -> assertThat(one).contains(children.get(0), "completed", "the tale is told"),
                                one -> assertThat(one).contains(children.get(1), "failed", "the key is wrong"),
                                one -> assertThat(one).contains(sleeper, "completed", "slept 5"));
                List<JsonNode> events = api.events(parent);
                assertThat(childrenOf(events, "background_task.completed"))
                        .containsExactlyInAnyOrder(children.get(0), sleeper);
                assertThat(childrenOf(events, "background_task.failed")).containsExactly(children.get(1));
                assertThat(ofType(api.events(sleeper), "TOOL_CALL_COMPLETED")).hasSize(1);
                assertThat(Stream.concat(Stream.of(parent), children.stream())
                                .flatMap(task -> api.events(task).stream())
                                .map(event -> event.path("id").asText()))
                        .doesNotHaveDuplicates();
                assertThat(List.of(broker, agent, tools, gateway)).allMatch(ServiceProcess::isAlive);
            }
        }
    }

    @Test
    @DisplayName(
            "F-269, X-45: tool calls of one step run at the same time, or in order if the agent says so; one model call"
                    + " follows")
    void shouldRunTheCallsOfAStepTogether() throws IOException {
        // given
        agent("pair", "tools: [sleep]");
        agent("queue", "tools: [sleep]\nsequential: true");
        int port = FreePort.find();
        try (ServiceProcess up = ServiceProcess.standalone(
                        "up",
                        "--port",
                        String.valueOf(port),
                        "--kafka-port",
                        "0",
                        "--agents",
                        folder.resolve("agents").toString(),
                        "--script",
                        script().toString())
                .start(folder)
                .awaitReady(URI.create("http://127.0.0.1:" + port + "/q/health/ready"))) {
            HttpApi api = HttpApi.onPort(port);
            awaitTool(api, "pair");

            // when; the one whose time is taken comes when all are warm
            List<JsonNode> inOrder = eventsOf(api, "queue");
            List<JsonNode> together = eventsOf(api, "pair");

            // then
            assertThat(toolCalls(together))
                    .containsExactly(
                            "TOOL_CALL_REQUESTED", "TOOL_CALL_REQUESTED", "TOOL_CALL_COMPLETED", "TOOL_CALL_COMPLETED");
            assertThat(elapsedMs(together)).isLessThan(workMs(together) * 4 / 5);
            assertThat(toolCalls(inOrder))
                    .containsExactly(
                            "TOOL_CALL_REQUESTED", "TOOL_CALL_COMPLETED", "TOOL_CALL_REQUESTED", "TOOL_CALL_COMPLETED");
            assertThat(ofType(inOrder, "TOOL_CALL_COMPLETED"))
                    .extracting(
                            event -> event.at("/payload/result/sleptSeconds").asDouble())
                    .containsExactly(2.0, 1.9);
            assertThat(List.of(together, inOrder))
                    .allSatisfy(events -> assertThat(ofType(events, "MODEL_CALL_REQUESTED"))
                            .as("one call for the step, one for both results")
                            .hasSize(2));
            assertThat(up.isAlive()).isTrue();
        }
    }

    /** Starts three at once, and has its say only when it was told of all three. */
    private static StubModelServer.Answer boss(StubModelServer.Request request) {
        if (request.messages().stream().noneMatch(message -> "tool".equals(message.get("role")))) {
            return StubModelServer.Answer.toolCalls(spawn("teller"), spawn("failer"), spawn("sleeper"));
        }
        return StubModelServer.Answer.text(news(request).size() == 3 ? "All three are in." : "I am waiting.");
    }

    private static StubModelServer.ToolCall spawn(String agent) {
        return new StubModelServer.ToolCall(
                "call_" + agent,
                "spawn_task",
                "{\"description\":\"part\",\"input\":\"Do your part.\",\"type\":\"" + agent
                        + "\",\"background\":true}");
    }

    /** What the model is shown of children that have ended. */
    private static List<String> news(StubModelServer.Request request) {
        return request.messages().stream()
                .filter(message -> "user".equals(message.get("role")))
                .map(message -> String.valueOf(message.get("content")))
                .filter(text -> text.startsWith(NEWS))
                .toList();
    }

    private ServiceProcess tools(int brokerPort, int toolsPort) {
        return service("tool-service", brokerPort, toolsPort)
                .env("MILLRACE_TOOLS_WORKSPACE", folder.resolve("workspace").toString())
                .env("MILLRACE_TOOLS_SHUTDOWN_GRACE", "100ms")
                .start(folder);
    }

    private static ServiceProcess.Builder service(String module, int brokerPort, int httpPort) {
        return ServiceProcess.service(module)
                .env("KAFKA_BOOTSTRAP_SERVERS", "127.0.0.1:" + brokerPort)
                .env("MILLRACE_TOPICS_CREATE", "true")
                .env("MILLRACE_TOPICS_PARTITIONS", "2")
                .env("QUARKUS_HTTP_PORT", String.valueOf(httpPort))
                .env("QUARKUS_HTTP_HOST", "127.0.0.1");
    }

    private Path script() throws IOException {
        return Files.writeString(folder.resolve("script.yaml"), SCRIPT);
    }

    private void agent(String name, String keys) throws IOException {
        Files.writeString(
                Files.createDirectories(folder.resolve("agents").resolve(name)).resolve("AGENT.md"),
                "---\ndescription: The " + name + ".\n" + keys + "\n---\nYou are the " + name + ".\n");
    }

    private static void awaitTool(HttpApi api, String agent) {
        await().atMost(LIMIT)
                .until(() -> api.status("/v1/agents/" + agent) == 200
                        && StreamSupport.stream(
                                        api.get("/v1/tools?agent=" + agent)
                                                .json()
                                                .path("tools")
                                                .spliterator(),
                                        false)
                                .anyMatch(tool -> tool.path("name").asText().equals("sleep")));
    }

    private static String submit(HttpApi api, String text, String agent) {
        HttpApi.Answer accepted = api.post("/v1/tasks", Map.of("text", text, "taskType", agent));
        assertThat(accepted.status()).as(accepted.body()).isEqualTo(202);
        return accepted.json().path("taskId").asText();
    }

    private static List<JsonNode> eventsOf(HttpApi api, String agent) {
        String taskId = submit(api, "Sleep twice.", agent);
        JsonNode task = api.awaitEnd(taskId, LIMIT);
        assertThat(task.path("state").asText()).as(task.toString()).isEqualTo("completed");
        return api.events(taskId);
    }

    private static List<JsonNode> ofType(List<JsonNode> events, String type) {
        return events.stream()
                .filter(event -> event.path("type").asText().equals(type))
                .toList();
    }

    private static List<String> childrenOf(List<JsonNode> events, String type) {
        return ofType(events, type).stream()
                .map(event -> event.at("/payload/taskId").asText())
                .toList();
    }

    private static List<String> toolCalls(List<JsonNode> events) {
        return events.stream()
                .map(event -> event.path("type").asText())
                .filter(type -> type.startsWith("TOOL_CALL_"))
                .toList();
    }

    /** From the first request to the last result. */
    private static long elapsedMs(List<JsonNode> events) {
        return ofType(events, "TOOL_CALL_COMPLETED").getLast().path("timestamp").asLong()
                - ofType(events, "TOOL_CALL_REQUESTED")
                        .getFirst()
                        .path("timestamp")
                        .asLong();
    }

    /** How long the calls took, each for itself. */
    private static long workMs(List<JsonNode> events) {
        return ofType(events, "TOOL_CALL_COMPLETED").stream()
                .mapToLong(event -> event.at("/payload/durationMs").asLong())
                .sum();
    }
}
