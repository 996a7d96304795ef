package dev.millrace.tool.api;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * An event as a processor is given it.
 *
 * @param fields all of it, by the names of the contract, such as {@code correlationId}; JSON values
 */
public record IncomingEvent(Map<String, @Nullable Object> fields) {

    /** Its id, unique in its namespace. */
    public String id() {
        return text("id").orElse("");
    }

    /** Its type, such as {@code MESSAGE_RECEIVED}. */
    public String type() {
        return text("type").orElse("");
    }

    /** Who has sent it, as the sender says. */
    public String source() {
        return text("source").orElse("");
    }

    /** The conversation that it is of. */
    public Optional<String> sessionId() {
        return text("sessionId");
    }

    /** The task that it names. */
    public Optional<String> taskId() {
        return text("taskId");
    }

    /** The tenant. */
    public String namespace() {
        return text("namespace").orElse("default");
    }

    /** What happened: JSON values by field. */
    public Map<String, @Nullable Object> payload() {
        return object("payload", fields);
    }

    /** What the sender wants to find again; empty if it said nothing. */
    public Map<String, @Nullable Object> metadata() {
        return object("metadata", payload());
    }

    private Optional<String> text(String name) {
        return fields.get(name) instanceof String text ? Optional.of(text) : Optional.empty();
    }

    private static Map<String, @Nullable Object> object(String name, Map<String, @Nullable Object> of) {
        if (!(of.get(name) instanceof Map<?, ?> object)) {
            return Map.of();
        }
        Map<String, @Nullable Object> copy = new LinkedHashMap<>();
        object.forEach((key, value) -> copy.put(String.valueOf(key), value));
        return copy;
    }
}
