package dev.millrace.schemas;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.fail;

import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.header.Headers;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** Random records, from plain noise to almost right ones. Everything follows from the seed, which a failure names. */
class EventCodecFuzzTest {
    private static final int RECORDS = 5_000;
    private static final Instant RECORD_TIME = Instant.ofEpochMilli(1_700_000_000_000L);

    private static final List<String> NAMES = List.of(
            "ce_id",
            "ce_type",
            "ce_specversion",
            "ce_source",
            "ce_subject",
            "ce_time",
            "ce_priority",
            "ce_namespace",
            "ce_sessionid",
            "ce_causationid",
            "ce_correlationid",
            "ce_causaldepth",
            "ce_expirytime",
            "ce_datacontenttype",
            "ce_dataschema",
            "ce_traceparent",
            "ce_my_own",
            "ce_",
            "CE_ID",
            "content-type",
            "traceparent",
            "tracestate",
            "");

    private static final List<String> VALUES = List.of(
            "",
            " ",
            "x1",
            "MESSAGE_RECEIVED",
            "user_query",
            "file.changed",
            "1.0",
            "0.3",
            "7",
            "-1",
            "999999999999",
            "2026-01-01T00:00:00Z",
            "2026-01-01T00:00:00.123456789+14:00",
            "-999999999-01-01T00:00:00Z",
            "+1000000-01-01T00:00:00Z",
            "application/json",
            "application/cloudevents+json",
            "application/cloudevents+json; charset=utf-16",
            "application/cloudevents-batch+json",
            "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
            "a/b",
            "a\nb",
            "\u0000",
            "\ufffd",
            "😀",
            "%zz",
            "::",
            "http://[::1",
            "x".repeat(300),
            "x".repeat(3000));

    private static final List<String> BODIES = List.of(
            "{}",
            "null",
            "[]",
            "{\"text\":\"hello\",\"n\":[1,2.5,1e300,-0,1e999999999,{\"a\":null}]}",
            "{\"text\":\"\\ud800\",\"\\udfff\":1}",
            "{\"callId\":\"c\",\"toolCalls\":[{\"toolName\":\"t\",\"arguments\":{\"path\":\".\"}}]}",
            "{\"specversion\":\"1.0\",\"id\":\"x\",\"type\":\"a\",\"source\":\"s\",\"data\":{\"text\":\"hello\"}}",
            "{\"specversion\":\"1.0\",\"id\":\"x\",\"type\":\"MESSAGE_RECEIVED\",\"source\":\"s\",\"data_base64\":\"e30=\","
                    + "\"time\":\"2026-01-01T00:00:00Z\",\"priority\":7,\"sessionid\":true,\"namespace\":\"acme\"}",
            "{\"a\":" + "[".repeat(2000) + "]".repeat(2000) + "}");

    @Test
    @DisplayName("any record is an event or malformed, and nothing else comes out")
    void shouldReadOrRefuseAnyRecord() {
        int events = 0;
        int malformed = 0;
        for (int seed = 0; seed < RECORDS; seed++) {
            Random random = new Random(seed);
            Headers headers = headers(random);
            byte[] value = value(random);
            try {
                Event event = EventCodec.fromRecord(headers, value, RECORD_TIME);
                assertUsable(event);
                events++;
            } catch (MalformedEventException e) {
                assertThat(e.getMessage()).as("seed %d", seed).hasSizeBetween(10, 500);
                assertThat(ErrorCode.of(e.code()))
                        .as("seed %d: %s", seed, e.code())
                        .hasValueSatisfying(code -> assertThat(code.foundIn(ErrorCode.Place.DEAD_LETTER))
                                .isTrue());
                assertThat(DeadLetters.headers(headers, new DeadLetters.Origin("t", 0, 0, 0), e.code(), e.getMessage()))
                        .as("seed %d", seed)
                        .isNotEmpty();
                malformed++;
            } catch (RuntimeException | StackOverflowError | AssertionError e) {
                fail("seed " + seed, e);
            }
        }
        assertThat(events).as("the noise is not all noise").isGreaterThan(RECORDS / 20);
        assertThat(malformed).isGreaterThan(RECORDS / 4);
    }

    /** What was read once can be judged, written and read again, in both forms. */
    private static void assertUsable(Event event) throws MalformedEventException {
        assertThat(EventSchemas.problems(event)).isNotNull();
        ProducerRecord<String, byte[]> bare = EventCodec.toRecord("t", event);
        assertThat(EventCodec.fromRecord(bare.headers(), bare.value(), RECORD_TIME))
                .isEqualTo(event);
        assertThat(EventJson.fromJson(Json.readObject(Json.write(EventJson.toJson(event)))))
                .isEqualTo(event);
    }

    private static Headers headers(Random random) {
        Headers headers = new RecordHeaders();
        if (random.nextInt(3) > 0) {
            headers.add("ce_id", "x1".getBytes(UTF_8)).add("ce_type", "MESSAGE_RECEIVED".getBytes(UTF_8));
        }
        int count = random.nextInt(5);
        for (int i = 0; i < count; i++) {
            headers.add(NAMES.get(random.nextInt(NAMES.size())), headerValue(random));
        }
        return headers;
    }

    private static byte @Nullable [] headerValue(Random random) {
        return switch (random.nextInt(10)) {
            case 0 -> null;
            case 1 -> noise(random, 20);
            default -> VALUES.get(random.nextInt(VALUES.size())).getBytes(UTF_8);
        };
    }

    private static byte @Nullable [] value(Random random) {
        byte[] body = BODIES.get(random.nextInt(BODIES.size())).getBytes(UTF_8);
        return switch (random.nextInt(8)) {
            case 0 -> null;
            case 1 -> noise(random, 200);
            case 2 -> Arrays.copyOf(body, random.nextInt(body.length + 1));
            case 3 -> {
                body[random.nextInt(body.length)] = (byte) random.nextInt(256);
                yield body;
            }
            default -> body;
        };
    }

    private static byte[] noise(Random random, int limit) {
        byte[] bytes = new byte[random.nextInt(limit)];
        random.nextBytes(bytes);
        return bytes;
    }
}
