package dev.millrace.gateway.rest.tasks;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.gateway.rest.GatewayClient;
import dev.millrace.gateway.rest.GatewayClient.Answer;
import dev.millrace.gateway.rest.GatewayTestResource;
import dev.millrace.schemas.Event;
import dev.millrace.schemas.EventCodec;
import dev.millrace.schemas.Ids;
import dev.millrace.schemas.KnownEventType;
import dev.millrace.schemas.Segment;
import dev.millrace.schemas.Topics;
import dev.millrace.testing.RequiresBroker;
import dev.millrace.testing.TestBroker;
import dev.millrace.testing.TopicReader;
import io.quarkus.test.common.WithTestResource;
import io.quarkus.test.junit.QuarkusTest;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.compress.Compression;
import org.apache.kafka.common.record.MemoryRecords;
import org.apache.kafka.common.record.SimpleRecord;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
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
        assertThat(event.fields()).isEqualTo(Map.of("path", "/tmp/ä"));
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
        assertThat(onLane(Segment.EXTERNAL, id).fields()).isEqualTo(Map.of("text", "hello"));
        assertThat(onLane(Segment.EXTERNAL, made).fields()).containsKey("parent");
    }

    @Test
    @DisplayName("nobody hands a model the result of a tool that was never called")
    void shouldTakeNobodysWordForAnObservedEvent() throws Exception {
        // given
        String id = Ids.random();

        // when
        batch("["
                + structured(
                        id,
                        "MESSAGE_RECEIVED",
                        "{\"text\":\"hello\",\"observed\":{\"eventId\":\"e1\",\"type\":\"a.b\",\"time\":\"2026-11-23T12:00:00Z\","
                                + "\"rule\":\"mine@1\",\"toolName\":\"read_file\",\"event\":{\"secret\":1}}}")
                + "]");

        // then
        assertThat(onLane(Segment.EXTERNAL, id).fields()).isEqualTo(Map.of("text", "hello"));
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
        assertThat(onLane(Segment.EXTERNAL, one).fields()).isEmpty();
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

    @ParameterizedTest
    @CsvSource({
        "TOOL_CALL_COMPLETED, events.tool",
        "TOOL_CALL_FAILED, events.tool",
        "REASON_DONE, events.cognitive",
        "NEED_MORE_INFO, events.cognitive",
        "CONTEXT_COMPACTED, events.cognitive",
        "MODEL_CALL_FAILED, events.cognitive",
        "MODEL_CALL_ABANDONED, events.cognitive",
        "APPROVAL_DECIDED, /v1/approvals/",
        "MEMORY_EDIT_REQUESTED, /v1/memory/",
        "REFLECTION_COMPLETE, machines",
        "REFLECTION_FAILED, machines",
        "MEMORY_FORGOTTEN, machines",
        "STEP_COMPLETED, machines",
        "TASK_COMPLETED, machines",
        "TOOL_CALL_REQUESTED, machines",
        "background_task.completed, machines",
        "background_task.failed, machines",
        "background_task.timeout, machines",
        "background_task.stopped, machines"
    })
    @DisplayName("ADR 0022: what workers and machines write is not taken over HTTP, and its problem says where it is")
    void shouldLeaveWorkToWorkers(String type, String instead) throws Exception {
        // given
        String id = Ids.random();
        String other = Ids.random();
        String marker = Ids.random();

        // when
        Answer binary = gateway.send(binary(id, type).header("ce-subject", "t").POST(BodyPublishers.ofString("{}")));
        Answer batch = batch("[" + structured(other, "a.b", "{}") + "," + structured(id, type, "{}") + "]");
        gateway.send(binary(marker, "a.b").POST(BodyPublishers.noBody()));

        // then
        for (Answer answer : List.of(binary, batch)) {
            assertThat(answer.status()).as(answer.body()).isEqualTo(403);
            assertThat(answer.json())
                    .containsEntry("code", "not_for_clients")
                    .containsEntry("eventId", id)
                    .containsEntry("eventType", type);
            assertThat(answer.text("detail")).contains("expected", "found " + type, instead);
        }
        try (TopicReader lane = TestBroker.shared().read(gateway.topics().lane(Segment.EXTERNAL))) {
            assertThat(lane.events(
                            all -> all.stream().anyMatch(event -> event.id().equals(marker)), GatewayClient.LIMIT))
                    .extracting(Event::id)
                    .doesNotContain(other);
        }
    }

    @ParameterizedTest
    @CsvSource({
        "MESSAGE_RECEIVED, 99, 400",
        "MESSAGE_RECEIVED, 100, 202",
        "WEBHOOK_TRIGGERED, 0, 400",
        "SCHEDULE_FIRED, 0, 400",
        "TASK_RESUMED, 99, 400",
        "a.b, 99, 400",
        "a.b, 100, 202",
        "TASK_CANCEL_REQUESTED, 0, 202",
        "TASK_CANCEL_REQUESTED, 99, 202"
    })
    @DisplayName("priority 0 to 99 is for the system's own types")
    void shouldLeaveTheSystemsPrioritiesToTheSystem(String type, int priority, int status) throws Exception {
        // when
        Answer answer = gateway.send(binary(Ids.random(), type)
                .header("ce-subject", "t")
                .header("ce-priority", String.valueOf(priority))
                .POST(BodyPublishers.ofString(type.startsWith("TASK_") ? "{}" : "{\"text\":\"hello\"}")));

        // then
        assertThat(answer.status()).as(answer.body()).isEqualTo(status);
        if (status == 400) {
            assertThat(answer.text("code")).isEqualTo("bad_field");
            assertThat(answer.text("detail"))
                    .contains("priority: expected 100 or more", "found the number " + priority);
        }
    }

    @Test
    @DisplayName(
            "a batch is measured before any of it is sent: a record of the limit is taken, one of a byte more refuses all")
    void shouldTakeNothingOfABatchWithOneThatIsTooLarge() throws Exception {
        // given
        String before = Ids.random();
        String fits = Ids.random();
        String marker = Ids.random();
        int room = Topics.MAX_EVENT_BYTES - recordBytes(swelling(fits, 1_000_000));

        // when
        Answer refused =
                batch("[" + structured(before, "a.b", "{}") + "," + swelling(Ids.random(), 1_000_000 + room + 1) + "]");
        Answer taken = batch("[" + swelling(fits, 1_000_000 + room) + "]");
        gateway.send(binary(marker, "a.b").POST(BodyPublishers.noBody()));

        // then
        assertThat(taken.status()).as(taken.body()).isEqualTo(202);
        assertThat(refused.status()).isEqualTo(413);
        assertThat(refused.text("code")).isEqualTo("event_too_large");
        assertThat(refused.text("detail"))
                .isEqualTo("The event: expected at most " + Topics.MAX_EVENT_BYTES + " bytes as a Kafka record, found "
                        + (Topics.MAX_EVENT_BYTES + 1) + ". Nothing was accepted.");
        try (TopicReader lane = TestBroker.shared().read(gateway.topics().lane(Segment.EXTERNAL))) {
            assertThat(lane.events(
                            all -> all.stream().map(Event::id).toList().containsAll(List.of(marker, fits)),
                            GatewayClient.LIMIT))
                    .extracting(Event::id)
                    .doesNotContain(before);
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

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "MESSAGE_RECEIVED  | {\"text\":\"hi\",\"tasktype\":\"explore\"}  | `tasktype` in the payload of MESSAGE_RECEIVED x; did you mean `taskType`?",
                "MESSAGE_RECEIVED  | {\"text\":\"hi\",\"agent\":\"explore\"}     | `agent` in the payload of MESSAGE_RECEIVED x; did you mean `taskType`?",
                "WEBHOOK_TRIGGERED | {\"text\":\"hi\",\"taskTyp\":\"explore\"}   | did you mean `taskType`?",
                "SCHEDULE_FIRED    | {\"template\":\"{{a}}\",\"a\":1,\"b\":2}   | `b` in the payload of SCHEDULE_FIRED x; there are a, body, callbackUrl",
                "TASK_RESUMED      | {\"input\":\"hi\"}                          | did you mean `newInput`?"
            })
    @DisplayName("a field that the type of an event does not have is no event; a typo asks no other agent")
    void shouldRefuseUnknownFieldsOfAPayload(String type, String data, String words) throws Exception {
        // when
        Answer structured = batch("[" + structured("y", "a.b", data) + "," + structured("x", type, data) + "]");
        Answer binary = gateway.send(binary("x", type).header("ce-subject", "t").POST(BodyPublishers.ofString(data)));

        // then
        for (Answer answer : List.of(structured, binary)) {
            assertThat(answer.status()).as(answer.body()).isEqualTo(400);
            assertThat(answer.text("code")).isEqualTo("unknown_field");
            assertThat(answer.text("detail")).contains(words);
        }
    }

    @Test
    @DisplayName("extensions of CloudEvents are taken; what cannot be an attribute is not passed over")
    void shouldTakeExtensionsAndRefuseOtherFieldsOfTheEnvelope() throws Exception {
        // given
        String id = Ids.random();
        String event = structured(id, "a.b", "{}");

        // when
        Answer extension = batch("[" + event.replaceFirst("\\{", "{\"acmecolour\":\"red\",") + "]");
        Answer none = batch("[" + event.replaceFirst("\\{", "{\"sessionId\":\"s1\",") + "]");

        // then
        assertAccepted(extension, id);
        assertThat(none.status()).isEqualTo(400);
        assertThat(none.json()).containsEntry("code", "unknown_field").containsEntry("fields", List.of("sessionId"));
        assertThat(none.text("detail"))
                .isEqualTo("Unknown field `sessionId` in event 0 of the batch; did you mean `sessionid`?");
    }

    @Test
    @DisplayName("a path of a template that leads nowhere is a 422 with the nearest that there is")
    void shouldRefuseATemplateThatLeadsNowhere() throws Exception {
        // given
        String id = Ids.random();
        String body = ",\"body\":{\"order\":{\"id\":\"X1\"}}}";

        // when
        Answer nowhere = gateway.send(binary(id, "WEBHOOK_TRIGGERED")
                .POST(BodyPublishers.ofString("{\"template\":\"order {{body.order.idd}}\"" + body)));
        Answer otherwise = gateway.send(binary(id, "WEBHOOK_TRIGGERED")
                .POST(BodyPublishers.ofString("{\"template\":\"order {{body.order.idd | ?}}\"" + body)));

        // then
        assertThat(nowhere.status()).isEqualTo(422);
        assertThat(nowhere.text("code")).isEqualTo("invalid_payload");
        assertThat(nowhere.text("detail"))
                .contains("{{body.order.idd}}, which leads nowhere; did you mean {{body.order.id}}?");
        assertAccepted(otherwise, id);
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
    @DisplayName("what is no JSON is refused for types of the catalogue, and is data like any other for one's own")
    void shouldRefuseAPayloadThatIsNoJson() throws Exception {
        // when
        Answer known = xml("MESSAGE_RECEIVED");
        Answer own = xml("a.b");

        // then
        assertThat(known.status()).isEqualTo(415);
        assertThat(known.text("code")).isEqualTo("unsupported_media_type");
        assertThat(own.status()).isEqualTo(202);
    }

    private Answer xml(String type) throws Exception {
        return gateway.send(gateway.request("/v1/events")
                .header("Content-Type", "text/xml")
                .header("ce-id", Ids.random())
                .header("ce-type", type)
                .header("ce-source", "/test")
                .header("ce-specversion", "1.0")
                .POST(BodyPublishers.ofString("<a/>")));
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

    /** An event with so much text, and with numbers that take more bytes in a record than in the body that they come in. */
    private static String swelling(String id, int text) {
        return "{\"specversion\":\"1.0\",\"id\":\"" + id + "\",\"source\":\"/test\",\"type\":\"a.b\","
                + "\"time\":\"2026-03-04T05:06:07.089Z\",\"data\":{\"text\":\"" + "x".repeat(text)
                + "\",\"numbers\":[1e5" + ",1e5".repeat(999) + "]}}";
    }

    /** What the broker counts for an event. */
    private static int recordBytes(String structured) throws Exception {
        Event event = EventCodec.fromStructured(structured.getBytes(StandardCharsets.UTF_8), Instant.now(), null, null);
        ProducerRecord<String, byte[]> encoded = EventCodec.toRecord("lane", event);
        return MemoryRecords.withRecords(
                        Compression.NONE,
                        new SimpleRecord(
                                0L,
                                encoded.key().getBytes(StandardCharsets.UTF_8),
                                encoded.value(),
                                encoded.headers().toArray()))
                .sizeInBytes();
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
