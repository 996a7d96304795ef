package dev.millrace.gateway.rest;

import dev.millrace.api.Task;
import dev.millrace.schemas.Event;
import dev.millrace.schemas.Ids;
import dev.millrace.schemas.KnownEventType;
import dev.millrace.schemas.Problem;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The body of {@code POST /v1/tasks}, checked field by field.
 *
 * @param id the client's own; {@code null} = one is drawn
 * @param expiresAt when the task is no longer worth starting; {@code null} = never
 * @param payload of the event that starts the task
 */
record TaskSubmission(
        @Nullable String id,
        @Nullable String sessionId,
        String namespace,
        @Nullable Integer priority,
        @Nullable Instant expiresAt,
        Map<String, @Nullable Object> payload) {

    /** The longest text, in characters. */
    private static final String[] FIELDS = {
        "id",
        "text",
        "agent",
        "taskType",
        "sessionId",
        "namespace",
        "metadata",
        "model",
        "callbackUrl",
        "priority",
        "ttl",
        "expiresAt"
    };

    /** A hundred years, which is as good as never. */
    private static final long MAX_TTL_MS = 36_525L * 24 * 3_600 * 1_000;

    /**
     * Reads the fields.
     *
     * @param idempotencyKey the header of that name; {@code null} = none
     * @throws ProblemException if one is not as it has to be, naming it
     */
    static TaskSubmission of(Map<String, @Nullable Object> body, @Nullable String idempotencyKey, Instant now) {
        requireNewTask(body);
        BodyFields fields = new BodyFields(body).allowOnly(FIELDS);
        Map<String, @Nullable Object> payload = new LinkedHashMap<>();
        payload.put("text", text(body));
        putIfPresent(payload, "taskType", taskType(fields));
        putIfPresent(payload, "metadata", fields.object("metadata"));
        putIfPresent(payload, "model", fields.text("model", Ids.MAX_LENGTH));
        putIfPresent(payload, "callbackUrl", fields.url("callbackUrl"));
        String namespace = fields.text("namespace", Ids.MAX_LENGTH);
        if (namespace != null && namespace.indexOf('/') >= 0) {
            throw ProblemException.badField("namespace", "a text without '/'", namespace);
        }
        return new TaskSubmission(
                IdempotencyKey.or(fields.text("id", Ids.MAX_LENGTH), idempotencyKey),
                fields.text("sessionId", Ids.MAX_LENGTH),
                namespace == null ? Event.DEFAULT_NAMESPACE : namespace,
                fields.number("priority", Event.lowestPriority(KnownEventType.MESSAGE_RECEIVED)),
                expiresAt(fields, now),
                payload);
    }

    private static @Nullable Instant expiresAt(BodyFields fields, Instant now) {
        Instant expiresAt = fields.time("expiresAt");
        Long ttl = fields.millis("ttl");
        if (ttl != null && expiresAt != null) {
            throw ProblemException.badField("ttl", "only one of ttl and expiresAt", ttl);
        }
        if (ttl != null) {
            return now.plusMillis(Math.min(ttl, MAX_TTL_MS));
        }
        if (expiresAt != null && !expiresAt.isAfter(now)) {
            throw ProblemException.badField("expiresAt", "a time in the future", expiresAt.toString());
        }
        return expiresAt;
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
                .expiry(expiresAt)
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

    /** Whoever names a task wants to go on with it, and would get another one. */
    private static void requireNewTask(Map<String, @Nullable Object> body) {
        if (body.containsKey("taskId")) {
            throw new ProblemException(new Problem(
                    400,
                    "unknown_field",
                    "Unknown field",
                    "Unknown field `taskId`: a new task's own id is `id`, and POST /v1/tasks/{taskId}/resume goes on"
                            + " with a task that there is.",
                    Map.of("fields", List.of("taskId"))));
        }
    }

    private static String text(Map<String, @Nullable Object> body) {
        Object text = body.get("text");
        if (text == null || (text instanceof String given && given.isBlank())) {
            throw new ProblemException(new Problem(
                    400,
                    "missing_text",
                    "The text is missing",
                    "text: expected 1 to " + Task.Request.MAX_TEXT + " characters that are not all blank, found "
                            + (text == null ? "none" : "a blank text"),
                    Map.of("field", "text")));
        }
        if (!(text instanceof String given)) {
            throw ProblemException.badField("text", "a text", text);
        }
        if (given.length() > Task.Request.MAX_TEXT) {
            throw new ProblemException(new Problem(
                    422,
                    "text_too_long",
                    "The text is too long",
                    "text: expected 1 to " + Task.Request.MAX_TEXT + " characters, found " + given.length(),
                    Map.of("field", "text")));
        }
        return given;
    }

    private static @Nullable String taskType(BodyFields fields) {
        String taskType = fields.text("taskType", Ids.MAX_LENGTH);
        String agent = fields.text("agent", Ids.MAX_LENGTH);
        if (taskType != null && agent != null && !taskType.equals(agent)) {
            throw ProblemException.badField("agent", "the same as taskType, or only one of them", agent);
        }
        return taskType == null ? agent : taskType;
    }

    private static void putIfPresent(Map<String, @Nullable Object> payload, String name, @Nullable Object value) {
        if (value != null) {
            payload.put(name, value);
        }
    }
}
