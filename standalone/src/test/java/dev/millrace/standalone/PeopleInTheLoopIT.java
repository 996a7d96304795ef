package dev.millrace.standalone;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import dev.millrace.testing.FreePort;
import dev.millrace.testing.HttpApi;
import dev.millrace.testing.ServiceProcess;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.stream.StreamSupport;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** People steer tasks with the commands, on a real broker. */
class PeopleInTheLoopIT {

    private static final Duration LIMIT = Duration.ofSeconds(40);

    private static final String SCRIPT = """
            rules:
              - user: 'slow'
                text: "slow and done"
                latencyMs: 600000
              - user: 'steady'
                steps:
                  - calls: [{ tool: current_time, arguments: {} }]
                    latencyMs: 1500
                  - text: "steady and done"
              - user: 'wheel'
                steps:
                  - calls: [{ tool: ask_user, arguments: { question: "Which wheel?" } }]
                  - text: "You chose {{result.ask_user}}"
              - text: "You said {{user}}"
            """;

    @TempDir
    static Path temp;

    private static ServiceProcess up;
    private static HttpApi api;
    private static String url;

    @BeforeAll
    static void start() throws IOException {
        int port = FreePort.find();
        Path script = Files.writeString(temp.resolve("script.yaml"), SCRIPT);
        up = ServiceProcess.standalone(
                        "up", "--port", Integer.toString(port), "--kafka-port", "0", "--script", script.toString())
                .start(temp)
                .awaitOutput("Millrace is ready", ServiceProcess.START_LIMIT);
        api = HttpApi.onPort(port);
        url = "http://localhost:" + port;
    }

    @AfterAll
    static void stop() {
        up.close();
    }

    @Test
    @DisplayName("X-10, X-11: a question is answered at the terminal, and the same task goes on")
    void shouldAnswerAQuestionAtTheTerminal() {
        // when
        CommandRun ask = CommandRun.typing("Elsa\n", "ask", "Oil the wheel", "--url", url, "--timeout", "60s");

        // then
        assertThat(ask.exitCode()).as(ask.err()).isZero();
        assertThat(ask.out()).isEqualTo("Which wheel?\nYou chose Elsa\n");
    }

    @Test
    @DisplayName("a question is answered with another command, and the task says what it waits for until then")
    void shouldAnswerAQuestionLater() {
        // given
        CommandRun ask = CommandRun.of("ask", "Oil the wheel", "--url", url, "--timeout", "60s");
        String taskId = ask.err().lines().findFirst().orElseThrow().substring("task ".length());
        assertThat(ask.exitCode()).isEqualTo(5);
        assertThat(ask.err()).contains("./millrace resume " + taskId + " --url " + url + " --input \"…\"");
        JsonNode waiting = await().atMost(LIMIT)
                .until(
                        () -> api.get("/v1/tasks/" + taskId).json(),
                        task -> task.path("state").asText().equals("suspended"));
        assertThat(waiting.path("waitingFor").path("kind").asText()).isEqualTo("answer");
        assertThat(waiting.path("waitingFor").path("question").asText()).isEqualTo("Which wheel?");
        assertThat(waiting.path("waitingFor").path("since").asLong()).isPositive();
        assertThat(CommandRun.of("tasks", "--waiting-for", "answer", "--url", url)
                        .out())
                .contains(taskId);

        // when
        CommandRun resume = CommandRun.of("resume", taskId, "--input", "Marie", "--url", url);

        // then
        assertThat(resume.exitCode()).as(resume.err()).isZero();
        JsonNode task = api.awaitEnd(taskId, LIMIT);
        assertThat(task.path("response").asText()).isEqualTo("You chose Marie");
        assertThat(task.path("waitingFor").isNull()).isTrue();
    }

    @Test
    @DisplayName("F-133, F-148: a completed task takes new input")
    void shouldGoOnWithACompletedTask() {
        // given
        String taskId = api.submit("one");
        api.awaitEnd(taskId, LIMIT);

        // when
        CommandRun resume = CommandRun.of("resume", taskId, "--input", "two", "--url", url);

        // then
        assertThat(resume.exitCode()).as(resume.err()).isZero();
        await().atMost(LIMIT)
                .until(() -> api.get("/v1/tasks/" + taskId)
                        .json()
                        .path("response")
                        .asText()
                        .equals("You said two"));
    }

    @Test
    @DisplayName("F-117: the specification's words for a task that cannot be resumed")
    void shouldSayWhyATaskCannotBeResumed() {
        // given
        String taskId = api.submit("slow");
        awaitState(taskId, "reasoning");

        // when
        CommandRun resume = CommandRun.of("resume", taskId, "--input", "x", "--url", url);

        // then
        assertThat(resume.exitCode()).isEqualTo(1);
        assertThat(resume.err()).contains("Task " + taskId + " is in state REASONING, can only resume COMPLETED tasks");
        assertThat(CommandRun.of("cancel", taskId, "--url", url).exitCode()).isZero();
    }

    @Test
    void shouldCancelATaskThatReasons() {
        // given
        String taskId = api.submit("slow");
        awaitState(taskId, "reasoning");

        // when
        CommandRun cancel = CommandRun.of("cancel", taskId, "--reason", "enough", "--url", url);
        CommandRun again = CommandRun.of("cancel", taskId, "--url", url);

        // then
        assertThat(cancel.out()).isEqualTo("Task " + taskId + " is cancelled.\n");
        assertThat(again.out()).isEqualTo("Task " + taskId + " has ended already, as cancelled.\n");
        assertThat(api.get("/v1/tasks/" + taskId).json().path("error").asText()).isEqualTo("enough");
    }

    @Test
    @DisplayName("X-09, F-131, F-138: what arrives while a task is suspended is kept, and its history tells it all")
    void shouldSuspendAndResume() {
        // given
        String taskId = api.submit("steady");
        awaitState(taskId, "reasoning");

        // when
        CommandRun suspend = CommandRun.of("suspend", taskId, "--reason", "lunch", "--url", url);
        awaitState(taskId, "suspended");
        CommandRun resume = CommandRun.of("resume", taskId, "--url", url);

        // then
        assertThat(suspend.exitCode()).as(suspend.err()).isZero();
        assertThat(resume.exitCode()).as(resume.err()).isZero();
        JsonNode task = api.awaitEnd(taskId, LIMIT);
        assertThat(task.path("response").asText()).isEqualTo("steady and done");
        List<String> states = StreamSupport.stream(task.path("history").spliterator(), false)
                .map(move -> move.path("toState").asText())
                .toList();
        assertThat(states).contains("suspended").endsWith("completed");
        assertThat(task.path("transitions").asInt()).isEqualTo(states.size());
        assertThat(api.get("/v1/tasks/" + taskId + "/history").json().path("history"))
                .isEqualTo(task.path("history"));
    }

    @Test
    void shouldShowWhatTasksHaveToSay() throws Exception {
        // given
        String taskId = api.submit("steady");

        // when
        CommandRun shown = CommandRun.of("notifications", "--task", taskId, "--count", "1", "--url", url);

        // then
        assertThat(shown.out()).isEqualTo(taskId + "  completed  steady and done\n");
    }

    @Test
    @DisplayName("X-13: while the system drains, a new task is taken and waits, and says so")
    void shouldAdmitNothingWhileItDrains() {
        // given
        try {
            String drain = api.post("/v1/system/drain", Map.of("reason", "a test"))
                    .json()
                    .path("eventId")
                    .asText();
            await().atMost(LIMIT).until(() -> api.status("/v1/events/" + drain + "/chain") == 200);
            awaitAdmissionClosed();

            // when
            String taskId = api.submit("patient");
            awaitState(taskId, "idle");

            // then
            JsonNode waiting = api.get("/v1/tasks/" + taskId).json();
            assertThat(waiting.path("waitingFor").path("kind").asText()).isEqualTo("admission");
            assertThat(CommandRun.of("tasks", "--waiting-for", "admission", "--url", url)
                            .out())
                    .contains(taskId, "admission");

            // and when
            assertThat(CommandRun.of("undrain", "--url", url).exitCode()).isZero();

            // then
            assertThat(api.awaitEnd(taskId, LIMIT).path("response").asText()).isEqualTo("You said patient");
        } finally {
            CommandRun.of("undrain", "--url", url);
        }
    }

    /** The second partition hears of it a moment after the first: tasks of many sessions have to wait. */
    private static void awaitAdmissionClosed() {
        await().atMost(LIMIT).until(() -> {
            String probe = api.submit("probe");
            boolean waited = !isCompletedSoon(probe);
            CommandRun.of("cancel", probe, "--url", url);
            return waited;
        });
    }

    private static boolean isCompletedSoon(String taskId) {
        try {
            api.awaitEnd(taskId, Duration.ofSeconds(2));
            return true;
        } catch (AssertionError e) {
            return false;
        }
    }

    @Test
    @DisplayName(
            "M3: the id of a task, used in other sessions, starts none and changes nothing that its owner is shown")
    void shouldKeepAnIdToItsTask() {
        // given
        String id = "order-" + System.nanoTime();
        send(id, "owner", "mine");
        assertThat(api.awaitEnd(id, LIMIT).path("response").asText()).isEqualTo("You said mine");

        // when: of so many sessions some are on each partition
        for (int i = 0; i < 8; i++) {
            send(id, "stranger" + i, "theirs");
        }

        // then
        await().atMost(LIMIT)
                .untilAsserted(() -> assertThat(api.get("/v1/dead-letters?reason=duplicate_id")
                                .json()
                                .path("deadLetters"))
                        .hasSize(8));
        JsonNode task = api.get("/v1/tasks/" + id).json();
        assertThat(task.path("sessionId").asText()).isEqualTo("owner");
        assertThat(task.path("inputText").asText()).isEqualTo("mine");
        assertThat(task.path("response").asText()).isEqualTo("You said mine");
        assertThat(api.get("/v1/tasks/" + id + "/events").json().toString()).doesNotContain("stranger", "theirs");
    }

    private static void send(String id, String session, String text) {
        String event = """
                {"specversion":"1.0","id":"%s","source":"test","type":"MESSAGE_RECEIVED","sessionid":"%s",
                 "data":{"text":"%s"}}""".formatted(id, session, text);
        api.post(
                "/v1/events",
                Map.of("Content-Type", "application/cloudevents+json"),
                event.getBytes(StandardCharsets.UTF_8));
    }

    @Test
    @DisplayName("F-260: what was not taken can be asked for")
    void shouldListWhatWasNotTaken() {
        // given
        api.post("/v1/events", Map.of("Content-Type", "application/cloudevents+json"), """
                {"specversion":"1.0","id":"lost-1","source":"test","type":"MESSAGE_RECEIVED","subject":"no-such-task",
                 "data":{"text":"hello"}}""".getBytes(
                        StandardCharsets.UTF_8));

        // then
        await().atMost(LIMIT)
                .untilAsserted(() -> assertThat(CommandRun.of("dead-letters", "--task", "no-such-task", "--url", url)
                                .out())
                        .contains("unknown_task", "MESSAGE_RECEIVED"));
    }

    private static void awaitState(String taskId, String state) {
        await().atMost(LIMIT)
                .pollInterval(Duration.ofMillis(50))
                .until(() -> api.get("/v1/tasks/" + taskId)
                        .json()
                        .path("state")
                        .asText()
                        .equals(state));
    }
}
