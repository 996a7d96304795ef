package dev.millrace.schemas;

import com.fasterxml.jackson.annotation.JsonCreator;
import java.nio.charset.StandardCharsets;
import java.util.AbstractMap;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A JSON object whose fields nobody prescribes, such as the arguments of a tool, the metadata of a task or the payload
 * of a type that is in no catalogue. What has prescribed fields is a record instead.
 *
 * <p>Immutable all the way down. Values are {@link String}, {@link Boolean}, {@link Integer}, {@link Long},
 * {@link java.math.BigInteger}, {@link java.math.BigDecimal}, {@link java.util.List}, {@link JsonObject} and
 * {@code null}. A number has the kind that it has after a trip through JSON text, so that an object equals itself read
 * back: the narrowest of the three whole ones that holds it, and {@link java.math.BigDecimal} for what has a point or
 * an exponent. A text has no half of a surrogate pair, since that has no UTF-8 form: U+FFFD stands in its place. Fields
 * keep their order, which {@link #equals} leaves out of account, as that of any map.
 */
public final class JsonObject extends AbstractMap<String, @Nullable Object> {

    private static final JsonObject EMPTY = new JsonObject(Map.of());

    private final Map<String, @Nullable Object> fields;

    /** Of what is frozen already, see {@link JsonValues}. */
    JsonObject(Map<String, @Nullable Object> fields) {
        this.fields = Collections.unmodifiableMap(fields);
    }

    /** Without fields. */
    public static JsonObject empty() {
        return EMPTY;
    }

    /**
     * A copy; at no cost if it is one already.
     *
     * @throws IllegalArgumentException if there is anything that is no JSON value, or a number out of range
     */
    @JsonCreator
    public static JsonObject of(Map<?, ? extends @Nullable Object> fields) {
        return JsonValues.frozenObject(fields);
    }

    /**
     * Reads JSON text.
     *
     * @throws MalformedEventException if it is no JSON object, or has a number out of range
     */
    public static JsonObject read(String json) throws MalformedEventException {
        return EventContent.read(json.getBytes(StandardCharsets.UTF_8)).fields();
    }

    /** One to write down field by field. */
    public static Builder builder() {
        return new Builder();
    }

    /** The same; {@code null} of {@code null}. */
    public static @Nullable JsonObject ofNullable(@Nullable Map<?, ? extends @Nullable Object> fields) {
        return fields == null ? null : of(fields);
    }

    /** The same without these fields. */
    public JsonObject without(Set<String> names) {
        Map<String, @Nullable Object> rest = new LinkedHashMap<>(fields);
        rest.keySet().removeAll(names);
        return new JsonObject(rest);
    }

    @Override
    public Set<Entry<String, @Nullable Object>> entrySet() {
        return fields.entrySet();
    }

    @Override
    public @Nullable Object get(@Nullable Object name) {
        return fields.get(name);
    }

    @Override
    public boolean containsKey(@Nullable Object name) {
        return fields.containsKey(name);
    }

    @Override
    public int size() {
        return fields.size();
    }

    /** An object that is being written down. For one thread. */
    public static final class Builder {
        private final Map<String, @Nullable Object> fields = new LinkedHashMap<>();

        private Builder() {}

        /** With this field, which may be {@code null}; it takes the place of another one of that name. */
        public Builder put(String name, @Nullable Object value) {
            fields.put(name, value);
            return this;
        }

        /** With this field, unless it is {@code null}. */
        public Builder putIfPresent(String name, @Nullable Object value) {
            return value == null ? this : put(name, value);
        }

        /** With these fields. */
        public Builder putAll(Map<String, ? extends @Nullable Object> more) {
            fields.putAll(more);
            return this;
        }

        /**
         * The object as it is now.
         *
         * @throws IllegalArgumentException as {@link JsonObject#of} does
         */
        public JsonObject build() {
            return of(fields);
        }
    }
}
