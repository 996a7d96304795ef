package dev.millrace.schemas;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

class NotificationTest {
    private static final Instant NOW = Instant.ofEpochMilli(1_800_000_000_000L);

    @ParameterizedTest
    @DisplayName("F-114: a notification says its type, its task and what there is to say")
    @CsvSource(delimiter = '|', textBlock = """
            TASK_COMPLETED     | {"result":{"response":"42"},"usage":{"inputTokens":1,"outputTokens":2}} | completed       | "result":{"response":"42"}
            TASK_FAILED        | {"error":"no","code":"timeout","iterations":3}                 | failed          | "error":"no","code":"timeout"
            TASK_CANCELLED     | {"reason":"enough"}                                            | cancelled       | "reason":"enough"
            TASK_NOTIFY        | {"message":"half way"}                                         | notify          | "message":"half way"
            TASK_SUSPENDED     | {"reason":"waiting for an answer","question":"Which one?"}     | question        | "question":"Which one?"
            APPROVAL_REQUESTED | {"callId":"c","toolCallId":"1","toolName":"t","params":{"a":1}} | approval_needed | "approval":{"callId":"c","toolCallId":"1","toolName":"t","params":{"a":1}}
            """)
    void shouldSayWhatTheEventSays(KnownEventType type, String payload, String kind, String said) throws Exception {
        // given
        Event event = event(type, payload).toBuilder().sessionId("s").build();

        // when
        Notification notification = Notification.of(event).orElseThrow();

        // then
        assertThat(Json.writeText(notification.toJson()))
                .isEqualTo("{\"type\":\"" + kind + "\",\"taskId\":\"t\",\"sessionId\":\"s\",\"namespace\":\"default\","
                        + "\"eventId\":\"e\",\"timestamp\":1800000000000," + said + "}");
        assertThat(Notification.eventTypes()).contains(type.wireName());
        assertThat(Notification.Kind.ofWireName(kind)).hasValue(notification.kind());
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            TASK_SUSPENDED     | {"reason":"by hand"}
            TASK_STATE_CHANGED | {"fromState":"idle","toState":"reasoning"}
            file.changed       | {}
            """)
    void shouldSayNothingOfOtherEvents(String type, String payload) throws Exception {
        assertThat(Notification.of(event(EventType.of(type), payload))).isEmpty();
    }

    @Test
    void shouldSayNothingOfAnEventWithoutATask() throws Exception {
        // given
        Event event = event(KnownEventType.TASK_NOTIFY, "{\"message\":\"x\"}").toBuilder()
                .taskId(null)
                .build();

        // then
        assertThat(Notification.of(event)).isEmpty();
    }

    @ParameterizedTest
    @EnumSource(Notification.Kind.class)
    void shouldMakeThePayloadOfAWebhookRequest(Notification.Kind kind) {
        // given
        Event said = Event.root("e", kind.saidBy(), NOW)
                .taskId("t")
                .payload(exampleOf(kind.saidBy()))
                .build();
        Map<String, @Nullable Object> payload = new LinkedHashMap<>();
        payload.put("callbackUrl", "https://example.org/hook");

        // when
        payload.putAll(Notification.of(said).orElseThrow().toJson());

        // then
        Event request = Event.root("n", KnownEventType.NOTIFICATION_REQUESTED, NOW)
                .payload(payload)
                .build();
        assertThat(EventSchemas.problems(request)).isEmpty();
    }

    @SuppressWarnings("unchecked")
    private static Map<String, @Nullable Object> exampleOf(KnownEventType type) {
        return Json.MAPPER.convertValue(
                EventSchemas.payloadSchema(type).orElseThrow().path("examples").path(0), Map.class);
    }

    private static Event event(EventType type, String payload) throws MalformedEventException {
        return Event.root("e", type, NOW)
                .taskId("t")
                .payload(Json.readObject(payload.getBytes(StandardCharsets.UTF_8)))
                .build();
    }
}
