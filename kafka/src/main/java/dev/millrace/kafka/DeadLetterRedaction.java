package dev.millrace.kafka;

import dev.millrace.schemas.DeadLetters;
import dev.millrace.schemas.Redaction;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import org.apache.kafka.clients.producer.ProducerInterceptor;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.Headers;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.jspecify.annotations.Nullable;

/**
 * Takes out of dead letters what operators do not want to be told of: from the value and from {@link
 * DeadLetters#DETAIL}. Key and all other headers stay, since a letter is found and sent again by them. Other records
 * are not concerned. Kafka's producers make it by the name of its class, each one its own.
 */
public final class DeadLetterRedaction implements ProducerInterceptor<Object, Object> {

    private Redaction redaction = Redaction.NONE;

    @Override
    public void configure(Map<String, ?> settings) {
        redaction = Redaction.of(settings);
    }

    @Override
    public ProducerRecord<Object, Object> onSend(ProducerRecord<Object, Object> sent) {
        if (sent.headers().lastHeader(DeadLetters.REASON) == null) {
            return sent;
        }
        Headers headers = new RecordHeaders(sent.headers().toArray());
        Header detail = headers.lastHeader(DeadLetters.DETAIL);
        if (detail != null) {
            String text = new String(detail.value(), StandardCharsets.UTF_8);
            headers.remove(DeadLetters.DETAIL);
            headers.add(DeadLetters.DETAIL, redaction.text(text).getBytes(StandardCharsets.UTF_8));
        }
        Object value = sent.value() instanceof byte[] bytes ? redaction.content(bytes) : sent.value();
        return new ProducerRecord<>(sent.topic(), sent.partition(), sent.timestamp(), sent.key(), value, headers);
    }

    @Override
    public void onAcknowledgement(@Nullable RecordMetadata metadata, @Nullable Exception exception) {}

    @Override
    public void close() {}
}
