package dev.millrace.standalone;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.millrace.schemas.Json;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

@Tag("slow")
class CommandsTest {

    private static final String MODEL_CALL = "{\"callId\":\"c1\",\"iteration\":1}";
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
                event(1, "MODEL_CALL_REQUESTED", MODEL_CALL)
                        + event(
                                2,
                                "TOOL_CALL_REQUESTED",
                                call("list_files", "\"toolCallId\":\"x\",\"params\":{\"path\":\".\"}"))
                        + event(3, "TOOL_CALL_COMPLETED", call("list_files", "\"result\":null,\"durationMs\":7"))
                        + event(4, "TASK_COMPLETED", result("Größe: 4,2 m")));

        // when
        CommandRun ask = CommandRun.of("ask", "How big is Elsa?", "--url", gateway.url());

        // then
        assertThat(ask.exitCode()).isZero();
        assertThat(ask.out()).isEqualTo("Größe: 4,2 m\n");
        assertThat(ask.err())
                .contains("task t-1", "reasoning", "tool list_files {\"path\":\".\"}", "list_files done in 7 ms");
    }

    @Test
    @DisplayName("watch shows what happens in a conversation, and with --json each event as it came")
    void shouldWatch() {
        // given
        String stream = event(1, "TASK_CREATED", "{\"inputText\":\"a\",\"source\":\"user\",\"taskType\":\"clerk\"}")
                + event(2, "TASK_COMPLETED", result("4,2 m"));
        gateway.stream(
                "/v1/sessions/s1/stream",
                stream.replace("\"timestamp\"", "\"taskId\":\"t-1\",\"timestamp\""),
                stream.replace("\"timestamp\"", "\"taskId\":\"t-1\",\"timestamp\""));

        // when
        CommandRun watch = CommandRun.of("watch", "s1", "--until-idle", "--url", gateway.url());
        CommandRun json = CommandRun.of("watch", "s1", "--until-idle", "--json", "--url", gateway.url());

        // then
        assertThat(watch.exitCode()).isZero();
        assertThat(watch.out().lines())
                .hasSize(2)
                .anySatisfy(line -> assertThat(line).endsWith("TASK_CREATED  clerk"))
                .anySatisfy(line -> assertThat(line).endsWith("TASK_COMPLETED  \"4,2 m\""));
        assertThat(json.out().lines()).hasSize(2).allMatch(line -> line.startsWith("{"));
    }

    @Test
    @DisplayName("schedules are listed with when they are due in their zone, and defined by options")
    void shouldShowSchedules() {
        // given
        String schedule =
                "{\"name\":\"report\",\"namespace\":\"default\",\"cron\":\"@daily\",\"zone\":\"Europe/Berlin\","
                        + "\"missed\":\"one\",\"missedLimit\":100,\"overlap\":\"allow\",\"text\":\"go\",\"paused\":false,"
                        + "\"changedAt\":\"2026-11-23T12:00:00Z\",\"next\":[\"2026-11-23T23:00:00Z\"]}";
        gateway.answer("/v1/schedules", 200, "{\"schedules\":[" + schedule + "]}")
                .answer("/v1/schedules/report", 201, schedule);

        // when
        CommandRun list = CommandRun.of("schedules", "list", "--url", gateway.url());
        CommandRun set =
                CommandRun.of("schedules", "set", "report", "--cron", "@daily", "--text", "go", "--url", gateway.url());
        CommandRun next = CommandRun.of("schedules", "next", "report", "--url", gateway.url());

        // then
        assertThat(list.out()).contains("report", "@daily", "2026-11-24T00:00+01:00", "general", "go");
        assertThat(set.exitCode()).isZero();
        assertThat(set.out()).contains("due next at 2026-11-24T00:00+01:00");
        assertThat(next.out()).isEqualTo("2026-11-24T00:00+01:00\n");
    }

    @Test
    @DisplayName("rules are listed, shown, defined from a file and taken back")
    void shouldShowRules(@TempDir Path folder) throws IOException {
        // given
        String rule = "{\"id\":\"orders\",\"on\":[\"order.*\"],\"priority\":60,\"enabled\":true,\"handler\":\"call\","
                + "\"version\":\"1f0c\",\"source\":\"definition\",\"rule\":{\"on\":\"order.*\",\"call\":{\"tool\":\"notify\"}}}";
        gateway.answer("/v1/rules", 200, "{\"rules\":[" + rule + "]}").answer("/v1/rules/orders", 200, rule);
        Path file = Files.writeString(
                folder.resolve("orders.yaml"),
                "rules:\n  orders:\n    on: order.*\n    priority: 60\n    call: {tool: notify}\n");
        Path none = Files.writeString(folder.resolve("none.yaml"), "rule: {}\n");

        // when
        CommandRun list = CommandRun.of("rules", "list", "--url", gateway.url());
        CommandRun json = CommandRun.of("rules", "list", "--json", "--url", gateway.url());
        CommandRun show = CommandRun.of("rules", "show", "orders", "--url", gateway.url());
        CommandRun put = CommandRun.of("rules", "put", file.toString(), "--url", gateway.url());
        CommandRun delete = CommandRun.of("rules", "delete", "orders", "--url", gateway.url());
        CommandRun nothing = CommandRun.of("rules", "put", none.toString(), "--url", gateway.url());

        // then
        assertThat(list.out()).contains("orders", "order.*", "60", "call", "definition", "1f0c");
        assertThat(json.out()).isEqualTo(rule + '\n');
        assertThat(show.out()).contains("{\"tool\":\"notify\"}");
        assertThat(put.out()).isEqualTo("Rule orders is defined, version 1f0c.\n");
        assertThat(delete.exitCode()).isZero();
        assertThat(gateway.requests())
                .contains(
                        "PUT /v1/rules/orders {\"on\":\"order.*\",\"priority\":60,\"call\":{\"tool\":\"notify\"}}",
                        "DELETE /v1/rules/orders");
        assertThat(nothing.exitCode()).isEqualTo(1);
        assertThat(nothing.err()).contains("expected rules by id under rules, found none");
    }

    @Test
    @DisplayName("emit sends an event as it is given, and prints its id")
    void shouldEmit(@TempDir Path folder) throws IOException {
        // given
        gateway.answer("/v1/events", 202, "{\"accepted\":[\"o-7\"]}");
        Path file = Files.writeString(folder.resolve("order.json"), "{\"total\":3}");

        // when
        CommandRun words = CommandRun.of(
                "emit", "order.placed", "--session", "shop", "--id", "o-7", "{\"total\":1}", "--url", gateway.url());
        CommandRun ofFile = CommandRun.of("emit", "order.placed", "@" + file, "--url", gateway.url());
        CommandRun none = CommandRun.of("emit", "order.placed", "--url", gateway.url());
        CommandRun bad = CommandRun.of("emit", "order.placed", "[1]", "--url", gateway.url());

        // then
        assertThat(words.out()).isEqualTo("o-7\n");
        assertThat(List.of(ofFile.exitCode(), none.exitCode(), bad.exitCode())).containsExactly(0, 0, 2);
        assertThat(bad.err()).startsWith("millrace: DATA: ");
        assertThat(gateway.requests())
                .containsExactly(
                        "POST /v1/events {\"total\":1}", "POST /v1/events {\"total\":3}", "POST /v1/events {}");
    }

    @Test
    @DisplayName("F-287, F-299: ask says how long the task is worth it, who takes part and who speaks")
    void shouldSayHowLongItIsWorthIt() {
        // given
        gateway.answer("/v1/tasks", 202, ACCEPTED).stream(
                "/v1/tasks/t-1/stream", event(1, "TASK_COMPLETED", result("4,2 m")));

        // when
        CommandRun ask = CommandRun.of(
                "ask",
                "x",
                "--session",
                "s",
                "--ttl",
                "90s",
                "--participants",
                "user,planner",
                "--as",
                "Ann",
                "--url",
                gateway.url());

        // then
        assertThat(ask.exitCode()).as(ask.err()).isZero();
        assertThat(gateway.requests().getFirst())
                .contains("\"ttl\":90000", "\"participants\":[\"user\",\"planner\"]", "\"sender\":\"Ann\"");
    }

    @Test
    @DisplayName("ask prints the answer while the model says it, and begins anew where a call is repeated")
    void shouldPrintTheAnswerWhileItIsMade() {
        // given
        gateway.answer("/v1/tasks", 202, ACCEPTED).stream(
                "/v1/tasks/t-1/stream",
                event(1, "MODEL_CALL_REQUESTED", MODEL_CALL)
                        + live("stream.start", "c1", 1, "")
                        + live("stream.text", "c1", 1, "half a")
                        + live("stream.restart", "c1", 2, "")
                        + live("stream.text", "c1", 1, " sentence")
                        + live("stream.text", "c1", 2, "4,2 ")
                        + live("stream.text", "c1", 2, "m")
                        + event(2, "REASON_DONE", "{\"callId\":\"c1\",\"model\":\"scripted\"}")
                        + event(3, "TASK_COMPLETED", result("4,2 m")));

        // when
        CommandRun ask = CommandRun.live("ask", "How big is Elsa?", "--url", gateway.url());

        // then
        assertThat(ask.exitCode()).isZero();
        assertThat(ask.out()).isEqualTo("half a\n4,2 m\n");
        assertThat(ask.err()).contains("the model is asked again", "scripted took");
        assertThat(gateway.requests()).contains("GET /v1/tasks/t-1/stream?tokens=stream");
    }

    @Test
    @DisplayName("ask goes on after the last event that it saw when the connection breaks")
    void shouldResumeBrokenStream() {
        // given
        gateway.answer("/v1/tasks", 202, ACCEPTED).stream(
                "/v1/tasks/t-1/stream",
                event(1, "MODEL_CALL_REQUESTED", MODEL_CALL) + "id: 0:2\ndata: {\"type\":\"TASK_COMP",
                event(2, "TASK_COMPLETED", result("done")));

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
        assertThat(ask.err()).contains("./millrace resume t-1 --url " + gateway.url() + " --input");
    }

    @Test
    void shouldTakeTheAnswerToAQuestionFromThePersonAtTheTerminal() {
        // given
        gateway.answer("/v1/tasks", 202, ACCEPTED).answer("/v1/tasks/t-1/resume", 202, ACCEPTED).stream(
                "/v1/tasks/t-1/stream",
                event(1, "TASK_SUSPENDED", "{\"question\":\"Which wheel?\"}")
                        + event(2, "TASK_COMPLETED", result("4.2 m")));

        // when
        CommandRun ask = CommandRun.typing("Elsa\n", "ask", "How big is the wheel?", "--url", gateway.url());

        // then
        assertThat(ask.exitCode()).isZero();
        assertThat(ask.out()).isEqualTo("Which wheel?\n4.2 m\n");
        assertThat(gateway.requests()).contains("POST /v1/tasks/t-1/resume {\"newInput\":\"Elsa\"}");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {
                "y                         | `{\"decision\":\"approve\",`",
                "x,yes                     | `{\"decision\":\"approve\",`",
                "n,wrong file              | `{\"decision\":\"reject\",\"reason\":\"wrong file\",`",
                "e,nonsense,e,{\"path\":\"b\"} | `{\"decision\":\"approve\",\"params\":{\"path\":\"b\"},`"
            })
    void shouldLetThePersonAtTheTerminalDecideOnAToolCall(String typed, String sent) {
        // given
        gateway.answer("/v1/tasks", 202, ACCEPTED).answer("/v1/approvals", 202, ACCEPTED).stream(
                "/v1/tasks/t-1/stream", approvalRequested() + event(2, "TASK_COMPLETED", result("")));

        // when
        CommandRun ask = CommandRun.typing(typed.replace(',', '\n') + "\n", "ask", "x", "--url", gateway.url());

        // then
        assertThat(ask.exitCode()).isZero();
        assertThat(ask.err()).contains("approval needed: write_file {\"path\":\"a\"}\n  reason: condition `x` holds\n");
        assertThat(gateway.requests())
                .anySatisfy(request -> assertThat(request).startsWith("POST /v1/approvals/t-1%2F1%2F0-ab " + sent));
    }

    @Test
    @DisplayName("arguments that the tool cannot take are asked for again")
    void shouldAskAgainForArgumentsThatDoNotFit() {
        // given
        gateway
                .answer("/v1/tasks", 202, ACCEPTED)
                .answer(
                        "/v1/approvals",
                        422,
                        "{\"code\":\"invalid_arguments\",\"detail\":\"params: /path string expected\"}")
                .stream("/v1/tasks/t-1/stream", approvalRequested() + event(2, "TASK_COMPLETED", result("")));

        // when
        CommandRun ask = CommandRun.typing("e\n{\"path\":1}\nn\nno\n", "ask", "x", "--url", gateway.url());

        // then
        assertThat(ask.err()).contains("params: /path string expected");
        assertThat(gateway.requests())
                .filteredOn(request -> request.startsWith("POST /v1/approvals/"))
                .satisfiesExactly(
                        first -> assertThat(first).contains("\"params\":{\"path\":1}"),
                        second -> assertThat(second).contains("\"decision\":\"reject\""));
    }

    @Test
    @DisplayName("ask ends at once, with an exit code of its own, where an approval is needed and nobody can be asked")
    void shouldEndWhereNobodyCanDecide() {
        // given
        gateway.answer("/v1/tasks", 202, ACCEPTED).stream("/v1/tasks/t-1/stream", approvalRequested());

        // when
        CommandRun ask = CommandRun.of("ask", "x", "--url", gateway.url());
        CommandRun typedNothing = CommandRun.typing("\n", "ask", "x", "--url", gateway.url());

        // then
        assertThat(ask.exitCode()).isEqualTo(6);
        assertThat(ask.out()).isEmpty();
        assertThat(ask.err())
                .contains("approval needed: write_file {\"path\":\"a\"}")
                .contains("Task t-1 waits for a decision on call t-1/1/0-ab: ./millrace approve t-1/1/0-ab --url "
                        + gateway.url() + "   or   ./millrace reject t-1/1/0-ab --url " + gateway.url()
                        + " --reason");
        assertThat(typedNothing.exitCode()).isEqualTo(6);
    }

    @Test
    @DisplayName("ask --wait waits for what somebody decides or answers elsewhere")
    void shouldWaitForSomebodyElse() {
        // given
        gateway.answer("/v1/tasks", 202, ACCEPTED).stream(
                "/v1/tasks/t-1/stream",
                approvalRequested()
                        + event(2, "TASK_SUSPENDED", "{\"question\":\"Which wheel?\"}")
                        + event(3, "TASK_RESUMED", "{\"newInput\":\"Elsa\"}")
                        + event(
                                4,
                                "APPROVAL_DECIDED",
                                "{\"callId\":\"c1\",\"decision\":\"reject\",\"decidedBy\":\"ada\",\"reason\":\"no\"}")
                        + event(5, "TASK_COMPLETED", result("I may not.")));

        // when
        CommandRun ask = CommandRun.of("ask", "x", "--wait", "--url", gateway.url());

        // then
        assertThat(ask.exitCode()).isZero();
        assertThat(ask.out()).isEqualTo("Which wheel?\nI may not.\n");
        assertThat(ask.err())
                .contains("./millrace approve t-1/1/0-ab", "./millrace reject t-1/1/0-ab", "rejected by ada: no")
                .contains("./millrace resume t-1 --url " + gateway.url() + " --input");
    }

    @Test
    void shouldGoOnWhenADecisionComesTooLate() {
        // given
        gateway
                .answer("/v1/tasks", 202, ACCEPTED)
                .answer("/v1/approvals", 409, "{\"detail\":\"The call was decided before: reject, by ada.\"}")
                .stream("/v1/tasks/t-1/stream", approvalRequested() + event(2, "TASK_COMPLETED", result("done")));

        // when
        CommandRun ask = CommandRun.typing("y\n", "ask", "x", "--url", gateway.url());

        // then
        assertThat(ask.exitCode()).isZero();
        assertThat(ask.err()).contains("decided before: reject, by ada");
    }

    @Test
    void shouldGiveUpAfterTheTimeout() {
        // given
        gateway.answer("/v1/tasks", 202, ACCEPTED).stream(
                "/v1/tasks/t-1/stream", event(1, "MODEL_CALL_REQUESTED", MODEL_CALL));

        // when
        CommandRun ask = CommandRun.of("ask", "x", "--timeout", "300ms", "--url", gateway.url());

        // then
        assertThat(ask.exitCode()).isEqualTo(4);
        assertThat(ask.err())
                .contains("did not end within 300 ms", "`./millrace events t-1 --url " + gateway.url() + "`");
    }

    @Test
    void shouldPassOnMetadata() {
        // given
        gateway.answer("/v1/tasks", 202, ACCEPTED).stream(
                "/v1/tasks/t-1/stream", event(1, "TASK_COMPLETED", result("done")));

        // when
        CommandRun ask = CommandRun.of(
                "ask", "x", "--metadata", "customer=Ada L.", "--metadata", "sum=a=b", "--url", gateway.url());

        // then
        assertThat(ask.exitCode()).as(ask.err()).isZero();
        assertThat(gateway.requests())
                .contains("POST /v1/tasks {\"text\":\"x\",\"metadata\":{\"customer\":\"Ada L.\",\"sum\":\"a=b\"}}");
    }

    @Test
    @DisplayName("ask looks after 5 s without an event what the task says of its wait, and tells it once")
    void shouldTellWhatATaskWaitsFor() {
        // given
        gateway
                .answer("/v1/tasks", 202, ACCEPTED)
                .answer("/v1/tasks/t-1", 200, "{\"taskId\":\"t-1\",\"note\":\"no worker serves toolset orders\"}")
                .stream(
                        "/v1/tasks/t-1/stream",
                        event(1, "TOOL_CALL_REQUESTED", call("find_order", "\"toolCallId\":\"x\",\"params\":{}")));

        // when
        CommandRun ask = CommandRun.of("ask", "x", "--timeout", "5500ms", "--url", gateway.url());

        // then
        assertThat(ask.exitCode()).isEqualTo(4);
        assertThat(ask.err()).containsOnlyOnce("  no worker serves toolset orders\n");
        assertThat(gateway.requests()).filteredOn("GET /v1/tasks/t-1"::equals).hasSize(2);
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
    @ValueSource(
            strings = {
                "ask x",
                "tasks",
                "events t-1",
                "approvals",
                "approve c",
                "reject c",
                "suspend t-1",
                "resume t-1",
                "cancel t-1",
                "dead-letters",
                "drain",
                "undrain",
                "memory list"
            })
    void shouldTellThatNobodyIsThere(String command) {
        // given
        String url = gateway.url();
        gateway.close();

        // when
        CommandRun run = CommandRun.of((command + " --url " + url).split(" "));

        // then
        assertThat(run.exitCode()).isEqualTo(3);
        assertThat(run.err())
                .contains("Cannot reach Millrace at " + url)
                .contains("`./millrace up --port " + URI.create(url).getPort() + "`")
                .doesNotContain("Exception");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "ask",
                "ask x --timeout soon",
                "tasks --limit many",
                "events",
                "nonsense",
                "up --port x",
                "approve",
                "approve c --params [1]",
                "approve c --params {",
                "cancel",
                "memory show",
                "memory import no-such-folder"
            })
    void shouldExplainAWrongCommandLine(String command) {
        // when
        CommandRun run = CommandRun.of(command.split(" "));

        // then
        assertThat(run.exitCode()).isEqualTo(2);
        assertThat(run.err()).isNotBlank().doesNotContain("\tat ");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "--help",
                "up --help",
                "ask --help",
                "tasks --help",
                "events --help",
                "approvals --help",
                "approve --help",
                "reject --help",
                "suspend --help",
                "resume --help",
                "cancel --help",
                "notifications --help",
                "dead-letters --help",
                "drain --help",
                "undrain --help",
                "agents --help",
                "tools --help",
                "usage --help",
                "memory",
                "memory --help",
                "memory import --help",
                "forget --help",
                "help ask",
                "--version"
            })
    void shouldHelp(String command) {
        // when
        CommandRun run = CommandRun.of(command.split(" "));

        // then
        assertThat(run.exitCode()).isZero();
        assertThat(run.out()).containsIgnoringCase("millrace").doesNotContain("broker --");
    }

    @Test
    @DisplayName("forget asks before, and shows which topics hold it until when")
    void shouldForget() {
        // given
        gateway.answer("/v1/forget", 200, """
                {"forgetId":"f-1","completed":true,"removed":{"tasks":3,"cancelled":1,"documents":0,"reflections":0},
                 "remains":[{"topic":"millrace.journal","until":"2027-01-01T00:00:00Z","why":"Deleted 30 d later."},
                            {"topic":"millrace.old","until":null,"why":"It is kept for ever."}],
                 "elsewhere":[{"place":"Language models","why":"Their terms."}]}""");

        // when
        CommandRun unasked = CommandRun.of("forget", "session", "s1", "--url", gateway.url());
        CommandRun forget = CommandRun.of("forget", "session", "s1", "--yes", "--url", gateway.url());

        // then
        assertThat(unasked.exitCode()).isNotZero();
        assertThat(unasked.err()).contains("--yes");
        assertThat(forget.exitCode()).isZero();
        assertThat(forget.out()).contains("millrace.journal", "2027-01-01", "millrace.old", "?");
        assertThat(forget.err()).contains("3 tasks (1 of them cancelled)", "Language models");
        assertThat(gateway.requests())
                .containsExactly("POST /v1/forget?wait=20s {\"scope\":\"session\",\"sessionId\":\"s1\"}");
    }

    @Test
    void shouldListTasksInColumns() {
        // given
        gateway.answer("/v1/tasks", 200, """
                {"tasks":[
                  {"taskId":"t-2","state":"acting","taskType":"genral","agent":"general","createdAt":0,"iterations":1,"inputText":"two\\nlines",
                   "waitingFor":{"kind":"tools","callIds":["a","b"],"since":0},"note":"no worker serves toolset orders"},
                  {"taskId":"t-10","state":"completed","taskType":"explore","createdAt":0,"iterations":12,"inputText":"one"}
                ],"next":null}""");

        // when
        CommandRun tasks = CommandRun.of("tasks", "--state", "a b", "--url", gateway.url());

        // then
        assertThat(tasks.exitCode()).isZero();
        assertThat(tasks.out().lines())
                .satisfiesExactly(
                        heading ->
                                assertThat(heading).matches("TASK  STATE      AGENT    AGE +ROUNDS +WAITS FOR +INPUT"),
                        first -> assertThat(first)
                                .startsWith("t-2   acting     general ")
                                .contains("  2 × tools, ")
                                .endsWith("  two lines"),
                        second -> assertThat(second).startsWith("t-10  completed  explore "),
                        note -> assertThat(note).isEqualTo("Task t-2: no worker serves toolset orders"));
        assertThat(gateway.requests()).containsExactly("GET /v1/tasks?state=a%20b&limit=20");
    }

    @Test
    void shouldListTheToolCallsThatWaitForADecision() {
        // given
        gateway.answer("/v1/approvals", 200, """
                {"approvals":[
                  {"callId":"t-1/1/0-ab","toolName":"write_file","requestedAt":0,"expiresAt":"2999-01-01T00:00:00Z",
                   "reason":"condition `x` holds","params":{"path":"a"}},
                  {"callId":"t-1/1/1-cd","toolName":"http_get","requestedAt":0,"expiresAt":null,"params":{}}
                ],"next":"more"}""");

        // when
        CommandRun approvals = CommandRun.of("approvals", "--task", "t-1", "--url", gateway.url());

        // then
        assertThat(approvals.exitCode()).isZero();
        assertThat(approvals.out().lines())
                .satisfiesExactly(
                        heading -> assertThat(heading).matches("CALL +TOOL +SINCE +EXPIRES +REASON +ARGUMENTS"),
                        first -> assertThat(first)
                                .matches(
                                        "t-1/1/0-ab  write_file  .* in \\d+ d +condition `x` holds +\\{\"path\":\"a\"}"),
                        second -> assertThat(second).matches("t-1/1/1-cd  http_get    .* never +- +\\{}"));
        assertThat(approvals.err()).contains("There are more");
        assertThat(gateway.requests()).containsExactly("GET /v1/approvals?taskId=t-1&limit=20");
    }

    @Test
    void shouldListSessionsAndSayWhatWasSaid() {
        // given
        gateway.answer("/v1/sessions", 200, """
                {"sessions":[
                  {"sessionId":"ada","namespace":"default","title":"Engines","createdAt":0,"updatedAt":0,"participants":["user","planner"]},
                  {"sessionId":"bob","namespace":"default","title":null,"createdAt":0,"updatedAt":0}
                ],"next":null}""");
        gateway.answer("/v1/sessions/ada/messages", 200, """
                {"messages":[
                  {"id":"m1","role":"user","content":"What\\ntime?","timestamp":0,"taskId":"m1","cursor":"0:1"},
                  {"id":"e9","role":"assistant","content":"Noon.","timestamp":1000,"taskId":"m1","cursor":"0:9"}
                ],"next":null}""");

        // when
        CommandRun list = CommandRun.of("sessions", "list", "--url", gateway.url());
        CommandRun messages = CommandRun.of("sessions", "messages", "ada", "--limit", "5", "--url", gateway.url());

        // then
        assertThat(list.out().lines())
                .satisfiesExactly(
                        heading -> assertThat(heading).matches("SESSION +TITLE +SINCE +LAST +PARTICIPANTS"),
                        first ->
                                assertThat(first).startsWith("ada      Engines").endsWith("user, planner"),
                        second -> assertThat(second).startsWith("bob      -"));
        assertThat(messages.out().lines())
                .containsExactly(
                        "1970-01-01T00:00:00Z user:",
                        "  What",
                        "  time?",
                        "1970-01-01T00:00:01Z assistant:",
                        "  Noon.");
        assertThat(gateway.requests())
                .containsExactly("GET /v1/sessions?limit=20", "GET /v1/sessions/ada/messages?limit=5");
    }

    @Test
    void shouldDeleteASessionOnlyIfSomebodySaysSo() {
        // given
        gateway.answer("/v1/sessions/ada", 202, "{\"sessionId\":\"ada\",\"forgetId\":\"f1\",\"status\":\"accepted\"}");

        // when
        CommandRun unsaid = CommandRun.of("sessions", "delete", "ada", "--url", gateway.url());
        CommandRun said = CommandRun.of("sessions", "delete", "ada", "--yes", "--url", gateway.url());

        // then
        assertThat(unsaid.exitCode()).isEqualTo(2);
        assertThat(said.exitCode()).isZero();
        assertThat(said.out()).isEqualTo("Session ada is being deleted, as request f1.\n");
        assertThat(gateway.requests()).containsExactly("DELETE /v1/sessions/ada");
    }

    @Test
    void shouldListDeadLetters() {
        // given
        gateway.answer("/v1/dead-letters", 200, """
                {"deadLetters":[
                  {"cursor":"0:7","reason":"not_waiting","type":"MESSAGE_RECEIVED","taskId":"t-1","timestamp":0,"detail":"expected\\nmore"},
                  {"cursor":"0:5","reason":"bad_json","type":null,"taskId":null,"timestamp":0,"detail":null}
                ],"next":null}""");

        // when
        CommandRun letters = CommandRun.of("dead-letters", "--reason", "bad_json", "--url", gateway.url());

        // then
        assertThat(letters.exitCode()).isZero();
        assertThat(letters.out().lines())
                .satisfiesExactly(
                        heading -> assertThat(heading).matches("CURSOR +SINCE +REASON +TYPE +TASK +DETAIL"),
                        first -> assertThat(first)
                                .matches("0:7 +\\d+ d +not_waiting +MESSAGE_RECEIVED +t-1 +expected more"),
                        second -> assertThat(second).matches("0:5 +\\d+ d +bad_json +- +- +"));
        assertThat(gateway.requests()).containsExactly("GET /v1/dead-letters?reason=bad_json&limit=20");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {
                "approve t-1/1/0-ab                      | /v1/approvals/t-1%2F1%2F0-ab {\"decision\":\"approve\",\"decidedBy\":",
                "approve t-1/1/0-ab --params {\"a\":1}     | /v1/approvals/t-1%2F1%2F0-ab {\"decision\":\"approve\",\"params\":{\"a\":1},",
                "reject t-1/1/0-ab --reason no           | /v1/approvals/t-1%2F1%2F0-ab {\"decision\":\"reject\",\"reason\":\"no\",",
                "suspend t-1 --reason lunch              | /v1/tasks/t-1/suspend {\"reason\":\"lunch\"}",
                "suspend t-1                             | /v1/tasks/t-1/suspend {}",
                "resume t-1 --input more                 | /v1/tasks/t-1/resume {\"newInput\":\"more\"}",
                "cancel t-1 --session s --reason enough  | /v1/tasks/t-1/cancel?wait=10s {\"reason\":\"enough\",\"sessionId\":\"s\"}",
                "drain                                   | /v1/system/drain {}",
                "undrain                                 | /v1/system/resume {}"
            })
    void shouldSendWhatThePersonWants(String command, String request) {
        // given
        gateway.answer("/v1/", 202, ACCEPTED);

        // when
        CommandRun run = CommandRun.of((command + " --url " + gateway.url()).split(" "));

        // then
        assertThat(run.exitCode()).as(run.err()).isZero();
        assertThat(run.out()).isNotBlank();
        assertThat(gateway.requests())
                .singleElement()
                .satisfies(sent -> assertThat(sent).startsWith("POST " + request));
    }

    @Test
    void shouldSayHowACancelledTaskEnded() {
        // given
        gateway.answer("/v1/tasks/t-1/cancel", 200, "{\"taskId\":\"t-1\",\"state\":\"cancelled\"}")
                .answer("/v1/tasks/t-2/cancel", 202, "{\"taskId\":\"t-2\",\"note\":\"No task t-2 is known yet.\"}");

        // then
        assertThat(CommandRun.of("cancel", "t-1", "--url", gateway.url()).out()).isEqualTo("Task t-1 is cancelled.\n");
        assertThat(CommandRun.of("cancel", "t-2", "--url", gateway.url()).out())
                .isEqualTo("No task t-2 is known yet.\n");
    }

    @Test
    void shouldShowWhatTasksHaveToSay() {
        // given
        gateway.stream(
                "/v1/notifications",
                notification(1, "question", "\"question\":\"Which wheel?\"")
                        + notification(
                                2,
                                "approval_needed",
                                "\"approval\":{\"callId\":\"t-1/1/0-ab\",\"toolName\":\"write_file\",\"params\":{\"path\":\"a\"}}"),
                notification(3, "completed", "\"result\":{\"response\":\"4.2 m\"}"));

        // when
        CommandRun shown = CommandRun.of("notifications", "--task", "t-1", "--count", "3", "--url", gateway.url());

        // then
        assertThat(shown.exitCode()).isZero();
        assertThat(shown.out().lines())
                .containsExactly(
                        "t-1  question  Which wheel?",
                        "t-1  approval_needed  write_file {\"path\":\"a\"}  ./millrace approve t-1/1/0-ab --url "
                                + gateway.url(),
                        "t-1  completed  4.2 m");
        assertThat(gateway.requests())
                .containsExactly("GET /v1/notifications?taskId=t-1", "GET /v1/notifications?taskId=t-1 after 0:2");
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
                .isEqualTo("millrace: There is no task no-such. `./millrace tasks --url " + gateway.url()
                        + "` lists those that there are.\n");
    }

    private static final String HISTORY = """
            {"events":[
              {"id":"aaaaaaaa-1","type":"MESSAGE_RECEIVED","timestamp":5,"source":"user","payload":{"text":"refund X1"}},
              {"id":"bbbbbbbb-1","type":"REASON_DONE","timestamp":6,"parentEventId":"aaaaaaaa-1","payload":{
                "callId":"c1","response":"I look it up.",
                "toolCalls":[{"toolCallId":"x","toolName":"find_order","arguments":{"id":"X1"}}]}},
              {"id":"cccccccc-1","type":"TOOL_CALL_FAILED","timestamp":7,"parentEventId":"bbbbbbbb-1","payload":{
                "callId":"c2","toolName":"find_order","code":"execution_error","error":"no order X1\\n\\u001b[31mat Orders.find"}},
              {"id":"cccccccc-2","type":"TOOL_CALL_COMPLETED","timestamp":8,"parentEventId":"bbbbbbbb-1","payload":{
                "callId":"c3","toolName":"find_all","durationMs":3,"result":{"count":12}}},
              {"id":"dddddddd-1","type":"MODEL_CALL_FAILED","timestamp":9,"parentEventId":"cccccccc-1","payload":{
                "callId":"c4","code":"output_mismatch","error":"/amount: expected a number"}},
              {"id":"eeeeeeee-1","type":"TASK_FAILED","timestamp":9,"parentEventId":"dddddddd-1","payload":{
                "code":"output_mismatch","error":"The answer does not fit."}}
            ],"next":null}""";

    @Test
    @DisplayName("events tells what went wrong, what the model said, and what tools were given and gave")
    void shouldTellWhatWentWrong() {
        // given
        gateway.answer("/v1/tasks/t-1/events", 200, HISTORY);

        // when
        CommandRun events = CommandRun.of("events", "t-1", "--url", gateway.url());

        // then
        assertThat(events.exitCode()).isZero();
        assertThat(events.out()).isEqualTo("""
                MESSAGE_RECEIVED  "refund X1"  +0 ms  aaaaaaaa-1
                └ REASON_DONE  "I look it up."; calls find_order {"id":"X1"}  +1 ms  bbbbbbbb-1
                  ├ TOOL_CALL_FAILED  find_order execution_error: no order X1 \uFFFD[31mat Orders.find  +2 ms  cccccccc-1
                  │ └ MODEL_CALL_FAILED  output_mismatch: /amount: expected a number  +4 ms  dddddddd-1
                  │   └ TASK_FAILED  output_mismatch: The answer does not fit.  +4 ms  eeeeeeee-1
                  └ TOOL_CALL_COMPLETED  find_all in 3 ms: {"count":12}  +3 ms  cccccccc-2
                """);
    }

    @Test
    @DisplayName("events cuts what events say to the width of the terminal, --verbose shows it all")
    void shouldShowAsMuchAsFitsOrEverything() {
        // given
        gateway.answer("/v1/tasks/t-1/events", 200, """
                {"events":[{"id":"a","type":"TASK_COMPLETED","timestamp":0,"source":"think",
                  "payload":{"result":{"taskId":"t-1","input":"x","response":"%s.\\nend","iterations":2},"none":null}}],"next":null}""".formatted("word ".repeat(60)));

        // when
        CommandRun narrow = CommandRun.onScreenOf(80, "events", "t-1", "--url", gateway.url());
        CommandRun wide = CommandRun.onScreenOf(200, "events", "t-1", "--url", gateway.url());
        CommandRun verbose = CommandRun.onScreenOf(80, "events", "t-1", "--verbose", "--url", gateway.url());

        // then
        assertThat(narrow.out())
                .hasSize(81)
                .startsWith("TASK_COMPLETED  \"word word")
                .endsWith("…  +0 ms  a\n");
        assertThat(wide.out()).hasSize(201);
        assertThat(verbose.out()).isEqualTo("""
                TASK_COMPLETED  +0 ms  a
                    id: a
                    timestamp: 1970-01-01T00:00:00Z (0)
                    source: think
                    payload:
                      result:
                        taskId: t-1
                        input: x
                        response:
                          %s.
                          end
                        iterations: 2
                      none: null
                """.formatted("word ".repeat(60)));
    }

    @Test
    @DisplayName("events --event shows one event by its id or the beginning of it")
    void shouldShowOneEvent() {
        // given
        gateway.answer("/v1/tasks/t-1/events", 200, HISTORY);

        // when
        CommandRun one = CommandRun.of("events", "t-1", "--event", "cccccccc-1", "--url", gateway.url());
        CommandRun json = CommandRun.of("events", "t-1", "--event", "dd", "--json", "--url", gateway.url());
        CommandRun none = CommandRun.of("events", "t-1", "--event", "x", "--url", gateway.url());
        CommandRun several = CommandRun.of("events", "t-1", "--event", "ccc", "--url", gateway.url());

        // then
        assertThat(one.out()).isEqualTo("""
                TOOL_CALL_FAILED
                id: cccccccc-1
                timestamp: 1970-01-01T00:00:00.007Z (7)
                parentEventId: bbbbbbbb-1
                payload:
                  callId: c2
                  toolName: find_order
                  code: execution_error
                  error:
                    no order X1
                    \uFFFD[31mat Orders.find
                """);
        assertThat(read(json.out()).path("payload").path("code").asText()).isEqualTo("output_mismatch");
        assertThat(none.exitCode()).isEqualTo(1);
        assertThat(none.err())
                .contains("There is no event x of task t-1. `./millrace events t-1 --url " + gateway.url() + "`");
        assertThat(several.exitCode()).isEqualTo(1);
        assertThat(several.err()).contains("found that of 2: cccccccc-1, cccccccc-2");
    }

    @ParameterizedTest
    @CsvSource({
        "tasks, tasks",
        "approvals, approvals",
        "dead-letters, deadLetters",
        "events t-1, events",
        "agents, agents",
        "tools, tools",
        "usage, groups",
        "memory list, documents",
        "memory history a.md, versions"
    })
    @DisplayName("--json gives what is listed as the API does, one line for each")
    void shouldListAsJson(String command, String field) {
        // given
        String body =
                "{\"" + field + "\":[{\"name\":\"one\\ntwo\",\"deep\":{\"n\":1.5}},{\"name\":null}],\"next\":null,"
                        + "\"total\":{},\"problems\":[]}";
        gateway.answer("/v1/", 200, body);

        // when
        CommandRun run = CommandRun.of((command + " --json --url " + gateway.url()).split(" "));

        // then
        assertThat(run.exitCode()).as(run.err()).isZero();
        assertThat(run.out().lines().map(CommandsTest::read))
                .as(run.out())
                .hasSize(2)
                .first()
                .satisfies(first -> {
                    assertThat(first.path("name").asText()).isEqualTo("one\ntwo");
                    assertThat(first.path("deep").path("n").asDouble()).isEqualTo(1.5);
                });
    }

    @Test
    @DisplayName("memory list --all --json says whose each document is")
    void shouldListAllMemoryAsJson() {
        // given
        gateway.answer("/v1/memory", 200, "{\"namespaces\":[{\"namespace\":\"acme\"}],\"next\":null}")
                .answer("/v1/memory/acme", 200, "{\"documents\":[{\"path\":\"a.md\"}],\"next\":null}");

        // when
        CommandRun list = CommandRun.of("memory", "list", "--all", "--json", "--url", gateway.url());

        // then
        assertThat(list.out()).isEqualTo("{\"namespace\":\"acme\",\"path\":\"a.md\"}\n");
    }

    @Test
    @DisplayName("notifications --json gives each as the API does")
    void shouldShowNotificationsAsJson() {
        // given
        gateway.stream("/v1/notifications", notification(1, "question", "\"question\":\"Which wheel?\""));

        // when
        CommandRun shown = CommandRun.of("notifications", "--json", "--count", "1", "--url", gateway.url());

        // then
        assertThat(read(shown.out()).path("question").asText()).isEqualTo("Which wheel?");
    }

    @Test
    @DisplayName("agents NAME --json gives the agent")
    void shouldShowAnAgentAsJson() {
        // given
        gateway.answer("/v1/agents/clerk", 200, "{\"name\":\"clerk\",\"prompt\":\"You\\nare.\"}");

        // when
        CommandRun shown = CommandRun.of("agents", "clerk", "--json", "--url", gateway.url());

        // then
        assertThat(read(shown.out()).path("prompt").asText()).isEqualTo("You\nare.");
    }

    @Test
    @DisplayName("what hints say works when it is pasted, also where ids are odd")
    void shouldQuoteWhatIsPasted() {
        // given
        gateway.answer("/v1/", 202, ACCEPTED);

        // when
        CommandRun suspend = CommandRun.of("suspend", "it's; rm -rf", "--url", gateway.url());
        CommandRun drain = CommandRun.of("drain", "--url", gateway.url());

        // then
        assertThat(suspend.out())
                .contains("goes on with: ./millrace resume 'it'\\''s; rm -rf' --url " + gateway.url() + "\n");
        assertThat(drain.out()).contains("`./millrace tasks --url " + gateway.url() + "`");
    }

    @Test
    void shouldSayWhatBelongsToTheOrderOfAQueue() {
        // when
        CommandRun next = CommandRun.of("queue", "--next");

        // then
        assertThat(next.exitCode()).isEqualTo(2);
        assertThat(next.err()).contains("--next: expected --session ID with it, found none");
    }

    @Test
    void shouldSayThatAFileIsNotThereInWords() {
        for (String[] command : List.of(
                new String[] {"rules", "put", "none.yaml"},
                new String[] {"emit", "door.opened", "@none.json"},
                new String[] {"retry", "e1", "--payload", "@none.json"})) {
            // when
            CommandRun run = CommandRun.of(command);

            // then
            assertThat(run.exitCode()).isEqualTo(1);
            assertThat(run.err())
                    .contains(" cannot be read: there is no such file")
                    .doesNotContain("Exception");
        }
    }

    @Test
    @DisplayName("--session says that a task sees what was said before")
    void shouldSayThatAConversationIsRemembered() {
        // when
        CommandRun help = CommandRun.of("ask", "--help");

        // then
        assertThat(help.out().replaceAll("\\s+", " ")).contains("and see what was said in earlier ones");
    }

    private static JsonNode read(String json) {
        try {
            return Json.MAPPER.readTree(json);
        } catch (IOException e) {
            throw new AssertionError(json, e);
        }
    }

    private static String call(String tool, String more) {
        return "{\"callId\":\"c\",\"toolName\":\"" + tool + "\"," + more + "}";
    }

    private static String result(String response) {
        return "{\"result\":{\"taskId\":\"t-1\",\"input\":\"x\",\"iterations\":1,\"response\":\"" + response + "\"}}";
    }

    private static String approvalRequested() {
        return event(
                1,
                "APPROVAL_REQUESTED",
                "{\"callId\":\"t-1/1/0-ab\",\"toolCallId\":\"x\",\"toolName\":\"write_file\",\"params\":{\"path\":\"a\"},"
                        + "\"reason\":\"condition `x` holds\"}");
    }

    private static String notification(int offset, String type, String says) {
        return "id: 0:" + offset + "\nevent: " + type + "\ndata: {\"type\":\"" + type + "\",\"taskId\":\"t-1\"," + says
                + "}\n\n";
    }

    @Test
    @DisplayName("agents lists who takes tasks and which files are no good")
    void shouldListAgents() {
        // given
        gateway.answer("/v1/agents", 200, """
                {"agents":[{"name":"clerk","source":"file","version":"3c237af36b37","tools":["a","b"],
                  "description":"Keeps the books."}],
                 "problems":[{"file":"agents/x/AGENT.md","problem":"line 2: not YAML"}]}
                """);

        // when
        CommandRun agents = CommandRun.of("agents", "--url", gateway.url());

        // then
        assertThat(agents.exitCode()).isZero();
        assertThat(agents.out()).isEqualTo("""
                AGENT  SOURCE  VERSION       TOOLS  DESCRIPTION
                clerk  file    3c237af36b37  2      Keeps the books.
                """);
        assertThat(agents.err()).isEqualTo("No good: agents/x/AGENT.md: line 2: not YAML\n");
    }

    @Test
    @DisplayName("agents NAME shows one with its prompt; one that is not there is said so")
    void shouldShowOneAgent() {
        // given
        gateway.answer("/v1/agents/clerk", 200, """
                {"name":"clerk","tools":["a","b"],"model":null,"limits":{"tokens":5},"subAgents":[],"prompt":"You are."}
                """);
        gateway.answer("/v1/agents/none", 404, "{\"detail\":\"There is no agent none.\"}");

        // when
        CommandRun one = CommandRun.of("agents", "clerk", "--url", gateway.url());
        CommandRun none = CommandRun.of("agents", "none", "--url", gateway.url());

        // then
        assertThat(one.out()).isEqualTo("""
                AGENT   clerk
                tools   a, b
                limits  {"tokens":5}

                You are.
                """);
        assertThat(none.exitCode()).isEqualTo(1);
        assertThat(none.err()).isEqualTo("millrace: There is no agent none.\n");
    }

    @Test
    @DisplayName("tools lists what tasks can do, of one agent if asked")
    void shouldListTools() {
        // given
        gateway.answer("/v1/tools", 200, """
                {"tools":[{"name":"write_file","toolset":"tool","sideEffects":"DESTRUCTIVE","timeoutMs":30000,
                  "approval":{"when":"true"},"description":"Writes a file."}]}
                """);

        // when
        CommandRun tools = CommandRun.of("tools", "--agent", "a b", "--url", gateway.url());

        // then
        assertThat(tools.exitCode()).isZero();
        assertThat(tools.out()).isEqualTo("""
                TOOL        TOOLSET  EFFECT       TIME-OUT  APPROVAL         DESCRIPTION
                write_file  tool     destructive  30.0 s    {"when":"true"}  Writes a file.
                """);
        assertThat(gateway.requests()).containsExactly("GET /v1/tools?agent=a%20b");
    }

    @Test
    @DisplayName("usage shows tokens and dollars, and says what is not in them")
    void shouldShowUsage() {
        // given
        gateway.answer("/v1/usage", 200, """
                {"groups":[
                  {"sessionId":"s-1","model":"small","calls":3,"inputTokens":1200,"cachedInputTokens":400,
                   "outputTokens":90,"reasoningTokens":10,"costMicros":123456},
                  {"sessionId":null,"model":"small","calls":1,"inputTokens":5,"cachedInputTokens":0,
                   "outputTokens":1,"reasoningTokens":0,"costMicros":0}],
                 "total":{"calls":4,"failedCalls":0,"abandonedCalls":1,"requests":4,"uncountedRequests":0,"callsWithoutPrice":1,
                   "inputTokens":1205,"cachedInputTokens":400,"outputTokens":91,"reasoningTokens":10,
                   "costMicros":123456}}""");

        // when
        CommandRun usage =
                CommandRun.of("usage", "--by", "session,model", "--from", "2026-01-31", "--url", gateway.url());

        // then
        assertThat(usage.exitCode()).isZero();
        assertThat(usage.out()).isEqualTo("""
                SESSION  MODEL  CALLS  INPUT  CACHED  OUTPUT  REASONING  DOLLARS
                s-1      small  3      1200   400     90      10         0.1235
                -        small  1      5      0       1       0          0.0000
                total           4      1205   400     91      10         0.1235
                """);
        assertThat(usage.err()).isEqualTo("""
                1 of 4 calls were cut off, or their reply came too late.
                1 of 4 calls have no price and are not in the dollars.
                """);
        assertThat(gateway.requests()).containsExactly("GET /v1/usage?groupBy=session%2Cmodel&from=2026-01-31");
    }

    private static String live(String type, String callId, int attempt, String delta) {
        return "id: 0@1~1\nevent: " + type + "\ndata: {\"type\":\"" + type + "\",\"callId\":\"" + callId
                + "\",\"attempt\":" + attempt + ",\"delta\":\"" + delta + "\"}\n\n";
    }

    private static String event(int offset, String type, String payload) {
        return "id: 0:" + offset + "\nevent: " + type + "\ndata: {\"id\":\"e-" + offset + "\",\"type\":\"" + type
                + "\",\"timestamp\":" + offset + ",\"payload\":" + payload + "}\n\n";
    }
}
