package dev.millrace.gateway.rest.problems;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.gateway.rest.GatewayClient;
import dev.millrace.gateway.rest.GatewayClient.Answer;
import dev.millrace.gateway.rest.GatewayTestResource;
import dev.millrace.testing.RequiresBroker;
import io.quarkus.test.common.WithTestResource;
import io.quarkus.test.junit.QuarkusTest;
import java.io.ByteArrayInputStream;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

@QuarkusTest
@RequiresBroker
@WithTestResource(GatewayTestResource.class)
class ProblemsIT {
    private final GatewayClient gateway = new GatewayClient();

    @AfterEach
    void mendAgent() throws Exception {
        gateway.agentIs("up");
    }

    @Test
    void shouldSayWhereJsonIsBad() throws Exception {
        // when
        Answer answer = gateway.postText("/v1/tasks", "{\"text\":\n  \"a\" \"b\"}");

        // then
        assertProblem(answer, 400, "bad_json");
        assertThat(answer.json()).containsEntry("line", 2).containsKey("column").containsEntry("instance", "/v1/tasks");
        assertThat(answer.text("detail")).contains("line 2");
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "[]", "\"text\"", "null", "{\"text\":\"a\"} x", "{\"text\":\"a\",\"text\":\"b\"}", "{"})
    void shouldRefuseWhatIsNoJsonObject(String body) throws Exception {
        assertProblem(gateway.postText("/v1/tasks", body), 400, "bad_json");
    }

    @Test
    void shouldRefuseJsonThatIsTooDeep() throws Exception {
        assertProblem(gateway.postText("/v1/tasks", "[".repeat(200_000)), 400, "bad_json");
    }

    @ParameterizedTest
    @ValueSource(strings = {"{}", "{\"text\":null}", "{\"text\":\"\"}", "{\"text\":\" \\n\"}"})
    @DisplayName("F-224: content is required")
    void shouldSayThatTheTextIsMissing(String body) throws Exception {
        assertProblem(gateway.postText("/v1/tasks", body), 400, "missing_text");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "text | 1",
                "text | [\"a\"]",
                "taskType | 7",
                "agent | \"\"",
                "sessionId | {}",
                "namespace | \"a/b\"",
                "metadata | \"x\"",
                "priority | -1",
                "priority | 1.5",
                "priority | \"high\"",
                "id | false",
                "id | \"a\\u0000b\"",
                "model | \" \"",
                "callbackUrl | \"ftp://example.org/\"",
                "callbackUrl | \"https://user:secret@example.org/\"",
                "callbackUrl | \"https:///nowhere\"",
                "callbackUrl | \"not a URL\"",
                "ttl | 0",
                "ttl | \"1 min\"",
                "expiresAt | \"2020-01-01T00:00:00Z\"",
                "expiresAt | \"tomorrow\"",
                "expiresAt | 1800000000000"
            })
    void shouldNameTheFieldThatCannotBeRead(String field, String value) throws Exception {
        // when
        Answer answer = gateway.postText(
                "/v1/tasks",
                field.equals("text")
                        ? "{\"text\":" + value + "}"
                        : "{\"text\":\"hello\",\"" + field + "\":" + value + "}");

        // then
        assertProblem(answer, 400, "bad_field");
        assertThat(answer.text("detail")).startsWith(field + ": expected ").contains(", found ");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "/v1/tasks             | {\"text\":\"hi\",\"agnet\":\"order-desk\"} | Unknown field `agnet`; did you mean `agent`?",
                "/v1/tasks             | {\"text\":\"hi\",\"task_type\":\"x\",\"Text\":1} | Unknown field `task_type`; did you mean `taskType`? Unknown field `Text`; did you mean `text`?",
                "/v1/tasks             | {\"prompt\":\"hi\"}                     | Unknown field `prompt`; there are agent, callbackUrl, expiresAt, id, metadata, model, namespace, participants, priority, sender, sessionId, taskType, text, ttl.",
                "/v1/tasks             | {\"text\":\"hi\",\"taskId\":\"t1\"}     | Unknown field `taskId`: a new task's own id is `id`, and POST /v1/tasks/{taskId}/resume goes on with a task that there is.",
                "/v1/tasks/t/suspend   | {\"reson\":\"lunch\"}                   | Unknown field `reson`; did you mean `reason`?",
                "/v1/tasks/t/resume    | {\"input\":\"hi\"}                      | Unknown field `input`; did you mean `newInput`?",
                "/v1/tasks/t/cancel    | {\"session\":\"s\"}                     | Unknown field `session`; did you mean `sessionId`?",
                "/v1/approvals/a/1/0   | {\"decision\":\"approve\",\"parms\":{}}  | Unknown field `parms`; did you mean `params`?",
                "/v1/forget            | {\"scope\":\"task\",\"task\":\"t\"}      | Unknown field `task`; did you mean `taskId`?",
                "/v1/system/drain      | {\"because\":\"x\"}                     | Unknown field `because`; there are reason.",
                "/v1/system/resume     | {\"reason\":\"x\"}                      | Unknown field `reason`; there are none."
            })
    @DisplayName("a field that nobody reads is refused, with the nearest that there is; a typo asks no other agent")
    void shouldRefuseUnknownFields(String path, String body, String detail) throws Exception {
        // when
        Answer answer = gateway.postText(path, body);

        // then
        assertProblem(answer, 400, "unknown_field");
        assertThat(answer.text("detail")).isEqualTo(detail);
        assertThat(answer.json()).containsKey("fields");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "/v1/tasks?namepsace=acme     | Unknown parameter `namepsace`; did you mean `namespace`?",
                "/v1/tasks/t?taskId=t         | Unknown parameter `taskId`; there are namespace, wait.",
                "/v1/approvals?tool=x&limit=1 | Unknown parameter `tool`; did you mean `toolName`?",
                "/v1/agents?name=x            | Unknown parameter `name`; there are none."
            })
    @DisplayName("a parameter that nobody reads is refused, with the nearest that there is")
    void shouldRefuseUnknownParameters(String path, String detail) throws Exception {
        // when
        Answer answer = gateway.get(path);

        // then
        assertProblem(answer, 400, "unknown_parameter");
        assertThat(answer.text("detail")).isEqualTo(detail);
    }

    @Test
    @DisplayName("clients of OpenAI's send ever new fields and parameters, which are passed over")
    void shouldPassOverWhatClientsOfOpenAiSend() throws Exception {
        // when
        Answer models = gateway.get("/v1/models?new=1");
        Answer chat = gateway.postText(
                "/v1/chat/completions?api-version=1", "{\"model\":\"nobody\",\"messages\":[],\"verbosity\":\"low\"}");

        // then
        assertThat(models.status()).as(models.body()).isEqualTo(200);
        assertThat(chat.body()).doesNotContain("unknown_field", "unknown_parameter", "verbosity");
    }

    @Test
    void shouldTakeTheLongestTextAndRefuseALongerOne() throws Exception {
        // when
        Answer longest = gateway.postJson("/v1/tasks", Map.of("text", "x".repeat(100_000)));
        Answer longer = gateway.postJson("/v1/tasks", Map.of("text", "x".repeat(100_001)));

        // then
        assertThat(longest.status()).isEqualTo(202);
        assertProblem(longer, 422, "text_too_long");
    }

    @Test
    void shouldRefuseTwoDifferentIds() throws Exception {
        assertProblem(
                gateway.send(gateway.request("/v1/tasks")
                        .header("Content-Type", "application/json")
                        .header("Idempotency-Key", "one")
                        .POST(BodyPublishers.ofString("{\"text\":\"a\",\"id\":\"other\"}"))),
                400,
                "bad_parameter");
    }

    @Test
    void shouldListTheAgentsWhenOneIsUnknown() throws Exception {
        // when
        Answer answer = gateway.postJson("/v1/tasks", Map.of("text", "hello", "taskType", "nobody"));

        // then
        assertProblem(answer, 422, "unknown_agent");
        assertThat(answer.json()).containsEntry("agents", List.of("explore", "general"));
    }

    @Test
    void shouldListTheAgentsWhenAnEventNamesAnUnknownOne() throws Exception {
        // when
        Answer answer = gateway.send(gateway.request("/v1/events")
                .header("Content-Type", "application/cloudevents-batch+json")
                .POST(BodyPublishers.ofString("""
                        [{"specversion":"1.0","id":"known","source":"t","type":"MESSAGE_RECEIVED","data":{"text":"a"}},
                         {"specversion":"1.0","id":"blank","source":"t","type":"MESSAGE_RECEIVED",
                          "data":{"text":"a","taskType":" "}},
                         {"specversion":"1.0","id":"answer","source":"t","type":"MESSAGE_RECEIVED","subject":"t1",
                          "data":{"text":"a","taskType":"nobody"}},
                         {"specversion":"1.0","id":"unknown","source":"t","type":"WEBHOOK_TRIGGERED",
                          "data":{"text":"a","taskType":"nobody"}}]""")));

        // then
        assertProblem(answer, 422, "unknown_agent");
        assertThat(answer.json()).containsEntry("agents", List.of("explore", "general"));
    }

    @Test
    void shouldRefuseABodyThatIsTooLargeHoweverItComes() throws Exception {
        // given
        byte[] large = ("{\"text\":\"a\",\"metadata\":{\"x\":\"" + "y".repeat(1024 * 1024) + "\"}}")
                .getBytes(StandardCharsets.UTF_8);

        // when
        Answer announced = gateway.send(gateway.request("/v1/tasks")
                .header("Content-Type", "application/json")
                .POST(BodyPublishers.ofByteArray(large)));
        Answer chunked = gateway.send(gateway.request("/v1/tasks")
                .header("Content-Type", "application/json")
                .POST(BodyPublishers.ofInputStream(() -> new ByteArrayInputStream(large))));

        // then
        assertProblem(announced, 413, "body_too_large");
        assertProblem(chunked, 413, "body_too_large");
        assertThat(chunked.json()).containsEntry("limitBytes", 1024 * 1024);
    }

    @ParameterizedTest
    @ValueSource(strings = {"/v1/tasks", "/v1/forget", "/v1/approvals/call"})
    void shouldRefuseAnotherMediaTypeAndNone(String path) throws Exception {
        // when
        Answer other = gateway.send(gateway.request(path)
                .header("Content-Type", "text/plain")
                .POST(BodyPublishers.ofString("{\"text\":\"hello\"}")));
        Answer none = gateway.send(gateway.request(path).POST(BodyPublishers.ofString("{\"text\":\"hello\"}")));

        // then
        assertProblem(other, 415, "unsupported_media_type");
        assertThat(other.text("detail")).isEqualTo("Content-Type: expected application/json, found \"text/plain\".");
        assertProblem(none, 415, "unsupported_media_type");
        assertThat(none.text("detail")).isEqualTo("Content-Type: expected application/json, found none.");
    }

    @ParameterizedTest
    @ValueSource(strings = {"text/plain;charset=UTF-8", "application/x-www-form-urlencoded", ""})
    @DisplayName("a chat without the Content-Type of JSON is refused in the shape of OpenAI's errors")
    void shouldTakeChatsAsJsonOnly(String type) throws Exception {
        // given
        HttpRequest.Builder request = gateway.request("/v1/chat/completions")
                .POST(BodyPublishers.ofString(
                        "{\"model\":\"general\",\"messages\":[{\"role\":\"user\",\"content\":\"hi\"}]}"));

        // when
        Answer answer = gateway.send(type.isEmpty() ? request : request.header("Content-Type", type));

        // then
        assertThat(answer.status()).isEqualTo(415);
        assertThat(answer.text("error")).contains("unsupported_media_type", "expected application/json");
    }

    @Test
    void shouldSayWhichMethodsAreAllowed() throws Exception {
        // when
        Answer answer = gateway.send(gateway.request("/v1/tasks").DELETE());

        // then
        assertProblem(answer, 405, "method_not_allowed");
        assertThat(answer.header("Allow")).isEqualTo("GET, POST");
    }

    @ParameterizedTest
    @ValueSource(strings = {"/v1/nothing", "/v1", "/nowhere", "/v1/tasks/a/b/c"})
    void shouldSayThatARouteIsUnknown(String path) throws Exception {
        // when
        Answer answer = gateway.get(path);

        // then
        assertProblem(answer, 404, "unknown_route");
        assertThat(answer.text("instance")).isEqualTo(path);
    }

    @ParameterizedTest
    @ValueSource(strings = {"/v1/tasks/none", "/v1/tasks/none/events", "/v1/tasks/none/stream"})
    void shouldSayThatATaskIsUnknown(String path) throws Exception {
        assertProblem(gateway.get(path), 404, "unknown_task");
    }

    @Test
    void shouldSayThatAnEventIsUnknown() throws Exception {
        assertProblem(gateway.get("/v1/events/none/chain"), 404, "unknown_event");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "/v1/tasks?limit=0",
                "/v1/tasks?limit=201",
                "/v1/tasks?limit=ten",
                "/v1/tasks?state=happy",
                "/v1/tasks?cursor=nonsense",
                "/v1/tasks/a/events?after=1",
                "/v1/tasks/a/events?limit=501",
                "/v1/tasks/a/stream?after=x",
                "/v1/tasks/a/stream?after=99:1",
                "/v1/stream?after=0@1"
            })
    void shouldSayThatAParameterCannotBeRead(String path) throws Exception {
        assertProblem(gateway.get(path), 400, "bad_parameter");
    }

    @ParameterizedTest
    @ValueSource(strings = {"soon", "-1s", "121s", "3m", "1h"})
    void shouldRefuseAWaitThatCannotBeReadOrIsTooLong(String wait) throws Exception {
        assertProblem(gateway.postJson("/v1/tasks?wait=" + wait, Map.of("text", "a")), 400, "bad_parameter");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "/v1/tasks",
                "/v1/tasks/a",
                "/v1/tasks/a/events",
                "/v1/tasks/a/stream",
                "/v1/events/a/chain",
                "/v1/agents"
            })
    void shouldSayThatTasksCannotBeAskedForNow(String path) throws Exception {
        // given
        gateway.agentIs("down");

        // when
        Answer answer = gateway.get(path);

        // then
        assertProblem(answer, 503, "query_unavailable");
        assertThat(answer.header("Retry-After")).isEqualTo("1");
    }

    @Test
    void shouldNotWaitForASilentAgentServiceForLongerThanItsTimeout() throws Exception {
        // given
        gateway.agentIs("silent");

        // when
        long start = System.nanoTime();
        Answer answer = gateway.get("/v1/agents");

        // then
        assertProblem(answer, 503, "query_unavailable");
        // generous, since the machine may be busy: without the time-out it would be never
        assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(Duration.ofSeconds(20));
    }

    private static void assertProblem(Answer answer, int status, String code) {
        assertThat(answer.status()).as(answer.body()).isEqualTo(status);
        assertThat(answer.header("Content-Type")).startsWith("application/problem+json");
        assertThat(answer.json())
                .containsEntry("status", status)
                .containsEntry("code", code)
                .containsEntry("type", "urn:millrace:problem:" + code)
                .containsKeys("title", "detail", "instance");
        assertThat(answer.body()).doesNotContain("Exception").doesNotContain("\tat ");
    }
}
