package dev.millrace.gateway.rest.system;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.gateway.rest.GatewayClient;
import dev.millrace.gateway.rest.GatewayClient.Answer;
import dev.millrace.gateway.rest.GatewayTestResource;
import dev.millrace.schemas.DeadLetters;
import dev.millrace.schemas.DeadLetters.Origin;
import dev.millrace.schemas.Event;
import dev.millrace.schemas.EventCodec;
import dev.millrace.schemas.ForgetScope;
import dev.millrace.schemas.Forgotten;
import dev.millrace.schemas.Ids;
import dev.millrace.schemas.KnownEventType;
import dev.millrace.schemas.Segment;
import dev.millrace.testing.RequiresBroker;
import dev.millrace.testing.TestBroker;
import dev.millrace.testing.TopicReader;
import io.quarkus.test.common.WithTestResource;
import io.quarkus.test.junit.QuarkusTest;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Future;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@QuarkusTest
@RequiresBroker
@WithTestResource(GatewayTestResource.class)
class DeadLettersIT {
    private final GatewayClient gateway = new GatewayClient();

    @Test
    void shouldTellTheNewestFirstPageByPage() throws Exception {
        // given
        String task = Ids.random();
        List<String> ids = new ArrayList<>();
        for (int i = 0; i < 7; i++) {
            ids.addFirst(refused(task, "unknown_task", i));
        }
        refused(Ids.random(), "unknown_task", 7);

        // when
        List<Object> told = new ArrayList<>();
        int pages = 0;
        String cursor = "";
        do {
            Answer page = gateway.get("/v1/dead-letters?limit=3&taskId=" + task + cursor);
            assertThat(page.status()).as(page.body()).isEqualTo(200);
            letters(page).forEach(letter -> told.add(Objects.requireNonNull(letter.get("eventId"))));
            cursor = page.field("next") == null ? "" : "&cursor=" + page.text("next");
            pages++;
        } while (!cursor.isEmpty());

        // then
        assertThat(told).isEqualTo(ids);
        assertThat(pages).isGreaterThanOrEqualTo(3);
    }

    @Test
    void shouldSayWhyAndWhereFrom() throws Exception {
        // given
        String task = Ids.random();
        String id = refused(task, "not_waiting", 1);
        refused(task, "task_ended", 2);

        // when
        Answer answer = gateway.get("/v1/dead-letters?reason=not_waiting&taskId=" + task);

        // then
        assertThat(letters(answer))
                .singleElement()
                .satisfies(letter -> assertThat(letter)
                        .containsEntry("reason", "not_waiting")
                        .containsEntry("detail", "expected something else")
                        .containsEntry("originTopic", "some.topic")
                        .containsEntry("originOffset", "42")
                        .containsEntry("eventId", id)
                        .containsEntry("type", "MESSAGE_RECEIVED")
                        .containsEntry("taskId", task)
                        .containsEntry("namespace", "default")
                        .containsEntry("value", "{\"text\":\"hello 1\"}"));
    }

    @Test
    @DisplayName("one with its whole value, and sent again: byte for byte on the lane that it came from")
    void shouldSendOneAgain() throws Exception {
        // given
        Event event = Event.root(Ids.random(), KnownEventType.MESSAGE_RECEIVED, Instant.now())
                .payload(Map.of("text", "x".repeat(9_000)))
                .taskId("letter-" + Ids.random())
                .build();
        String id = event.id();
        String lane = gateway.topics().lane(Segment.EXTERNAL);
        ProducerRecord<String, byte[]> sent = EventCodec.toRecord(lane, event);
        TestBroker.shared()
                .produce(new ProducerRecord<>(
                        gateway.topics().deadLetters(),
                        null,
                        null,
                        sent.key().getBytes(StandardCharsets.UTF_8),
                        sent.value(),
                        DeadLetters.headers(sent.headers(), new Origin(lane, 0, 7, 0), "internal_error", null)));
        Answer listed = gateway.get("/v1/dead-letters?taskId=" + event.taskId());
        String cursor = String.valueOf(letters(listed).getFirst().get("cursor"));

        // when
        Answer one = gateway.get("/v1/dead-letters/" + cursor);
        Answer again = gateway.postJson("/v1/dead-letters/" + cursor + "/redrive", Map.of());

        // then
        assertThat(one.json()).containsEntry("value", new String(sent.value(), StandardCharsets.UTF_8));
        assertThat(again.status()).as(again.body()).isEqualTo(202);
        assertThat(again.json()).containsEntry("eventId", id).containsEntry("topic", lane);
        try (TopicReader reader = TestBroker.shared().read(lane)) {
            assertThat(reader.events(
                            all -> all.stream().anyMatch(found -> found.id().equals(id)), GatewayClient.LIMIT))
                    .filteredOn(found -> found.id().equals(id))
                    .containsExactly(event);
        }
    }

    @Test
    void shouldRefuseToSendWhatItCannot() throws Exception {
        // given
        String task = Ids.random();
        refused(task, "not_waiting", 1);
        String cursor = String.valueOf(letters(gateway.get("/v1/dead-letters?taskId=" + task))
                .getFirst()
                .get("cursor"));

        // then
        assertThat(gateway.postJson("/v1/dead-letters/" + cursor + "/redrive", Map.of())
                        .json())
                .containsEntry("code", "not_redrivable");
        assertThat(gateway.get("/v1/dead-letters/0:999999999").json()).containsEntry("code", "unknown_dead_letter");
        assertThat(gateway.get("/v1/dead-letters/99:0").json()).containsEntry("code", "unknown_dead_letter");
        assertThat(gateway.get("/v1/dead-letters/nonsense").json()).containsEntry("code", "bad_parameter");
    }

    @Test
    void shouldTellWhatIsNoEventAndCutWhatIsLong() throws Exception {
        // given
        byte[] garbage = "\u0000\uD83E\uDD80".repeat(5_000).getBytes(StandardCharsets.UTF_8);
        TestBroker.shared()
                .produce(new ProducerRecord<>(
                        gateway.topics().deadLetters(),
                        null,
                        null,
                        null,
                        garbage,
                        DeadLetters.headers(
                                new RecordHeaders(), new Origin("some.topic", 0, 42, 0), "not_a_cloud_event", null)));

        // when
        Answer answer = gateway.get("/v1/dead-letters?reason=not_a_cloud_event&limit=1");

        // then
        assertThat(letters(answer)).singleElement().satisfies(letter -> {
            assertThat(letter).containsEntry("eventId", null).containsEntry("valueBytes", garbage.length);
            String value = String.valueOf(letter.get("value"));
            assertThat(value.codePointCount(0, value.length())).isEqualTo(2_000);
        });
        assertThat(gateway.get("/v1/dead-letters?cursor=x").status()).isEqualTo(400);
    }

    @Test
    @DisplayName("what has been forgotten is in no answer, whichever way it names its task, and what came later is")
    void shouldNotTellWhatIsForgotten() throws Exception {
        // given
        String task = Ids.random();
        String other = Ids.random();
        refused(task, "task_ended", 1);
        refused(other, "task_ended", 2);
        String structured = "{\"specversion\":\"1.0\",\"id\":\"" + Ids.random()
                + "\",\"type\":\"MESSAGE_RECEIVED\",\"source\":\"x\",\"sessionid\":\"ada-" + task
                + "\",\"data\":{\"text\":\"Lovelace\"}}";
        RecordHeaders json = new RecordHeaders();
        json.add("content-type", "application/cloudevents+json".getBytes(StandardCharsets.UTF_8));
        TestBroker.shared()
                .produce(new ProducerRecord<>(
                        gateway.topics().deadLetters(),
                        null,
                        null,
                        null,
                        structured.getBytes(StandardCharsets.UTF_8),
                        DeadLetters.headers(json, new Origin("some.topic", 0, 43, 1), "forgotten_soon", null)));
        assertThat(letters(gateway.get("/v1/dead-letters?reason=forgotten_soon")))
                .hasSize(1);

        // when
        forget(new ForgetScope(ForgetScope.Kind.TASK, "default", task));
        forget(new ForgetScope(ForgetScope.Kind.SESSION, "default", "ada-" + task));

        // then
        assertThat(letters(gateway.get("/v1/dead-letters?taskId=" + task))).isEmpty();
        assertThat(letters(gateway.get("/v1/dead-letters?taskId=" + other))).hasSize(1);
        assertThat(letters(gateway.get("/v1/dead-letters?reason=forgotten_soon")))
                .isEmpty();
    }

    @Test
    @DisplayName("what is discarded is shown no more, one or all of a kind, and can no longer be sent again")
    void shouldDiscard() throws Exception {
        // given
        String task = "discard-" + Ids.random();
        for (int number = 1; number <= 3; number++) {
            refused(task, "task_ended", number);
        }
        String kept = "kept-" + Ids.random();
        refused(kept, "task_ended", 4);
        String cursor = String.valueOf(letters(gateway.get("/v1/dead-letters?taskId=" + task))
                .getFirst()
                .get("cursor"));

        // when
        Answer one = gateway.postJson("/v1/dead-letters/" + cursor + "/discard", Map.of());

        // then
        assertThat(one.status()).as(one.body()).isEqualTo(200);
        assertThat(one.json()).containsEntry("cursor", cursor).containsEntry("status", "discarded");
        assertThat(letters(gateway.get("/v1/dead-letters?taskId=" + task))).hasSize(2);
        for (String route : List.of("", "/redrive", "/discard")) {
            Answer again = route.isEmpty()
                    ? gateway.get("/v1/dead-letters/" + cursor)
                    : gateway.postJson("/v1/dead-letters/" + cursor + route, Map.of());
            assertThat(again.json()).as(route).containsEntry("code", "unknown_dead_letter");
        }

        // when
        Answer first = gateway.postJson("/v1/dead-letters/discard", Map.of("taskId", task, "limit", 1));
        Answer rest = gateway.postJson(
                "/v1/dead-letters/discard",
                Map.of("taskId", task, "cursor", Objects.requireNonNull(first.field("next"))));

        // then
        assertThat((List<?>) Objects.requireNonNull(first.field("discarded"))).hasSize(1);
        assertThat((List<?>) Objects.requireNonNull(rest.field("discarded"))).hasSize(1);
        assertThat(letters(gateway.get("/v1/dead-letters?taskId=" + task))).isEmpty();
        assertThat(letters(gateway.get("/v1/dead-letters?taskId=" + kept))).hasSize(1);
        assertThat(gateway.postJson("/v1/dead-letters/discard", Map.of()).json())
                .containsEntry("code", "bad_field");
        assertThat(gateway.postJson("/v1/dead-letters/discard", Map.of("taskId", kept, "limit", 201))
                        .json())
                .containsEntry("code", "bad_field");
    }

    @Test
    @DisplayName("F-284, F-305: a dead letter is an item of the queue, cancelled once it is discarded")
    void shouldBeAnItemOfTheQueue() throws Exception {
        // given
        String task = "item-" + Ids.random();
        String id = refused(task, "task_ended", 1);

        // then
        Answer item = gateway.get("/v1/queue/" + id);
        assertThat(item.json())
                .containsEntry("status", "dead_letter")
                .containsEntry("reason", "task_ended")
                .containsEntry("error", "expected something else")
                .containsEntry("payload", Map.of("text", "hello 1"));
        assertThat(gateway.get("/v1/queue?status=dead_letter&limit=1").body()).contains(id);

        // when
        String place = item.text("deadLetter");
        gateway.postJson("/v1/dead-letters/" + place + "/discard", Map.of());

        // then
        assertThat(gateway.get("/v1/queue/" + id).json()).containsEntry("status", "cancelled");
        assertThat(gateway.get("/v1/queue?status=dead_letter&limit=1").body()).doesNotContain(id);
        assertThat(gateway.postJson("/v1/queue/" + id + "/retry", Map.of()).json())
                .containsEntry("code", "unknown_event");
    }

    @Test
    @DisplayName("F-284: a dead letter is found behind more newer ones than a page looks at, and if there is none the"
            + " answer says how far was looked")
    void shouldFindOneBehindManyOthers() throws Exception {
        // given
        String id = refused("old-" + Ids.random(), "task_ended", 1);
        try (KafkaProducer<byte[], byte[]> producer = new KafkaProducer<>(
                Map.of("bootstrap.servers", TestBroker.shared().bootstrapServers(), "linger.ms", 20),
                new ByteArraySerializer(),
                new ByteArraySerializer())) {
            for (int i = 0; i <= 5_000; i++) {
                Future<RecordMetadata> unused = producer.send(new ProducerRecord<>(
                        gateway.topics().deadLetters(),
                        null,
                        null,
                        null,
                        "x".getBytes(StandardCharsets.UTF_8),
                        DeadLetters.headers(
                                new RecordHeaders(), new Origin("some.topic", 0, i, 0), "not_a_cloud_event", null)));
            }
        }

        // then
        assertThat(gateway.get("/v1/queue/" + id).json()).containsEntry("status", "dead_letter");
        assertThat(gateway.get("/v1/queue/nobody").text("detail"))
                .isEqualTo("There is no event nobody in the journal or among the dead letters of the namespace"
                        + " default.");
    }

    @Test
    @DisplayName("a list takes no longer than it takes to read, whichever partitions have some")
    void shouldNotWaitForMore() throws Exception {
        for (int i = 0; i < 20; i++) {
            refused("spread-" + i, "task_ended", i);
        }
        long quickestMs = Long.MAX_VALUE;
        for (int i = 0; i < 10; i++) {
            long begin = System.nanoTime();
            assertThat(gateway.get("/v1/dead-letters?limit=50").status()).isEqualTo(200);
            quickestMs = Math.min(quickestMs, (System.nanoTime() - begin) / 1_000_000);
        }
        assertThat(quickestMs)
                .as("brokers hold a fetch without records for 500 ms")
                .isLessThan(400);
    }

    private void forget(ForgetScope scope) {
        TestBroker.shared()
                .produce(new ProducerRecord<>(
                        gateway.topics().forgotten(),
                        null,
                        new Forgotten(scope, Instant.now().toEpochMilli()).toJson()));
    }

    private String refused(String taskId, String reason, int number) {
        Event event = Event.root(Ids.random(), KnownEventType.MESSAGE_RECEIVED, Instant.now())
                .taskId(taskId)
                .payload(Map.of("text", "hello " + number))
                .build();
        ProducerRecord<String, byte[]> produced = EventCodec.toRecord("any", event);
        TestBroker.shared()
                .produce(new ProducerRecord<>(
                        gateway.topics().deadLetters(),
                        null,
                        null,
                        produced.key().getBytes(StandardCharsets.UTF_8),
                        produced.value(),
                        DeadLetters.headers(
                                produced.headers(),
                                new Origin("some.topic", 0, 42, 0),
                                reason,
                                "expected something else")));
        return event.id();
    }

    @SuppressWarnings("unchecked")
    private static List<Map<String, @Nullable Object>> letters(Answer answer) {
        return (List<Map<String, @Nullable Object>>) Objects.requireNonNull(answer.field("deadLetters"));
    }
}
