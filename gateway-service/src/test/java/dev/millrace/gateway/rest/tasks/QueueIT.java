package dev.millrace.gateway.rest.tasks;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.millrace.gateway.rest.GatewayClient;
import dev.millrace.gateway.rest.GatewayClient.Answer;
import dev.millrace.gateway.rest.GatewayTestResource;
import dev.millrace.schemas.Event;
import dev.millrace.schemas.Ids;
import dev.millrace.schemas.KnownEventType;
import dev.millrace.schemas.Segment;
import dev.millrace.testing.RequiresBroker;
import dev.millrace.testing.TestBroker;
import dev.millrace.testing.TopicReader;
import io.quarkus.test.common.WithTestResource;
import io.quarkus.test.junit.QuarkusTest;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@QuarkusTest
@RequiresBroker
@WithTestResource(GatewayTestResource.class)
class QueueIT {
    private final GatewayClient gateway = new GatewayClient();

    @Test
    @DisplayName("F-261, F-286: what has failed goes onto its lane once more, as what the failed one has led to; what"
            + " has not is refused")
    void shouldTryAgainWhatHasFailed() throws Exception {
        // given
        String id = Ids.random();
        Event root = gateway.journalRoot(id, "shop");
        awaitItem(id, "completed");
        Answer early = retry(id, Map.of());
        gateway.journal(root, KnownEventType.TASK_FAILED, 1, Map.of("error", "It broke.", "code", "llm_error"));
        awaitItem(id, "failed");

        // when
        Answer again = retry(id, Map.of("payload", Map.of("text", "mended")));
        Answer twice = retry(id, Map.of("payload", Map.of("text", "mended")));

        // then
        assertThat(early.status()).isEqualTo(409);
        assertThat(early.json()).containsEntry("code", "not_failed");
        assertThat(again.status()).as(again.body()).isEqualTo(202);
        assertThat(again.json())
                .containsEntry("retryOf", id)
                .containsEntry("threadId", "shop")
                .containsEntry("status", "pending");
        assertThat(twice.text("id")).isEqualTo(again.text("id"));
        try (TopicReader lane = TestBroker.shared().read(gateway.topics().lane(Segment.EXTERNAL))) {
            List<Event> sent = lane.events(
                    all -> all.stream().anyMatch(event -> event.id().equals(again.text("id"))), GatewayClient.LIMIT);
            assertThat(sent)
                    .filteredOn(event -> event.id().equals(again.text("id")))
                    .first()
                    .satisfies(event -> {
                        assertThat(event.parentEventId()).isEqualTo(id);
                        assertThat(event.sessionId()).isEqualTo("shop");
                        assertThat(event.text("text")).isEqualTo("mended");
                    });
        }
        assertThat(retry("nobody-" + id, Map.of()).json()).containsEntry("code", "unknown_event");
    }

    @Test
    @DisplayName("a part of another task is not tried by itself: that one waited for its answer")
    void shouldNotTryAPartAgain() throws Exception {
        // given
        String id = Ids.random();
        Event part = Event.root(id, KnownEventType.MESSAGE_RECEIVED, Instant.now())
                .source("millrace")
                .taskId(id)
                .payload(Map.of(
                        "text",
                        "look it up",
                        "parent",
                        Map.of("taskId", "the-whole", "callId", "c1", "agents", List.of("general"))))
                .build();
        TestBroker.shared().produce(gateway.topics().journal(), part);
        gateway.journal(part, KnownEventType.TASK_FAILED, 1, Map.of("error", "It broke.", "code", "llm_error"));
        awaitItem(id, "failed");

        // when
        Answer answer = retry(id, Map.of());

        // then
        assertThat(answer.status()).isEqualTo(409);
        assertThat(answer.json()).containsEntry("code", "part_of_a_task");
        assertThat(answer.text("detail")).contains("the-whole");
    }

    @Test
    @DisplayName("a fork that is tried again goes on from the same place, whatever payload it is given")
    void shouldKeepWhatAForkGoesOnFrom() throws Exception {
        // given
        Map<String, Object> fork = Map.of(
                "taskId", "origin", "eventId", "e1", "before", List.of(Map.of("role", "user", "text", "Look it up.")));
        String asItWas = failed("default", Map.of("text", "go on", "fork", fork));
        String mended = failed("default", Map.of("text", "go on", "fork", fork));

        // when
        Answer first = retry(asItWas, Map.of());
        Answer second = retry(
                mended,
                Map.of("payload", Map.of("text", "mended", "fork", Map.of("taskId", "other", "eventId", "e2"))));

        // then
        assertThat(onLane(first)).isEqualTo(Map.of("text", "go on", "fork", fork));
        assertThat(onLane(second)).isEqualTo(Map.of("text", "mended", "fork", fork));
    }

    @Test
    @DisplayName(
            "what a rule has handed over stays that when it is tried again, and its sender can say nothing else that"
                    + " only the machines say")
    void shouldTakeOutWhatOnlyTheMachinesSay() throws Exception {
        // given
        Map<String, Object> observed =
                Map.of("eventId", "e1", "type", "a.b", "time", "2026-11-23T12:00:00Z", "rule", "orders@1");
        String id = failed("default", Map.of("text", "look", "observed", observed));

        // when
        Answer again = retry(
                id,
                Map.of(
                        "payload",
                        Map.of(
                                "text",
                                "mended",
                                "observed",
                                Map.of("eventId", "e2", "type", "c.d", "time", "2026-11-23T13:00:00Z", "rule", "x@1"),
                                "parent",
                                Map.of("taskId", "other", "callId", "c1"),
                                "fork",
                                Map.of("taskId", "other", "eventId", "e2"),
                                "thread",
                                Map.of("participants", List.of("user", "general"), "spokenIn", "other"))));

        // then
        assertThat(onLane(again))
                .isEqualTo(Map.of(
                        "text",
                        "mended",
                        "observed",
                        observed,
                        "thread",
                        Map.of("participants", List.of("user", "general"))));
    }

    @Test
    @DisplayName("what an agent has said to another one in a session is still that when it is tried again")
    void shouldKeepWhereItWasSpoken() throws Exception {
        // given
        Map<String, Object> turn = Map.of(
                "text", "look", "thread", Map.of("participants", List.of("user", "general"), "spokenIn", "elsewhere"));

        // when
        Answer again = retry(failed("default", turn), Map.of());

        // then
        assertThat(onLane(again)).isEqualTo(turn);
    }

    @Test
    @DisplayName("what a rule has handed over counts against the quota of its namespace when it is tried again")
    void shouldCountAgainstTheQuota() throws Exception {
        // given
        Map<String, Object> given = Map.of(
                "text",
                "look",
                "observed",
                Map.of("eventId", "e1", "type", "a.b", "time", "2026-11-23T12:00:00Z", "rule", "orders@1"));
        String one = failed("retrying", given);
        String two = failed("retrying", given);

        // when
        Answer first = gateway.postJson("/v1/queue/" + one + "/retry?namespace=retrying", Map.of());
        Answer second = gateway.postJson("/v1/queue/" + two + "/retry?namespace=retrying", Map.of());

        // then
        assertThat(first.status()).as(first.body()).isEqualTo(202);
        assertThat(second.status()).as(second.body()).isEqualTo(429);
        assertThat(second.text("code")).isEqualTo("quota_exceeded");
    }

    /** Has a message be known whose task has failed, and returns its id. */
    private String failed(String namespace, Map<String, Object> payload) {
        String id = Ids.random();
        Event root = Event.root(id, KnownEventType.MESSAGE_RECEIVED, Instant.now())
                .source("millrace")
                .taskId(id)
                .namespace(namespace)
                .payload(payload)
                .build();
        TestBroker.shared().produce(gateway.topics().journal(), root);
        gateway.journal(root, KnownEventType.TASK_FAILED, 1, Map.of("error", "It broke.", "code", "llm_error"));
        await().atMost(GatewayClient.LIMIT)
                .until(() -> gateway.get("/v1/queue/" + id + "?namespace=" + namespace)
                        .text("status")
                        .equals("failed"));
        return id;
    }

    /** The payload of what was put in. */
    private Map<String, @Nullable Object> onLane(Answer queued) {
        assertThat(queued.status()).as(queued.body()).isEqualTo(202);
        String id = queued.text("id");
        try (TopicReader lane = TestBroker.shared().read(gateway.topics().lane(Segment.EXTERNAL))) {
            return lane.event(event -> event.id().equals(id), GatewayClient.LIMIT)
                    .fields();
        }
    }

    @Test
    @DisplayName("F-286: filters and the order of work are handed on, and an order that there is not is refused")
    void shouldTellWhatIsNext() throws Exception {
        assertThat(gateway.get("/v1/sessions/shop/queue?order=work&limit=3").text("next"))
                .contains("order=work", "sessionId=shop", "limit=3");
        assertThat(gateway.get("/v1/queue?order=work&sessionId=shop&status=pending")
                        .text("next"))
                .contains("order=work", "sessionId=shop", "status=pending");
        assertThat(gateway.get("/v1/queue?status=expired").text("next")).contains("status=expired");
        for (String wrong : List.of("order=work", "order=oldest", "order=work&sessionId=s&status=failed", "status=x")) {
            Answer refused = gateway.get("/v1/queue?" + wrong);
            assertThat(refused.status()).as(wrong).isEqualTo(400);
            assertThat(refused.json()).containsEntry("code", "bad_parameter");
        }
    }

    @Test
    @DisplayName("F-285: what is put in says how urgent it is in the words of the queue, up to a limit")
    void shouldTurnPrioritiesAtItsEdge() throws Exception {
        // given
        String id = Ids.random();

        // when
        Answer put = put(id, 850);
        Answer tooHigh = put(Ids.random(), 901);

        // then
        assertThat(put.status()).as(put.body()).isEqualTo(202);
        assertThat(tooHigh.status()).isEqualTo(400);
        assertThat(tooHigh.text("detail")).contains("at most 900");
        assertThat(gateway.get("/v1/queue/" + id).field("priority")).isEqualTo(850);
        try (TopicReader lane = TestBroker.shared().read(gateway.topics().lane(Segment.EXTERNAL))) {
            assertThat(lane.events(
                            all -> all.stream().anyMatch(event -> event.id().equals(id)), GatewayClient.LIMIT))
                    .filteredOn(event -> event.id().equals(id))
                    .singleElement()
                    .satisfies(event -> {
                        assertThat(event.effectivePriority()).isEqualTo(150);
                        assertThat(event.expiry()).isEqualTo(event.timestamp().plusSeconds(60));
                    });
        }
    }

    private Answer put(String id, int priority) throws Exception {
        return gateway.postJson(
                "/v1/sessions/shop/queue",
                Map.of(
                        "id",
                        id,
                        "type",
                        "MESSAGE_RECEIVED",
                        "priority",
                        priority,
                        "ttl",
                        60_000,
                        "payload",
                        Map.of("text", "hello")));
    }

    private Answer retry(String id, Map<String, Object> body) throws Exception {
        return gateway.postJson("/v1/queue/" + id + "/retry", body);
    }

    private void awaitItem(String id, String status) {
        await().atMost(GatewayClient.LIMIT).untilAsserted(() -> {
            Answer item = gateway.get("/v1/queue/" + id);
            assertThat(item.status()).isEqualTo(200);
            assertThat(item.json()).containsEntry("status", status);
        });
    }
}
