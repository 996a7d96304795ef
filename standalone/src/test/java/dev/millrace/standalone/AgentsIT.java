package dev.millrace.standalone;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import dev.millrace.testing.FreePort;
import dev.millrace.testing.HttpApi;
import dev.millrace.testing.ServiceProcess;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.List;
import java.util.Map;
import java.util.stream.StreamSupport;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Agents as files, from outside: a whole Millrace, its API and its command line. */
class AgentsIT {

    private static final Duration LIMIT = Duration.ofSeconds(60);
    private static final Path EXAMPLE = Path.of("..", "examples", "agents");

    /** What the agent says gives away which definition it works by. */
    private static final String CLERK = """
            ---
            description: The clerk, edition %1$s.
            tools: [current_time]
            ---
            You are edition %1$s for {{input.metadata.customer}} of {{namespace}} since {{date}}.
            """;

    private static final String SCRIPT = """
            rules:
              - name: first ask, then say who one is
                user: 'ask first'
                after: []
                calls:
                  - tool: ask_user
                    arguments: { question: "how many?" }
              - system: 'You are edition one for Ada of default since TODAY'
                text: one
              - system: 'You are edition two for Ada of default since TODAY'
                text: two
              - user: 'please write'
                steps:
                  - calls:
                      - tool: write_file
                        arguments: { path: forbidden.txt, content: hello }
                  - text: "{{result}}"
              - text: somebody else
            """;

    @TempDir
    Path folder;

    private Path agents;
    private int port;
    private HttpApi api;

    @BeforeEach
    void prepare() throws IOException {
        agents = Files.createDirectory(folder.resolve("agents"));
        // the day may change while the test runs
        String today = "(?:" + LocalDate.now(ZoneOffset.UTC) + "|"
                + LocalDate.now(ZoneOffset.UTC).plusDays(1) + ")";
        Files.writeString(folder.resolve("script.yaml"), SCRIPT.replace("TODAY", today));
        port = FreePort.find();
        api = HttpApi.onPort(port);
    }

    @Test
    @DisplayName("a file is an agent; a change is for new tasks, and a broken file for none")
    void shouldFollowTheFolder() throws Exception {
        clerk(CLERK.formatted("one"));
        try (ServiceProcess up = up()) {
            assertThat(agent("clerk").path("source").asText()).isEqualTo("file");
            String asked = submit("ask first", "clerk");
            awaitState(asked, "suspended");
            assertThat(answer("hello", "clerk")).isEqualTo("one");

            // when it changes, new tasks get the new one
            clerk(CLERK.formatted("two"));
            await().atMost(LIMIT)
                    .until(() -> agent("clerk").path("description").asText().contains("two"));
            assertThat(answer("hello", "clerk")).isEqualTo("two");

            // when it is broken, the last good one stays, and the problem is told
            clerk("---\ndescription: [\n---\nYou are nobody.");
            await().atMost(LIMIT)
                    .until(() -> api.get("/v1/agents").json().path("problems").size() == 1);
            assertThat(answer("hello", "clerk")).isEqualTo("two");
            assertThat(CommandRun.of("agents", "--url", "http://127.0.0.1:" + port)
                            .err())
                    .contains("clerk", "not YAML");
            up.awaitOutput("An agent's file is no good", LIMIT);

            // when it is gone, its name means nothing any more
            Files.delete(agents.resolve("clerk/AGENT.md"));
            await().atMost(LIMIT).until(() -> api.status("/v1/agents/clerk") == 404);
            // the gateway may take its list of names as it is for some seconds
            await().atMost(LIMIT)
                    .until(() -> api.post("/v1/tasks", Map.of("text", "hello", "taskType", "clerk"))
                                    .status()
                            == 422);

            // and after all that, and a death, the task that began with the first one ends with it
            up.kill();
        }
        try (ServiceProcess again = up()) {
            assertThat(again.isAlive()).isTrue();
            String asked = api.get("/v1/tasks?state=suspended")
                    .json()
                    .path("tasks")
                    .path(0)
                    .path("taskId")
                    .asText();
            assertThat(api.post("/v1/tasks/" + asked + "/resume", Map.of("newInput", "three"))
                            .status())
                    .isEqualTo(202);
            assertThat(api.awaitEnd(asked, LIMIT).path("response").asText()).isEqualTo("one");
        }
    }

    @Test
    @DisplayName("F-154: explore asks for write_file, gets the refusal as the result, and nothing is written")
    void shouldRefuseWhatIsNotTheAgentsOwn() throws IOException {
        try (ServiceProcess up = up()) {
            assertThat(up.isAlive()).isTrue();
            assertThat(answer("please write", "explore"))
                    .isEqualTo("Error: Tool \"write_file\" is not available for task type \"explore\"");
            assertThat(folder.resolve("workspace/forbidden.txt")).doesNotExist();
            assertThat(tools("?agent=explore")).contains("read_file").doesNotContain("write_file");
            assertThat(tools("")).contains("write_file");
            shouldCallToolsByRules();
        }
    }

    /** A rule that is defined while Millrace runs calls a tool for an event, and another tells of that event. */
    private void shouldCallToolsByRules() throws IOException {
        String url = "http://127.0.0.1:" + port;
        Path file = Files.writeString(folder.resolve("notes.yaml"), """
                rules:
                  notes:
                    on: note.taken
                    priority: 60
                    call: {tool: write_file, arguments: {path: "{{payload.name}}.txt", content: "{{payload.text}}"}}
                  asked:
                    on: note.asked
                    priority: 60
                    call: {tool: get_event_info, arguments: {event_ids: ["{{payload.of}}", nobody]}}
                """);

        assertThat(CommandRun.of("rules", "put", file.toString(), "--url", url).out())
                .contains("Rule notes is defined", "Rule asked is defined");
        assertThat(CommandRun.of("rules", "list", "--url", url).out()).contains("definition", "built-in");
        String note = "{\"name\": \"may\", \"text\": \"rain\"}";
        assertThat(CommandRun.of("emit", "note.taken", "--id", "n1", note, "--url", url)
                        .out())
                .isEqualTo("n1\n");
        await().atMost(LIMIT)
                .untilAsserted(
                        () -> assertThat(folder.resolve("workspace/may.txt")).hasContent("rain"));
        assertThat(CommandRun.of("emit", "note.asked", "{\"of\": \"n1\"}", "--url", url)
                        .exitCode())
                .isZero();
        await().atMost(LIMIT).untilAsserted(() -> {
            JsonNode newest =
                    api.get("/v1/tasks?state=completed&limit=1").json().at("/tasks/0");
            assertThat(newest.path("inputText").asText()).isEqualTo("Call get_event_info for event: note.asked");
            assertThat(api.get("/v1/tasks/" + newest.path("taskId").asText())
                            .json()
                            .path("response")
                            .asText())
                    .contains("\"event_type\":\"note.taken\"", "\"text\":\"rain\"", "\"unknown\":[\"nobody\"]");
        });
        assertThat(CommandRun.of("rules", "delete", "notes", "--url", url).exitCode())
                .isZero();
        assertThat(CommandRun.of("rules", "delete", "timer", "--url", url).err())
                .contains("built in");
    }

    @Test
    @DisplayName("the agent of examples/agents works with its script")
    void shouldRunTheExample() {
        try (ServiceProcess up = ServiceProcess.standalone(
                        "up",
                        "--port",
                        String.valueOf(port),
                        "--kafka-port",
                        "0",
                        "--agents",
                        EXAMPLE.toAbsolutePath().toString(),
                        "--workspace",
                        EXAMPLE.resolveSibling("files").toAbsolutePath().toString(),
                        "--script",
                        EXAMPLE.resolve("script.yaml").toAbsolutePath().toString())
                .start(folder)) {
            up.awaitReady(URI.create("http://127.0.0.1:" + port + "/q/health/ready"));

            assertThat(api.get("/v1/agents").json().path("problems")).isEmpty();
            assertThat(answer("Release notes for 0.2, please", "release-notes"))
                    .startsWith("# Version 0.2")
                    .contains("flood.level");
        }
    }

    private ServiceProcess up() {
        return ServiceProcess.standalone(
                        "up",
                        "--port",
                        String.valueOf(port),
                        "--kafka-port",
                        "0",
                        "--script",
                        folder.resolve("script.yaml").toString())
                .start(folder)
                .awaitReady(URI.create("http://127.0.0.1:" + port + "/q/health/ready"));
    }

    private void clerk(String file) throws IOException {
        Files.createDirectories(agents.resolve("clerk"));
        Files.writeString(agents.resolve("clerk/AGENT.md"), file);
    }

    private JsonNode agent(String name) {
        return api.get("/v1/agents/" + name).json();
    }

    private List<String> tools(String query) {
        return StreamSupport.stream(
                        api.get("/v1/tools" + query).json().path("tools").spliterator(), false)
                .map(tool -> tool.path("name").asText())
                .toList();
    }

    private String submit(String text, String agent) {
        return api.post("/v1/tasks", Map.of("text", text, "taskType", agent, "metadata", Map.of("customer", "Ada")))
                .json()
                .path("taskId")
                .asText();
    }

    private String answer(String text, String agent) {
        return api.awaitEnd(submit(text, agent), LIMIT).path("response").asText();
    }

    private void awaitState(String taskId, String state) {
        await().atMost(LIMIT)
                .until(() -> api.get("/v1/tasks/" + taskId)
                        .json()
                        .path("state")
                        .asText()
                        .equals(state));
    }
}
