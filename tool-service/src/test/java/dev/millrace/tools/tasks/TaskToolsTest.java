package dev.millrace.tools.tasks;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import dev.millrace.http.client.InternalSecret;
import dev.millrace.schemas.JsonObject;
import dev.millrace.tool.api.ToolContext;
import dev.millrace.tool.api.ToolException;
import dev.millrace.tool.api.ToolException.Again;
import dev.millrace.tools.CallContext;
import dev.millrace.tools.Calls;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Against a server that answers as agent-service does. */
@DisplayName("F-167: task_list and task_replay")
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class TaskToolsTest {

    private static final ToolContext IN_ADA = new CallContext("task-1", "ada", "default", "call-1");

    private final Map<String, String> answers = new ConcurrentHashMap<>();
    private final List<String> asked = new CopyOnWriteArrayList<>();
    private final AtomicInteger status = new AtomicInteger(200);
    private final HttpServer server;
    private final TaskQueries queries;

    TaskToolsTest() throws IOException {
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        queries = new TaskQueries(
                URI.create("http://127.0.0.1:" + server.getAddress().getPort() + "/"),
                Duration.ofSeconds(5),
                InternalSecret.none());
    }

    @BeforeEach
    void startServer() {
        server.createContext("/", this::serve);
        server.start();
    }

    @AfterEach
    void stopServer() {
        queries.close();
        server.stop(0);
    }

    @Test
    void shouldListTasksOfTheNamespace() throws ToolException, InterruptedException {
        // given
        answers.put(
                "/internal/tasks?namespace=default&limit=200",
                "{\"tasks\":[" + task("t3", "reasoning", "2026-03-02T00:00:00Z") + ","
                        + task("t2", "cancelled", "2026-03-01T23:59:59Z") + ","
                        + task("t1", "completed", "2026-03-01T00:00:00Z") + "],\"next\":null}");
        // when
        Object tasks = Calls.tool(new TaskTools(queries), "task_list").call(JsonObject.of(Map.of()), Calls.CONTEXT);
        // then
        assertThat(tasks)
                .isEqualTo(List.of(
                        summary("t3", "in_progress", "2026-03-02T00:00:00Z"),
                        summary("t2", "failed", "2026-03-01T23:59:59Z"),
                        summary("t1", "completed", "2026-03-01T00:00:00Z")));
    }

    @Test
    void shouldListTheTasksOfOneDay() throws ToolException, InterruptedException {
        // given
        answers.put(
                "/internal/tasks?namespace=default&limit=500",
                "{\"tasks\":[" + task("t4", "failed", "2026-03-02T00:00:00Z") + ","
                        + task("t3", "failed", "2026-03-01T23:59:59.999Z") + "],\"next\":\"a b\"}");
        answers.put(
                "/internal/tasks?namespace=default&limit=500&before=a%20b",
                "{\"tasks\":[" + task("t2", "acting", "2026-03-01T00:00:00Z") + ","
                        + task("t1", "failed", "2026-02-28T23:59:59.999Z") + "],\"next\":\"more\"}");
        // when
        Object tasks = Calls.tool(new TaskTools(queries), "task_list")
                .call(JsonObject.of(Map.of("date", "2026-03-01")), Calls.CONTEXT);
        // then
        assertThat(tasks)
                .isEqualTo(List.of(
                        summary("t3", "failed", "2026-03-01T23:59:59.999Z"),
                        summary("t2", "in_progress", "2026-03-01T00:00:00Z")));
        assertThat(asked).hasSize(2);
    }

    @Test
    void shouldRefuseADayThatIsNone() {
        // when
        ToolException no = Calls.refusal(Calls.tool(new TaskTools(queries), "task_list"), Map.of("date", "2026-02-30"));
        // then
        assertThat(no.code()).isEqualTo("invalid_arguments");
        assertThat(asked).isEmpty();
    }

    @Test
    void shouldReplayWhatWasSaid() throws ToolException, InterruptedException {
        // given
        String path = "/internal/tasks/t%2F1/events?namespace=default&limit=500";
        answers.put(
                path,
                "{\"events\":["
                        + String.join(
                                ",",
                                event("MESSAGE_RECEIVED", "\"text\":\"Hello\""),
                                event(
                                        "TASK_CREATED",
                                        "\"inputText\":\"Hello\",\"source\":\"user\",\"taskType\":\"general\""),
                                event("TASK_STATE_CHANGED", "\"to\":\"reasoning\""),
                                event(
                                        "REASON_DONE",
                                        "\"callId\":\"m1\",\"response\":null,\"toolCalls\":"
                                                + "[{\"toolCallId\":\"p1\",\"toolName\":\"sleep\",\"arguments\":{}}]"),
                                event(
                                        "TOOL_CALL_REQUESTED",
                                        "\"callId\":\"c1\",\"toolCallId\":\"p1\",\"toolName\":\"sleep\",\"params\":{}"))
                        + "],\"next\":\"0:7\"}");
        answers.put(
                path + "&after=0%3A7",
                "{\"events\":["
                        + String.join(
                                ",",
                                event(
                                        "TOOL_CALL_COMPLETED",
                                        "\"callId\":\"c1\",\"toolName\":\"sleep\",\"result\":{\"slept\":1}"),
                                event(
                                        "TOOL_CALL_FAILED",
                                        "\"callId\":\"c2\",\"toolName\":\"x\",\"error\":\"no\",\"code\":\"tool_not_found\""),
                                event("NEED_MORE_INFO", "\"callId\":\"m2\",\"question\":\"Which?\""),
                                event("MESSAGE_RECEIVED", "\"content\":\"That one\""),
                                event("REASON_DONE", "\"callId\":\"m3\",\"response\":\"Done\""),
                                event("TASK_COMPLETED", "\"result\":{\"response\":\"Done\"}"))
                        + "],\"next\":null}");
        // when
        Map<String, Object> replay =
                Calls.result(Calls.tool(new TaskTools(queries), "task_replay"), Map.of("taskId", "t/1"));
        // then
        assertThat(replay).containsOnlyKeys("messages");
        assertThat(Calls.objects(replay, "messages").stream().map(Object::toString))
                .containsExactly(
                        "{role=user, content=Hello}",
                        "{role=assistant, content=null, toolCalls=[{toolCallId=p1, toolName=sleep, arguments={}}]}",
                        "{role=tool, content={slept=1}, toolCallId=p1, toolName=sleep}",
                        "{role=tool, content=Error: no, toolName=x, isError=true}",
                        "{role=assistant, content=null, question=Which?}",
                        "{role=user, content=That one}",
                        "{role=assistant, content=Done}");
    }

    @Test
    @DisplayName(
            "F-213, F-214: get_event_info tells of events of the namespace by their ids, and which it does not know")
    void shouldTellOfEvents() throws ToolException, InterruptedException {
        // given: all of the chain but the event is on other pages
        answers.put("/internal/events/order%2F7/chain?namespace=default&limit=1", """
                {"chain": [{"id": "order/7", "type": "order.placed", "timestamp": 0, "source": "/shop", "sessionId": "s",
                "namespace": "default", "correlationId": "order/7", "effectivePriority": 190, "cursor": "0:7",
                "extensions": {"env_name": "staging", "takenbyrule": "orders@1"}, "payload": {"total": 3}}], "next": "x"}
                """);
        // when
        Map<String, Object> told = Calls.result(
                Calls.tool(new EventTools(queries), "get_event_info"),
                Map.of("event_ids", List.of("order/7", "order-8", "order/7")));
        // then
        assertThat(told)
                .isEqualTo(Map.of(
                        "events",
                        List.of(Map.of(
                                "event_id",
                                "order/7",
                                "event_type",
                                "order.placed",
                                "timestamp",
                                "1970-01-01T00:00:00Z",
                                "metadata",
                                Map.of("source", "/shop", "trigger_session_id", "s", "env_name", "staging"),
                                "payload",
                                Map.of("total", 3))),
                        "unknown",
                        List.of("order-8")));
        assertThat(asked).hasSize(2).allMatch(path -> path.contains("namespace=default"));
    }

    @Test
    void shouldTellOfTwentyEventsAtMostAndOfLargeOnesInPart() throws ToolException, InterruptedException {
        // given
        answers.put(
                "/internal/events/big/chain?namespace=default&limit=1",
                "{\"chain\":[{\"id\":\"big\",\"type\":\"a.b\",\"timestamp\":0,\"source\":\"s\",\"namespace\":\"default\","
                        + "\"correlationId\":\"big\",\"payload\":{\"text\":\"" + "x".repeat(EventTools.MAX_PAYLOADS)
                        + "\"}}],\"next\":null}");
        List<String> ids = IntStream.range(0, 20).mapToObj(i -> "e" + i).toList();
        // when
        Map<String, Object> big = Calls.result(
                Calls.tool(new EventTools(queries), "get_event_info"), Map.of("event_ids", List.of("big")));
        Map<String, Object> twenty =
                Calls.result(Calls.tool(new EventTools(queries), "get_event_info"), Map.of("event_ids", ids));
        // then
        assertThat(big.toString())
                .contains("truncated")
                .hasSizeBetween(EventTools.MAX_PAYLOADS, EventTools.MAX_PAYLOADS + 500);
        assertThat(twenty.get("unknown")).isEqualTo(ids);
        // who sends more hears so before the tool is called
        assertThat(Calls.tool(new EventTools(queries), "get_event_info")
                        .definition()
                        .parameters()
                        .toString())
                .contains("maxItems=20");
    }

    @Test
    @DisplayName("F-168: session_archive_read reads an earlier task of the same conversation, a message in a line")
    void shouldReadTheArchive() throws ToolException, InterruptedException {
        // given
        answers.put("/internal/tasks/t1?namespace=default", taskIn("ada", "t1", "completed"));
        answers.put(
                "/internal/tasks/t1/events?namespace=default&limit=500",
                "{\"events\":["
                        + String.join(
                                ",",
                                event("MESSAGE_RECEIVED", "\"text\":\"Hello\""),
                                event("REASON_DONE", "\"callId\":\"m3\",\"response\":\"Done\""))
                        + "],\"next\":null}");
        // when
        Object archive = Calls.tool(new TaskTools(queries), "session_archive_read")
                .call(JsonObject.of(Map.of("file", "t1.jsonl")), IN_ADA);
        // then
        assertThat(archive)
                .isEqualTo(Map.of(
                        "file",
                        "t1.jsonl",
                        "content",
                        "{\"role\":\"user\",\"content\":\"Hello\"}\n{\"role\":\"assistant\",\"content\":\"Done\"}\n"));
    }

    @ParameterizedTest
    @DisplayName("F-168: session_archive_read refuses what is under way, what leads elsewhere, and other conversations")
    @CsvSource({
        "current.jsonl, invalid_arguments",
        "task-1.jsonl, invalid_arguments",
        "t1, invalid_arguments",
        ".jsonl, invalid_arguments",
        "../t1.jsonl, invalid_arguments",
        "a/t1.jsonl, invalid_arguments",
        "a\\t1.jsonl, invalid_arguments",
        "works.jsonl, invalid_arguments",
        "gone.jsonl, unknown_file",
        "bobs.jsonl, unknown_file",
        "alone.jsonl, unknown_file"
    })
    void shouldRefuseWhatIsNotInTheArchive(String file, String code) {
        // given
        answers.put("/internal/tasks/works?namespace=default", taskIn("ada", "works", "acting"));
        answers.put("/internal/tasks/bobs?namespace=default", taskIn("bob", "bobs", "completed"));
        answers.put("/internal/tasks/alone?namespace=default", taskIn(null, "alone", "completed"));
        // when
        ToolException no = catchThrowableOfType(
                ToolException.class,
                () -> Calls.tool(new TaskTools(queries), "session_archive_read")
                        .call(JsonObject.of(Map.of("file", file)), IN_ADA));
        // then
        assertThat(no).isNotNull().extracting(ToolException::code).isEqualTo(code);
    }

    @Test
    void shouldNotFindATaskThatIsNotThere() {
        assertThat(Calls.refusal(Calls.tool(new TaskTools(queries), "task_replay"), Map.of("taskId", "t9"))
                        .code())
                .isEqualTo("unknown_task");
    }

    @Test
    void shouldAskAgainLaterWhenTheQuerySideIsAway() {
        // given
        status.set(503);
        // when
        ToolException starting = Calls.refusal(Calls.tool(new TaskTools(queries), "task_list"), Map.of());
        server.stop(0);
        ToolException away = Calls.refusal(Calls.tool(new TaskTools(queries), "task_replay"), Map.of("taskId", "t1"));
        // then
        assertThat(List.of(starting, away)).allSatisfy(no -> {
            assertThat(no.code()).isEqualTo("tasks_unavailable");
            assertThat(no.again()).isEqualTo(Again.PASSING);
        });
    }

    private void serve(HttpExchange exchange) throws IOException {
        try (exchange) {
            String path = exchange.getRequestURI().toString();
            asked.add(path);
            String answer = answers.get(path);
            byte[] body =
                    (answer == null ? "{\"type\":\"urn:millrace:problem:unknown_task\"}" : answer).getBytes(UTF_8);
            int code = answer == null && status.get() == 200 ? 404 : status.get();
            exchange.sendResponseHeaders(code, body.length);
            exchange.getResponseBody().write(body);
        }
    }

    private static String taskIn(@Nullable String session, String id, String state) {
        return "{\"taskId\":\"" + id + "\",\"sessionId\":" + (session == null ? null : '"' + session + '"')
                + ",\"state\":\"" + state + "\",\"usage\":{}}";
    }

    private static String task(String id, String state, String createdAt) {
        return "{\"taskId\":\"" + id + "\",\"inputText\":\"Do it\",\"state\":\"" + state + "\",\"createdAt\":"
                + java.time.Instant.parse(createdAt).toEpochMilli() + ",\"usage\":{}}";
    }

    private static Map<String, Object> summary(String id, String status, String createdAt) {
        return Map.of("taskId", id, "inputText", "Do it", "status", status, "createdAt", createdAt);
    }

    private static String event(String type, String payload) {
        return "{\"id\":\"e\",\"type\":\"" + type + "\",\"payload\":{" + payload + "}}";
    }
}
