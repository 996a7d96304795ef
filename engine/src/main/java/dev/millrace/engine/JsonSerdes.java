package dev.millrace.engine;

import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.databind.DeserializationContext;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonDeserializer;
import com.fasterxml.jackson.databind.JsonSerializer;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.ObjectReader;
import com.fasterxml.jackson.databind.ObjectWriter;
import com.fasterxml.jackson.databind.SerializerProvider;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.module.SimpleModule;
import dev.millrace.schemas.Event;
import dev.millrace.schemas.EventJson;
import dev.millrace.schemas.JsonObject;
import dev.millrace.schemas.MalformedEventException;
import java.io.IOException;
import java.io.UncheckedIOException;
import org.apache.kafka.common.serialization.Deserializer;
import org.apache.kafka.common.serialization.Serde;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.common.serialization.Serializer;

/** How stores keep values as JSON. */
public final class JsonSerdes {

    /** For rows with events in them: these are as one JSON object each. */
    public static final ObjectMapper WITH_EVENTS = JsonMapper.builder()
            .addModule(events())
            .disable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES)
            .enable(DeserializationFeature.USE_BIG_DECIMAL_FOR_FLOATS)
            .build();

    private JsonSerdes() {}

    /** What a mapper needs for rows with events in them. */
    public static SimpleModule events() {
        return new SimpleModule()
                .addSerializer(Event.class, new EventWriter())
                .addDeserializer(Event.class, new EventReader());
    }

    /**
     * Values of this type, written and read by this mapper; a deleted row is {@code null} in both forms. What it cannot
     * read is an {@link UnreadableRowException}.
     */
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
                throw new UnreadableRowException(type.getSimpleName(), e);
            }
        };
        return Serdes.serdeFrom(serializer, deserializer);
    }

    private static final class EventWriter extends JsonSerializer<Event> {
        @Override
        public void serialize(Event event, JsonGenerator out, SerializerProvider provider) throws IOException {
            provider.defaultSerializeValue(EventJson.toJson(event), out);
        }
    }

    private static final class EventReader extends JsonDeserializer<Event> {
        @Override
        public Event deserialize(JsonParser in, DeserializationContext context) throws IOException {
            try {
                return EventJson.fromJson(in.readValueAs(JsonObject.class));
            } catch (MalformedEventException e) {
                throw new IOException("a stored event is none", e);
            }
        }
    }
}
