package dev.millrace.gateway.rest.tasks;

import com.fasterxml.jackson.databind.JsonNode;
import dev.millrace.gateway.rest.problems.ProblemException;
import dev.millrace.gateway.rest.requests.BodyReader;
import dev.millrace.schemas.Event;
import dev.millrace.schemas.EventCodec;
import dev.millrace.schemas.EventType;
import dev.millrace.schemas.Json;
import dev.millrace.schemas.MalformedEventException;
import dev.millrace.schemas.Problem;
import io.cloudevents.CloudEvent;
import io.cloudevents.http.HttpMessageFactory;
import jakarta.ws.rs.core.HttpHeaders;
import jakarta.ws.rs.core.MultivaluedMap;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** One or several CloudEvents as they come over HTTP: in binary mode, structured, or as a batch. */
final class CloudEventRequest {

    /** The media type of one event in structured mode. */
    static final String STRUCTURED = "application/cloudevents+json";
    /** The media type of a batch. */
    static final String BATCH = "application/cloudevents-batch+json";

    private static final Pattern ATTRIBUTE = Pattern.compile("[a-z0-9]+");
    private static final SortedSet<String> ATTRIBUTES = new TreeSet<>(Set.of(
            "id",
            "source",
            "specversion",
            "type",
            "time",
            "subject",
            "datacontenttype",
            "dataschema",
            "data",
            "data_base64",
            EventCodec.SESSION_ID,
            EventCodec.NAMESPACE,
            EventCodec.PRIORITY,
            EventCodec.EXPIRY_TIME,
            EventCodec.CAUSATION_ID,
            EventCodec.CORRELATION_ID,
            EventCodec.CAUSAL_DEPTH,
            EventCodec.TRACEPARENT,
            EventCodec.TRACESTATE));

    private final MultivaluedMap<String, String> headers;
    private final byte[] body;
    private final Instant now;

    /** {@code now} is the time of events that have none. */
    CloudEventRequest(MultivaluedMap<String, String> headers, byte[] body, Instant now) {
        this.headers = headers;
        this.body = body;
        this.now = now;
    }

    /**
     * The events, at least one, in the order of the request.
     *
     * @param home the namespace of those that name none
     * @throws ProblemException if one is none, or the request is of another kind
     */
    List<Event> events(String home) {
        String mediaType = mediaType();
        if (mediaType.equals(BATCH)) {
            return batch(home);
        }
        if (mediaType.equals(STRUCTURED)) {
            BodyReader.tree(body); // says where bad JSON is bad
            return List.of(structured(body, home, null));
        }
        if (headers.containsKey("ce-id") || headers.containsKey("ce-type") || headers.containsKey("ce-specversion")) {
            return List.of(
                    headers.containsKey("ce-" + EventCodec.NAMESPACE)
                            ? binary(mediaType)
                            : at(home, binary(mediaType)));
        }
        if (mediaType.equals("application/json")) {
            throw malformed(
                    new MalformedEventException(
                            "not_a_cloud_event",
                            "expected the headers ce-id, ce-type, ce-source and ce-specversion, or the Content-Type "
                                    + STRUCTURED + " or " + BATCH + ", found neither"),
                    null);
        }
        throw unsupported(mediaType, "expected " + STRUCTURED + ", " + BATCH + ", or a JSON payload with ce- headers");
    }

    private List<Event> batch(String home) {
        JsonNode tree = BodyReader.tree(body);
        if (!tree.isArray() || tree.isEmpty()) {
            throw malformed(
                    new MalformedEventException(
                            "not_a_cloud_event", "expected a JSON array with at least one event, found something else"),
                    null);
        }
        List<Event> events = new ArrayList<>();
        for (JsonNode one : tree) {
            events.add(structured(Json.write(one), home, events.size()));
        }
        return events;
    }

    /** {@code index} is the place in a batch, {@code null} outside one. */
    private Event structured(byte[] json, String home, @Nullable Integer index) {
        try {
            Set<String> attributes = Json.readObject(json).keySet();
            requireAttributes(attributes, index);
            Event event = traced(EventCodec.fromStructured(json, now, null, null));
            return attributes.contains(EventCodec.NAMESPACE) ? event : at(home, event);
        } catch (MalformedEventException e) {
            throw malformed(e, index);
        }
    }

    /** Extensions may have any name that an attribute may have; {@code taskId} is none, and would be passed over. */
    private static void requireAttributes(Set<String> attributes, @Nullable Integer index) {
        List<String> none = attributes.stream()
                .filter(name ->
                        !ATTRIBUTES.contains(name) && !ATTRIBUTE.matcher(name).matches())
                .toList();
        BodyReader.requireKnown(none, ATTRIBUTES, index == null ? "" : " in event " + index + " of the batch");
    }

    private Event binary(String mediaType) {
        boolean json = mediaType.equals("application/json") || mediaType.endsWith("+json");
        String type = headers.getFirst("ce-type");
        boolean open = type != null && EventType.isOpen(percentDecoded(type));
        if (body.length > 0 && !json && !open) {
            throw unsupported(mediaType, "expected application/json: the payload of an event is JSON");
        }
        byte[] payload = body.length == 0 ? new byte[] {'{', '}'} : body;
        if (!open) {
            BodyReader.object(payload);
        }
        try {
            return traced(EventCodec.fromCloudEvent(binaryCloudEvent(payload), now, null, null));
        } catch (MalformedEventException e) {
            throw malformed(e, null);
        }
    }

    private CloudEvent binaryCloudEvent(byte[] payload) throws MalformedEventException {
        try {
            return HttpMessageFactory.createReader(
                            consumer -> headers.forEach((name, values) -> {
                                boolean attribute =
                                        name.toLowerCase(Locale.ROOT).startsWith("ce-");
                                String value = values.getFirst();
                                consumer.accept(name, attribute ? percentDecoded(value) : value);
                            }),
                            payload)
                    .toEvent();
        } catch (RuntimeException e) {
            // headers from anyone go into a library that documents no complete list of what it throws at them
            throw new MalformedEventException("not_a_cloud_event", "expected a CloudEvent 1.0: " + message(e));
        }
    }

    private static Event at(String home, Event event) {
        return event.namespace().equals(home)
                ? event
                : event.toBuilder().namespace(home).build();
    }

    /** An event that carries no trace context is part of the request's trace. */
    private Event traced(Event event) {
        String traceparent = headers.getFirst(EventCodec.TRACEPARENT);
        return event.traceparent() != null || traceparent == null
                ? event
                : event.toBuilder()
                        .traceparent(traceparent)
                        .tracestate(headers.getFirst(EventCodec.TRACESTATE))
                        .build();
    }

    /** The HTTP binding sends everything but printable ASCII percent-encoded. */
    private static String percentDecoded(String value) {
        if (value.indexOf('%') < 0) {
            return value;
        }
        try {
            return URLDecoder.decode(value.replace("+", "%2B"), StandardCharsets.UTF_8);
        } catch (IllegalArgumentException e) {
            return value; // a plain percent sign
        }
    }

    private String mediaType() {
        String type = headers.getFirst(HttpHeaders.CONTENT_TYPE);
        return type == null ? "" : type.split(";", 2)[0].strip().toLowerCase(Locale.ROOT);
    }

    private static ProblemException malformed(MalformedEventException e, @Nullable Integer index) {
        return new ProblemException(new Problem(
                400,
                e.code(),
                "Not an event that is taken here",
                (index == null ? "" : "event " + index + " of the batch: ") + e.getMessage(),
                index == null ? Map.of() : Map.of("index", index)));
    }

    private static ProblemException unsupported(String mediaType, String what) {
        return new ProblemException(Problem.of(
                415,
                "unsupported_media_type",
                "Unsupported media type",
                what + ", found " + (mediaType.isEmpty() ? "no Content-Type" : mediaType)));
    }

    private static String message(Exception e) {
        Throwable cause = e;
        while (cause.getCause() != null) {
            cause = cause.getCause();
        }
        return cause.getMessage() == null ? cause.getClass().getSimpleName() : cause.getMessage();
    }
}
