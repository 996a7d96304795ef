package dev.millrace.schemas;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * An event as one JSON object with the field names of the contract: what the HTTP API shows and stores that
 * need the whole event in one value keep. On topics an event is a CloudEvent instead, see {@link EventCodec}.
 */
public final class EventJson {

    private static final String PAYLOAD = "payload";
    private static final byte[] BEFORE_PAYLOAD = (",\"" + PAYLOAD + "\":").getBytes(StandardCharsets.US_ASCII);

    private EventJson() {}

    /**
     * Every field; those that are {@code null} on the event are left out, and a causal depth of 0, timestamps are Unix
     * milliseconds.
     */
    public static JsonObject toJson(Event event) {
        return head(event).put(PAYLOAD, event.fields()).build();
    }

    /** The same in UTF-8. A payload that came in UTF-8 is not read for it. */
    public static byte[] write(Event event) {
        byte[] payload = event.content().json();
        if (!isPlain(payload)) {
            return Json.write(toJson(event));
        }
        byte[] head = Json.write(head(event).build());
        return ByteBuffer.allocate(head.length + BEFORE_PAYLOAD.length + payload.length)
                .put(head, 0, head.length - 1) // but for the brace at its end
                .put(BEFORE_PAYLOAD)
                .put(payload)
                .put((byte) '}')
                .array();
    }

    /** Whether an object can stand in another one as it is: not with a mark of its encoding, or in another one. */
    private static boolean isPlain(byte[] json) {
        return json.length >= 2 && json[0] == '{' && json[1] != 0;
    }

    private static JsonObject.Builder head(Event event) {
        return JsonObject.builder()
                .put("id", event.id())
                .put("type", event.type().wireName())
                .put("timestamp", event.timestamp().toEpochMilli())
                .put("source", event.source())
                .putIfPresent("taskId", event.taskId())
                .putIfPresent("sessionId", event.sessionId())
                .put("namespace", event.namespace())
                .put("correlationId", event.correlationId())
                .putIfPresent("parentEventId", event.parentEventId())
                .putIfPresent("priority", event.priority())
                .put("effectivePriority", event.effectivePriority())
                .putIfPresent("causalDepth", event.causalDepth() > 0 ? event.causalDepth() : null)
                .putIfPresent(
                        "expiry", event.expiry() == null ? null : event.expiry().toEpochMilli())
                .putIfPresent("traceparent", event.traceparent())
                .putIfPresent("tracestate", event.tracestate())
                .putIfPresent("extensions", event.extensions().isEmpty() ? null : event.extensions());
    }

    /**
     * Reads what {@link #toJson} wrote.
     *
     * @throws MalformedEventException if a field is missing, of the wrong kind or out of range
     */
    public static Event fromJson(JsonObject json) throws MalformedEventException {
        try {
            Event.Builder builder = Event.root(
                            required(json, "id", String.class),
                            EventType.of(required(json, "type", String.class)),
                            Instant.ofEpochMilli(wholeNumber("timestamp", required(json, "timestamp", Number.class))))
                    .source(required(json, "source", String.class))
                    .taskId(optional(json, "taskId", String.class))
                    .sessionId(optional(json, "sessionId", String.class))
                    .namespace(required(json, "namespace", String.class))
                    .correlationId(required(json, "correlationId", String.class))
                    .parentEventId(optional(json, "parentEventId", String.class))
                    .priority(optional(json, "priority", Integer.class))
                    .traceparent(optional(json, "traceparent", String.class))
                    .tracestate(optional(json, "tracestate", String.class));
            Integer causalDepth = optional(json, "causalDepth", Integer.class);
            builder.causalDepth(causalDepth == null ? 0 : causalDepth);
            Number expiry = optional(json, "expiry", Number.class);
            if (expiry != null) {
                builder.expiry(Instant.ofEpochMilli(wholeNumber("expiry", expiry)));
            }
            builder.extensions(texts("extensions", optional(json, "extensions", Map.class)));
            return builder.payload(required(json, PAYLOAD, JsonObject.class)).build();
        } catch (IllegalArgumentException e) {
            throw new MalformedEventException("bad_field", String.valueOf(e.getMessage()));
        }
    }

    private static Map<String, String> texts(String name, @Nullable Map<?, ?> object) {
        Map<String, String> texts = new LinkedHashMap<>();
        if (object != null) {
            object.forEach((key, value) -> {
                if (!(value instanceof String text)) {
                    throw new IllegalArgumentException(name + ": " + key + ": expected a text, found something else");
                }
                texts.put(String.valueOf(key), text);
            });
        }
        return texts;
    }

    private static long wholeNumber(String name, Number value) {
        if (value instanceof Integer || value instanceof Long) {
            return value.longValue();
        }
        throw new IllegalArgumentException(name + ": expected a whole number of 64 bits, found " + value);
    }

    private static <T> T required(JsonObject json, String name, Class<T> kind) {
        T value = optional(json, name, kind);
        if (value == null) {
            throw new IllegalArgumentException(name + ": expected a value, found none");
        }
        return value;
    }

    private static <T> @Nullable T optional(JsonObject json, String name, Class<T> kind) {
        Object value = json.get(name);
        if (value == null) {
            return null;
        }
        if (!kind.isInstance(value)) {
            throw new IllegalArgumentException(name + ": expected " + kind.getSimpleName() + ", found "
                    + value.getClass().getSimpleName());
        }
        return kind.cast(value);
    }
}
