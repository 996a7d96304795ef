package dev.millrace.schemas;

import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * One immutable fact, or a request for one (SPEC A.1). What it says is in the payload; who and why is in the fields.
 *
 * <p>The payload is a JSON object as Java values: {@link String}, {@link Boolean}, {@link Number}, {@link List}, {@link
 * Map} and {@code null}. It is copied all the way down on creation, so nothing that is reachable from an event can change
 * (F-010, F-011).
 *
 * @param id unique within its namespace; the idempotency key. 1 to {@value Ids#MAX_LENGTH} characters
 * @param type what kind of event this is
 * @param timestamp when it happened, in whole milliseconds
 * @param source who says so, such as {@code user} or {@code tools.executor}; may be empty
 * @param taskId the task that it belongs to; {@code null} = not yet assigned
 * @param sessionId the conversation; {@code null} = the task is a conversation of its own
 * @param namespace the tenant; {@value #DEFAULT_NAMESPACE} if none was given
 * @param correlationId id of the root event of the chain; an event's own id on a root
 * @param parentEventId id of the event that caused this one; {@code null} only on a root
 * @param priority overrides the type's code, 0 or more, lower goes first; {@code null} = the type's code
 * @param expiry after this moment the event is recorded as expired and not processed; {@code null} = never
 * @param traceparent W3C trace context; {@code null} = not traced
 * @param tracestate W3C trace state; {@code null} = none
 * @param payload what happened
 */
public record Event(
        String id,
        EventType type,
        Instant timestamp,
        String source,
        @Nullable String taskId,
        @Nullable String sessionId,
        String namespace,
        String correlationId,
        @Nullable String parentEventId,
        @Nullable Integer priority,
        @Nullable Instant expiry,
        @Nullable String traceparent,
        @Nullable String tracestate,
        Map<String, @Nullable Object> payload) {

    /** The namespace of events that name none. */
    public static final String DEFAULT_NAMESPACE = "default";

    public Event {
        requireId("id", id);
        if (taskId != null) {
            requireId("taskId", taskId);
        }
        if (sessionId != null) {
            requireId("sessionId", sessionId);
        }
        requireId("namespace", namespace);
        if (namespace.indexOf('/') >= 0) {
            throw new IllegalArgumentException("namespace: expected no '/', found " + namespace);
        }
        if (priority != null && priority < 0) {
            throw new IllegalArgumentException("priority: expected 0 or more, found " + priority);
        }
        timestamp = Instant.ofEpochMilli(timestamp.toEpochMilli());
        payload = frozenObject(payload);
    }

    /** The number that decides who goes first: the event's own priority, else its type's code; lower = earlier (F-013). */
    public int effectivePriority() {
        return priority == null ? type.code() : priority;
    }

    /** The lane that the event belongs on: the segment of its effective priority. */
    public Segment lane() {
        return Segment.ofCode(effectivePriority());
    }

    /**
     * The record key, and so the partition: everything of one conversation has the same. It is the session id, else the
     * task id, else the event's own id (which becomes the task's id if the event starts one); in a namespace other than
     * the default one it is prefixed with {@code namespace/}.
     */
    public String sessionKey() {
        String own = sessionId != null ? sessionId : taskId != null ? taskId : id;
        return qualified(namespace, own);
    }

    /** The name of something inside a namespace that is unique across namespaces. */
    public static String qualified(String namespace, String id) {
        return namespace.equals(DEFAULT_NAMESPACE) ? id : namespace + '/' + id;
    }

    /** A payload field as text, or {@code null} if it is absent or not a text. */
    public @Nullable String text(String field) {
        return payload.get(field) instanceof String text ? text : null;
    }

    /** Starts a root event: no parent, correlation to itself, default namespace. */
    public static Builder root(String id, EventType type, Instant timestamp) {
        return new Builder(id, type, timestamp);
    }

    /**
     * Starts an event that this one causes (F-014, F-015): it inherits task, source, session, namespace, correlation and
     * trace; not payload, priority or expiry. Its id follows from this event's id, the type and the ordinal.
     */
    public Builder derive(EventType derivedType, int ordinal, Instant derivedTimestamp) {
        Builder builder = new Builder(Ids.derived(id, derivedType, ordinal), derivedType, derivedTimestamp);
        builder.parentEventId = id;
        builder.correlationId = correlationId;
        builder.taskId = taskId;
        builder.source = source;
        builder.sessionId = sessionId;
        builder.namespace = namespace;
        builder.traceparent = traceparent;
        builder.tracestate = tracestate;
        return builder;
    }

    /** The same event with another task; everything else, the id included, stays. */
    public Event withTaskId(String newTaskId) {
        Builder builder = toBuilder();
        builder.taskId = newTaskId;
        return builder.build();
    }

    /** A builder that holds every field of this event. */
    public Builder toBuilder() {
        Builder builder = new Builder(id, type, timestamp);
        builder.source = source;
        builder.taskId = taskId;
        builder.sessionId = sessionId;
        builder.namespace = namespace;
        builder.correlationId = correlationId;
        builder.parentEventId = parentEventId;
        builder.priority = priority;
        builder.expiry = expiry;
        builder.traceparent = traceparent;
        builder.tracestate = tracestate;
        builder.payload = payload;
        return builder;
    }

    private static void requireId(String field, String value) {
        if (value.isBlank() || value.length() > Ids.MAX_LENGTH) {
            throw new IllegalArgumentException(field + ": expected 1 to " + Ids.MAX_LENGTH
                    + " characters that are not all blank, found " + value.length());
        }
    }

    private static Map<String, @Nullable Object> frozenObject(Map<String, @Nullable Object> object) {
        if (object instanceof FrozenObject) {
            return object;
        }
        Map<String, @Nullable Object> copy = new LinkedHashMap<>(object.size() * 2);
        object.forEach((name, value) -> copy.put(name, frozen(value)));
        return new FrozenObject(copy);
    }

    private static @Nullable Object frozen(@Nullable Object value) {
        return switch (value) {
            case null -> null;
            case FrozenObject object -> object;
            case Map<?, ?> object -> {
                Map<String, @Nullable Object> copy = new LinkedHashMap<>(object.size() * 2);
                object.forEach((name, inner) -> copy.put(String.valueOf(name), frozen(inner)));
                yield new FrozenObject(copy);
            }
            case List<?> list -> {
                List<@Nullable Object> copy = new ArrayList<>(list.size());
                list.forEach(inner -> copy.add(frozen(inner)));
                yield Collections.unmodifiableList(copy);
            }
            case String text -> text;
            case Boolean flag -> flag;
            case Integer number -> number;
            case Long number -> number;
            case Number number -> number;
            default ->
                throw new IllegalArgumentException("payload: expected JSON values, found a "
                        + value.getClass().getName());
        };
    }

    /** An unmodifiable map that is known to be frozen all the way down, so that it is not copied again. */
    private static final class FrozenObject extends java.util.AbstractMap<String, @Nullable Object> {
        private final Map<String, @Nullable Object> values;

        FrozenObject(Map<String, @Nullable Object> values) {
            this.values = Collections.unmodifiableMap(values);
        }

        @Override
        public java.util.Set<Entry<String, @Nullable Object>> entrySet() {
            return values.entrySet();
        }

        @Override
        public @Nullable Object get(@Nullable Object key) {
            return values.get(key);
        }

        @Override
        public boolean containsKey(@Nullable Object key) {
            return values.containsKey(key);
        }
    }

    /** Collects the fields of an event. Not for more than one thread. */
    public static final class Builder {
        private final String id;
        private final EventType type;
        private final Instant timestamp;
        private String source = "";
        private @Nullable String taskId;
        private @Nullable String sessionId;
        private String namespace = DEFAULT_NAMESPACE;
        private String correlationId;
        private @Nullable String parentEventId;
        private @Nullable Integer priority;
        private @Nullable Instant expiry;
        private @Nullable String traceparent;
        private @Nullable String tracestate;
        private Map<String, @Nullable Object> payload = Map.of();

        private Builder(String id, EventType type, Instant timestamp) {
            this.id = id;
            this.type = type;
            this.timestamp = timestamp;
            this.correlationId = id;
        }

        public Builder source(String value) {
            source = value;
            return this;
        }

        public Builder taskId(@Nullable String value) {
            taskId = value;
            return this;
        }

        public Builder sessionId(@Nullable String value) {
            sessionId = value;
            return this;
        }

        public Builder namespace(String value) {
            namespace = value;
            return this;
        }

        public Builder correlationId(String value) {
            correlationId = value;
            return this;
        }

        public Builder parentEventId(@Nullable String value) {
            parentEventId = value;
            return this;
        }

        public Builder priority(@Nullable Integer value) {
            priority = value;
            return this;
        }

        public Builder expiry(@Nullable Instant value) {
            expiry = value;
            return this;
        }

        public Builder traceparent(@Nullable String value) {
            traceparent = value;
            return this;
        }

        public Builder tracestate(@Nullable String value) {
            tracestate = value;
            return this;
        }

        public Builder payload(Map<String, @Nullable Object> value) {
            payload = value;
            return this;
        }

        /**
         * The event.
         *
         * @throws IllegalArgumentException if a field is out of its range, naming the field, what is expected and found
         */
        public Event build() {
            return new Event(
                    id,
                    type,
                    timestamp,
                    source,
                    taskId,
                    sessionId,
                    namespace,
                    correlationId,
                    parentEventId,
                    priority,
                    expiry,
                    traceparent,
                    tracestate,
                    payload);
        }
    }
}
