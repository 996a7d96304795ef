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
import dev.millrace.testing.RequiresBroker;
import dev.millrace.testing.TestBroker;
import io.quarkus.test.common.WithTestResource;
import io.quarkus.test.junit.QuarkusTest;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.header.internals.RecordHeaders;
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
