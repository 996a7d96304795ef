package dev.millrace.schemas;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.cloudevents.CloudEvent;
import io.cloudevents.SpecVersion;
import io.cloudevents.core.provider.EventFormatProvider;
import io.cloudevents.jackson.JsonFormat;
import io.cloudevents.kafka.CloudEventDeserializer;
import io.cloudevents.kafka.KafkaMessageFactory;
import java.math.BigDecimal;
import java.net.URI;
import java.nio.charset.Charset;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.header.Headers;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class EventCodecTest {
    private static final Instant RECORD_TIME = Instant.ofEpochMilli(1_650_000_000_000L);
    private static final byte[] EMPTY = "{}".getBytes(UTF_8);

    @Test
    void shouldWriteBinaryMode() {
        // when
        ProducerRecord<String, byte[]> bare = EventCodec.toRecord("t", EventSamples.full());

        // then
        assertThat(bare.topic()).isEqualTo("t");
        assertThat(bare.key()).isEqualTo("acme/s 1");
        assertThat(bare.partition()).isNull();
        assertThat(bare.timestamp()).as("dated when it is sent").isNull();
        assertThat(texts(bare.headers()))
                .containsExactlyInAnyOrderEntriesOf(Map.ofEntries(
                        Map.entry("ce_specversion", "1.0"),
                        Map.entry("ce_id", "e2/ä€😀"),
                        Map.entry("ce_type", "file.changed"),
                        Map.entry("ce_source", "cognitive.reason"),
                        Map.entry("ce_subject", "t1"),
                        Map.entry("ce_time", "2023-11-14T22:13:20Z"),
                        Map.entry("ce_sessionid", "s 1"),
                        Map.entry("ce_namespace", "acme"),
                        Map.entry("ce_causationid", "e1"),
                        Map.entry("ce_correlationid", "e0"),
                        Map.entry("ce_priority", "7"),
                        Map.entry("ce_causaldepth", "2"),
                        Map.entry("ce_expirytime", "2023-11-14T22:14:20Z"),
                        Map.entry("content-type", "application/json"),
                        Map.entry("traceparent", EventSamples.TRACEPARENT),
                        Map.entry("tracestate", "vendor=1")));
    }

    @Test
    void shouldLeaveOutHeadersThatSayNothing() {
        assertThat(texts(EventCodec.toRecord("t", EventSamples.bare()).headers()))
                .containsOnlyKeys("ce_specversion", "ce_id", "ce_type", "ce_source", "ce_time", "content-type");
    }

    @Test
    void shouldEqualItselfReadBackInBinaryMode() throws MalformedEventException {
        assertThat(roundTrip(EventSamples.full())).isEqualTo(EventSamples.full());
        assertThat(roundTrip(EventSamples.bare())).isEqualTo(EventSamples.bare());
    }

    @Test
    void shouldEqualItselfReadBackInStructuredMode() throws MalformedEventException {
        // given
        Event event = EventSamples.full();
        byte[] structured = Objects.requireNonNull(
                        EventFormatProvider.getInstance().resolveFormat(JsonFormat.CONTENT_TYPE))
                .serialize(bySdk(EventCodec.toRecord("t", event)));

        // when
        Event read = EventCodec.fromRecord(
                headers(
                        "content-type",
                        "application/cloudevents+json; charset=UTF-8",
                        "traceparent",
                        EventSamples.TRACEPARENT,
                        "tracestate",
                        "vendor=1"),
                structured,
                RECORD_TIME);

        // then
        assertThat(read).isEqualTo(event);
    }

    @Test
    void shouldBeReadableByTheSdkAlone() {
        // given
        Event event = EventSamples.full();

        // when
        CloudEvent cloudEvent = bySdk(EventCodec.toRecord("t", event));

        // then
        assertThat(cloudEvent.getSpecVersion()).isEqualTo(SpecVersion.V1);
        assertThat(cloudEvent.getId()).isEqualTo("e2/ä€😀");
        assertThat(cloudEvent.getType()).isEqualTo("file.changed");
        assertThat(cloudEvent.getSource()).isEqualTo(URI.create("cognitive.reason"));
        assertThat(cloudEvent.getTime()).isEqualTo(event.timestamp().atOffset(ZoneOffset.UTC));
        assertThat(cloudEvent.getSubject()).isEqualTo("t1");
        assertThat(cloudEvent.getDataContentType()).isEqualTo("application/json");
        assertThat(Objects.requireNonNull(cloudEvent.getData()).toBytes())
                .isEqualTo(event.content().json());
        assertThat(cloudEvent.getExtensionNames())
                .containsExactlyInAnyOrder(
                        "sessionid",
                        "namespace",
                        "causationid",
                        "correlationid",
                        "priority",
                        "causaldepth",
                        "expirytime");
        assertThat(cloudEvent.getExtension("namespace")).isEqualTo("acme");
    }

    @Test
    void shouldWriteWhatTheSdkWrites() {
        for (Event event : List.of(EventSamples.full(), EventSamples.bare())) {
            // given
            ProducerRecord<String, byte[]> ours = EventCodec.toRecord("t", event);

            // when
            ProducerRecord<String, byte[]> sdks = KafkaMessageFactory.<String>createWriter("t", null, null, ours.key())
                    .writeBinary(bySdk(ours));

            // then: but for the trace context, which the SDK knows nothing of; a second of 500 ms would be .5 of it
            ours.headers().remove("traceparent").remove("tracestate");
            assertThat(texts(sdks.headers())).isEqualTo(texts(ours.headers()));
            assertThat(sdks.value()).isEqualTo(ours.value());
        }
    }

    private static CloudEvent bySdk(ProducerRecord<String, byte[]> bare) {
        try (CloudEventDeserializer deserializer = new CloudEventDeserializer()) {
            return deserializer.deserialize("t", bare.headers(), bare.value());
        }
    }

    @Test
    void shouldNotDateARecordByWhatItsEventSays() {
        // given
        Event event = Event.root("e1", KnownEventType.HEARTBEAT, Instant.parse("9000-01-01T00:00:00Z"))
                .build();

        // when
        ProducerRecord<String, byte[]> bare = EventCodec.toRecord("t", event);

        // then
        assertThat(bare.timestamp()).isNull();
        assertThat(texts(bare.headers())).containsEntry("ce_time", "9000-01-01T00:00:00Z");
    }

    @Test
    @DisplayName("a stranger with kcat sends an id, a type and a text, and nothing else")
    void shouldReadTheLeastThatAnEventCanBe() throws MalformedEventException {
        // when
        Event event = EventCodec.fromRecord(
                headers("ce_id", "x1", "ce_type", "MESSAGE_RECEIVED"),
                "{\"text\": \"hello\"}".getBytes(UTF_8),
                RECORD_TIME);

        // then
        assertThat(event)
                .isEqualTo(Event.root("x1", KnownEventType.MESSAGE_RECEIVED, RECORD_TIME)
                        .payload(Map.of("text", "hello"))
                        .build());
        assertThat(event.sessionKey()).isEqualTo("x1");
    }

    @Test
    void shouldReadTheLeastInStructuredMode() throws MalformedEventException {
        // when
        Event event =
                structured("{\"specversion\":\"1.0\",\"id\":\"x1\",\"type\":\"a\",\"source\":\"s\",\"priority\":7}");

        // then
        assertThat(event)
                .isEqualTo(Event.root("x1", EventType.of("a"), RECORD_TIME)
                        .source("s")
                        .priority(7)
                        .build());
    }

    @Test
    void shouldReadStructuredDataInBase64() throws MalformedEventException {
        assertThat(structured(
                                "{\"specversion\":\"1.0\",\"id\":\"x\",\"type\":\"a\",\"source\":\"s\",\"data_base64\":\"eyJhIjoxfQ==\"}")
                        .fields())
                .isEqualTo(Map.of("a", 1));
    }

    @Test
    void shouldKeepNumbersOfStructuredDataExact() throws MalformedEventException {
        assertThat(structured(
                                "{\"specversion\":\"1.0\",\"id\":\"x\",\"type\":\"a\",\"source\":\"s\",\"data\":{\"a\":0.12345678901234567890123}}")
                        .fields())
                .isEqualTo(Map.of("a", new BigDecimal("0.12345678901234567890123")));
    }

    @Test
    void shouldTakeAnEmptyOptionalHeaderAsAbsent() throws MalformedEventException {
        // when
        Event event = EventCodec.fromRecord(
                headers(
                        "ce_id",
                        "x1",
                        "ce_type",
                        "a",
                        "ce_sessionid",
                        "",
                        "ce_priority",
                        "",
                        "ce_time",
                        "",
                        "ce_source",
                        ""),
                EMPTY,
                RECORD_TIME);

        // then
        assertThat(event)
                .isEqualTo(Event.root("x1", EventType.of("a"), RECORD_TIME).build());
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "2026-11-30T20:12:13.005Z",
                "2024-02-29T23:59:59.999Z",
                "1970-01-01T00:00:00.000Z",
                "2026-11-30T20:12:13Z",
                "2026-11-30T20:12Z",
                "2026-11-30T20:12:13.5Z",
                "2026-11-30T20:12:13.00599Z",
                "2026-11-30t20:12:13.005z",
                "2026-11-30T20:12:13.005+14:00"
            })
    @DisplayName("a time is read as Java reads it, whichever way it is written")
    void shouldReadAnyTimeOfRfc3339(String time) throws MalformedEventException {
        // when
        Event event = EventCodec.fromRecord(
                headers("ce_id", "x1", "ce_type", "a", "ce_time", time, "ce_expirytime", time), EMPTY, RECORD_TIME);

        // then
        Instant expected = OffsetDateTime.parse(time).toInstant().truncatedTo(ChronoUnit.MILLIS);
        assertThat(event.timestamp()).isEqualTo(expected);
        assertThat(event.expiry()).isEqualTo(expected);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "2026-02-29T20:12:13.005Z",
                "2026-13-30T20:12:13.005Z",
                "2026-11-30T24:12:13.005Z",
                "2026-11-30T20:12:60.005Z",
                "2026-11-30T20:12:13.00\u0665Z",
                "2026-11-30T20:12:13.+05Z",
                "2026-11-30 20:12:13.005Z"
            })
    void shouldRefuseATimeThatIsNone(String time) {
        assertMalformed(
                headers("ce_id", "x1", "ce_type", "a", "ce_time", time),
                EMPTY,
                "not_a_cloud_event",
                "time: expected RFC 3339, found \"" + time + '"');
    }

    @Test
    void shouldTakeAHeaderWithoutAValueAsAbsent() throws MalformedEventException {
        // given
        Headers headers = headers("ce_id", "x1", "ce_type", "a");
        headers.add("ce_subject", null);
        headers.add("traceparent", null);

        // then
        assertThat(EventCodec.fromRecord(headers, EMPTY, RECORD_TIME).taskId()).isNull();
    }

    @Test
    void shouldIgnoreHeadersThatItDoesNotKnow() throws MalformedEventException {
        // when
        Event event = EventCodec.fromRecord(
                headers(
                        "ce_id",
                        "x1",
                        "ce_type",
                        "a",
                        "ce_my_own",
                        "1",
                        "ce_dataschema",
                        "::",
                        "kafka_x",
                        "2",
                        "ce_",
                        "3"),
                EMPTY,
                RECORD_TIME);

        // then
        assertThat(event.id()).isEqualTo("x1");
    }

    @Test
    void shouldLetTheLastOfTwoEqualHeadersCount() throws MalformedEventException {
        assertThat(EventCodec.fromRecord(
                        headers("ce_id", "x1", "ce_type", "a", "ce_id", "x2", "ce_subject", "t1", "ce_subject", "t2"),
                        EMPTY,
                        RECORD_TIME))
                .satisfies(event -> {
                    assertThat(event.id()).isEqualTo("x2");
                    assertThat(event.taskId()).isEqualTo("t2");
                });
    }

    @Test
    void shouldEncodeASourceThatIsNoUriReference() throws MalformedEventException {
        // given
        Event event = EventSamples.bare().toBuilder().source("my tool: <1>").build();

        // when
        Event once = roundTrip(event);

        // then
        assertThat(once.source()).isEqualTo("my%20tool%3A%20%3C1%3E");
        assertThat(roundTrip(once)).isEqualTo(once);
    }

    @Test
    void shouldIgnoreTheContentTypeOfAPayloadThatIsJson() throws MalformedEventException {
        assertThat(EventCodec.fromRecord(
                                headers("ce_id", "x1", "ce_type", "a", "content-type", "text/plain"),
                                EMPTY,
                                RECORD_TIME)
                        .fields())
                .isEmpty();
    }

    @ParameterizedTest
    @CsvSource({
        "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01, true",
        "cc-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-what-the-future-holds, true",
        "00-0AF7651916CD43DD8448EB211C80319C-B7AD6B7169203331-01, false",
        "00-0af7651916cd43dd8448eb211c80319c, false",
        "garbage, false"
    })
    void shouldDropATraceContextThatIsNone(String traceparent, boolean kept) throws MalformedEventException {
        // when
        Event asHeader = EventCodec.fromRecord(
                headers("ce_id", "x1", "ce_type", "a", "traceparent", traceparent, "tracestate", "v=1"),
                EMPTY,
                RECORD_TIME);
        Event asExtension = EventCodec.fromRecord(
                headers("ce_id", "x1", "ce_type", "a", "ce_traceparent", traceparent, "ce_tracestate", "v=1"),
                EMPTY,
                RECORD_TIME);

        // then
        assertThat(asHeader.traceparent()).isEqualTo(kept ? traceparent : null);
        assertThat(asHeader.tracestate()).isEqualTo(kept ? "v=1" : null);
        assertThat(asExtension).isEqualTo(asHeader);
    }

    @Test
    void shouldReadTheNamespace() throws MalformedEventException {
        assertThat(EventCodec.fromRecord(
                                headers("ce_id", "x1", "ce_type", "a", "ce_namespace", "acme"), EMPTY, RECORD_TIME)
                        .sessionKey())
                .isEqualTo("acme/x1");
        assertThat(EventCodec.fromRecord(
                                headers("ce_id", "x1", "ce_type", "a", "ce_namespace", "default"), EMPTY, RECORD_TIME)
                        .sessionKey())
                .isEqualTo("x1");
    }

    @Test
    void shouldRefuseATombstone() {
        assertMalformed(
                headers("ce_id", "x1", "ce_type", "a"),
                null,
                "no_value",
                "expected a JSON object as the value, found none");
    }

    @Test
    void shouldRefuseARecordWithoutAType() {
        assertMalformed(
                new RecordHeaders(),
                EMPTY,
                "not_a_cloud_event",
                "expected the header ce_type, or the content-type application/cloudevents+json, found neither");
        assertMalformed(
                headers("ce_id", "x1", "ce_type", ""), EMPTY, "not_a_cloud_event", "expected the header ce_type");
        assertMalformed(
                headers("content-type", "application/cloudevents-batch+json"),
                "[]".getBytes(UTF_8),
                "not_a_cloud_event",
                "expected the header ce_type");
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            ce_id          |                         | not_a_cloud_event | expected the header ce_id, found none
            ce_id          | XXX                     | bad_field | id: expected 1 to 200 characters that are not all blank, found 201
            ce_id          | a\tb                    | bad_field | id: expected no control characters and no halves of surrogate pairs, found U+0009 at index 1
            ce_type        | a\tb                    | bad_field | event type: expected no control characters
            ce_specversion | 0.3                     | not_a_cloud_event | specversion: expected 1.0, found "0.3"
            ce_specversion | 1.0.2                   | not_a_cloud_event | specversion: expected 1.0, found "1.0.2"
            ce_time        | yesterday               | not_a_cloud_event | time: expected RFC 3339, found "yesterday"
            ce_time        | 1969-12-31T23:59:59Z    | bad_field | timestamp: expected a time from 1970
            ce_time        | +12345-01-01T00:00:00Z  | bad_field | timestamp: expected a time from 1970
            ce_priority    | high                    | bad_field | priority: expected a whole number, found "high"
            ce_priority    | -1                      | bad_field | priority: expected 0 or more, found -1
            ce_priority    | 1.5                     | bad_field | priority: expected a whole number, found "1.5"
            ce_priority    | 99999999999             | bad_field | priority: expected a whole number, found "99999999999"
            ce_causaldepth | deep                    | bad_field | causaldepth: expected a whole number, found "deep"
            ce_causaldepth | -1                      | bad_field | causalDepth: expected 0 or more, found -1
            ce_expirytime  | tomorrow                | bad_field | expirytime: expected RFC 3339, found "tomorrow"
            ce_expirytime  | 2026-01-01              | bad_field | expirytime: expected RFC 3339, found "2026-01-01"
            ce_expirytime  | +999999999-12-31T23:59:59Z | bad_field | expiry: expected a time from 1970
            ce_namespace   | a/b                     | bad_field | namespace: expected no '/', found a/b
            ce_namespace   | a\tb                    | bad_field | namespace: expected no control characters
            ce_sessionid   | XXX                     | bad_field | sessionId: expected 1 to 200 characters
            ce_subject     | a\tb                    | bad_field | taskId: expected no control characters
            ce_causationid | XXX                     | bad_field | parentEventId: expected 1 to 200 characters
            ce_correlationid | XXX                   | bad_field | correlationId: expected 1 to 200 characters
            """)
    void shouldRefuseABadHeaderAndSayWhy(String header, @Nullable String value, String code, String reason) {
        // given
        Headers headers = headers("ce_id", "x1", "ce_type", "HEARTBEAT");
        headers.remove(header);
        if (value != null) {
            headers.add(header, value.replace("XXX", "x".repeat(201)).getBytes(UTF_8));
        }

        // then
        assertMalformed(headers, EMPTY, code, reason);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '`', textBlock = """
            ``                       | bad_json | expected a JSON object: No content
            garbage                  | bad_json | expected a JSON object: Unrecognized token 'garbage'
            null                     | bad_json | expected a JSON object, found null
            []                       | bad_json | expected a JSON object: Cannot deserialize
            "text"                   | bad_json | expected a JSON object: Cannot
            7                        | bad_json | expected a JSON object: Cannot
            {"a": 1                  | bad_json | expected a JSON object: Unexpected end-of-input
            {"a": 1} {"b": 2}        | bad_json | expected a JSON object: Trailing token
            {"a": 1, "a": 2}         | bad_json | expected a JSON object: Duplicate field 'a'
            {"a": {"b": 1, "b": 2}}  | bad_json | expected a JSON object: Duplicate field 'b'
            {"a": NaN}               | bad_json | expected a JSON object: Non-standard token 'NaN'
            {'a': 1}                 | bad_json | expected a JSON object: Unexpected character
            {"a": 1e99999999999}     | bad_json | expected a JSON object: Value "1e99999999999"
            {"a": 1e999999999}       | bad_field | payload: expected numbers in the range of a 64-bit floating point number
            """)
    void shouldRefuseABadValueAndSayWhy(String value, String code, String reason) {
        // given
        String field = "{\"specversion\":\"1.0\",\"id\":\"x1\",\"type\":\"HEARTBEAT\",\"source\":\"s\",\"data\":"
                + value + "}";

        // then
        assertMalformed(headers("ce_id", "x1", "ce_type", "HEARTBEAT"), value.getBytes(UTF_8), code, reason);
        if (!value.equals("null")) {
            assertMalformed(headers("content-type", "application/cloudevents+json"), field.getBytes(UTF_8), code, "");
        }
    }

    @Test
    void shouldSayWhereTheJsonBreaks() {
        assertMalformed(
                headers("ce_id", "x1", "ce_type", "a"),
                "{\n  \"a\": oops}".getBytes(UTF_8),
                "bad_json",
                "(line 2, column 8)");
    }

    @Test
    void shouldNotRepeatAWholeBrokenValue() {
        assertThatThrownBy(() -> EventCodec.fromRecord(
                        headers("ce_id", "x1", "ce_type", "a"),
                        "garbage".repeat(1000).getBytes(UTF_8),
                        RECORD_TIME))
                .satisfies(e -> assertThat(e.getMessage()).hasSizeLessThan(400));
    }

    @Test
    void shouldRefuseAValueThatIsNotUtf8() {
        assertMalformed(
                headers("ce_id", "x1", "ce_type", "a"), "{\"text\": \"ä\"}".getBytes(ISO_8859_1), "bad_json", "UTF-8");
    }

    @Test
    void shouldRefuseAHeaderThatIsNotUtf8() {
        // given
        Headers headers = headers("ce_id", "x1", "ce_type", "a");
        headers.add("ce_sessionid", "ä".getBytes(ISO_8859_1));

        // then
        assertMalformed(headers, EMPTY, "not_utf8", "ce_sessionid: expected UTF-8, found other bytes");
    }

    @Test
    void shouldTakeTheReplacementCharacterWhereItIsMeant() throws MalformedEventException {
        assertThat(EventCodec.fromRecord(headers("ce_id", "x\ufffd", "ce_type", "a"), EMPTY, RECORD_TIME)
                        .id())
                .isEqualTo("x\ufffd");
    }

    @ParameterizedTest
    @ValueSource(ints = {1_001, 100_000, 500_000})
    void shouldRefuseAValueThatIsNestedWithoutEnd(int levels) {
        // given
        byte[] value = ("{\"a\":" + "[".repeat(levels) + "]".repeat(levels) + "}").getBytes(UTF_8);

        // then
        assertMalformed(headers("ce_id", "x1", "ce_type", "a"), value, "bad_json", "nesting depth");
        assertMalformed(headers("content-type", "application/cloudevents+json"), value, "bad_json", "nesting depth");
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '`', textBlock = """
            garbage                                                                        | bad_json
            {}                                                                             | not_a_cloud_event
            {"specversion":"0.3","id":"x","type":"a","source":"s"}                         | not_a_cloud_event
            {"specversion":"1.0","type":"a","source":"s"}                                  | not_a_cloud_event
            {"specversion":"1.0","id":7,"type":"a","source":"s"}                           | not_a_cloud_event
            {"specversion":"1.0","id":"x","type":"a"}                                      | not_a_cloud_event
            {"specversion":"1.0","id":"x","type":"a","source":"s","time":"noon"}           | not_a_cloud_event
            {"specversion":"1.0","id":"x","type":"a","source":"s","data_base64":"!!"}      | not_a_cloud_event
            {"specversion":"1.0","id":"x","type":"HEARTBEAT","source":"s","data_base64":"W10="}    | bad_json
            {"specversion":"1.0","id":"x","type":"HEARTBEAT","source":"s","data":"{}"}             | bad_json
            {"specversion":"1.0","id":"x","type":"HEARTBEAT","source":"s","data":[]}               | bad_json
            {"specversion":"1.0","id":"x","type":"HEARTBEAT","source":"s","data":1e400}            | bad_json
            {"specversion":"1.0","id":"x","type":"HEARTBEAT","source":"s","data":{"a":1e400}}      | bad_field
            {"specversion":"1.0","id":"x","id":"y","type":"a","source":"s"}                | bad_json
            {"specversion":"1.0","id":"","type":"a","source":"s"}                          | bad_field
            {"specversion":"1.0","id":"x","type":"a","source":"s","priority":"1.5"}        | bad_field
            {"specversion":"1.0","id":"x","type":"a","source":"s","priority":{"a":1}}      | bad_field
            """)
    void shouldRefuseStructuredGarbage(String json, String code) {
        assertMalformed(headers("content-type", "Application/CloudEvents+JSON"), json.getBytes(UTF_8), code, "");
    }

    @Test
    @DisplayName(
            "whatever JSON stands in a field of structured mode, it is an event, or is refused and says what is wrong")
    void shouldRefuseWhatDoesNotBelongInAFieldOfStructuredMode() {
        Map<String, String> good = Map.of("specversion", "\"1.0\"", "id", "\"x\"", "type", "\"a\"", "source", "\"s\"");
        for (String field : List.of(
                "specversion",
                "id",
                "type",
                "source",
                "subject",
                "time",
                "datacontenttype",
                "dataschema",
                "data_base64",
                "data",
                "priority",
                "own")) {
            for (String value : List.of(
                    "null", "5", "1.5", "true", "[]", "[1]", "{}", "{\"a\":1}", "\"\"", "\"é\\n\"", "\"\\ud800\"")) {
                // when
                Map<String, String> fields = new TreeMap<>(good);
                fields.put(field, value);
                String json = fields.entrySet().stream()
                        .map(entry -> '"' + entry.getKey() + "\":" + entry.getValue())
                        .collect(Collectors.joining(",", "{", "}"));
                Throwable thrown = catchThrowable(() -> structured(json));

                // then
                if (thrown != null) {
                    assertThat(thrown).as(json).isInstanceOf(MalformedEventException.class);
                    assertThat(thrown.getMessage()).as(json).isNotBlank().doesNotContain("null pointer", "1.0: null");
                }
            }
        }
        assertMalformed(
                headers("content-type", "application/cloudevents+json"),
                "{\"specversion\":\"1.0\",\"id\":\"x\",\"type\":\"a\",\"source\":\"s\",\"data_base64\":5}"
                        .getBytes(UTF_8),
                "bad_field",
                "data_base64: expected a string, found 5");
        assertMalformed(
                headers("content-type", "application/cloudevents+json"),
                "{\"id\":\"x\",\"type\":\"a\",\"source\":\"s\"}".getBytes(UTF_8),
                "not_a_cloud_event",
                "specversion: expected 1.0, found none");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "sessionid",
                "namespace",
                "correlationid",
                "causationid",
                "priority",
                "expirytime",
                "causaldepth",
                "subject",
                "time",
                "data",
                "data_base64",
                "own"
            })
    @DisplayName("a field of structured mode that is null is not there: nobody shares a conversation called null")
    void shouldTakeNullForNothing(String field) throws MalformedEventException {
        String least = "{\"specversion\":\"1.0\",\"id\":\"x1\",\"type\":\"a\",\"source\":\"s\"";

        assertThat(structured(least + ",\"" + field + "\":null}")).isEqualTo(structured(least + "}"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"UTF-8", "UTF-16LE", "UTF-16BE", "UTF-32", "UTF-32LE"})
    @DisplayName("whatever encoding a sender has, what is kept is UTF-8 without a byte order mark")
    void shouldKeepDataAsUtf8(String charset) throws MalformedEventException {
        for (String mark : List.of("", "\ufeff")) {
            // when
            Event event = EventCodec.fromRecord(
                    headers("ce_id", "x1", "ce_type", "MESSAGE_RECEIVED"),
                    (mark + "{\"text\":\"hé\"}").getBytes(Charset.forName(charset)),
                    RECORD_TIME);

            // then
            assertThat(EventCodec.toRecord("t", event).value()).asString(UTF_8).isEqualTo("{\"text\":\"hé\"}");
        }
    }

    @Test
    void shouldTakeNoListForTheNameOfAConversation() {
        for (String value : List.of("{}", "[1]")) {
            assertMalformed(
                    headers("content-type", "application/cloudevents+json"),
                    ("{\"specversion\":\"1.0\",\"id\":\"x\",\"type\":\"a\",\"source\":\"s\",\"sessionid\":" + value
                                    + "}")
                            .getBytes(UTF_8),
                    "bad_field",
                    "sessionid: expected a single value, found " + value);
        }
    }

    private static Event roundTrip(Event event) throws MalformedEventException {
        ProducerRecord<String, byte[]> bare = EventCodec.toRecord("t", event);
        return EventCodec.fromRecord(bare.headers(), bare.value(), RECORD_TIME);
    }

    private static Event structured(String json) throws MalformedEventException {
        return EventCodec.fromRecord(
                headers("content-type", "application/cloudevents+json"), json.getBytes(UTF_8), RECORD_TIME);
    }

    private static void assertMalformed(Headers headers, byte @Nullable [] value, String code, String reason) {
        assertThatThrownBy(() -> EventCodec.fromRecord(headers, value, RECORD_TIME))
                .isInstanceOfSatisfying(
                        MalformedEventException.class,
                        e -> assertThat(e.code()).as(e.getMessage()).isEqualTo(code))
                .hasMessageContaining(reason);
    }

    private static Headers headers(String... namesAndValues) {
        Headers headers = new RecordHeaders();
        for (int i = 0; i < namesAndValues.length; i += 2) {
            headers.add(namesAndValues[i], namesAndValues[i + 1].getBytes(UTF_8));
        }
        return headers;
    }

    private static Map<String, String> texts(Headers headers) {
        Map<String, String> texts = new java.util.TreeMap<>();
        headers.forEach(header -> texts.put(header.key(), new String(header.value(), UTF_8)));
        return texts;
    }
}
