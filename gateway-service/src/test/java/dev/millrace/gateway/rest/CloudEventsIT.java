package dev.millrace.gateway.rest;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.gateway.rest.GatewayClient.Answer;
import dev.millrace.schemas.Event;
import dev.millrace.schemas.Ids;
import dev.millrace.schemas.KnownEventType;
import dev.millrace.schemas.Segment;
import dev.millrace.testing.RequiresBroker;
import dev.millrace.testing.TestBroker;
import dev.millrace.testing.TopicReader;
import io.quarkus.test.common.WithTestResource;
import io.quarkus.test.junit.QuarkusTest;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@QuarkusTest
@RequiresBroker
@WithTestResource(GatewayTestResource.class)
class CloudEventsIT {
    private final GatewayClient gateway = new GatewayClient();

    @Test
    void shouldTakeAnEventInBinaryMode() throws Exception {
        // given
        String id = Ids.random();

        // when
        Answer answer = gateway.send(binary(id, "file.changed")
                .header("ce-time", "2026-03-04T05:06:07.089Z")
                .header("ce-subject", "caf%C3%A9")
                .header("ce-sessionid", "s1")
                .header("ce-priority", "410")
                .POST(BodyPublishers.ofString("{\"path\":\"/tmp/ä\"}")));

        // then
        assertAccepted(answer, id);
        Event event = onLane(Segment.TOOL, id);
        assertThat(event.type().wireName()).isEqualTo("file.changed");
        assertThat(event.timestamp()).isEqualTo(Instant.parse("2026-03-04T05:06:07.089Z"));
        assertThat(event.source()).isEqualTo("/test");
        assertThat(event.taskId()).isEqualTo("café");
        assertThat(event.sessionId()).isEqualTo("s1");
        assertThat(event.payload()).isEqualTo(Map.of("path", "/tmp/ä"));
    }

    @Test
    void shouldTakeAnEventInStructuredMode() throws Exception {
        // given
        String id = Ids.random();

        // when
        Answer answer = gateway.send(gateway.request("/v1/events")
                .header("Content-Type", "application/cloudevents+json; charset=UTF-8")
                .header("traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01")
                .POST(BodyPublishers.ofString(structured(id, "MESSAGE_RECEIVED", "{\"text\":\"hello\"}"))));

        // then
        assertAccepted(answer, id);
        Event event = onLane(Segment.EXTERNAL, id);
        assertThat(event.type()).isEqualTo(KnownEventType.MESSAGE_RECEIVED);
        assertThat(event.text("text")).isEqualTo("hello");
        assertThat(event.traceparent()).isEqualTo("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01");
        assertThat(gateway.get("/v1/tasks/" + id).text("state")).isEqualTo("accepted");
    }

    @Test
    void shouldTakeNobodysWordForAParent() throws Exception {
        // given
        String id = Ids.random();
        String made = Ids.random();

        // when
        batch("["
                + structured(
                        id,
                        "MESSAGE_RECEIVED",
                        "{\"text\":\"hello\",\"parent\":{\"taskId\":\"victim\",\"callId\":\"victim/1/1-1-0\"}}")
                + "," + structured(made, "a.b", "{\"parent\":{\"name\":\"of my own\"}}") + "]");

        // then
        assertThat(onLane(Segment.EXTERNAL, id).payload()).isEqualTo(Map.of("text", "hello"));
        assertThat(onLane(Segment.EXTERNAL, made).payload()).containsKey("parent");
    }

    @Test
    void shouldTakeABatchAndAnswerInItsOrder() throws Exception {
        // given
        String one = Ids.random();
        String two = Ids.random();

        // when
        Answer answer =
                batch("[" + structured(one, "a.b", "{}") + "," + structured(two, "TASK_CANCEL_REQUESTED", "{}") + "]");

        // then
        assertAccepted(answer, one, two);
        assertThat(onLane(Segment.EXTERNAL, one).payload()).isEmpty();
        assertThat(onLane(Segment.SYSTEM, two).type()).isEqualTo(KnownEventType.TASK_CANCEL_REQUESTED);
    }

    @Test
    void shouldTakeNothingOfABatchWithOneInvalidEvent() throws Exception {
        // given
        String good = Ids.random();
        String marker = Ids.random();

        // when
        Answer noEvent = batch("[" + structured(good, "a.b", "{}") + ",{\"id\":\"x\"}]");
        Answer badPayload = batch(
                "[" + structured(good, "a.b", "{}") + "," + structured("y", "MESSAGE_RECEIVED", "{\"text\":1}") + "]");
        gateway.send(binary(marker, "a.b").POST(BodyPublishers.noBody()));

        // then
        assertThat(noEvent.status()).isEqualTo(400);
        assertThat(noEvent.json()).containsEntry("index", 1);
        assertThat(badPayload.status()).isEqualTo(422);
        assertThat(badPayload.json()).containsEntry("code", "invalid_payload").containsEntry("eventId", "y");
        try (TopicReader lane = TestBroker.shared().read(gateway.topics().lane(Segment.EXTERNAL))) {
            List<Event> events =
                    lane.events(all -> all.stream().anyMatch(event -> event.id().equals(marker)), GatewayClient.LIMIT);
            assertThat(events).extracting(Event::id).doesNotContain(good);
        }
    }

    @Test
    @DisplayName("F-189: the same id a second time is accepted again")
    void shouldAcceptADouble() throws Exception {
        // given
        String id = Ids.random();
        HttpRequest.Builder request = binary(id, "a.b").POST(BodyPublishers.ofString("{}"));

        // when
        Answer first = gateway.send(request);
        Answer second = gateway.send(request);

        // then
        assertAccepted(first, id);
        assertAccepted(second, id);
    }

    @Test
    void shouldSayWhatIsMissing() throws Exception {
        // when
        Answer answer = gateway.send(gateway.request("/v1/events")
                .header("Content-Type", "application/json")
                .header("ce-id", "1")
                .header("ce-source", "/test")
                .header("ce-specversion", "1.0")
                .POST(BodyPublishers.ofString("{}")));

        // then
        assertThat(answer.status()).isEqualTo(400);
        assertThat(answer.text("code")).isEqualTo("not_a_cloud_event");
        assertThat(answer.text("detail")).contains("type");
    }

    @ParameterizedTest
    @ValueSource(strings = {"[]", "{}", "1"})
    void shouldRefuseABatchThatIsNone(String body) throws Exception {
        assertThat(batch(body).text("code")).isEqualTo("not_a_cloud_event");
    }

    @ParameterizedTest
    @ValueSource(strings = {"[{", "nonsense"})
    void shouldSayWhereABatchIsNoJson(String body) throws Exception {
        // when
        Answer answer = batch(body);

        // then
        assertThat(answer.status()).isEqualTo(400);
        assertThat(answer.text("code")).isEqualTo("bad_json");
        assertThat(answer.json()).containsKey("line");
    }

    @Test
    void shouldTellPlainJsonHowToBecomeAnEvent() throws Exception {
        // when
        Answer answer = gateway.postText("/v1/events", "{}");

        // then
        assertThat(answer.status()).isEqualTo(400);
        assertThat(answer.text("code")).isEqualTo("not_a_cloud_event");
        assertThat(answer.text("detail")).contains("ce-id").contains("application/cloudevents+json");
    }

    @Test
    void shouldRefuseAPayloadThatIsNoJson() throws Exception {
        // when
        Answer xml = gateway.send(gateway.request("/v1/events")
                .header("Content-Type", "text/xml")
                .header("ce-id", "1")
                .header("ce-type", "a.b")
                .header("ce-source", "/test")
                .header("ce-specversion", "1.0")
                .POST(BodyPublishers.ofString("<a/>")));

        // then
        assertThat(xml.status()).isEqualTo(415);
        assertThat(xml.text("code")).isEqualTo("unsupported_media_type");
    }

    @Test
    void shouldRefuseAFieldThatIsOutOfRange() throws Exception {
        // when
        Answer answer = gateway.send(
                binary(Ids.random(), "a.b").header("ce-priority", "high").POST(BodyPublishers.ofString("{}")));

        // then
        assertThat(answer.status()).isEqualTo(400);
        assertThat(answer.text("code")).isEqualTo("bad_field");
        assertThat(answer.text("detail")).contains("priority");
    }

    private Answer batch(String body) throws Exception {
        return gateway.send(gateway.request("/v1/events")
                .header("Content-Type", "application/cloudevents-batch+json")
                .POST(BodyPublishers.ofString(body)));
    }

    private HttpRequest.Builder binary(String id, String type) {
        return gateway.request("/v1/events")
                .header("Content-Type", "application/json")
                .header("ce-id", id)
                .header("ce-type", type)
                .header("ce-source", "/test")
                .header("ce-specversion", "1.0");
    }

    private static String structured(String id, String type, String data) {
        return "{\"specversion\":\"1.0\",\"id\":\"" + id + "\",\"source\":\"/test\",\"type\":\"" + type
                + "\",\"datacontenttype\":\"application/json\",\"data\":" + data + "}";
    }

    private static void assertAccepted(Answer answer, String... ids) {
        assertThat(answer.status()).as(answer.body()).isEqualTo(202);
        assertThat(answer.json()).containsEntry("accepted", List.of(ids));
    }

    private Event onLane(Segment segment, String id) {
        try (TopicReader lane = TestBroker.shared().read(gateway.topics().lane(segment))) {
            return lane.event(event -> event.id().equals(id), GatewayClient.LIMIT);
        }
    }
}
