package dev.millrace.schemas;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.header.Headers;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.apache.kafka.common.record.TimestampType;
import org.junit.jupiter.api.Test;

class DeadLettersTest {
    private static final Topics TOPICS = new Topics("acme.");
    private static final byte[] VALUE = {(byte) 0xff, 0, 7};

    @Test
    void shouldKeepTheRecordAndSayWhyAndWhere() {
        // given
        Headers original = new RecordHeaders().add("ce_id", bytes("e1"));

        // when
        ProducerRecord<String, byte[]> letter =
                DeadLetters.deadLetter(TOPICS, consumed(original), "bad_json", "expected a JSON object");

        // then
        assertThat(letter.topic()).isEqualTo("acme.dead-letters");
        assertThat(letter.key()).isEqualTo("k");
        assertThat(letter.value()).isEqualTo(VALUE);
        assertThat(letter.timestamp()).isNull();
        assertThat(texts(letter.headers()))
                .containsExactly(
                        "ce_id=e1",
                        "millrace-reason=bad_json",
                        "millrace-detail=expected a JSON object",
                        "millrace-origin-topic=acme.events.external",
                        "millrace-origin-partition=3",
                        "millrace-origin-offset=42",
                        "millrace-origin-timestamp=-1");
    }

    @Test
    void shouldReplaceTheReasonOfAnEarlierDeath() {
        // given
        Headers once = DeadLetters.headers(
                new RecordHeaders(), new DeadLetters.Origin("a", 0, 1, 2), "bad_json", "the first time");

        // when
        Headers twice = DeadLetters.headers(once, new DeadLetters.Origin("b", 3, 4, 5), "bad_field", null);

        // then
        assertThat(texts(twice))
                .containsExactly(
                        "millrace-reason=bad_field",
                        "millrace-origin-topic=b",
                        "millrace-origin-partition=3",
                        "millrace-origin-offset=4",
                        "millrace-origin-timestamp=5");
        assertThat(texts(once)).contains("millrace-detail=the first time");
    }

    @Test
    void shouldCutALongDetail() {
        // when
        Headers headers = DeadLetters.headers(
                new RecordHeaders(), new DeadLetters.Origin("a", 0, 1, 2), "bad_json", "x".repeat(1001));

        // then
        assertThat(texts(headers)).contains("millrace-detail=" + "x".repeat(999) + "…");
    }

    @Test
    void shouldRefuseAReasonThatIsNoStableWord() {
        assertThatThrownBy(() -> DeadLetters.headers(
                        new RecordHeaders(), new DeadLetters.Origin("a", 0, 1, 2), "Bad JSON!", null))
                .hasMessageContaining("found \"Bad JSON!\"");
    }

    private static ConsumerRecord<String, byte[]> consumed(Headers headers) {
        return new ConsumerRecord<>(
                "acme.events.external",
                3,
                42,
                -1L,
                TimestampType.NO_TIMESTAMP_TYPE,
                1,
                VALUE.length,
                "k",
                VALUE,
                headers,
                Optional.empty());
    }

    private static List<String> texts(Headers headers) {
        List<String> texts = new ArrayList<>();
        headers.forEach(header -> texts.add(header.key() + "=" + new String(header.value(), StandardCharsets.UTF_8)));
        return texts;
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }
}
