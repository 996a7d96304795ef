package dev.millrace.schemas;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import io.cloudevents.CloudEvent;
import io.cloudevents.CloudEventData;
import io.cloudevents.kafka.KafkaMessageFactory;
import java.net.URI;
import java.net.URISyntaxException;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.time.DateTimeException;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.Headers;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.jspecify.annotations.Nullable;

/**
 * Events as Kafka records: CloudEvents 1.0, Kafka protocol binding. Writes binary mode; reads binary and structured
 * mode. The record key is {@link Event#sessionKey()}.
 *
 * <p>Reading is lenient where a stranger with a command-line producer leaves something out, and strict where guessing
 * would hide a mistake. In binary mode {@code ce_specversion}, {@code ce_source} and {@code ce_time} may be missing, an
 * empty optional header counts as missing, of a header that comes twice the last one counts, unknown
 * {@code ce_} headers are kept as {@link Extensions}, and a trace context that is none is dropped. The payload is
 * always one JSON object, whatever the content type says; of a type that is in no catalogue, data that is no object is
 * wrapped into one.
 */
public final class EventCodec {

    /** Header of binary mode: the id. */
    public static final String CE_ID = "ce_id";
    /** Header of binary mode: the type, see {@link EventType}. */
    public static final String CE_TYPE = "ce_type";
    /** Header of binary mode: when it happened, RFC 3339. */
    public static final String CE_TIME = "ce_time";
    /** Header of binary mode: who says so, a URI reference. */
    public static final String CE_SOURCE = "ce_source";
    /** Header of binary mode: the task. */
    public static final String CE_SUBJECT = "ce_subject";
    /** Header of binary mode: always 1.0. */
    public static final String CE_SPECVERSION = "ce_specversion";
    /** CloudEvents extension: id of the event that caused this one. */
    public static final String CAUSATION_ID = "causationid";
    /** CloudEvents extension: id of the root event of the chain. */
    public static final String CORRELATION_ID = "correlationid";
    /** CloudEvents extension: overrides the type's code. */
    public static final String PRIORITY = "priority";
    /** CloudEvents extension: how many tasks led to this event, each starting the next. */
    public static final String CAUSAL_DEPTH = "causaldepth";
    /** CloudEvents extension: the conversation. */
    public static final String SESSION_ID = "sessionid";
    /** CloudEvents extension: the tenant. */
    public static final String NAMESPACE = "namespace";
    /** CloudEvents extension: RFC 3339, after this the event is not processed. */
    public static final String EXPIRY_TIME = "expirytime";
    /** W3C trace context: a plain Kafka header when written, also accepted as a CloudEvents extension. */
    public static final String TRACEPARENT = "traceparent";
    /** W3C trace state, like {@link #TRACEPARENT}. */
    public static final String TRACESTATE = "tracestate";

    /** What the headers of binary mode begin with. */
    public static final String CE_PREFIX = "ce_";

    private static final String JSON = "application/json";
    private static final String STRUCTURED = "application/cloudevents+json";
    private static final String CONTENT_TYPE = "content-type";
    private static final String VERSION = "1.0";
    private static final String NO_SOURCE = "unknown";

    /** Sources that are URI references without looking further: paths of one part. */
    private static final Pattern PLAIN_SOURCE = Pattern.compile("[A-Za-z0-9._-]+");

    /** The attributes that an event has a field for, or that say what its data is; all others are its extensions. */
    private static final Set<String> KNOWN = Set.of(
            "id",
            "type",
            "source",
            "specversion",
            "datacontenttype",
            "time",
            "subject",
            CAUSATION_ID,
            CORRELATION_ID,
            PRIORITY,
            CAUSAL_DEPTH,
            SESSION_ID,
            NAMESPACE,
            EXPIRY_TIME,
            TRACEPARENT,
            TRACESTATE);

    private static final Set<String> KNOWN_HEADERS =
            KNOWN.stream().map(CE_PREFIX::concat).collect(Collectors.toUnmodifiableSet());

    /** Where strangers name the conversation in their payload. */
    public static final List<String> SESSION_FIELDS = List.of("sessionId", "threadId");

    /** A name as CloudEvents has them. */
    private static final Pattern ATTRIBUTE = Pattern.compile("[a-z0-9]+");

    /** Version, trace id, parent id and flags; what a later version may append is kept. */
    private static final Pattern TRACE_CONTEXT =
            Pattern.compile("[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}(-.{0,400})?");

    /** As much of a trace state as every tracer has to pass on. */
    private static final int MAX_TRACE_STATE = 512;

    /** How times are written here, with a 0 for any digit. */
    private static final String OWN_TIME = "0000-00-00T00:00:00.000Z";

    private static final int MAX_QUOTED = 200;

    private EventCodec() {}

    /**
     * The event as a record for a topic; partition left to the partitioner, which hashes the key. The record has no
     * timestamp, so that it is dated when it is sent: what the event says of its time is anybody's word, and a date in
     * the past would have the record deleted at once (ADR 0024).
     */
    public static ProducerRecord<String, byte[]> toRecord(String topic, Event event) {
        Headers headers = new RecordHeaders();
        add(headers, CONTENT_TYPE, JSON);
        add(headers, CE_SPECVERSION, VERSION);
        add(headers, CE_ID, event.id());
        add(headers, CE_TYPE, event.type().wireName());
        add(headers, CE_SOURCE, uriReference(event.source()));
        add(headers, CE_TIME, event.timestamp().toString());
        addIfPresent(headers, CE_SUBJECT, event.taskId());
        addIfPresent(headers, CE_PREFIX + SESSION_ID, event.sessionId());
        if (!event.namespace().equals(Event.DEFAULT_NAMESPACE)) {
            add(headers, CE_PREFIX + NAMESPACE, event.namespace());
        }
        addIfPresent(headers, CE_PREFIX + CAUSATION_ID, event.parentEventId());
        if (!event.correlationId().equals(event.id())) {
            add(headers, CE_PREFIX + CORRELATION_ID, event.correlationId());
        }
        addIfPresent(headers, CE_PREFIX + PRIORITY, event.priority());
        if (event.causalDepth() > 0) {
            add(headers, CE_PREFIX + CAUSAL_DEPTH, Integer.toString(event.causalDepth()));
        }
        addIfPresent(headers, CE_PREFIX + EXPIRY_TIME, event.expiry());
        addIfPresent(headers, TRACEPARENT, event.traceparent());
        addIfPresent(headers, TRACESTATE, event.tracestate());
        event.extensions().forEach((name, value) -> add(headers, CE_PREFIX + name, value));
        return new ProducerRecord<>(
                topic, null, null, event.sessionKey(), event.content().json(), headers);
    }

    private static void add(Headers headers, String name, String value) {
        headers.add(name, value.getBytes(StandardCharsets.UTF_8));
    }

    private static void addIfPresent(Headers headers, String name, @Nullable Object value) {
        if (value != null) {
            add(headers, name, value.toString());
        }
    }

    /**
     * Reads a record.
     *
     * @param headers the record's headers
     * @param value the record's value; {@code null} = a tombstone, which is no event
     * @param recordTimestamp the record's timestamp, which counts where the event names no time
     * @throws MalformedEventException if this is no event, saying why; nothing else is thrown, whatever the bytes are
     */
    public static Event fromRecord(Headers headers, byte @Nullable [] value, Instant recordTimestamp)
            throws MalformedEventException {
        if (value == null) {
            throw new MalformedEventException("no_value", "expected a JSON object as the value, found none");
        }
        Map<String, byte @Nullable []> last = lastOfEach(headers);
        String traceparent = text(last, TRACEPARENT);
        String tracestate = text(last, TRACESTATE);
        if (isStructured(last)) {
            return fromStructured(value, recordTimestamp, traceparent, tracestate);
        }
        if (text(last, CE_TYPE) == null) {
            throw new MalformedEventException(
                    "not_a_cloud_event",
                    "expected the header ce_type, or the content-type application/cloudevents+json, found neither");
        }
        Attributes attributes = attributes(last);
        return event(
                new Came(attributes, content(attributes.type(), value, text(last, CONTENT_TYPE)), extensions(last)),
                recordTimestamp,
                traceparent,
                tracestate);
    }

    /**
     * Reads an event in structured mode: one JSON object with the attributes beside {@code data} or
     * {@code data_base64}.
     *
     * @param json the whole object as UTF-8
     * @param defaultTimestamp counts where the event names no time
     * @param traceparent trace context that came beside it; {@code null} = what the event itself carries
     * @param tracestate likewise
     * @throws MalformedEventException if this is no event, saying why; nothing else is thrown, whatever the bytes are
     */
    public static Event fromStructured(
            byte[] json, Instant defaultTimestamp, @Nullable String traceparent, @Nullable String tracestate)
            throws MalformedEventException {
        Map<String, @Nullable Object> whole = Json.readMap(json);
        Object version = whole.get("specversion");
        requireVersion(version == null ? null : version.toString());
        Map<String, String> extensions = new HashMap<>();
        Map<String, @Nullable Object> named = new LinkedHashMap<>();
        for (Map.Entry<String, @Nullable Object> field : whole.entrySet()) {
            String name = field.getKey();
            Object value = field.getValue();
            if (value == null) {
                continue; // the same as if it were not there (CloudEvents JSON format 1.0.2, 2.2)
            }
            boolean simple = value instanceof String || value instanceof Number || value instanceof Boolean;
            boolean attribute = KNOWN.contains(name);
            boolean text = !name.equals("data_base64") || value instanceof String;
            if ((attribute && !simple) || !text) {
                throw new MalformedEventException(
                        "bad_field",
                        name + ": expected " + (text ? "a single value" : "a string") + ", found "
                                + cut(Json.writeText(value)));
            }
            boolean known = attribute || name.equals("data") || name.equals("data_base64");
            if (!known && simple) {
                extensions.put(name, value.toString());
            }
            // the SDK refuses names that CloudEvents has not, and senders have them all the same
            if (known || ATTRIBUTE.matcher(name).matches() || !Extensions.isFit(name, "-")) {
                named.put(name, value);
            }
        }
        CloudEvent cloudEvent = read(
                new RecordHeaders().add(CONTENT_TYPE, STRUCTURED.getBytes(StandardCharsets.UTF_8)),
                named.size() == whole.size() ? json : Json.write(named));
        // The SDK has read the data too, but with floating point numbers and the last of two equal fields.
        EventContent data = whole.get("data") == null
                ? data(cloudEvent)
                : object(cloudEvent.getType(), whole.get("data"), cloudEvent.getDataContentType());
        return event(new Came(attributes(cloudEvent), data, extensions), defaultTimestamp, traceparent, tracestate);
    }

    /**
     * Takes a CloudEvent as an event.
     *
     * @param defaultTimestamp counts where the event names no time
     * @param traceparent trace context that came beside it; {@code null} = what the event itself carries
     * @param tracestate likewise
     * @throws MalformedEventException if its data is no JSON object or a field is out of range
     */
    public static Event fromCloudEvent(
            CloudEvent cloudEvent, Instant defaultTimestamp, @Nullable String traceparent, @Nullable String tracestate)
            throws MalformedEventException {
        Map<String, String> extensions = new HashMap<>();
        for (String name : cloudEvent.getExtensionNames()) {
            if (!KNOWN.contains(name)) {
                extensions.put(name, String.valueOf(cloudEvent.getExtension(name)));
            }
        }
        Came came = new Came(attributes(cloudEvent), data(cloudEvent), extensions);
        return event(came, defaultTimestamp, traceparent, tracestate);
    }

    /**
     * An event as it came.
     *
     * @param extensions what is said beside what an event has a field for; may be added to
     */
    private record Came(Attributes attributes, EventContent data, Map<String, String> extensions) {}

    /** The attributes of a CloudEvent that an event has a field for, as they were written; {@code null} = not there. */
    private record Attributes(
            String id,
            String type,
            String source,
            @Nullable Instant time,
            @Nullable String subject,
            @Nullable String causationId,
            @Nullable String correlationId,
            @Nullable String priority,
            @Nullable String causalDepth,
            @Nullable String sessionId,
            @Nullable String namespace,
            @Nullable String expiryTime,
            @Nullable String traceparent,
            @Nullable String tracestate) {}

    private static Event event(
            Came came, Instant defaultTimestamp, @Nullable String traceparent, @Nullable String tracestate)
            throws MalformedEventException {
        Attributes attributes = came.attributes();
        String parent = traceparent != null ? traceparent : attributes.traceparent();
        String state = tracestate != null ? tracestate : attributes.tracestate();
        boolean traced = parent != null && TRACE_CONTEXT.matcher(parent).matches();
        try {
            EventType type = EventType.of(attributes.type());
            Map<String, String> extensions = came.extensions();
            if (type instanceof KnownEventType && !type.wireName().equals(attributes.type())) {
                extensions.put(Extensions.ALIAS, attributes.type());
            }
            String subject = attributes.subject();
            if (subject != null && type.isOpen() && !Ids.isId(subject)) {
                extensions.put(Extensions.SUBJECT, subject);
                subject = null;
            }
            Map<String, String> kept = Extensions.fitting(extensions);
            Event.Builder builder = Event.root(
                            attributes.id(), type, attributes.time() == null ? defaultTimestamp : attributes.time())
                    .source(attributes.source().equals(NO_SOURCE) ? "" : attributes.source())
                    .taskId(subject)
                    .sessionId(session(attributes.sessionId(), type, subject, kept, came.data()))
                    .parentEventId(attributes.causationId())
                    .priority(whole(PRIORITY, attributes.priority()))
                    .causalDepth(orZero(whole(CAUSAL_DEPTH, attributes.causalDepth())))
                    .expiry(expiry(attributes.expiryTime()))
                    .traceparent(traced ? parent : null)
                    .tracestate(traced && state != null && state.length() <= MAX_TRACE_STATE ? state : null)
                    .extensions(kept)
                    .content(came.data());
            if (attributes.namespace() != null) {
                builder.namespace(attributes.namespace());
            }
            if (attributes.correlationId() != null) {
                builder.correlationId(attributes.correlationId());
            }
            return builder.build();
        } catch (IllegalArgumentException e) {
            throw new MalformedEventException("bad_field", String.valueOf(e.getMessage()));
        }
    }

    /**
     * The conversation. Strangers name it in other places than the header; what is no id in these is passed over.
     *
     * @param named what the header says
     * @param subject of an event that is for a task the header alone counts
     */
    private static @Nullable String session(
            @Nullable String named,
            EventType type,
            @Nullable String subject,
            Map<String, String> extensions,
            EventContent data) {
        boolean begins = type == KnownEventType.MESSAGE_RECEIVED
                || type == KnownEventType.WEBHOOK_TRIGGERED
                || type == KnownEventType.SCHEDULE_FIRED;
        if (named != null || !(type.isOpen() || (begins && subject == null))) {
            return named;
        }
        String triggered = Extensions.find(extensions, Extensions.TRIGGER_SESSION);
        if (triggered != null && Ids.isId(triggered)) {
            return triggered;
        }
        JsonNode payload = data.tree();
        for (String field : SESSION_FIELDS) {
            JsonNode value = payload.path(field);
            if (value.isTextual() && Ids.isId(value.textValue())) {
                return value.textValue();
            }
        }
        return null;
    }

    /** Headers of binary mode that an event has no field for; what is no UTF-8 is passed over. */
    private static Map<String, String> extensions(Map<String, byte @Nullable []> headers) {
        Map<String, String> extensions = new HashMap<>();
        headers.forEach((header, value) -> {
            if (header.startsWith(CE_PREFIX) && value != null && !KNOWN_HEADERS.contains(header)) {
                String text = new String(value, StandardCharsets.UTF_8);
                if (Arrays.equals(text.getBytes(StandardCharsets.UTF_8), value)) {
                    extensions.put(header.substring(CE_PREFIX.length()), text);
                }
            }
        });
        return extensions;
    }

    private static EventContent content(String type, byte[] value, @Nullable String contentType)
            throws MalformedEventException {
        return EventType.isOpen(type) ? EventContent.readAny(value, contentType) : EventContent.read(value);
    }

    private static CloudEvent read(Headers headers, byte[] value) throws MalformedEventException {
        try {
            return KafkaMessageFactory.createReader(headers, value).toEvent();
        } catch (RuntimeException e) {
            throw refused(e);
        }
    }

    /** Bytes from anyone go into a library that documents no complete list of what it throws at them. */
    private static MalformedEventException refused(RuntimeException e) {
        return new MalformedEventException("not_a_cloud_event", "expected a CloudEvent 1.0: " + firstLine(e));
    }

    private static EventContent data(CloudEvent cloudEvent) throws MalformedEventException {
        CloudEventData data = cloudEvent.getData();
        return data == null
                ? EventContent.empty()
                : content(cloudEvent.getType(), data.toBytes(), cloudEvent.getDataContentType());
    }

    @SuppressWarnings("unchecked") // the mapper makes no other maps
    private static EventContent object(String type, @Nullable Object data, @Nullable String contentType)
            throws MalformedEventException {
        if (!(data instanceof Map<?, ?> object)) {
            if (EventType.isOpen(type)) {
                boolean json = contentType == null || contentType.contains("json");
                return objectOf(
                        json
                                ? Collections.singletonMap(EventContent.DATA, data)
                                : Map.of(
                                        EventContent.DATA,
                                        Objects.requireNonNull(data),
                                        "datacontenttype",
                                        contentType));
            }
            throw new MalformedEventException("bad_json", "expected a JSON object as data, found something else");
        }
        return objectOf((Map<String, @Nullable Object>) object);
    }

    private static EventContent objectOf(Map<String, ? extends @Nullable Object> object)
            throws MalformedEventException {
        try {
            return EventContent.of(object);
        } catch (IllegalArgumentException e) {
            throw new MalformedEventException("bad_field", String.valueOf(e.getMessage()));
        }
    }

    /** Those of binary mode, with what a stranger leaves out filled in. */
    private static Attributes attributes(Map<String, byte @Nullable []> headers) throws MalformedEventException {
        String version = text(headers, CE_SPECVERSION);
        if (version != null) {
            requireVersion(version);
        }
        String source = text(headers, CE_SOURCE);
        return new Attributes(
                required(headers, CE_ID),
                required(headers, CE_TYPE),
                uriReference(source == null ? "" : source),
                time(text(headers, CE_TIME)),
                text(headers, CE_SUBJECT),
                text(headers, CE_PREFIX + CAUSATION_ID),
                text(headers, CE_PREFIX + CORRELATION_ID),
                text(headers, CE_PREFIX + PRIORITY),
                text(headers, CE_PREFIX + CAUSAL_DEPTH),
                text(headers, CE_PREFIX + SESSION_ID),
                text(headers, CE_PREFIX + NAMESPACE),
                text(headers, CE_PREFIX + EXPIRY_TIME),
                text(headers, CE_PREFIX + TRACEPARENT),
                text(headers, CE_PREFIX + TRACESTATE));
    }

    private static Attributes attributes(CloudEvent event) {
        return new Attributes(
                event.getId(),
                event.getType(),
                event.getSource().toString(),
                event.getTime() == null ? null : event.getTime().toInstant(),
                event.getSubject(),
                extension(event, CAUSATION_ID),
                extension(event, CORRELATION_ID),
                extension(event, PRIORITY),
                extension(event, CAUSAL_DEPTH),
                extension(event, SESSION_ID),
                extension(event, NAMESPACE),
                extension(event, EXPIRY_TIME),
                extension(event, TRACEPARENT),
                extension(event, TRACESTATE));
    }

    private static @Nullable Instant time(@Nullable String value) throws MalformedEventException {
        try {
            return value == null ? null : instant(value);
        } catch (DateTimeException e) {
            throw new MalformedEventException(
                    "not_a_cloud_event", "time: expected RFC 3339, found \"" + cut(value) + "\"");
        }
    }

    private static void requireVersion(@Nullable String version) throws MalformedEventException {
        if (!VERSION.equals(version)) {
            throw new MalformedEventException(
                    "not_a_cloud_event",
                    "specversion: expected 1.0, found " + (version == null ? "none" : '"' + cut(version) + '"'));
        }
    }

    private static String required(Map<String, byte @Nullable []> headers, String name) throws MalformedEventException {
        String value = text(headers, name);
        if (value == null) {
            throw new MalformedEventException("not_a_cloud_event", "expected the header " + name + ", found none");
        }
        return value;
    }

    private static boolean isStructured(Map<String, byte @Nullable []> headers) throws MalformedEventException {
        String contentType = text(headers, CONTENT_TYPE);
        return contentType != null
                && contentType.strip().toLowerCase(Locale.ROOT).startsWith(STRUCTURED);
    }

    /** Of headers that come twice the last one. */
    private static Map<String, byte @Nullable []> lastOfEach(Headers headers) {
        Map<String, byte @Nullable []> last = new HashMap<>(32);
        for (Header header : headers) {
            last.put(header.key(), header.value());
        }
        return last;
    }

    /** A header as text; {@code null} if there is none or it is empty. */
    private static @Nullable String text(Map<String, byte @Nullable []> headers, String name)
            throws MalformedEventException {
        byte[] value = headers.get(name);
        if (value == null || value.length == 0) {
            return null;
        }
        String text = new String(value, StandardCharsets.UTF_8);
        boolean replaced = text.indexOf('\uFFFD') >= 0;
        if (replaced && !Arrays.equals(text.getBytes(StandardCharsets.UTF_8), value)) {
            throw new MalformedEventException("not_utf8", name + ": expected UTF-8, found other bytes");
        }
        return text;
    }

    private static @Nullable String extension(CloudEvent cloudEvent, String name) {
        Object value = cloudEvent.getExtension(name);
        return value == null ? null : value.toString();
    }

    private static int orZero(@Nullable Integer value) {
        return value == null ? 0 : value;
    }

    private static @Nullable Integer whole(String name, @Nullable String value) {
        if (value == null) {
            return null;
        }
        try {
            return Integer.valueOf(value);
        } catch (NumberFormatException e) {
            throw new IllegalArgumentException(name + ": expected a whole number, found \"" + cut(value) + "\"", e);
        }
    }

    private static @Nullable Instant expiry(@Nullable String value) {
        if (value == null) {
            return null;
        }
        try {
            return instant(value);
        } catch (DateTimeException e) {
            throw new IllegalArgumentException("expirytime: expected RFC 3339, found \"" + cut(value) + "\"", e);
        }
    }

    /**
     * Reads RFC 3339. What Millrace writes itself, in UTC and with milliseconds, is read without a formatter, which
     * would take a quarter of the time that an event takes.
     */
    private static Instant instant(String value) {
        if (!isOwnTime(value)) {
            return OffsetDateTime.parse(value).toInstant();
        }
        return LocalDateTime.of(
                        digits(value, 0, 4),
                        digits(value, 5, 7),
                        digits(value, 8, 10),
                        digits(value, 11, 13),
                        digits(value, 14, 16),
                        digits(value, 17, 19),
                        digits(value, 20, 23) * 1_000_000)
                .toInstant(ZoneOffset.UTC);
    }

    private static boolean isOwnTime(String value) {
        if (value.length() != OWN_TIME.length()) {
            return false;
        }
        for (int i = 0; i < value.length(); i++) {
            char found = value.charAt(i);
            char expected = OWN_TIME.charAt(i);
            if (expected == '0' ? found < '0' || found > '9' : found != expected) {
                return false;
            }
        }
        return true;
    }

    private static int digits(String value, int from, int to) {
        return Integer.parseInt(value, from, to, 10);
    }

    /** A URI reference: what is none is percent-encoded, and left so when read. */
    private static String uriReference(String source) {
        if (source.isEmpty()) {
            return NO_SOURCE;
        }
        try {
            return PLAIN_SOURCE.matcher(source).matches() ? source : new URI(source).toString();
        } catch (URISyntaxException e) {
            return URLEncoder.encode(source, StandardCharsets.UTF_8).replace("+", "%20");
        }
    }

    /** The SDK names the attribute, except where it repeats the JSON reader, or says nothing. */
    private static String firstLine(RuntimeException e) {
        String message =
                e.getCause() instanceof JsonProcessingException json ? json.getOriginalMessage() : e.getMessage();
        return message == null
                ? "found something else"
                : cut(message.lines().findFirst().orElse(""));
    }

    /** For messages: what somebody sent may be of any length. */
    private static String cut(String text) {
        return text.length() <= MAX_QUOTED ? text : text.substring(0, MAX_QUOTED) + "…";
    }
}
