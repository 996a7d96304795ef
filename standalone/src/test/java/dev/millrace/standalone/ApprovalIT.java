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
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A tool call that a person has to agree to, from the model's wish to the file on disk, on a real broker. */
class ApprovalIT {

    private static final Duration LIMIT = Duration.ofSeconds(60);

    @TempDir
    Path folder;

    private Path workspace = Path.of("");
    private int port;

    @BeforeEach
    void prepare() throws IOException {
        workspace = Files.createDirectories(folder.resolve("workspace"));
        Path agent = Files.createDirectories(folder.resolve("agents").resolve("careful"));
        Files.writeString(agent.resolve("AGENT.md"), """
                ---
                name: careful
                description: Asks before it writes.
                tools: [write_file, read_file]
                approval:
                  write_file: always
                ---
                You are careful.
                """);
        Files.writeString(folder.resolve("script.yaml"), """
                rules:
                  - steps:
                      - calls: [{ tool: write_file, arguments: { path: "note.txt", content: "from the model" } }]
                      - text: "It says: {{result}}"
                """);
        port = FreePort.find();
    }

    @Test
    @DisplayName("the person at the terminal says yes, and the call runs as it was asked for")
    void shouldRunTheCallOnceAPersonAgrees() throws Exception {
        try (ServiceProcess up = up()) {
            assertThat(up.isAlive()).isTrue();

            // when
            CommandRun ask = CommandRun.typing(
                    "y\n", "ask", "Write a note", "--agent", "careful", "--url", url(), "--timeout", "60s");

            // then
            assertThat(ask.exitCode()).as(ask.err()).isZero();
            assertThat(ask.err()).contains("approval needed: write_file", "  approved by ");
            assertThat(workspace.resolve("note.txt")).hasContent("from the model");
        }
    }

    @Test
    @DisplayName("the stored call survives a kill, and runs once, exactly as it was approved")
    void shouldKeepTheCallThroughAKillAndRunItAsApproved() throws Exception {
        // given
        String taskId;
        String callId;
        try (ServiceProcess up = up()) {
            taskId = HttpApi.onPort(port)
                    .post("/v1/tasks", Map.of("text", "Write a note", "agent", "careful"))
                    .json()
                    .path("taskId")
                    .asText();
            callId = await().atMost(LIMIT).until(() -> openCall(taskId), call -> !call.isEmpty());
            JsonNode task = HttpApi.onPort(port).get("/v1/tasks/" + taskId).json();
            assertThat(task.path("state").asText()).isEqualTo("suspended");
            assertThat(task.path("waitingFor").path("kind").asText()).isEqualTo("approval");
            assertThat(task.path("waitingFor").path("callIds"))
                    .extracting(JsonNode::asText)
                    .containsExactly(callId);
            assertThat(task.path("waitingFor").path("until").asText()).isNotEmpty();

            // when
            up.kill();
        }
        try (ServiceProcess up = up()) {
            assertThat(up.isAlive()).isTrue();
            await().atMost(LIMIT).until(() -> openCall(taskId).equals(callId));
            CommandRun approve = CommandRun.of(
                    "approve",
                    callId,
                    "--params",
                    "{\"path\":\"other.txt\",\"content\":\"from a person\"}",
                    "--url",
                    url());

            // then
            assertThat(approve.exitCode()).as(approve.err()).isZero();
            HttpApi api = HttpApi.onPort(port);
            assertThat(api.awaitEnd(taskId, LIMIT).path("state").asText()).isEqualTo("completed");
            assertThat(workspace.resolve("other.txt")).hasContent("from a person");
            assertThat(workspace.resolve("note.txt")).doesNotExist();
            List<JsonNode> events = api.events(taskId);
            assertThat(events).extracting(event -> event.path("id").asText()).doesNotHaveDuplicates();
            assertThat(ofType(events, "TOOL_CALL_REQUESTED"))
                    .singleElement()
                    .satisfies(request -> assertThat(request.path("payload")
                                    .path("params")
                                    .path("path")
                                    .asText())
                            .isEqualTo("other.txt"));
            assertThat(ofType(events, "TOOL_CALL_COMPLETED")).hasSize(1);
            assertThat(ofType(events, "MODEL_CALL_REQUESTED"))
                    .as("none between decision and call")
                    .hasSize(2);
            assertThat(ofType(events, "APPROVAL_DECIDED"))
                    .singleElement()
                    .satisfies(decided -> assertThat(
                                    decided.path("payload").path("decidedBy").asText())
                            .isNotEmpty());

            // and: deciding again is harmless, deciding otherwise is refused
            assertThat(CommandRun.of("approve", callId, "--url", url()).out()).contains("changes nothing");
            assertThat(CommandRun.of("reject", callId, "--url", url()).err()).contains("was decided before: approve");
            assertThat(CommandRun.of("approvals", "--url", url()).err()).contains("Nothing waits");
        }
    }

    @Test
    @DisplayName("the model sees why a person said no")
    void shouldTellTheModelWhyNot() throws Exception {
        try (ServiceProcess up = up()) {
            assertThat(up.isAlive()).isTrue();

            // when
            CommandRun ask = CommandRun.typing(
                    "n\nnot on a Friday\n",
                    "ask",
                    "Write a note",
                    "--agent",
                    "careful",
                    "--url",
                    url(),
                    "--timeout",
                    "60s");

            // then
            assertThat(ask.exitCode()).as(ask.err()).isZero();
            assertThat(ask.out()).contains("It says:", "rejected", "not on a Friday");
            assertThat(workspace.resolve("note.txt")).doesNotExist();
        }
    }

    private ServiceProcess up() {
        return ServiceProcess.standalone(
                        "up",
                        "--port",
                        Integer.toString(port),
                        "--kafka-port",
                        "0",
                        "--workspace",
                        "workspace",
                        "--script",
                        "script.yaml")
                .start(folder)
                .awaitReady(URI.create(url() + "/q/health/ready"));
    }

    private String url() {
        return "http://127.0.0.1:" + port;
    }

    /** The call of this task that waits for a decision; empty if none does. */
    private String openCall(String taskId) {
        return HttpApi.onPort(port)
                .get("/v1/approvals?taskId=" + taskId)
                .json()
                .path("approvals")
                .path(0)
                .path("callId")
                .asText("");
    }

    private static List<JsonNode> ofType(List<JsonNode> events, String type) {
        return events.stream()
                .filter(event -> event.path("type").asText().equals(type))
                .toList();
    }
}
