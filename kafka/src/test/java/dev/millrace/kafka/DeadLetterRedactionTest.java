package dev.millrace.kafka;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.schemas.DeadLetters;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.junit.jupiter.api.Test;

class DeadLetterRedactionTest {

    private static final Map<String, Object> DIGITS = Map.of("millrace.redaction.patterns.digits", "\\d{4,}");

    @Test
    void shouldRedactValueAndDetailOfDeadLetters() {
        ProducerRecord<Object, Object> letter = record();
        letter.headers()
                .add(DeadLetters.REASON, bytes("bad_json"))
                .add(DeadLetters.DETAIL, bytes("expected a number, found 12345x"))
                .add("ce_id", bytes("12345"));

        ProducerRecord<Object, Object> sent = redaction().onSend(letter);

        assertThat(sent.value()).isEqualTo(bytes("{\"a\":\"[redacted:digits]\"}"));
        assertThat(sent.key()).isEqualTo(bytes("98765"));
        assertThat(header(sent, DeadLetters.DETAIL)).isEqualTo("expected a number, found [redacted:digits]x");
        assertThat(header(sent, "ce_id")).isEqualTo("12345");
        assertThat(sent).extracting("topic", "partition", "timestamp").containsExactly("t", 3, 17L);
    }

    @Test
    void shouldLeaveEverythingElseAsItIs() {
        ProducerRecord<Object, Object> event = record();

        assertThat(redaction().onSend(event)).isSameAs(event);
    }

    @Test
    void shouldBeInNoProducerWithoutPatterns() {
        ClientSettings without = ClientSettings.NONE.redactingDeadLetters("");
        ClientSettings with = ClientSettings.NONE.with(DIGITS).redactingDeadLetters("producer.");

        assertThat(without.values()).isEmpty();
        assertThat(with.values())
                .containsEntry(
                        "producer." + ProducerConfig.INTERCEPTOR_CLASSES_CONFIG, DeadLetterRedaction.class.getName());
    }

    private static DeadLetterRedaction redaction() {
        DeadLetterRedaction redaction = new DeadLetterRedaction();
        redaction.configure(DIGITS);
        return redaction;
    }

    private static ProducerRecord<Object, Object> record() {
        return new ProducerRecord<>("t", 3, 17L, bytes("98765"), bytes("{\"a\":\"12345\"}"));
    }

    private static String header(ProducerRecord<Object, Object> record, String name) {
        return new String(record.headers().lastHeader(name).value(), StandardCharsets.UTF_8);
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }
}
