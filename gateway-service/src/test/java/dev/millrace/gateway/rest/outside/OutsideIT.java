package dev.millrace.gateway.rest.outside;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.gateway.rest.GatewayClient;
import dev.millrace.gateway.rest.GatewayClient.Answer;
import dev.millrace.gateway.rest.GatewayTestResource;
import dev.millrace.schemas.Event;
import dev.millrace.schemas.Ids;
import dev.millrace.schemas.KnownEventType;
import dev.millrace.testing.RequiresBroker;
import dev.millrace.testing.TestBroker;
import dev.millrace.testing.TopicReader;
import io.quarkus.test.common.WithTestResource;
import io.quarkus.test.junit.QuarkusTest;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.eclipse.microprofile.config.ConfigProvider;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Schedules and webhooks over HTTP, up to the record on the lane. */
@QuarkusTest
@RequiresBroker
@WithTestResource(GatewayTestResource.class)
class OutsideIT {

    /** From GitHub's documentation: the signature of "Hello, World!". */
    private static final String SIGNATURE = "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17";

    private final GatewayClient gateway = new GatewayClient();

    @Test
    @DisplayName(
            "a signed webhook is an event, one for each delivery (F-229); one that is not is 401 and leaves nothing behind")
    void shouldTakeWhatIsSigned() throws Exception {
        String delivery = Ids.random();

        Answer forged = gateway.send(github(delivery, SIGNATURE.replace('7', '8'), "Hello, World!"));
        Answer changed = gateway.send(github(delivery, SIGNATURE, "Hello, World?"));
        Answer first = gateway.send(github(delivery, SIGNATURE, "Hello, World!"));
        Answer second = gateway.send(github(delivery, SIGNATURE, "Hello, World!"));

        assertThat(List.of(forged, changed)).allSatisfy(answer -> {
            assertThat(answer.status()).isEqualTo(401);
            assertThat(answer.text("code")).isEqualTo("bad_signature");
            assertThat(answer.text("detail"))
                    .contains("source github", "found another")
                    .doesNotContain("Secret");
        });
        assertThat(first.status()).isEqualTo(202);
        assertThat(second.status()).isEqualTo(202);
        assertThat(second.text("eventId")).isEqualTo(first.text("eventId"));
        List<Event> events = ofSource("webhook/github", first.text("eventId"));
        assertThat(events).extracting(Event::id).containsOnly(first.text("eventId"));
        assertThat(events.getFirst().type().wireName()).isEqualTo("webhook.received");
        assertThat(events.getFirst().fields())
                .isEqualTo(
                        Map.of("source", "github", "event", "push", "deliveryId", delivery, "body", "Hello, World!"));
    }

    @Test
    @DisplayName(
            "a webhook starts a task in the conversation that its template names; events that are not meant are left out")
    void shouldStartATask() throws Exception {
        Answer started = gateway.send(open("{\"type\":\"push\",\"repo\":\"a/b\"}", "application/json"));
        Answer leftOut = gateway.send(open("{\"type\":\"star\",\"repo\":\"a/b\"}", "application/json"));

        assertThat(started.status()).isEqualTo(202);
        assertThat(leftOut.status()).isEqualTo(200);
        assertThat(leftOut.json()).isEqualTo(Map.of("accepted", false));
        Event event = ofSource("webhook/open", started.text("eventId")).getLast();
        assertThat(event.type()).isEqualTo(KnownEventType.WEBHOOK_TRIGGERED);
        assertThat(event.sessionId()).isEqualTo("a/b");
        Answer task = gateway.get("/v1/tasks/" + event.id());
        assertThat(task.text("state")).isEqualTo("accepted");
    }

    @ParameterizedTest(name = "{0} {1}: {3} {4}")
    @DisplayName("what cannot be taken is told, and leaves nothing behind")
    @CsvSource(delimiter = '|', textBlock = """
            nobody | {}                  | application/json | 404 | unknown_source
            open   | {"type":"push"}     | application/json | 422 | bad_session
            open   | {"type":"push",     | application/json | 400 | bad_json
            open   | {"type":"push","repo":"\\u0000"} | application/json | 422 | bad_field
            github | {}                  | text/plain       | 401 | bad_signature
            """)
    void shouldTellWhatCannotBeTaken(String source, String body, String type, int status, String code)
            throws Exception {
        Answer answer = gateway.send(gateway.request("/v1/webhooks/" + source)
                .header("Content-Type", type)
                .POST(BodyPublishers.ofString(body)));

        assertThat(answer.status()).isEqualTo(status);
        assertThat(answer.text("code")).isEqualTo(code);
    }

    @Test
    @DisplayName("a body that is too large is refused before it is looked at")
    void shouldLimitBodies() throws Exception {
        assertThat(gateway.send(github("d", SIGNATURE, "x".repeat(1_048_577))).status())
                .isEqualTo(413);
    }

    @Test
    @DisplayName("a file that changes in a watched folder is an event in the session that its watch names")
    void shouldTellOfFiles() throws Exception {
        // given
        Path folder = Path.of(ConfigProvider.getConfig().getValue("millrace.gateway.watch.inbox.folder", String.class));

        // when
        Files.writeString(folder.resolve("order.txt"), "a kite");

        // then
        try (TopicReader lanes =
                TestBroker.shared().read(gateway.topics().lanes().toArray(String[]::new))) {
            Event event = lanes.event(sent -> sent.source().equals("watch/inbox"), GatewayClient.LIMIT);
            assertThat(event.type().wireName()).isEqualTo("file.changed");
            assertThat(event.sessionId()).isEqualTo("inbox");
            assertThat(event.fields()).isEqualTo(Map.of("path", "order.txt", "change", "created", "size", 6));
        } finally {
            Files.delete(folder.resolve("order.txt"));
        }
    }

    @Test
    @DisplayName("schedules are read and changed at agent-service, and what it refuses is told as it says it")
    void shouldPassSchedulesOn() throws Exception {
        assertThat(gateway.get("/v1/schedules").status()).isEqualTo(200);
        assertThat(gateway.get("/v1/schedules/report?next=3").text("cron")).isEqualTo("@daily");
        assertThat(gateway.get("/v1/schedules/report?next=101").status()).isEqualTo(400);
        Answer missing = gateway.get("/v1/schedules/other");
        assertThat(missing.status()).isEqualTo(404);
        assertThat(missing.text("code")).isEqualTo("unknown_schedule");
        assertThat(missing.text("instance")).isEqualTo("/v1/schedules/other");
        Answer put = put("report", "{\"cron\":\"@daily\",\"text\":\"hi\"}");
        assertThat(put.status()).isEqualTo(201);
        assertThat(put.text("text")).isEqualTo("PUT {\"cron\":\"@daily\",\"text\":\"hi\"}");
        Answer refused = put("other", "{}");
        assertThat(refused.status()).isEqualTo(422);
        assertThat(refused.json().get("problems")).isEqualTo(List.of("no"));
        assertThat(put("report", "{").text("code")).isEqualTo("bad_json");
        assertThat(put("report", "{\"taskType\":\"nobody\"}").text("code")).isEqualTo("unknown_agent");
        assertThat(gateway.send(gateway.request("/v1/schedules/report/pause").POST(BodyPublishers.noBody()))
                        .text("text"))
                .isEqualTo("POST ");
        assertThat(gateway.send(gateway.request("/v1/schedules/report").DELETE())
                        .text("text"))
                .isEqualTo("DELETE ");
    }

    @Test
    @DisplayName("rules are read and changed at agent-service, and what it refuses is told as it says it")
    void shouldPassRulesOn() throws Exception {
        assertThat(gateway.get("/v1/rules").status()).isEqualTo(200);
        assertThat(gateway.get("/v1/rules/orders").text("id")).isEqualTo("orders");
        assertThat(gateway.get("/v1/rules/other").text("code")).isEqualTo("unknown_rule");
        Answer put = rule("orders", "{\"on\":\"x\",\"log\":{}}");
        assertThat(put.status()).isEqualTo(201);
        assertThat(put.text("version")).isEqualTo("PUT {\"on\":\"x\",\"log\":{}}");
        Answer refused = rule("other", "{}");
        assertThat(refused.status()).isEqualTo(422);
        assertThat(refused.text("detail")).isEqualTo("other.on: no");
        assertThat(gateway.send(gateway.request("/v1/rules/orders").DELETE()).text("version"))
                .isEqualTo("DELETE ");
        assertThat(gateway.send(gateway.request("/v1/rules/other").DELETE()).status())
                .isEqualTo(409);
    }

    private Answer rule(String id, String body) throws Exception {
        return gateway.send(gateway.request("/v1/rules/" + id)
                .header("Content-Type", "application/json")
                .PUT(BodyPublishers.ofString(body)));
    }

    @Test
    @DisplayName("firing a schedule by hand starts its task, once for each key")
    void shouldFireByHand() throws Exception {
        String key = Ids.random();

        Answer fired = gateway.send(gateway.request("/v1/schedules/report/fire")
                .header("Idempotency-Key", key)
                .POST(BodyPublishers.noBody()));

        assertThat(fired.status()).isEqualTo(202);
        assertThat(fired.text("taskId")).isEqualTo(key);
        try (TopicReader lanes =
                TestBroker.shared().read(gateway.topics().lanes().toArray(String[]::new))) {
            assertThat(lanes.event(event -> event.id().equals(key), GatewayClient.LIMIT)
                            .sessionId())
                    .isEqualTo("daily");
        }
        assertThat(gateway.send(gateway.request("/v1/schedules/other/fire").POST(BodyPublishers.noBody()))
                        .status())
                .isEqualTo(404);
    }

    /** What this source has brought up to this event. */
    private List<Event> ofSource(String source, String lastId) {
        try (TopicReader lanes =
                TestBroker.shared().read(gateway.topics().lanes().toArray(String[]::new))) {
            return lanes
                    .events(
                            events ->
                                    events.stream().anyMatch(event -> event.id().equals(lastId)),
                            GatewayClient.LIMIT)
                    .stream()
                    .filter(event -> event.source().equals(source))
                    .toList();
        }
    }

    private HttpRequest.Builder github(String delivery, String signature, String body) {
        return gateway.request("/v1/webhooks/github")
                .header("Content-Type", "text/plain")
                .header("X-Hub-Signature-256", signature)
                .header("X-GitHub-Event", "push")
                .header("X-GitHub-Delivery", delivery)
                .POST(BodyPublishers.ofString(body));
    }

    private HttpRequest.Builder open(String body, String type) {
        return gateway.request("/v1/webhooks/open")
                .header("Content-Type", type)
                .header("X-Id", Ids.random())
                .POST(BodyPublishers.ofString(body));
    }

    private Answer put(String name, String body) throws Exception {
        return gateway.send(gateway.request("/v1/schedules/" + name)
                .header("Content-Type", "application/json")
                .PUT(BodyPublishers.ofString(body)));
    }
}
