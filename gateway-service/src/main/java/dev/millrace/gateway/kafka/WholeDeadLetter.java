package dev.millrace.gateway.kafka;

import dev.millrace.schemas.DeadLetters;
import dev.millrace.schemas.Json;
import dev.millrace.schemas.MalformedEventException;
import dev.millrace.schemas.Topics;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.header.Headers;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.jspecify.annotations.Nullable;

/** One dead letter with all that it holds, and the record that it was. */
public final class WholeDeadLetter {

    private static final String OURS = "millrace-";
    private static final String STRUCTURED = "application/cloudevents";

    private final ConsumerRecord<byte[], byte[]> record;
    private final DeadLetter letter;

    WholeDeadLetter(ConsumerRecord<byte[], byte[]> record) {
        this.record = record;
        this.letter = new DeadLetter(record);
    }

    /** What is told of it in a list. */
    public DeadLetter letter() {
        return letter;
    }

    /** Its whole value as text; bytes that are no UTF-8 are told by a character of their own. */
    public String text() {
        byte[] value = record.value();
        return value == null ? "" : new String(value, StandardCharsets.UTF_8);
    }

    /**
     * The record that it was before, on the lane that it was read from; empty if it was on no lane, or if it is only
     * told of and was not kept.
     *
     * @param payload in place of its own; {@code null} = its own, byte for byte
     * @throws MalformedEventException if there is to be another payload, and the value says of itself that it is an
     *     event and is none
     */
    Optional<ProducerRecord<String, byte[]>> again(Topics topics, @Nullable Map<String, @Nullable Object> payload)
            throws MalformedEventException {
        String origin = letter.header(DeadLetters.ORIGIN_TOPIC);
        byte[] key = record.key();
        if (origin == null || !topics.lanes().contains(origin) || key == null || record.value() == null) {
            return Optional.empty();
        }
        Headers headers = new RecordHeaders();
        record.headers().forEach(header -> {
            if (!header.key().startsWith(OURS)) {
                headers.add(header);
            }
        });
        try {
            String text = StandardCharsets.UTF_8
                    .newDecoder()
                    .decode(ByteBuffer.wrap(key))
                    .toString();
            byte[] value = payload == null ? record.value() : with(payload);
            return Optional.of(new ProducerRecord<>(origin, null, text, value, headers));
        } catch (CharacterCodingException e) {
            return Optional.empty();
        }
    }

    /** The value with another payload: all of it, or the data of an event that is whole in its value. */
    private byte[] with(Map<String, @Nullable Object> payload) throws MalformedEventException {
        String kind = letter.header("content-type");
        if (kind == null || !kind.startsWith(STRUCTURED)) {
            return Json.write(payload);
        }
        Map<String, @Nullable Object> event = new LinkedHashMap<>(Json.readMap(record.value()));
        event.remove("data_base64");
        event.put("data", payload);
        return Json.write(event);
    }
}
