package dev.millrace.gateway.rest.tasks;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.millrace.gateway.rest.GatewayClient;
import dev.millrace.gateway.rest.GatewayClient.Answer;
import dev.millrace.gateway.rest.GatewayTestResource;
import dev.millrace.schemas.Event;
import dev.millrace.schemas.Ids;
import dev.millrace.schemas.KnownEventType;
import dev.millrace.testing.RequiresBroker;
import io.quarkus.test.common.WithTestResource;
import io.quarkus.test.junit.QuarkusTest;
import java.util.List;
import java.util.Map;
import org.assertj.core.api.InstanceOfAssertFactories;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@QuarkusTest
@RequiresBroker
@WithTestResource(GatewayTestResource.class)
class QueriesIT {
    private final GatewayClient gateway = new GatewayClient();

    @ParameterizedTest
    @ValueSource(strings = {"plain", "with space", "with/slash", "a+b&c=d?e#f", "ümläut 🦀", "%41"})
    void shouldAskForAnyId(String name) throws Exception {
        // given
        String id = name + Ids.random();
        gateway.journalRoot(id, null);
        String path = "/v1/tasks/" + encoded(id);
        await().atMost(GatewayClient.LIMIT).until(() -> gateway.get(path).status() == 200);

        // when
        Answer answer = gateway.get(path);

        // then
        assertThat(answer.text("taskId")).isEqualTo(id);
    }

    @Test
    @DisplayName("F-016: the events of a task, page by page, and the chain back to the root")
    void shouldTellWhatHappenedAndWhy() throws Exception {
        // given
        String id = Ids.random();
        Event root = gateway.journalRoot(id, null);
        Event created = gateway.journal(root, KnownEventType.TASK_CREATED, 1, Map.of());
        Event changed = gateway.journal(created, KnownEventType.TASK_STATE_CHANGED, 2, Map.of());
        Event asked = gateway.journal(changed, KnownEventType.MODEL_CALL_REQUESTED, 3, Map.of());
        Event answered = gateway.journal(asked, KnownEventType.REASON_DONE, 4, Map.of());
        await().atMost(GatewayClient.LIMIT)
                .until(() ->
                        gateway.get("/v1/events/" + answered.id() + "/chain").status() == 200);

        // when
        Answer first = gateway.get("/v1/tasks/" + id + "/events");
        Answer second = gateway.get("/v1/tasks/" + id + "/events?after=" + first.text("next"));
        Answer chain = gateway.get("/v1/events/" + answered.id() + "/chain");

        // then
        assertThat(ids(first, "events")).containsExactly(root.id(), created.id(), changed.id());
        assertThat(ids(second, "events")).containsExactly(asked.id(), answered.id());
        assertThat(second.field("next")).isNull();
        assertThat(ids(chain, "chain"))
                .containsExactly(root.id(), created.id(), changed.id(), asked.id(), answered.id());
    }

    @Test
    void shouldPassFiltersOn() throws Exception {
        // when
        Answer answer = gateway.get("/v1/tasks?state=suspended&sessionId=s%201&namespace=acme&limit=200&cursor=abc");

        // then
        assertThat(answer.json())
                .containsEntry(
                        "tasks",
                        List.of(Map.of(
                                "query",
                                Map.of(
                                        "state",
                                        "suspended",
                                        "sessionId",
                                        "s 1",
                                        "namespace",
                                        "acme",
                                        "limit",
                                        "200",
                                        "before",
                                        "abc"))));
    }

    @Test
    @DisplayName("filters beside state and session, counts with the same ones, and the machine")
    void shouldPassTraitsOn() throws Exception {
        // given
        String traits =
                "agent=a%20b&errorCode=e&text=T&parentTaskId=p&createdAfter=2026-01-31&createdBefore=2026-02-01";

        // when
        Answer tasks = gateway.get("/v1/tasks?" + traits);
        Answer counts = gateway.get("/v1/task-counts?" + traits + "&waitingFor=answer");

        // then
        assertThat(tasks.body()).contains("\"parentTaskId\":\"p\"", "\"text\":\"T\"");
        assertThat(counts.field("states"))
                .isEqualTo(Map.of(
                        "agent=a b", 1,
                        "errorCode=e", 1,
                        "text=T", 1,
                        "parentTaskId=p", 1,
                        "createdAfter=2026-01-31", 1,
                        "createdBefore=2026-02-01", 1,
                        "waitingFor=answer", 1,
                        "namespace=default", 1));
        assertThat(gateway.get("/v1/task-counts?waitingFor=godot").json()).containsEntry("code", "bad_parameter");
        assertThat(gateway.get("/v1/machine").json()).containsKeys("states", "moves");
        assertThat(gateway.get("/v1/system").json())
                .containsEntry("draining", false)
                .containsKeys("lanes", "toolsets");
        assertThat(gateway.get("/v1/system").field("services"))
                .asInstanceOf(InstanceOfAssertFactories.list(Map.class))
                .singleElement(InstanceOfAssertFactories.map(String.class, Object.class))
                .containsEntry("ready", true)
                .containsEntry("reasons", List.of())
                .containsKeys("name", "instance", "version", "since");
    }

    @Test
    @DisplayName("what model calls used, as agent-service tells it; its refusals are the client's")
    void shouldTellTheUsage() throws Exception {
        // when
        Answer answer = gateway.get("/v1/usage?namespace=*&agent=a%20b&groupBy=day,model&from=2026-01-31");

        // then
        assertThat(answer.json())
                .containsEntry(
                        "total",
                        Map.of(
                                "query",
                                Map.of(
                                        "namespace",
                                        "*",
                                        "agent",
                                        "a b",
                                        "groupBy",
                                        "day,model",
                                        "from",
                                        "2026-01-31")));
        assertThat(gateway.get("/v1/usage?groupBy=nonsense").status()).isEqualTo(400);
        assertThat(gateway.get("/v1/usage?groupBy=nonsense").json())
                .containsEntry("code", "bad_parameter")
                .containsEntry("detail", "groupBy: that is nothing to group by");
    }

    @Test
    void shouldTellTheAgents() throws Exception {
        assertThat(gateway.get("/v1/agents").body())
                .contains("\"name\":\"general\"")
                .contains("current_time");
    }

    @Test
    @DisplayName("one agent, all tools and those of an agent")
    void shouldTellOneAgentAndTheTools() throws Exception {
        assertThat(gateway.get("/v1/agents/general").json()).containsEntry("name", "general");
        assertThat(gateway.get("/v1/tools").body()).contains("\"name\":\"current_time\"", "\"query\":{}");
        assertThat(gateway.get("/v1/tools?agent=general").body()).contains("\"agent\":\"general\"");
        for (String path : List.of("/v1/agents/no%20one", "/v1/tools?agent=no%20one")) {
            Answer answer = gateway.get(path);
            assertThat(answer.status()).isEqualTo(404);
            assertThat(answer.json())
                    .containsEntry("code", "unknown_agent")
                    .containsEntry("detail", "There is no agent no one; GET /v1/agents lists those that there are.");
        }
    }

    private static List<String> ids(Answer answer, String field) {
        return answer.field(field) instanceof List<?> entries
                ? entries.stream()
                        .map(entry -> String.valueOf(((Map<?, ?>) entry).get("id")))
                        .toList()
                : List.of();
    }

    private static String encoded(String text) {
        return java.net.URLEncoder.encode(text, java.nio.charset.StandardCharsets.UTF_8)
                .replace("+", "%20");
    }
}
