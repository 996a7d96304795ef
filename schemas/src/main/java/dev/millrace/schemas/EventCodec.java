package dev.millrace.schemas;

import io.cloudevents.CloudEvent;
import io.cloudevents.CloudEventData;
import io.cloudevents.SpecVersion;
import io.cloudevents.core.builder.CloudEventBuilder;
import io.cloudevents.core.data.BytesCloudEventData;
import io.cloudevents.kafka.KafkaMessageFactory;
import io.cloudevents.rw.CloudEventRWException;
import java.net.URI;
import java.net.URISyntaxException;
import java.nio.charset.StandardCharsets;
import java.time.DateTimeException;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.util.Map;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.Headers;
import org.jspecify.annotations.Nullable;

/**
 * Events as Kafka records: CloudEvents 1.0, Kafka protocol binding. Writes binary mode; reads binary and structured mode
 * (DESIGN §3). The record key is {@link Event#sessionKey()}, the record timestamp is the event's.
 */
public final class EventCodec {

    /** CloudEvents extension: id of the event that caused this one. */
    public static final String CAUSATION_ID = "causationid";
    /** CloudEvents extension: id of the root event of the chain. */
    public static final String CORRELATION_ID = "correlationid";
    /** CloudEvents extension: overrides the type's code. */
    public static final String PRIORITY = "priority";
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

    private static final String JSON = "application/json";
    private static final URI NO_SOURCE = URI.create("unknown");

    private EventCodec() {}

    /** The event as a record for a topic; partition left to the partitioner, which hashes the key. */
    public static ProducerRecord<String, byte[]> toRecord(String topic, Event event) {
        ProducerRecord<String, byte[]> bare = KafkaMessageFactory.<String>createWriter(
                        topic, null, event.timestamp().toEpochMilli(), event.sessionKey())
                .writeBinary(toCloudEvent(event));
        addTrace(event, bare.headers());
        return bare;
    }

    /** The event as a CloudEvent, with everything but the trace context, which travels beside it. */
    public static CloudEvent toCloudEvent(Event event) {
        CloudEventBuilder builder = CloudEventBuilder.v1()
                .withId(event.id())
                .withType(event.type().wireName())
                .withSource(sourceUri(event.source()))
                .withTime(event.timestamp().atOffset(ZoneOffset.UTC))
                .withData(JSON, BytesCloudEventData.wrap(Json.write(event.payload())));
        if (event.taskId() != null) {
            builder.withSubject(event.taskId());
        }
        if (event.sessionId() != null) {
            builder.withExtension(SESSION_ID, event.sessionId());
        }
        if (!event.namespace().equals(Event.DEFAULT_NAMESPACE)) {
            builder.withExtension(NAMESPACE, event.namespace());
        }
        if (event.parentEventId() != null) {
            builder.withExtension(CAUSATION_ID, event.parentEventId());
        }
        if (!event.correlationId().equals(event.id())) {
            builder.withExtension(CORRELATION_ID, event.correlationId());
        }
        if (event.priority() != null) {
            builder.withExtension(PRIORITY, event.priority().toString());
        }
        if (event.expiry() != null) {
            builder.withExtension(EXPIRY_TIME, event.expiry().toString());
        }
        return builder.build();
    }

    /**
     * Reads a record. A producer need not set more than an id, a type and a payload: {@code ce_specversion} and {@code
     * ce_source} may be absent, and a missing {@code ce_time} is the record's own timestamp.
     *
     * @param headers the record's headers
     * @param value the record's value; {@code null} = a tombstone, which is no event
     * @param recordTimestamp the record's timestamp
     * @throws MalformedEventException if this is no event, saying why
     */
    public static Event fromRecord(Headers headers, byte @Nullable [] value, Instant recordTimestamp)
            throws MalformedEventException {
        if (value == null) {
            throw new MalformedEventException("no_value", "expected a JSON object as the value, found none");
        }
        Headers readable = headers;
        if (headers.lastHeader("ce_type") != null) {
            readable = lenient(headers);
        } else if (!isStructured(headers)) {
            throw new MalformedEventException(
                    "not_a_cloud_event",
                    "expected the header ce_type, or the content-type application/cloudevents+json, found neither");
        }
        try {
            CloudEvent cloudEvent =
                    KafkaMessageFactory.createReader(readable, value).toEvent();
            return fromCloudEvent(cloudEvent, recordTimestamp, text(headers, TRACEPARENT), text(headers, TRACESTATE));
        } catch (CloudEventRWException | IllegalStateException | DateTimeException e) {
            throw new MalformedEventException("not_a_cloud_event", "expected a CloudEvent 1.0: " + rootMessage(e));
        }
    }

    /**
     * Takes a CloudEvent as an event.
     *
     * @param traceparent trace context that came beside it; {@code null} = what the event itself carries
     * @throws MalformedEventException if its data is no JSON object or a field is out of range
     */
    public static Event fromCloudEvent(
            CloudEvent cloudEvent, Instant defaultTimestamp, @Nullable String traceparent, @Nullable String tracestate)
            throws MalformedEventException {
        CloudEventData data = cloudEvent.getData();
        Map<String, @Nullable Object> payload =
                data == null ? Map.<String, @Nullable Object>of() : Json.readObject(data.toBytes());
        OffsetDateTime time = cloudEvent.getTime();
        try {
            Event.Builder builder = Event.root(
                            cloudEvent.getId(),
                            EventType.of(cloudEvent.getType()),
                            time == null ? defaultTimestamp : time.toInstant())
                    .source(
                            NO_SOURCE.equals(cloudEvent.getSource())
                                    ? ""
                                    : cloudEvent.getSource().toString())
                    .taskId(cloudEvent.getSubject())
                    .sessionId(extension(cloudEvent, SESSION_ID))
                    .parentEventId(extension(cloudEvent, CAUSATION_ID))
                    .priority(priority(extension(cloudEvent, PRIORITY)))
                    .expiry(expiry(extension(cloudEvent, EXPIRY_TIME)))
                    .traceparent(traceparent != null ? traceparent : extension(cloudEvent, TRACEPARENT))
                    .tracestate(tracestate != null ? tracestate : extension(cloudEvent, TRACESTATE))
                    .payload(payload);
            String namespace = extension(cloudEvent, NAMESPACE);
            if (namespace != null) {
                builder.namespace(namespace);
            }
            String correlationId = extension(cloudEvent, CORRELATION_ID);
            if (correlationId != null) {
                builder.correlationId(correlationId);
            }
            return builder.build();
        } catch (IllegalArgumentException | ArithmeticException e) {
            throw new MalformedEventException("bad_field", String.valueOf(e.getMessage()));
        }
    }

    private static void addTrace(Event event, Headers headers) {
        if (event.traceparent() != null) {
            headers.add(TRACEPARENT, event.traceparent().getBytes(StandardCharsets.UTF_8));
        }
        if (event.tracestate() != null) {
            headers.add(TRACESTATE, event.tracestate().getBytes(StandardCharsets.UTF_8));
        }
    }

    /** Fills in what a stranger with kcat leaves out. */
    private static Headers lenient(Headers headers) {
        boolean complete = headers.lastHeader("ce_specversion") != null && headers.lastHeader("ce_source") != null;
        if (complete) {
            return headers;
        }
        Headers filled = new org.apache.kafka.common.header.internals.RecordHeaders(headers.toArray());
        if (filled.lastHeader("ce_specversion") == null) {
            filled.add("ce_specversion", SpecVersion.V1.toString().getBytes(StandardCharsets.UTF_8));
        }
        if (filled.lastHeader("ce_source") == null) {
            filled.add("ce_source", NO_SOURCE.toString().getBytes(StandardCharsets.UTF_8));
        }
        return filled;
    }

    private static boolean isStructured(Headers headers) {
        String contentType = text(headers, "content-type");
        return contentType != null && contentType.startsWith("application/cloudevents+json");
    }

    private static @Nullable String text(Headers headers, String name) {
        Header header = headers.lastHeader(name);
        return header == null || header.value() == null ? null : new String(header.value(), StandardCharsets.UTF_8);
    }

    private static @Nullable String extension(CloudEvent cloudEvent, String name) {
        Object value = cloudEvent.getExtension(name);
        return value == null ? null : value.toString();
    }

    private static @Nullable Integer priority(@Nullable String value) {
        if (value == null) {
            return null;
        }
        try {
            return Integer.valueOf(value);
        } catch (NumberFormatException e) {
            throw new IllegalArgumentException("priority: expected a whole number, found \"" + value + "\"", e);
        }
    }

    private static @Nullable Instant expiry(@Nullable String value) {
        if (value == null) {
            return null;
        }
        try {
            return OffsetDateTime.parse(value).toInstant();
        } catch (DateTimeException e) {
            throw new IllegalArgumentException("expirytime: expected RFC 3339, found \"" + value + "\"", e);
        }
    }

    private static URI sourceUri(String source) {
        if (source.isEmpty()) {
            return NO_SOURCE;
        }
        try {
            return new URI(source);
        } catch (URISyntaxException e) {
            return URI.create(java.net.URLEncoder.encode(source, StandardCharsets.UTF_8));
        }
    }

    private static String rootMessage(Throwable e) {
        Throwable cause = e;
        while (cause.getCause() != null) {
            cause = cause.getCause();
        }
        return cause.getMessage() == null ? cause.getClass().getSimpleName() : cause.getMessage();
    }
}
