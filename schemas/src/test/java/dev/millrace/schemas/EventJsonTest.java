package dev.millrace.schemas;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class EventJsonTest {

    @Test
    @DisplayName("F-002 to F-009: an event as one object, under the specification's names")
    void shouldNameTheFieldsAsSpecified() {
        // when
        Map<String, @Nullable Object> json = EventJson.toJson(EventSamples.full());

        // then
        assertThat(json)
                .containsOnlyKeys(
                        "id",
                        "type",
                        "timestamp",
                        "source",
                        "taskId",
                        "sessionId",
                        "namespace",
                        "correlationId",
                        "parentEventId",
                        "priority",
                        "effectivePriority",
                        "causalDepth",
                        "expiry",
                        "traceparent",
                        "tracestate",
                        "payload")
                .containsEntry("timestamp", 1_700_000_000_000L)
                .containsEntry("expiry", 1_700_000_060_000L)
                .containsEntry("effectivePriority", 100)
                .containsEntry("type", "file.changed");
    }

    @Test
    void shouldLeaveOutWhatIsAbsent() {
        assertThat(EventJson.toJson(EventSamples.bare()))
                .containsOnlyKeys(
                        "id",
                        "type",
                        "timestamp",
                        "source",
                        "namespace",
                        "correlationId",
                        "effectivePriority",
                        "payload");
    }

    @Test
    void shouldEqualItselfReadBack() throws MalformedEventException {
        assertThat(roundTrip(EventSamples.full())).isEqualTo(EventSamples.full());
        assertThat(roundTrip(EventSamples.bare())).isEqualTo(EventSamples.bare());
    }

    @ParameterizedTest
    @ValueSource(strings = {"id", "type", "timestamp", "source", "namespace", "correlationId", "payload"})
    void shouldMissAField(String field) {
        // given
        Map<String, @Nullable Object> json = new HashMap<>(EventJson.toJson(EventSamples.full()));
        json.remove(field);

        // then
        assertThatThrownBy(() -> EventJson.fromJson(JsonObject.of(json)))
                .isInstanceOfSatisfying(
                        MalformedEventException.class, e -> assertThat(e.code()).isEqualTo("bad_field"))
                .hasMessage(field + ": expected a value, found none");
    }

    @ParameterizedTest
    @CsvSource({
        "id, 7, 'id: expected String, found Integer'",
        "timestamp, now, 'timestamp: expected Number, found String'",
        "timestamp, 1.5, 'timestamp: expected a whole number of 64 bits, found 1.5'",
        "timestamp, -1, 'timestamp: expected a time from 1970-01-01T00:00:00Z to the year 9999, found 1969-12-31T23:59:59.999Z'",
        "timestamp, 9223372036854775807, 'timestamp: expected a time from 1970'",
        "timestamp, 99999999999999999999, 'timestamp: expected a whole number of 64 bits'",
        "causalDepth, -1, 'causalDepth: expected 0 or more, found -1'",
        "priority, -1, 'priority: expected 0 or more, found -1'",
        "priority, 99999999999, 'priority: expected Integer, found Long'",
        "namespace, a/b, 'namespace: expected no'",
        "payload, x, 'payload: expected JsonObject, found String'"
    })
    void shouldSayWhichFieldIsWrong(String field, String value, String reason) throws MalformedEventException {
        // given
        String text = value.matches("-?[0-9.]+") ? value : '"' + value + '"';
        Map<String, @Nullable Object> json = new HashMap<>(EventJson.toJson(EventSamples.full()));
        json.putAll(Json.readObject(
                ("{\"" + field + "\": " + text + "}").getBytes(java.nio.charset.StandardCharsets.UTF_8)));

        // then
        assertThatThrownBy(() -> EventJson.fromJson(JsonObject.of(json)))
                .isInstanceOf(MalformedEventException.class)
                .hasMessageStartingWith(reason);
    }

    private static Event roundTrip(Event event) throws MalformedEventException {
        return EventJson.fromJson(Json.readObject(Json.write(EventJson.toJson(event))));
    }
}
