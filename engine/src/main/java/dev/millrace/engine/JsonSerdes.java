package dev.millrace.engine;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.ObjectReader;
import com.fasterxml.jackson.databind.ObjectWriter;
import java.io.IOException;
import java.io.UncheckedIOException;
import org.apache.kafka.common.serialization.Deserializer;
import org.apache.kafka.common.serialization.Serde;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.common.serialization.Serializer;

/** How stores keep values as JSON. */
public final class JsonSerdes {

    private JsonSerdes() {}

    /** Values of this type, written and read by this mapper; a deleted row is {@code null} in both forms. */
    public static <T> Serde<T> of(ObjectMapper mapper, Class<T> type) {
        ObjectWriter writer = mapper.writerFor(type);
        ObjectReader reader = mapper.readerFor(type);
        Serializer<T> serializer = (topic, value) -> {
            try {
                return value == null ? null : writer.writeValueAsBytes(value);
            } catch (IOException e) {
                throw new UncheckedIOException("a " + type.getSimpleName() + " could not be written", e);
            }
        };
        Deserializer<T> deserializer = (topic, bytes) -> {
            try {
                return bytes == null ? null : reader.readValue(bytes);
            } catch (IOException e) {
                throw new UncheckedIOException("a stored " + type.getSimpleName() + " could not be read", e);
            }
        };
        return Serdes.serdeFrom(serializer, deserializer);
    }
}
