package dev.millrace.schemas;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Instant;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What senders that know nothing of Millrace put into their events. */
class StrangersEventsTest {

    private static final Instant NOW = Instant.parse("2026-01-02T03:04:05Z");

    @Test
    @DisplayName("F-186: what a sender says beside the fields stays with the event, over every way that it travels")
    void shouldKeepExtensions() throws MalformedEventException {
        // when
        Event event = read(
                "file.changed",
                "{}",
                Map.of(
                        "ce_env_name",
                        "staging",
                        "ce_clientId",
                        "c-9",
                        "ce_dataschema",
                        "urn:x",
                        "ce_agent_guide",
                        "Be\nbrief."));
        var record = EventCodec.toRecord("lane", event);
        Event again = EventCodec.fromRecord(record.headers(), record.value(), NOW);

        // then
        assertThat(event.extensions())
                .isEqualTo(Map.of(
                        "env_name", "staging", "clientId", "c-9", "dataschema", "urn:x", "agent_guide", "Be\nbrief."));
        assertThat(event.extension("agentGuide")).isEqualTo("Be\nbrief.");
        assertThat(event.extension("clientid")).isEqualTo("c-9");
        assertThat(event.extension("chat_id")).isNull();
        assertThat(again).isEqualTo(event);
        assertThat(EventJson.fromJson(EventJson.toJson(event))).isEqualTo(event);
        assertThat(EventSchemas.envelopeProblems(EventJson.toJson(event))).isEmpty();
        assertThat(event.toBuilder().build()).isEqualTo(event);
        assertThat(event.at(NOW.plusSeconds(1)).extensions()).isEqualTo(event.extensions());
    }

    @Test
    @DisplayName("F-186: the same of an event in structured mode, whatever the names of its attributes")
    void shouldKeepExtensionsOfStructuredMode() throws MalformedEventException {
        // when
        Event event = EventCodec.fromStructured("""
                {"specversion": "1.0", "id": "1", "source": "/db", "type": "order.placed", "iodebeziumop": "c",
                 "chat_id": "room-1", "attempt": 2, "data": {"a": 1}}""".getBytes(UTF_8), NOW, null, null);

        // then
        assertThat(event.extensions()).isEqualTo(Map.of("iodebeziumop", "c", "chat_id", "room-1", "attempt", "2"));
        assertThat(event.fields()).isEqualTo(Map.of("a", 1));
    }

    @Test
    void shouldKeepNoMoreThanFits() throws MalformedEventException {
        // given
        Map<String, String> headers = new LinkedHashMap<>();
        for (int i = 0; i <= Extensions.MAX_COUNT; i++) {
            headers.put("ce_a%02d".formatted(i), "x");
        }

        // when
        Event many = read("x", "{}", headers);
        Event atTheLimit = read("x", "{}", Map.of("ce_a", "x".repeat(Extensions.MAX_VALUE)));
        Event tooLong = read("x", "{}", Map.of("ce_a", "x".repeat(Extensions.MAX_VALUE + 1), "ce_b", "y"));
        Event strange = read("x", "{}", Map.of("ce_a b", "1", "ce_ü", "2", "ce_", "3", "ce_c", "\u0000", "other", "4"));

        // then
        assertThat(many.extensions()).hasSize(Extensions.MAX_COUNT).doesNotContainKey("a32");
        assertThat(atTheLimit.extensions()).containsOnlyKeys("a");
        assertThat(tooLong.extensions()).containsOnlyKeys("b");
        assertThat(strange.extensions()).isEmpty();
        assertThatThrownBy(() -> many.toBuilder().extension("b", "1").build())
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("at most 32");
        assertThatThrownBy(() -> strange.toBuilder().extension("a b", "1").build())
                .hasMessageContaining("expected names of");
    }

    @Test
    void shouldKeepNoMoreCharactersThanFit() throws MalformedEventException {
        // when
        Map<String, String> headers = new LinkedHashMap<>();
        for (String name : List.of("a", "b", "c", "d", "e")) {
            headers.put("ce_" + name, "x".repeat(Extensions.MAX_VALUE - 1));
        }
        Event event = read("x", "{}", headers);

        // then: four of 4096 characters each, with their names
        assertThat(event.extensions()).containsOnlyKeys("a", "b", "c", "d");
    }

    @ParameterizedTest
    @ValueSource(strings = {"user_query", "NEW_MESSAGE"})
    @DisplayName("F-182: under which of its names a message came can still be told")
    void shouldRememberTheAlias(String alias) throws MalformedEventException {
        // when
        Event event = read(alias, "{\"content\": \"Hi\"}", Map.of());
        var record = EventCodec.toRecord("lane", event);

        // then
        assertThat(event.type()).isEqualTo(KnownEventType.MESSAGE_RECEIVED);
        assertThat(event.typeAsSent()).isEqualTo(alias);
        assertThat(EventCodec.fromRecord(record.headers(), record.value(), NOW).typeAsSent())
                .isEqualTo(alias);
        assertThat(read("MESSAGE_RECEIVED", "{\"content\": \"Hi\"}", Map.of("ce_typealias", "TASK_FAILED"))
                        .typeAsSent())
                .isEqualTo("MESSAGE_RECEIVED");
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            order.placed     | {"sessionId": "s"}                   |     | s
            order.placed     | {"threadId": "t"}                    |     | t
            order.placed     | {"sessionId": "s", "threadId": "t"}  |     | s
            order.placed     | {"sessionId": "s"}                   | own | own
            file.changed     | {"sessionId": 7, "threadId": "t"}    |     | t
            file.changed     | {"sessionId": " "}                   |     |
            user_query       | {"content": "Hi", "sessionId": "s"}  |     | s
            FORGET_REQUESTED | {"scope": "session", "sessionId": "s"} |   |
            TASK_RESUMED     | {"sessionId": "s"}                   |     |
            """)
    @DisplayName("F-204, F-208: a stranger may name the session in the payload")
    void shouldTakeTheSessionFromThePayload(
            String type, String payload, @Nullable String header, @Nullable String session)
            throws MalformedEventException {
        assertThat(read(type, payload, header == null ? Map.of() : Map.of("ce_sessionid", header))
                        .sessionId())
                .isEqualTo(session);
    }

    @Test
    @DisplayName("F-208: or as the trigger's session")
    void shouldTakeTheSessionOfTheTrigger() throws MalformedEventException {
        assertThat(read("x", "{\"sessionId\": \"p\"}", Map.of("ce_trigger_session_id", "s"))
                        .sessionId())
                .isEqualTo("s");
        assertThat(read("MESSAGE_RECEIVED", "{\"text\": \"Hi\"}", Map.of("ce_triggersessionid", "s", "ce_subject", "t"))
                        .sessionId())
                .isNull();
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            order.placed |                  | [1, 2]    | {"data": [1, 2]}
            order.placed | application/json | "text"    | {"data": "text"}
            file.changed | application/json | 7         | {"data": 7}
            order.placed | text/plain       | plain     | {"data": "plain", "datacontenttype": "text/plain"}
            order.placed | application/xml  | <a b="c"/> | {"data": "<a b=\\"c\\"/>", "datacontenttype": "application/xml"}
            order.placed | text/plain       | {"a": 1}  | {"a": 1}
            """)
    @DisplayName("F-184: data that is no JSON object is wrapped, for types that are in no catalogue")
    void shouldWrapOtherData(String type, @Nullable String contentType, String value, String expected)
            throws MalformedEventException {
        assertThat(read(type, value, contentType == null ? Map.of() : Map.of("content-type", contentType))
                        .fields())
                .isEqualTo(Json.readObject(expected.getBytes(UTF_8)));
    }

    @Test
    void shouldWrapBytesAndDataOfStructuredMode() throws MalformedEventException {
        // given
        byte[] bytes = {(byte) 0xff, 0, 1};
        RecordHeaders headers = headers("x", Map.of("content-type", "application/octet-stream"));

        // then
        assertThat(EventCodec.fromRecord(headers, bytes, NOW).fields())
                .isEqualTo(Map.of(
                        "data_base64",
                        Base64.getEncoder().encodeToString(bytes),
                        "datacontenttype",
                        "application/octet-stream"));
        assertThat(EventCodec.fromStructured(
                                "{\"specversion\":\"1.0\",\"id\":\"1\",\"source\":\"/\",\"type\":\"x\",\"data\":[1]}"
                                        .getBytes(UTF_8),
                                NOW,
                                null,
                                null)
                        .fields())
                .isEqualTo(Map.of("data", List.of(1)));
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            MESSAGE_RECEIVED | [1]
            order.placed     | {"a":
            order.placed     | <xml/>
            order.placed     | ''
            """)
    void shouldGuessNothingWhereItIsToBeJson(String type, String value) {
        assertThatThrownBy(() -> read(type, value, Map.of()))
                .isInstanceOfSatisfying(
                        MalformedEventException.class, e -> assertThat(e.code()).isEqualTo("bad_json"));
    }

    @Test
    @DisplayName("F-186: a subject that can be no task is something of the sender's")
    void shouldKeepAForeignSubject() throws MalformedEventException {
        // given
        String path = "/a".repeat(101);

        // when
        Event event = read("file.changed", "{}", Map.of("ce_subject", path));

        // then
        assertThat(event.taskId()).isNull();
        assertThat(event.extension(Extensions.SUBJECT)).isEqualTo(path);
        assertThat(read("file.changed", "{}", Map.of("ce_subject", "t")).withForeignSubject())
                .satisfies(foreign -> {
                    assertThat(foreign.taskId()).isNull();
                    assertThat(foreign.extension(Extensions.SUBJECT)).isEqualTo("t");
                });
    }

    private static Event read(String type, String value, Map<String, String> more) throws MalformedEventException {
        return EventCodec.fromRecord(headers(type, more), value.getBytes(UTF_8), NOW);
    }

    private static RecordHeaders headers(String type, Map<String, String> more) {
        RecordHeaders headers = new RecordHeaders();
        headers.add("ce_id", "1".getBytes(UTF_8)).add("ce_type", type.getBytes(UTF_8));
        more.forEach((name, text) -> headers.add(name, text.getBytes(UTF_8)));
        return headers;
    }
}
