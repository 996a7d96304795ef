package dev.millrace.agent.projection;

import com.fasterxml.jackson.annotation.JsonInclude;
import dev.millrace.agent.SessionOrigin;
import dev.millrace.agent.topology.Participants;
import dev.millrace.api.Session;
import dev.millrace.schemas.Event;
import dev.millrace.schemas.Json;
import dev.millrace.schemas.Payload;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Objects;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.state.KeyValueStore;
import org.apache.kafka.streams.state.ReadOnlyKeyValueStore;
import org.jspecify.annotations.Nullable;

/**
 * What the journal has told about a session.
 *
 * @param title what it is called; {@code null} = nobody has said
 * @param createdAt when it was made or its first task began, in Unix milliseconds
 * @param updatedAt when something was last said in it or a task of it ended, in Unix milliseconds
 * @param storedAt when the row was last written, in Unix milliseconds
 * @param clientId of {@link SessionOrigin#CLIENT}, as it was last said; {@code null} = nobody has
 * @param chatId of {@link SessionOrigin#CHAT}, as it was last said; {@code null} = nobody has
 * @param participants who takes part; {@code null} = nobody has said
 */
@JsonInclude(JsonInclude.Include.NON_NULL)
record SessionRow(
        String namespace,
        String sessionId,
        @Nullable String title,
        long createdAt,
        long updatedAt,
        long storedAt,
        @Nullable String clientId,
        @Nullable String chatId,
        @Nullable List<String> participants) {

    static final String CREATED = "session.created";
    static final String UPDATED = "session.updated";

    static @Nullable SessionRow in(ReadOnlyKeyValueStore<Bytes, byte[]> rows, String namespace, String sessionId) {
        byte[] json = rows.get(ProjectionKeys.session(namespace, sessionId));
        return json == null ? null : fromJson(json);
    }

    /**
     * Writes what an event tells of its session, if it tells anything. The same event once more changes nothing.
     *
     * @param happened when, in Unix milliseconds
     */
    static void take(KeyValueStore<Bytes, byte[]> rows, Event event, long happened, long now) {
        String sessionId = event.sessionId();
        if (sessionId == null || !tells(event)) {
            return;
        }
        SessionRow before = in(rows, event.namespace(), sessionId);
        SessionRow after = new SessionRow(
                event.namespace(),
                sessionId,
                title(event, before),
                before == null ? happened : Math.min(before.createdAt, happened),
                before == null ? happened : Math.max(before.updatedAt, happened),
                now,
                SessionOrigin.CLIENT.in(event).orElse(before == null ? null : before.clientId),
                SessionOrigin.CHAT.in(event).orElse(before == null ? null : before.chatId),
                participants(event, before));
        if (before == null) {
            rows.put(ProjectionKeys.dueSession(now, event.namespace(), sessionId), new byte[0]);
        } else if (before.updatedAt != after.updatedAt) {
            rows.delete(before.place());
        }
        rows.put(ProjectionKeys.session(event.namespace(), sessionId), Json.write(after));
        rows.put(after.place(), new byte[0]);
        for (SessionOrigin origin : SessionOrigin.values()) {
            if (before != null && !Objects.equals(before.name(origin), after.name(origin))) {
                before.leave(rows, origin);
            }
            after.enter(rows, origin);
        }
    }

    private @Nullable String name(SessionOrigin origin) {
        return switch (origin) {
            case CLIENT -> clientId;
            case CHAT -> chatId;
        };
    }

    /** It is the newest session of this origin, unless there is one in which something happened later. */
    private void enter(KeyValueStore<Bytes, byte[]> rows, SessionOrigin origin) {
        String name = name(origin);
        if (name == null) {
            return;
        }
        Bytes key = ProjectionKeys.newestSession(namespace, origin, name);
        String newest = newest(rows, key);
        SessionRow other = newest == null || newest.equals(sessionId) ? null : in(rows, namespace, newest);
        if (other == null || other.updatedAt <= updatedAt) {
            rows.put(key, sessionId.getBytes(StandardCharsets.UTF_8));
        }
    }

    private void leave(KeyValueStore<Bytes, byte[]> rows, SessionOrigin origin) {
        String name = name(origin);
        Bytes key = name == null ? null : ProjectionKeys.newestSession(namespace, origin, name);
        if (key != null && sessionId.equals(newest(rows, key))) {
            rows.delete(key);
        }
    }

    /** The session of this origin in which something happened last; {@code null} = none is known. */
    static @Nullable String newest(ReadOnlyKeyValueStore<Bytes, byte[]> rows, Bytes key) {
        byte[] sessionId = rows.get(key);
        return sessionId == null ? null : new String(sessionId, StandardCharsets.UTF_8);
    }

    private static boolean tells(Event event) {
        String type = event.type().wireName();
        return type.equals(CREATED)
                || type.equals(UPDATED)
                || switch (event.payload()) {
                    case Payload.TaskInput input -> true;
                    case Payload.TaskResumed resumed -> true;
                    case Payload.NeedMoreInfo asked -> true;
                    case Payload.TaskCompleted completed -> true;
                    case Payload.TaskFailed failed -> true;
                    case Payload.TaskCancelled cancelled -> true;
                    default -> false;
                };
    }

    private static @Nullable String title(Event event, @Nullable SessionRow before) {
        String type = event.type().wireName();
        String said = type.equals(CREATED) || type.equals(UPDATED) ? event.text("title") : null;
        return said != null || before == null ? said : before.title;
    }

    private static @Nullable List<String> participants(Event event, @Nullable SessionRow before) {
        String type = event.type().wireName();
        List<String> said = type.equals(CREATED) || type.equals(UPDATED)
                ? Participants.said(event)
                : event.payload() instanceof Payload.MessageReceived message && message.thread() != null
                        ? message.thread().participants()
                        : List.of();
        return said.isEmpty() ? before == null ? null : before.participants : said;
    }

    /** Where it stands in the list of its namespace. */
    Bytes place() {
        return ProjectionKeys.listed(ProjectionKeys.sessions(namespace), updatedAt, sessionId);
    }

    /** Removes it. */
    void remove(KeyValueStore<Bytes, byte[]> rows) {
        for (SessionOrigin origin : SessionOrigin.values()) {
            leave(rows, origin);
        }
        rows.delete(place());
        rows.delete(ProjectionKeys.session(namespace, sessionId));
    }

    /**
     * As clients see it.
     *
     * @param tasks how many it has
     */
    Session view(int tasks) {
        return new Session(
                sessionId,
                namespace,
                title,
                createdAt,
                updatedAt,
                participants == null ? List.of() : participants,
                tasks);
    }

    static SessionRow fromJson(byte[] json) {
        try {
            return Json.MAPPER.readValue(json, SessionRow.class);
        } catch (IOException e) {
            throw new UncheckedIOException("the projection's own row cannot be read", e);
        }
    }
}
