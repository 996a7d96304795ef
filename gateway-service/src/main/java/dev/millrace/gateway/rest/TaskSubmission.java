package dev.millrace.gateway.rest;

import dev.millrace.schemas.Event;
import dev.millrace.schemas.Ids;
import dev.millrace.schemas.KnownEventType;
import dev.millrace.schemas.Problem;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The body of {@code POST /v1/tasks}, checked field by field. Unknown fields are passed over.
 *
 * @param id the client's own; {@code null} = one is drawn
 * @param payload of the event that starts the task
 */
record TaskSubmission(
        @Nullable String id,
        @Nullable String sessionId,
        String namespace,
        @Nullable Integer priority,
        Map<String, @Nullable Object> payload) {

    /** The longest text, in characters. */
    static final int MAX_TEXT = 100_000;

    /**
     * Reads the fields.
     *
     * @param idempotencyKey the header of that name; {@code null} = none
     * @throws ProblemException if one is not as it has to be, naming it
     */
    static TaskSubmission of(Map<String, @Nullable Object> body, @Nullable String idempotencyKey) {
        Map<String, @Nullable Object> payload = new LinkedHashMap<>();
        payload.put("text", text(body));
        putIfPresent(payload, "taskType", taskType(body));
        putIfPresent(payload, "metadata", object(body, "metadata"));
        putIfPresent(payload, "model", name(body, "model", Ids.MAX_LENGTH));
        String namespace = name(body, "namespace", Ids.MAX_LENGTH);
        if (namespace != null && namespace.indexOf('/') >= 0) {
            throw ProblemException.badField("namespace", "a text without '/'", namespace);
        }
        return new TaskSubmission(
                id(name(body, "id", Ids.MAX_LENGTH), idempotencyKey),
                name(body, "sessionId", Ids.MAX_LENGTH),
                namespace == null ? Event.DEFAULT_NAMESPACE : namespace,
                priority(body),
                payload);
    }

    /**
     * The event that starts the task.
     *
     * @throws ProblemException if a field has characters that none may have
     */
    Event event(Instant now, @Nullable String traceparent, @Nullable String tracestate) {
        try {
            return build(now, traceparent, tracestate);
        } catch (IllegalArgumentException e) {
            throw new ProblemException(
                    Problem.of(400, "bad_field", "A field cannot be read", String.valueOf(e.getMessage())));
        }
    }

    private Event build(Instant now, @Nullable String traceparent, @Nullable String tracestate) {
        return Event.root(id == null ? Ids.random() : id, KnownEventType.MESSAGE_RECEIVED, now)
                .source("user")
                .sessionId(sessionId)
                .namespace(namespace)
                .priority(priority)
                .traceparent(traceparent)
                .tracestate(tracestate)
                .payload(payload)
                .build();
    }

    /** The agent that was asked for; {@code null} = the default one. */
    @Nullable
    String taskType() {
        return payload.get("taskType") instanceof String name ? name : null;
    }

    private static String text(Map<String, @Nullable Object> body) {
        Object text = body.get("text");
        if (text == null || (text instanceof String given && given.isBlank())) {
            throw new ProblemException(new Problem(
                    400,
                    "missing_text",
                    "The text is missing",
                    "text: expected 1 to " + MAX_TEXT + " characters that are not all blank, found "
                            + (text == null ? "none" : "a blank text"),
                    Map.of("field", "text")));
        }
        if (!(text instanceof String given)) {
            throw ProblemException.badField("text", "a text", text);
        }
        if (given.length() > MAX_TEXT) {
            throw new ProblemException(new Problem(
                    422,
                    "text_too_long",
                    "The text is too long",
                    "text: expected 1 to " + MAX_TEXT + " characters, found " + given.length(),
                    Map.of("field", "text")));
        }
        return given;
    }

    private static @Nullable String taskType(Map<String, @Nullable Object> body) {
        String taskType = name(body, "taskType", Ids.MAX_LENGTH);
        String agent = name(body, "agent", Ids.MAX_LENGTH);
        if (taskType != null && agent != null && !taskType.equals(agent)) {
            throw ProblemException.badField("agent", "the same as taskType, or only one of them", agent);
        }
        return taskType == null ? agent : taskType;
    }

    private static @Nullable String id(@Nullable String id, @Nullable String idempotencyKey) {
        if (idempotencyKey == null) {
            return id;
        }
        // as the IETF draft has it: a text in quotes; many clients leave them out
        String key = idempotencyKey.strip().replaceFirst("^\"(.*)\"$", "$1");
        if (key.isBlank() || key.length() > Ids.MAX_LENGTH) {
            throw ProblemException.badParameter("Idempotency-Key", "1 to " + Ids.MAX_LENGTH + " characters", key);
        }
        if (id != null && !id.equals(key)) {
            throw ProblemException.badParameter(
                    "Idempotency-Key", "the same as the field id, or only one of them", key);
        }
        return key;
    }

    private static @Nullable Integer priority(Map<String, @Nullable Object> body) {
        Object priority = body.get("priority");
        if (priority == null) {
            return null;
        }
        if (priority instanceof Integer number && number >= 0) {
            return number;
        }
        throw ProblemException.badField("priority", "a whole number of 0 or more", priority);
    }

    private static @Nullable String name(Map<String, @Nullable Object> body, String field, int most) {
        Object value = body.get(field);
        if (value == null) {
            return null;
        }
        if (value instanceof String text && !text.isBlank() && text.length() <= most) {
            return text;
        }
        throw ProblemException.badField(field, "a text of 1 to " + most + " characters", value);
    }

    private static @Nullable Map<?, ?> object(Map<String, @Nullable Object> body, String field) {
        Object value = body.get(field);
        if (value == null) {
            return null;
        }
        if (value instanceof Map<?, ?> object) {
            return object;
        }
        throw ProblemException.badField(field, "an object", value);
    }

    private static void putIfPresent(Map<String, @Nullable Object> payload, String name, @Nullable Object value) {
        if (value != null) {
            payload.put(name, value);
        }
    }
}
