package dev.millrace.schemas;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.StreamReadFeature;
import com.fasterxml.jackson.core.json.JsonWriteFeature;
import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.cfg.JsonNodeFeature;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The one JSON mapper of the contract: strict about duplicates and trailing text, numbers kept as they are. */
public final class Json {

    /** Shared and never reconfigured; safe for any thread. */
    public static final ObjectMapper MAPPER = JsonMapper.builder()
            .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
            .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
            .enable(DeserializationFeature.USE_BIG_DECIMAL_FOR_FLOATS)
            .disable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES)
            .enable(JsonWriteFeature.COMBINE_UNICODE_SURROGATES_IN_UTF8)
            .disable(JsonNodeFeature.STRIP_TRAILING_BIGDECIMAL_ZEROES)
            .build();

    /** The reader's messages may repeat what it read. */
    private static final int MAX_REASON = 200;

    private static final TypeReference<Map<String, @Nullable Object>> OBJECT = new TypeReference<>() {};
    private static final TypeReference<Object> VALUE = new TypeReference<>() {};
    private static final TypeReference<ObjectNode> TREE = new TypeReference<>() {};

    private Json() {}

    /**
     * Reads one JSON object.
     *
     * @throws MalformedEventException with code {@code bad_json} if the bytes are anything else, {@code bad_field} if
     *     there is a number out of range
     */
    public static JsonObject readObject(byte[] bytes) throws MalformedEventException {
        try {
            return JsonValues.frozenObject(readTree(bytes));
        } catch (IllegalArgumentException e) {
            throw new MalformedEventException("bad_field", String.valueOf(e.getMessage()));
        }
    }

    /**
     * Reads one JSON object as it stands there: what no {@link JsonObject} has, such as a number out of range, stays.
     *
     * @throws MalformedEventException with code {@code bad_json} if the bytes are anything else
     */
    public static Map<String, @Nullable Object> readMap(byte[] bytes) throws MalformedEventException {
        return read(bytes, OBJECT);
    }

    /**
     * Reads one JSON object as a tree.
     *
     * @throws MalformedEventException with code {@code bad_json} if the bytes are anything else
     */
    static ObjectNode readTree(byte[] bytes) throws MalformedEventException {
        return read(bytes, TREE);
    }

    /**
     * Reads one JSON value that is not null.
     *
     * @throws MalformedEventException with code {@code bad_json} if the bytes are anything else
     */
    static Object readValue(byte[] bytes) throws MalformedEventException {
        return read(bytes, VALUE);
    }

    private static <T> T read(byte[] bytes, TypeReference<T> type) throws MalformedEventException {
        try {
            T object = MAPPER.readValue(bytes, type);
            if (object == null) {
                throw new MalformedEventException("bad_json", "expected a JSON object, found null");
            }
            return object;
        } catch (JsonProcessingException e) {
            throw new MalformedEventException("bad_json", "expected a JSON object: " + reason(e));
        } catch (IOException | NumberFormatException e) {
            // the latter from numbers with an exponent that no number of Java has
            throw new MalformedEventException("bad_json", "expected a JSON object: " + e.getMessage());
        }
    }

    private static String reason(JsonProcessingException e) {
        String message = e.getOriginalMessage();
        String cut = message.length() <= MAX_REASON ? message : message.substring(0, MAX_REASON) + "…";
        return e.getLocation() == null
                ? cut
                : cut + " (line " + e.getLocation().getLineNr() + ", column "
                        + e.getLocation().getColumnNr() + ")";
    }

    /** Writes JSON values (as in {@link Event#payload}) as UTF-8 bytes. */
    public static byte[] write(@Nullable Object value) {
        try {
            return MAPPER.writeValueAsBytes(value);
        } catch (JsonProcessingException e) {
            throw new IllegalArgumentException("not JSON values: " + e.getOriginalMessage(), e);
        }
    }

    /** Writes JSON values as text. */
    public static String writeText(@Nullable Object value) {
        try {
            return MAPPER.writeValueAsString(value);
        } catch (JsonProcessingException e) {
            throw new IllegalArgumentException("not JSON values: " + e.getOriginalMessage(), e);
        }
    }
}
