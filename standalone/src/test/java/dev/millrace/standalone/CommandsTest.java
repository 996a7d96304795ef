package dev.millrace.standalone;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class CommandsTest {

    private static final String ACCEPTED = "{\"taskId\":\"t-1\"}";

    private StubGateway gateway;

    @BeforeEach
    void open() throws IOException {
        gateway = new StubGateway();
    }

    @AfterEach
    void close() {
        gateway.close();
    }

    @Test
    @DisplayName("ask shows the moves on standard error and only the answer on standard output")
    void shouldShowMovesAndPrintAnswer() {
        // given
        gateway.answer("/v1/tasks", 202, ACCEPTED).stream(
                "/v1/tasks/t-1/stream",
                event(1, "MODEL_CALL_REQUESTED", "{}")
                        + event(2, "TOOL_CALL_REQUESTED", "{\"toolName\":\"list_files\",\"params\":{\"path\":\".\"}}")
                        + event(3, "TOOL_CALL_COMPLETED", "{\"toolName\":\"list_files\",\"durationMs\":7}")
                        + event(4, "TASK_COMPLETED", "{\"result\":{\"response\":\"Größe: 4,2 m\"}}"));

        // when
        CommandRun ask = CommandRun.of("ask", "How big is Elsa?", "--url", gateway.url());

        // then
        assertThat(ask.exitCode()).isZero();
        assertThat(ask.out()).isEqualTo("Größe: 4,2 m\n");
        assertThat(ask.err())
                .contains("task t-1", "reasoning", "tool list_files {\"path\":\".\"}", "list_files done in 7 ms");
    }

    @Test
    @DisplayName("ask goes on after the last event that it saw when the connection breaks")
    void shouldResumeBrokenStream() {
        // given
        gateway.answer("/v1/tasks", 202, ACCEPTED).stream(
                "/v1/tasks/t-1/stream",
                event(1, "MODEL_CALL_REQUESTED", "{}") + "id: 0:2\ndata: {\"type\":\"TASK_COMP",
                event(2, "TASK_COMPLETED", "{\"result\":{\"response\":\"done\"}}"));

        // when
        CommandRun ask = CommandRun.of("ask", "x", "--url", gateway.url());

        // then
        assertThat(ask.exitCode()).isZero();
        assertThat(ask.out()).isEqualTo("done\n");
        assertThat(gateway.requests()).contains("GET /v1/tasks/t-1/stream after 0:1");
    }

    @Test
    void shouldSayWhyTheTaskFailed() {
        // given
        gateway.answer("/v1/tasks", 202, ACCEPTED).stream(
                "/v1/tasks/t-1/stream",
                event(1, "TASK_FAILED", "{\"error\":\"Too many rounds\",\"code\":\"iteration_limit\"}"));

        // when
        CommandRun ask = CommandRun.of("ask", "x", "--url", gateway.url());

        // then
        assertThat(ask.exitCode()).isEqualTo(1);
        assertThat(ask.out()).isEmpty();
        assertThat(ask.err()).contains("Too many rounds (iteration_limit)");
    }

    @Test
    void shouldPassTheQuestionOnAndTellItFromAnAnswer() {
        // given
        gateway.answer("/v1/tasks", 202, ACCEPTED).stream(
                "/v1/tasks/t-1/stream", event(1, "TASK_SUSPENDED", "{\"question\":\"Which wheel?\"}"));

        // when
        CommandRun ask = CommandRun.of("ask", "x", "--url", gateway.url());

        // then
        assertThat(ask.exitCode()).isEqualTo(5);
        assertThat(ask.out()).isEqualTo("Which wheel?\n");
    }

    @Test
    void shouldGiveUpAfterTheTimeout() {
        // given
        gateway.answer("/v1/tasks", 202, ACCEPTED).stream(
                "/v1/tasks/t-1/stream", event(1, "MODEL_CALL_REQUESTED", "{}"));

        // when
        CommandRun ask = CommandRun.of("ask", "x", "--timeout", "300ms", "--url", gateway.url());

        // then
        assertThat(ask.exitCode()).isEqualTo(4);
        assertThat(ask.err()).contains("did not end within 300 ms", "millrace events t-1");
    }

    @Test
    void shouldPassOnWhatTheGatewayRefuses() {
        // given
        gateway.answer(
                "/v1/tasks", 400, "{\"title\":\"Bad request\",\"detail\":\"text: expected 1 to 100000 characters\"}");

        // when
        CommandRun ask = CommandRun.of("ask", "x", "--url", gateway.url());

        // then
        assertThat(ask.exitCode()).isEqualTo(1);
        assertThat(ask.err()).isEqualTo("millrace: text: expected 1 to 100000 characters\n");
    }

    @ParameterizedTest
    @ValueSource(strings = {"ask x", "tasks", "events t-1"})
    void shouldTellThatNobodyIsThere(String command) {
        // given
        String url = gateway.url();
        gateway.close();

        // when
        CommandRun run = CommandRun.of((command + " --url " + url).split(" "));

        // then
        assertThat(run.exitCode()).isEqualTo(3);
        assertThat(run.err()).contains("Cannot reach Millrace at " + url).doesNotContain("Exception");
    }

    @ParameterizedTest
    @ValueSource(strings = {"ask", "ask x --timeout soon", "tasks --limit many", "events", "nonsense", "up --port x"})
    void shouldExplainAWrongCommandLine(String command) {
        // when
        CommandRun run = CommandRun.of(command.split(" "));

        // then
        assertThat(run.exitCode()).isEqualTo(2);
        assertThat(run.err()).isNotBlank().doesNotContain("\tat ");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"--help", "up --help", "ask --help", "tasks --help", "events --help", "help ask", "--version"})
    void shouldHelp(String command) {
        // when
        CommandRun run = CommandRun.of(command.split(" "));

        // then
        assertThat(run.exitCode()).isZero();
        assertThat(run.out()).containsIgnoringCase("millrace").doesNotContain("broker --");
    }

    @Test
    void shouldListTasksInColumns() {
        // given
        gateway.answer("/v1/tasks", 200, """
                {"tasks":[
                  {"taskId":"t-2","state":"reasoning","taskType":"general","createdAt":0,"iterations":1,"inputText":"two\\nlines"},
                  {"taskId":"t-10","state":"completed","taskType":"explore","createdAt":0,"iterations":12,"inputText":"one"}
                ],"next":null}""");

        // when
        CommandRun tasks = CommandRun.of("tasks", "--state", "a b", "--url", gateway.url());

        // then
        assertThat(tasks.exitCode()).isZero();
        assertThat(tasks.out().lines())
                .satisfiesExactly(
                        heading -> assertThat(heading).startsWith("TASK  STATE      AGENT    AGE"),
                        first -> assertThat(first)
                                .startsWith("t-2   reasoning  general ")
                                .endsWith("  two lines"),
                        second -> assertThat(second).startsWith("t-10  completed  explore "));
        assertThat(gateway.requests()).containsExactly("GET /v1/tasks?limit=20&state=a%20b");
    }

    @Test
    void shouldReadEveryPageOfEvents() {
        // given
        gateway.answer("/v1/tasks/t-1/events", 200, """
                {"events":[{"id":"e-1","type":"MESSAGE_RECEIVED","timestamp":5,"payload":{"text":"hello"}}],"next":null}""");

        // when
        CommandRun events = CommandRun.of("events", "t-1", "--url", gateway.url());

        // then
        assertThat(events.exitCode()).isZero();
        assertThat(events.out()).isEqualTo("MESSAGE_RECEIVED  \"hello\"  +0 ms  e-1\n");
    }

    @Test
    void shouldSayThatThereIsNoSuchTask() {
        // given
        gateway.answer("/v1/tasks", 404, "{\"title\":\"Not found\"}");

        // when
        CommandRun events = CommandRun.of("events", "no-such", "--url", gateway.url());

        // then
        assertThat(events.exitCode()).isEqualTo(1);
        assertThat(events.err())
                .isEqualTo("millrace: There is no task no-such. `millrace tasks` lists those that there are.\n");
    }

    private static String event(int offset, String type, String payload) {
        return "id: 0:" + offset + "\nevent: " + type + "\ndata: {\"id\":\"e-" + offset + "\",\"type\":\"" + type
                + "\",\"timestamp\":" + offset + ",\"payload\":" + payload + "}\n\n";
    }
}
