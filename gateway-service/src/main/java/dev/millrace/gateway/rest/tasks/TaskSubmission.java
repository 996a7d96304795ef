package dev.millrace.gateway.rest.tasks;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.millrace.api.Session;
import dev.millrace.api.Task;
import dev.millrace.gateway.rest.problems.ProblemException;
import dev.millrace.gateway.rest.requests.BodyReader;
import dev.millrace.gateway.rest.requests.IdempotencyKey;
import dev.millrace.gateway.rest.requests.Ttl;
import dev.millrace.schemas.Event;
import dev.millrace.schemas.Ids;
import dev.millrace.schemas.JsonObject;
import dev.millrace.schemas.KnownEventType;
import dev.millrace.schemas.Payload;
import dev.millrace.schemas.Problem;
import java.net.URI;
import java.net.URISyntaxException;
import java.time.DateTimeException;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The body of {@code POST /v1/tasks}, checked field by field.
 *
 * @param id the client's own; {@code null} = one is drawn
 * @param taskType the agent that was asked for; {@code null} = the default one
 * @param expiresAt when the task is no longer worth starting; {@code null} = never
 * @param request everything else
 */
record TaskSubmission(
        @Nullable String id,
        @Nullable String taskType,
        @Nullable Instant expiresAt,
        Task.Request request) {

    private static final int MAX_URL = 2048;
    private static final Pattern PARTICIPANT = Pattern.compile("[a-z0-9][a-z0-9_-]{0,63}");
    private static final Pattern SENDER = Pattern.compile("[^\\[\\]\\p{Cntrl}]{1,100}");

    /**
     * Reads the fields.
     *
     * @param idempotencyKey the header of that name; {@code null} = none
     * @throws ProblemException if one is not as it has to be, naming it
     */
    static TaskSubmission of(byte[] body, @Nullable String idempotencyKey, Instant now) {
        ObjectNode tree = BodyReader.object(body);
        requireNewTask(tree);
        Task.Request request = BodyReader.read(tree, Task.Request.class);
        requireText(request.text());
        String id = BodyReader.text("id", request.id(), Ids.MAX_LENGTH);
        BodyReader.text("sessionId", request.sessionId(), Ids.MAX_LENGTH);
        BodyReader.text("model", request.model(), Ids.MAX_LENGTH);
        String namespace = BodyReader.text("namespace", request.namespace(), Ids.MAX_LENGTH);
        if (namespace != null && namespace.indexOf('/') >= 0) {
            throw ProblemException.badField("namespace", "a text without '/'", namespace);
        }
        requireUrl(BodyReader.text("callbackUrl", request.callbackUrl(), MAX_URL));
        requireSender(request.sender());
        if (!participants(request.participants()).isEmpty() && request.sessionId() == null) {
            throw ProblemException.badField("sessionId", "the session in which the participants take part", null);
        }
        int lowest = Event.lowestPriority(KnownEventType.MESSAGE_RECEIVED);
        if (request.priority() != null && request.priority() < lowest) {
            throw ProblemException.badField("priority", "a whole number of " + lowest + " or more", request.priority());
        }
        return new TaskSubmission(
                IdempotencyKey.or(id, idempotencyKey), taskType(request), expiresAt(request, now), request);
    }

    /** Names of participants as they have to be. */
    static List<String> participants(@Nullable List<String> names) {
        if (names == null) {
            return List.of();
        }
        boolean fit = !names.isEmpty()
                && names.size() <= Session.MAX_PARTICIPANTS
                && names.stream().distinct().count() == names.size()
                && names.stream()
                        .allMatch(name ->
                                name != null && PARTICIPANT.matcher(name).matches());
        if (!fit) {
            throw ProblemException.badField(
                    "participants",
                    "1 to " + Session.MAX_PARTICIPANTS + " names of agents that differ, with user for people",
                    names.toString());
        }
        return List.copyOf(names);
    }

    private static void requireSender(@Nullable String name) {
        if (name != null && !SENDER.matcher(name).matches()) {
            throw ProblemException.badField(
                    "sender", "a name of 1 to 100 characters without brackets and control characters", name);
        }
    }

    private static Payload.@Nullable Sender sender(Task.Request request) {
        return request.sender() == null ? null : new Payload.Sender("user", request.sender(), null);
    }

    private static Payload.@Nullable Conversation thread(Task.Request request) {
        List<String> names = participants(request.participants());
        return names.isEmpty() ? null : new Payload.Conversation(names, null);
    }

    private static @Nullable Instant expiresAt(Task.Request request, Instant now) {
        Instant expiresAt = time(request.expiresAt());
        Long ttl = request.ttl();
        if (ttl != null && ttl < 1) {
            throw ProblemException.badField("ttl", "a whole number of milliseconds, 1 or more", ttl);
        }
        if (ttl != null && expiresAt != null) {
            throw ProblemException.badField("ttl", "only one of ttl and expiresAt", ttl);
        }
        if (expiresAt != null && !expiresAt.isAfter(now)) {
            throw ProblemException.badField("expiresAt", "a time in the future", expiresAt.toString());
        }
        return ttl == null ? expiresAt : Ttl.expiry(now, ttl);
    }

    private static @Nullable Instant time(@Nullable String text) {
        try {
            return text == null ? null : OffsetDateTime.parse(text.strip()).toInstant();
        } catch (DateTimeException e) {
            throw ProblemException.badField("expiresAt", "a time such as 2027-01-15T08:00:00Z", text);
        }
    }

    private static void requireUrl(@Nullable String text) {
        try {
            URI url = text == null ? null : new URI(text);
            if (url == null
                    || (("http".equals(url.getScheme()) || "https".equals(url.getScheme()))
                            && url.getHost() != null
                            && url.getRawUserInfo() == null)) {
                return;
            }
        } catch (URISyntaxException e) {
            // told below
        }
        throw ProblemException.badField("callbackUrl", "an http or https URL with a host and without a user", text);
    }

    /**
     * The event that starts the task.
     *
     * @param namespace of the task, see {@link dev.millrace.gateway.rest.access.Access#namespace}
     * @throws ProblemException if a field has characters that none may have
     */
    Event event(String namespace, Instant now, @Nullable String traceparent, @Nullable String tracestate) {
        try {
            return Event.root(id == null ? Ids.random() : id, KnownEventType.MESSAGE_RECEIVED, now)
                    .source("user")
                    .sessionId(request.sessionId())
                    .namespace(namespace)
                    .priority(request.priority())
                    .expiry(expiresAt)
                    .traceparent(traceparent)
                    .tracestate(tracestate)
                    .payload(new Payload.MessageReceived(
                            request.text(),
                            null,
                            List.of(),
                            List.of(),
                            taskType,
                            JsonObject.ofNullable(request.metadata()),
                            request.model(),
                            request.callbackUrl(),
                            null,
                            null,
                            null,
                            sender(request),
                            thread(request)))
                    .build();
        } catch (IllegalArgumentException e) {
            throw ProblemException.unreadable(e);
        }
    }

    /** Whoever names a task wants to go on with it, and would get another one. */
    private static void requireNewTask(ObjectNode body) {
        if (body.has("taskId")) {
            throw new ProblemException(new Problem(
                    400,
                    "unknown_field",
                    "Unknown field",
                    "Unknown field `taskId`: a new task's own id is `id`, and POST /v1/tasks/{taskId}/resume goes on"
                            + " with a task that there is.",
                    Map.of("fields", List.of("taskId"))));
        }
    }

    private static void requireText(@Nullable String text) {
        String expected = "text: expected 1 to " + Task.Request.MAX_TEXT + " characters";
        if (text == null || text.isBlank()) {
            throw new ProblemException(new Problem(
                    400,
                    "missing_text",
                    "The text is missing",
                    expected + " that are not all blank, found " + (text == null ? "none" : "a blank text"),
                    Map.of("field", "text")));
        }
        if (text.length() > Task.Request.MAX_TEXT) {
            throw new ProblemException(new Problem(
                    422,
                    "text_too_long",
                    "The text is too long",
                    expected + ", found " + text.length(),
                    Map.of("field", "text")));
        }
    }

    private static @Nullable String taskType(Task.Request request) {
        String taskType = BodyReader.text("taskType", request.taskType(), Ids.MAX_LENGTH);
        String agent = BodyReader.text("agent", request.agent(), Ids.MAX_LENGTH);
        if (taskType != null && agent != null && !taskType.equals(agent)) {
            throw ProblemException.badField("agent", "the same as taskType, or only one of them", agent);
        }
        return taskType == null ? agent : taskType;
    }
}
