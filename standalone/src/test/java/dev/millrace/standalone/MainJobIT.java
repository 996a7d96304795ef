package dev.millrace.standalone;

import static org.assertj.core.api.Assertions.assertThat;

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
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The first thing that a stranger does: {@code up}, and a question about the files of the workspace. */
class MainJobIT {

    private static final String QUESTION = "Which files are in the workspace, and what does notes.txt say?";
    private static final String SECRET = "The miller's cat is called Ada.";

    @TempDir
    static Path temp;

    private static ServiceProcess up;
    private static int port;

    @BeforeAll
    static void start() throws IOException {
        port = FreePort.find();
        Path workspace = Files.createDirectories(temp.resolve("workspace"));
        Files.writeString(workspace.resolve("notes.txt"), SECRET);
        Files.writeString(workspace.resolve("ledger.csv"), "flour,3");
        up = ServiceProcess.standalone(
                        "up",
                        "--port",
                        Integer.toString(port),
                        "--kafka-port",
                        "0",
                        "--data",
                        "data",
                        "--workspace",
                        "workspace")
                .start(temp)
                .awaitOutput("Millrace is ready", ServiceProcess.START_LIMIT);
    }

    @AfterAll
    static void stop() {
        up.close();
    }

    @Test
    @DisplayName("up says in under ten lines what runs, where, and how to ask")
    void shouldSayWhatRuns() {
        // on a machine that is too busy Kafka may warn before; that is no part of what up says
        assertThat(up.output().lines().filter(line -> !line.matches("\\d\\d:\\d\\d:\\d\\d.*")))
                .hasSizeLessThan(10)
                .anyMatch(line -> line.contains("http://localhost:" + port))
                .anyMatch(line -> line.contains("Kafka") && line.contains("127.0.0.1:"))
                .anyMatch(line -> line.contains("model") && line.contains("scripted"))
                .anyMatch(line -> line.contains("./millrace ask 'Which files ")
                        && line.endsWith("' --url http://localhost:" + port));
    }

    @Test
    @DisplayName("the answer holds the file's real content, and two tools were really called for it")
    void shouldAnswerFromTheWorkspace() {
        // when
        CommandRun ask = CommandRun.of("ask", QUESTION, "--url", url(), "--timeout", "60s");

        // then
        assertThat(ask.exitCode()).as(ask.err() + up.output()).isZero();
        assertThat(ask.out()).contains(SECRET, "ledger.csv", "notes.txt");
        List<JsonNode> events = HttpApi.onPort(port).events(taskId(ask));
        assertThat(events)
                .filteredOn(event -> event.path("type").asText().equals("TOOL_CALL_COMPLETED"))
                .extracting(event -> event.path("payload").path("toolName").asText())
                .containsExactly("list_files", "read_file");
        assertThat(events)
                .filteredOn(
                        event -> event.path("payload").path("toolName").asText().equals("read_file"))
                .last()
                .satisfies(event -> assertThat(event.path("payload").toString()).contains(SECRET));
    }

    @Test
    @DisplayName("tasks lists the task, events draws what caused what")
    void shouldListAndDraw() {
        // given
        CommandRun ask = CommandRun.of("ask", QUESTION, "--url", url(), "--timeout", "60s");
        String taskId = taskId(ask);

        // when
        CommandRun tasks = CommandRun.of("tasks", "--url", url());
        CommandRun events = CommandRun.of("events", taskId, "--url", url());
        CommandRun unknown = CommandRun.of("events", "no-such-task", "--url", url());

        // then
        assertThat(tasks.out().lines()).anyMatch(line -> line.startsWith(taskId) && line.contains("completed"));
        assertThat(events.exitCode()).isZero();
        assertThat(events.out().lines()).first().asString().startsWith("MESSAGE_RECEIVED");
        assertThat(events.out()).contains("TOOL_CALL_COMPLETED  read_file in", "TASK_COMPLETED");
        assertThat(events.out().lines().filter(line -> !line.startsWith(" ") && !line.startsWith("└")))
                .as("one root")
                .hasSize(1);
        assertThat(unknown.exitCode()).isEqualTo(1);
        assertThat(unknown.err()).contains("There is no task no-such-task");
    }

    @Test
    @DisplayName("SIGTERM stops it within seconds, and a second start knows the tasks of the first")
    void shouldStopCleanlyAndGoOn() throws IOException {
        // given
        Path other = Files.createDirectories(temp.resolve("other"));
        int otherPort = FreePort.find();
        String[] args = {
            "up",
            "--port",
            Integer.toString(otherPort),
            "--kafka-port",
            "0",
            "--data",
            "data",
            "--workspace",
            "workspace"
        };
        URI ready = URI.create("http://127.0.0.1:" + otherPort + "/q/health/ready");
        String taskId;
        String stopOutput;
        try (ServiceProcess first = ServiceProcess.standalone(args).start(other).awaitReady(ready)) {
            HttpApi api = HttpApi.onPort(otherPort);
            taskId = api.submit(QUESTION);
            api.awaitEnd(taskId, Duration.ofSeconds(30));

            // when
            int said = first.output().length();
            first.stop(Duration.ofSeconds(15));
            stopOutput = first.output().substring(said);
        }

        // then
        assertThat(stopOutput).doesNotContain("ERROR", "Exception");
        try (ServiceProcess second =
                ServiceProcess.standalone(args).start(other).awaitReady(ready)) {
            assertThat(second.isAlive()).isTrue();
            assertThat(HttpApi.onPort(otherPort)
                            .get("/v1/tasks/" + taskId)
                            .json()
                            .path("state")
                            .asText())
                    .isEqualTo("completed");
        }
    }

    private static String url() {
        return "http://127.0.0.1:" + port;
    }

    private static String taskId(CommandRun ask) {
        return ask.err().lines().findFirst().orElseThrow().substring("task ".length());
    }
}
