package dev.millrace.schemas;

import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * One immutable fact, or a request for one. What it says is in the payload; who and why is in the fields.
 *
 * <p>The payload is a JSON object: a record for types of the catalogue, Java values for everybody else. Nothing that is
 * reachable from an event can change.
 *
 * <p>Ids and the namespace have 1 to {@value Ids#MAX_LENGTH} characters and no control characters, since they travel as
 * headers, stand in logs and are keys of stores.
 *
 * @param id unique within its namespace; the idempotency key
 * @param type what kind of event this is
 * @param timestamp when it happened, in whole milliseconds, from 1970 to 9999
 * @param source who says so, such as {@code user} or {@code tools.executor}; may be empty, at most {@value
 *     #MAX_SOURCE_LENGTH} characters
 * @param taskId the task that it belongs to; {@code null} = not yet assigned
 * @param sessionId the conversation; {@code null} = the task is a conversation of its own
 * @param namespace the tenant, without a slash; {@value #DEFAULT_NAMESPACE} if none was given
 * @param correlationId id of the root event of the chain; an event's own id on a root
 * @param parentEventId id of the event that caused this one; {@code null} only on a root
 * @param priority overrides the type's code, 0 or more, lower goes first; {@code null} = the type's code. What is below
 *     {@link #lowestPriority} counts as that
 * @param causalDepth how many tasks led to this event, each starting the next; 0 = it was caused by no task, or by one
 *     that nothing but people started. An event that a task causes has the task's own depth, one more if it starts
 *     another task
 * @param expiry after this moment the event is recorded as expired and not processed; {@code null} = never
 * @param traceparent W3C trace context; {@code null} = not traced
 * @param tracestate W3C trace state; {@code null} = none
 * @param extensions what the sender says beside that, by name, see {@link Extensions}; sorted, may be empty
 * @param content what happened, see {@link #payload} and {@link #fields}
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
        int causalDepth,
        @Nullable Instant expiry,
        @Nullable String traceparent,
        @Nullable String tracestate,
        Map<String, String> extensions,
        EventContent content) {

    /** The namespace of events that name none. */
    public static final String DEFAULT_NAMESPACE = "default";

    /** The longest source, in characters. */
    public static final int MAX_SOURCE_LENGTH = 2048;

    /** Kafka takes no timestamp before this. */
    private static final Instant EARLIEST = Instant.EPOCH;
    /** RFC 3339, and so a CloudEvent, has no year after 9999. */
    private static final Instant END_OF_TIME =
            Instant.parse("9999-12-31T23:59:59.999Z").plusMillis(1);

    public Event {
        Ids.require("id", id);
        requireIdIfPresent("taskId", taskId);
        requireIdIfPresent("sessionId", sessionId);
        Ids.require("namespace", namespace);
        if (namespace.indexOf('/') >= 0) {
            throw new IllegalArgumentException("namespace: expected no '/', found " + namespace);
        }
        Ids.require("correlationId", correlationId);
        requireIdIfPresent("parentEventId", parentEventId);
        if (source.length() > MAX_SOURCE_LENGTH) {
            throw new IllegalArgumentException(
                    "source: expected at most " + MAX_SOURCE_LENGTH + " characters, found " + source.length());
        }
        Ids.requirePrintable("source", source);
        if (priority != null && priority < 0) {
            throw new IllegalArgumentException("priority: expected 0 or more, found " + priority);
        }
        if (causalDepth < 0) {
            throw new IllegalArgumentException("causalDepth: expected 0 or more, found " + causalDepth);
        }
        timestamp = wholeMilliseconds("timestamp", timestamp);
        expiry = expiry == null ? null : wholeMilliseconds("expiry", expiry);
        extensions = Extensions.checked(extensions);
        content.requireOf(type);
    }

    /**
     * The number that decides who goes first: the event's own priority, else its type's code; lower = earlier. Never
     * below {@link #lowestPriority}.
     */
    public int effectivePriority() {
        return priority == null ? type.code() : Math.max(priority, lowestPriority(type));
    }

    /**
     * How early an event of this type may go, whatever priority it names. What is below 100 is for the system's own
     * types, so that a cancel stands behind nobody's task.
     */
    public static int lowestPriority(EventType type) {
        return type.segment() == Segment.SYSTEM ? Segment.SYSTEM.firstCode() : Segment.EXTERNAL.firstCode();
    }

    /** The lane that the event belongs on: the segment of its effective priority. */
    public Segment lane() {
        return Segment.ofCode(effectivePriority());
    }

    /**
     * The record key, and so the partition: everything of one conversation has the same. It is the session id, else the
     * task id, else the event's own id (which becomes the task's id if the event starts one), {@link #qualified} by the
     * namespace.
     */
    public String sessionKey() {
        String own = sessionId != null ? sessionId : taskId != null ? taskId : id;
        return qualified(namespace, own);
    }

    /**
     * The name of something inside a namespace that is unique across namespaces: {@code namespace/id}, and just the id
     * in the default namespace. An id of the default namespace that has a slash itself is written out in full, since it
     * would otherwise be taken for something in another namespace.
     */
    public static String qualified(String namespace, String id) {
        return namespace.equals(DEFAULT_NAMESPACE) && id.indexOf('/') < 0 ? id : namespace + '/' + id;
    }

    /** The namespace of a {@link #qualified} name. */
    public static String namespaceOf(String qualified) {
        int slash = qualified.indexOf('/');
        return slash < 0 ? DEFAULT_NAMESPACE : qualified.substring(0, slash);
    }

    /** What happened: of a type of the catalogue as its record, and else {@link Payload.Unknown}. */
    public Payload payload() {
        return content.payload(type);
    }

    /**
     * What happened as JSON, with every field that the sender wrote: {@link String}, {@link Boolean}, {@link Number},
     * {@link List}, {@link Map} and {@code null}. Cannot be changed. Numbers come out as they would from JSON text,
     * whatever class they had: whole ones as {@link Integer}, {@link Long} or {@link java.math.BigInteger}, the
     * smallest that will do, all others as {@link java.math.BigDecimal}. So read them through {@link Number}, never by
     * a cast to one of these.
     */
    public JsonObject fields() {
        return content.fields();
    }

    /** A payload field as text, or {@code null} if it is absent or not a text. */
    public @Nullable String text(String field) {
        return fields().get(field) instanceof String text ? text : null;
    }

    /** Starts a root event: no parent, correlation to itself, default namespace. */
    public static Builder root(String id, EventType type, Instant timestamp) {
        return new Builder(id, type, timestamp);
    }

    /**
     * Starts an event that this one causes: it inherits task, source, session, namespace, correlation,
     * causal depth and trace; not payload, priority, expiry or extensions. Its id follows from this event's id, the
     * type and the ordinal.
     */
    public Builder derive(EventType derivedType, int ordinal, Instant derivedTimestamp) {
        return derive(Ids.derived(id, derivedType, ordinal), derivedType, derivedTimestamp);
    }

    /** Starts an event that this one causes, as above, with an id that the caller has derived itself. */
    public Builder derive(String derivedId, EventType derivedType, Instant derivedTimestamp) {
        Builder builder = new Builder(derivedId, derivedType, derivedTimestamp);
        builder.parentEventId = id;
        builder.correlationId = correlationId;
        builder.taskId = taskId;
        builder.source = source;
        builder.sessionId = sessionId;
        builder.namespace = namespace;
        builder.causalDepth = causalDepth;
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

    /**
     * The same event of no task: what it named as one is something of the sender's, and is kept as {@link
     * Extensions#SUBJECT} as far as there is room.
     */
    public Event withForeignSubject() {
        Builder builder = toBuilder().taskId(null);
        if (taskId != null) {
            Map<String, String> more = new TreeMap<>(extensions);
            more.put(Extensions.SUBJECT, taskId);
            builder.extensions(Extensions.fitting(more));
        }
        return builder.build();
    }

    /**
     * The same event with an id that follows from its own and its source: two sources may use one id. That one is kept
     * as {@link Extensions#ORIGINAL_ID} as far as there is room.
     */
    public Event withIdOfItsSource() {
        String own = Ids.hash(id + '\n' + source).substring(0, 32);
        Map<String, String> more = new TreeMap<>(extensions);
        more.put(Extensions.ORIGINAL_ID, id);
        return new Event(
                own,
                type,
                timestamp,
                source,
                taskId,
                sessionId,
                namespace,
                correlationId.equals(id) ? own : correlationId,
                parentEventId,
                priority,
                causalDepth,
                expiry,
                traceparent,
                tracestate,
                Extensions.fitting(more),
                content);
    }

    /**
     * The same event with this said of it beside the fields, in place of whatever was said under that name; another one
     * makes room for it if there is none.
     *
     * @param value {@code null} = nothing is
     */
    public Event with(String extension, @Nullable String value) {
        TreeMap<String, String> more = new TreeMap<>(extensions);
        more.remove(extension);
        if (value != null) {
            int room = Extensions.MAX_CHARS - extension.length() - value.length();
            while (!more.isEmpty() && (more.size() >= Extensions.MAX_COUNT || Extensions.chars(more) > room)) {
                more.remove(more.lastKey());
            }
            more.put(extension, value);
        }
        return toBuilder().extensions(more).build();
    }

    /** What the sender says beside the fields under this name, see {@link Extensions#find}; {@code null} = nothing. */
    public @Nullable String extension(String name) {
        return Extensions.find(extensions, name);
    }

    /** The type as the sender wrote it: its name, or an alias of it. */
    public String typeAsSent() {
        String alias = extensions.get(Extensions.ALIAS);
        return alias != null && EventType.of(alias).equals(type) ? alias : type.wireName();
    }

    /** The same event with another time; everything else, the id included, stays. */
    public Event at(Instant time) {
        return new Event(
                id,
                type,
                time,
                source,
                taskId,
                sessionId,
                namespace,
                correlationId,
                parentEventId,
                priority,
                causalDepth,
                expiry,
                traceparent,
                tracestate,
                extensions,
                content);
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
        builder.causalDepth = causalDepth;
        builder.expiry = expiry;
        builder.traceparent = traceparent;
        builder.tracestate = tracestate;
        builder.extensions = extensions;
        builder.content = content;
        return builder;
    }

    private static void requireIdIfPresent(String field, @Nullable String value) {
        if (value != null) {
            Ids.require(field, value);
        }
    }

    private static Instant wholeMilliseconds(String field, Instant value) {
        if (value.isBefore(EARLIEST) || !value.isBefore(END_OF_TIME)) {
            throw new IllegalArgumentException(
                    field + ": expected a time from " + EARLIEST + " to the year 9999, found " + value);
        }
        return Instant.ofEpochMilli(value.toEpochMilli());
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
        private int causalDepth;
        private @Nullable Instant expiry;
        private @Nullable String traceparent;
        private @Nullable String tracestate;
        private Map<String, String> extensions = Map.of();
        private @Nullable EventContent content;

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

        public Builder causalDepth(int value) {
            causalDepth = value;
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

        /** All of what the sender says beside the fields, see {@link Extensions}. */
        public Builder extensions(Map<String, String> value) {
            extensions = value;
            return this;
        }

        /** One thing more that is said beside the fields. */
        public Builder extension(String name, String value) {
            Map<String, String> more = new TreeMap<>(extensions);
            more.put(name, value);
            extensions = more;
            return this;
        }

        /** What happened; the record has to be that of the type. */
        public Builder payload(Payload value) {
            return content(EventContent.of(value));
        }

        /**
         * What happened, as JSON values, which are copied all the way down.
         *
         * @throws IllegalArgumentException if there is anything that is no JSON value, or a number out of range
         */
        public Builder payload(Map<String, ? extends @Nullable Object> value) {
            return content(EventContent.of(value));
        }

        Builder content(EventContent value) {
            content = value;
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
                    causalDepth,
                    expiry,
                    traceparent,
                    tracestate,
                    extensions,
                    content == null ? EventContent.empty() : content);
        }
    }
}
