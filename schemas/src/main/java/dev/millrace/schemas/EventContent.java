package dev.millrace.schemas;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonInclude.Include;
import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.ObjectReader;
import com.fasterxml.jackson.databind.SerializerProvider;
import com.fasterxml.jackson.databind.cfg.CoercionAction;
import com.fasterxml.jackson.databind.cfg.CoercionInputShape;
import com.fasterxml.jackson.databind.introspect.AnnotatedMember;
import com.fasterxml.jackson.databind.introspect.AnnotatedParameter;
import com.fasterxml.jackson.databind.introspect.JacksonAnnotationIntrospector;
import com.fasterxml.jackson.databind.module.SimpleModule;
import com.fasterxml.jackson.databind.ser.std.StdScalarSerializer;
import com.fasterxml.jackson.databind.type.LogicalType;
import java.io.IOException;
import java.lang.reflect.RecordComponent;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Base64;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The data of an event, a JSON object: as bytes, as a tree, as Java values and as a {@link Payload}. It is made from
 * one of them, and the others follow when they are asked for. What was read keeps its bytes, so it goes on as it came.
 * Two are equal if they are as Java values. Immutable; for any thread.
 */
final class EventContent {

    /** Under which name data that is no object stands in one. */
    static final String DATA = "data";

    /** Binds payloads: as strict as the schemas about kinds of values and what has to be there. */
    private static final ObjectMapper MAPPER = mapper();

    private static final Map<EventType, ObjectReader> READERS = readers();

    // each is worked out at most once per thread that asks at the same time, always to the same
    private volatile byte @Nullable [] json;
    private volatile @Nullable JsonNode tree;
    private volatile @Nullable JsonObject fields;
    private volatile @Nullable Payload payload;

    private EventContent(
            byte @Nullable [] json, @Nullable JsonNode tree, @Nullable JsonObject fields, @Nullable Payload payload) {
        this.json = json;
        this.tree = tree;
        this.fields = fields;
        this.payload = payload;
    }

    /** An object without fields; one for each event, since it remembers the record of its event's type. */
    static EventContent empty() {
        return of(Map.of());
    }

    /**
     * Java values, copied all the way down.
     *
     * @throws IllegalArgumentException if there is anything that is no JSON value, or a number out of range
     */
    static EventContent of(Map<String, ? extends @Nullable Object> fields) {
        return new EventContent(null, null, JsonObject.of(fields), null);
    }

    static EventContent of(Payload payload) {
        return payload instanceof Payload.Unknown(JsonObject fields)
                ? new EventContent(null, null, fields, null)
                : new EventContent(null, null, null, payload);
    }

    /**
     * Reads bytes, which the caller does not change any more. They are to be UTF-8; UTF-16, UTF-32 and a byte order
     * mark are read, too, and are written as UTF-8 without one from then on.
     *
     * @throws MalformedEventException if they are no JSON object, or have a number out of range
     */
    static EventContent read(byte[] json) throws MalformedEventException {
        JsonNode tree = Json.readTree(json);
        try {
            return isPlain(json) && JsonValues.isClean(tree)
                    ? new EventContent(json, tree, null, null)
                    : new EventContent(null, null, JsonValues.frozenObject(tree), null);
        } catch (IllegalArgumentException e) {
            throw new MalformedEventException("bad_field", String.valueOf(e.getMessage()));
        }
    }

    /** Whether this object is UTF-8: all other forms that Jackson takes begin with a mark, or have a zero there. */
    private static boolean isPlain(byte[] json) {
        return json.length < 2 || (json[0] > 0 && json[1] != 0);
    }

    /**
     * Reads the data of a type that takes any payload: what is no JSON object is wrapped into one, as {@code data}, or
     * as {@code data_base64} if it is no text; beside it stands its content type, if that is not JSON.
     *
     * @param contentType what the sender says it is; {@code null} = nothing, and then it has to be JSON
     * @throws MalformedEventException if it is to be JSON and is none, or has a number out of range
     */
    static EventContent readAny(byte[] bytes, @Nullable String contentType) throws MalformedEventException {
        boolean json =
                contentType == null || contentType.toLowerCase(Locale.ROOT).contains("json");
        if (json || firstOf(bytes) == '{') {
            try {
                return read(bytes);
            } catch (MalformedEventException e) {
                if (json && (firstOf(bytes) == '{' || bytes.length == 0)) {
                    throw e;
                }
            }
        }
        Map<String, @Nullable Object> wrapped = new LinkedHashMap<>();
        if (json) {
            wrapped.put(DATA, Json.readValue(bytes));
        } else {
            String text = new String(bytes, StandardCharsets.UTF_8);
            if (Arrays.equals(text.getBytes(StandardCharsets.UTF_8), bytes)) {
                wrapped.put(DATA, text);
            } else {
                wrapped.put("data_base64", Base64.getEncoder().encodeToString(bytes));
            }
            wrapped.put("datacontenttype", contentType);
        }
        try {
            return of(wrapped);
        } catch (IllegalArgumentException e) {
            throw new MalformedEventException("bad_field", String.valueOf(e.getMessage()));
        }
    }

    private static char firstOf(byte[] bytes) {
        for (byte one : bytes) {
            if (!Character.isWhitespace(one)) {
                return (char) one;
            }
        }
        return ' ';
    }

    /** UTF-8; not to be changed. */
    byte[] json() {
        byte[] bytes = json;
        if (bytes == null) {
            Payload known = payload;
            bytes = known != null && fields == null ? write(known) : Json.write(fields());
            json = bytes;
        }
        return bytes;
    }

    JsonNode tree() {
        JsonNode node = tree;
        if (node == null) {
            Payload known = payload;
            node = known != null && fields == null ? MAPPER.valueToTree(known) : JsonValues.tree(fields());
            tree = node;
        }
        return node;
    }

    /** See {@link Event#fields()}. */
    JsonObject fields() {
        JsonObject values = fields;
        if (values == null) {
            values = JsonValues.frozenObject(tree());
            fields = values;
        }
        return values;
    }

    /** See {@link Event#payload()}. */
    Payload payload(EventType type) {
        Payload known = payload;
        if (known == null) {
            known = bind(type);
            payload = known;
        }
        return known;
    }

    /**
     * What was made from a record can only be the data of its type.
     *
     * @throws IllegalArgumentException if it is that of another one
     */
    void requireOf(EventType type) {
        Payload known = payload;
        ObjectReader reader = READERS.get(type);
        if (known != null
                && !(known instanceof Payload.Unknown)
                && (reader == null || !reader.getValueType().hasRawClass(known.getClass()))) {
            throw new IllegalArgumentException("payload: expected that of " + type.wireName() + ", found a "
                    + known.getClass().getSimpleName());
        }
    }

    private Payload bind(EventType type) {
        ObjectReader reader = READERS.get(type);
        if (reader != null) {
            try {
                return reader.readValue(tree());
            } catch (IOException e) {
                // what no schema has let through
                return new Payload.Unknown(fields());
            }
        }
        return new Payload.Unknown(fields());
    }

    private static byte[] write(Payload payload) {
        try {
            return MAPPER.writeValueAsBytes(payload);
        } catch (JsonProcessingException e) {
            throw new IllegalArgumentException("payload: expected JSON values: " + e.getOriginalMessage(), e);
        }
    }

    private static ObjectMapper mapper() {
        ObjectMapper mapper = Json.MAPPER.copy();
        mapper.setDefaultPropertyInclusion(JsonInclude.Value.construct(Include.NON_NULL, Include.ALWAYS));
        mapper.configOverride(List.class).setInclude(JsonInclude.Value.construct(Include.NON_EMPTY, Include.ALWAYS));
        mapper.enable(DeserializationFeature.FAIL_ON_NULL_FOR_PRIMITIVES);
        for (LogicalType scalar : List.of(LogicalType.Textual, LogicalType.Integer, LogicalType.Boolean)) {
            for (CoercionInputShape shape : CoercionInputShape.values()) {
                mapper.coercionConfigFor(scalar).setCoercion(shape, CoercionAction.Fail);
            }
        }
        // a whole number may be written with a point
        mapper.coercionConfigFor(LogicalType.Integer)
                .setCoercion(CoercionInputShape.Float, CoercionAction.TryConvert)
                .setCoercion(CoercionInputShape.Integer, CoercionAction.TryConvert);
        mapper.setAnnotationIntrospector(new NullableIntrospector());
        return mapper.registerModule(new SimpleModule().addSerializer(String.class, new WellFormedSerializer()));
    }

    private static Map<EventType, ObjectReader> readers() {
        Map<EventType, ObjectReader> readers = new HashMap<>();
        for (KnownEventType type : KnownEventType.values()) {
            readers.put(type, MAPPER.readerFor(type.payload()));
        }
        for (StreamType type : StreamType.values()) {
            if (type.payload() != Payload.Unknown.class) {
                readers.put(type, MAPPER.readerFor(type.payload()));
            }
        }
        for (BackgroundEnd end : BackgroundEnd.values()) {
            readers.put(end.type(), MAPPER.readerFor(Payload.BackgroundTaskEnded.class));
        }
        return Map.copyOf(readers);
    }

    /** What is not nullable has to be there, but for lists, which are empty then. */
    private static final class NullableIntrospector extends JacksonAnnotationIntrospector {
        private static final long serialVersionUID = 1L;

        @Override
        public @Nullable Boolean hasRequiredMarker(AnnotatedMember member) {
            if (member instanceof AnnotatedParameter parameter
                    && member.getDeclaringClass().isRecord()) {
                RecordComponent component = member.getDeclaringClass().getRecordComponents()[parameter.getIndex()];
                return component.getType() != List.class
                        && !component.getAnnotatedType().isAnnotationPresent(Nullable.class);
            }
            return super.hasRequiredMarker(member);
        }
    }

    /** Half of a surrogate pair has no UTF-8 form. */
    private static final class WellFormedSerializer extends StdScalarSerializer<String> {
        private static final long serialVersionUID = 1L;

        WellFormedSerializer() {
            super(String.class);
        }

        @Override
        public void serialize(String text, JsonGenerator json, SerializerProvider provider) throws IOException {
            json.writeString(JsonText.wellFormed(text));
        }
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return this == other || (other instanceof EventContent that && fields().equals(that.fields()));
    }

    @Override
    public int hashCode() {
        return fields().hashCode();
    }

    @Override
    public String toString() {
        return fields().toString();
    }
}
