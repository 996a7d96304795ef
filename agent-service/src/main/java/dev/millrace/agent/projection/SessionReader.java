package dev.millrace.agent.projection;

import dev.millrace.agent.SessionOrigin;
import dev.millrace.api.Session;
import dev.millrace.schemas.EventJson;
import dev.millrace.schemas.ForgetScope;
import dev.millrace.schemas.JournalCursor;
import dev.millrace.schemas.JournalEntry;
import dev.millrace.schemas.Json;
import dev.millrace.schemas.MalformedEventException;
import dev.millrace.schemas.Payload;
import java.util.ArrayList;
import java.util.Base64;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.function.Function;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.KeyValue;
import org.apache.kafka.streams.state.KeyValueIterator;
import org.apache.kafka.streams.state.ReadOnlyKeyValueStore;
import org.jspecify.annotations.Nullable;

/** Answers questions about sessions from the projection's store while it is being written. */
final class SessionReader {

    /** No answer looks at more rows than this; then the page is short and has a next one. */
    private static final int MAX_LOOKED_AT = 10_000;

    /** Comes after the id of an event that says two things, for the second one. */
    private static final String NOTICE = "-notice";

    private final ReadOnlyKeyValueStore<Bytes, byte[]> rows;
    private final List<OpenForget> forgotten;

    SessionReader(ReadOnlyKeyValueStore<Bytes, byte[]> rows) {
        this.rows = rows;
        this.forgotten = OpenForget.allIn(rows);
    }

    /**
     * What of the messages of a session is wanted.
     *
     * @param limit at most so many, 1 or more
     * @param from none before this moment, in Unix milliseconds
     * @param to none after this moment, in Unix milliseconds
     * @param before none from this place of the journal on; {@code null} = the newest
     */
    record MessageQuery(
            String namespace,
            String sessionId,
            int limit,
            long from,
            long to,
            @Nullable JournalCursor before) {}

    Optional<Session> session(String namespace, String sessionId) {
        return Optional.ofNullable(row(namespace, sessionId)).map(this::view);
    }

    private Session view(SessionRow row) {
        Bytes tasks = ProjectionKeys.sessionList(row.namespace(), row.sessionId());
        int counted = 0;
        try (KeyValueIterator<Bytes, byte[]> range = rows.range(tasks, Bytes.increment(tasks))) {
            while (counted < Session.MOST_COUNTED && range.hasNext()) {
                range.next();
                counted++;
            }
        }
        return row.view(counted);
    }

    /** The session of an origin in which something happened last, if it is still there. */
    Optional<String> newest(String namespace, SessionOrigin origin, String name) {
        String sessionId = SessionRow.newest(rows, ProjectionKeys.newestSession(namespace, origin, name));
        return sessionId == null || row(namespace, sessionId) == null ? Optional.empty() : Optional.of(sessionId);
    }

    Session.Page sessions(String namespace, int limit, @Nullable String before) {
        Bytes list = ProjectionKeys.sessions(namespace);
        Bytes from = before == null ? list : after(list, before);
        List<Session> sessions = new ArrayList<>();
        int lookedAt = 0;
        try (KeyValueIterator<Bytes, byte[]> range = rows.range(from, Bytes.increment(list))) {
            while (range.hasNext()) {
                Bytes place = range.next().key;
                SessionRow row = row(namespace, ProjectionKeys.listedTask(list, place));
                // one that moves up the list meanwhile has come already
                if (row != null && row.place().equals(place)) {
                    sessions.add(view(row));
                }
                boolean full = sessions.size() == limit || ++lookedAt == MAX_LOOKED_AT;
                if (full && range.hasNext()) {
                    return new Session.Page(sessions, next(list, place));
                }
            }
        }
        return new Session.Page(sessions, null);
    }

    /**
     * The namespaces in which there are tasks or sessions, by name.
     *
     * @param most no more of each kind are looked at
     */
    SortedSet<String> namespaces(int most) {
        SortedSet<String> found = new TreeSet<>();
        collect(ProjectionKeys.lists(), ProjectionKeys::list, most, found);
        collect(ProjectionKeys.sessions(), ProjectionKeys::sessions, most, found);
        return found;
    }

    /** Leaps from the first key of a namespace to the first one of the next. */
    private void collect(Bytes kind, Function<String, Bytes> keysOf, int most, SortedSet<String> found) {
        Bytes from = kind;
        for (int seen = 0; seen < most; seen++) {
            try (KeyValueIterator<Bytes, byte[]> range = rows.range(from, Bytes.increment(kind))) {
                if (!range.hasNext()) {
                    return;
                }
                String namespace = ProjectionKeys.namespace(range.next().key);
                found.add(namespace);
                from = Bytes.increment(keysOf.apply(namespace));
            }
        }
    }

    /** What people and agents have said; empty if there is no such session. */
    Optional<Session.Messages> messages(MessageQuery query) {
        if (row(query.namespace(), query.sessionId()) == null) {
            return Optional.empty();
        }
        Bytes all = ProjectionKeys.messages(query.namespace(), query.sessionId());
        JournalCursor before = query.before();
        Bytes end = before == null
                ? Bytes.increment(all)
                : ProjectionKeys.message(query.namespace(), query.sessionId(), before);
        List<Session.Message> messages = new ArrayList<>();
        String next = null;
        int lookedAt = 0;
        try (KeyValueIterator<Bytes, byte[]> range = rows.reverseRange(all, end)) {
            while (range.hasNext()) {
                KeyValue<Bytes, byte[]> pointer = range.next();
                if (pointer.key.equals(end)) {
                    continue;
                }
                if (messages.size() == query.limit() || lookedAt++ == MAX_LOOKED_AT) {
                    next = messages.isEmpty()
                            ? ProjectionKeys.cursor(pointer.key).toString()
                            : messages.getLast().cursor();
                    break;
                }
                List<Session.Message> more = messages(pointer).stream()
                        .filter(message -> message.timestamp() >= query.from() && message.timestamp() <= query.to())
                        .toList();
                if (!messages.isEmpty() && messages.size() + more.size() > query.limit()) {
                    next = messages.getLast().cursor(); // what one event says is not parted
                    break;
                }
                // a page of one has room for the agent's words alone
                messages.addAll(more.subList(Math.max(0, more.size() - query.limit()), more.size()));
            }
        }
        Collections.reverse(messages);
        return Optional.of(new Session.Messages(messages, next));
    }

    /** What one event says, the last of it first. */
    private List<Session.Message> messages(KeyValue<Bytes, byte[]> pointer) {
        byte[] json = rows.get(Bytes.wrap(pointer.value));
        JournalEntry entry = json == null ? null : entry(ProjectionKeys.cursor(pointer.key), json);
        if (entry == null || isForgotten(entry)) {
            return List.of();
        }
        String id = entry.event().id();
        Payload payload = entry.event().payload();
        if (payload instanceof Payload.TaskCancelled cancelled) {
            List<Session.Message> messages = new ArrayList<>();
            if (cancelled.notice() != null) {
                messages.add(message(entry, id + NOTICE, "user", cancelled.notice()));
            }
            if (cancelled.response() != null) {
                messages.add(message(entry, id, "assistant", cancelled.response()));
            }
            return messages;
        }
        String said = said(payload);
        return said == null ? List.of() : List.of(message(entry, id, isOfPeople(payload) ? "user" : "assistant", said));
    }

    private static Session.Message message(JournalEntry entry, String id, String role, String said) {
        return new Session.Message(
                id,
                role,
                said,
                entry.event().timestamp().toEpochMilli(),
                TaskRow.nameOf(entry.event()).taskId(),
                entry.cursor().toString());
    }

    /** What an event says in its session; {@code null} = nothing. */
    static @Nullable String said(Payload payload) {
        return switch (payload) {
            // what is given on has been said already
            case Payload.MessageReceived message
            when message.thread() != null && message.thread().spokenIn() != null -> null;
            case Payload.TaskInput input -> input.said();
            case Payload.TaskResumed resumed -> resumed.newInput();
            case Payload.NeedMoreInfo asked -> asked.question();
            case Payload.TaskCompleted completed -> completed.result().response();
            case Payload.TaskCancelled cancelled -> cancelled.notice();
            default -> null;
        };
    }

    private static boolean isOfPeople(Payload payload) {
        return payload instanceof Payload.TaskInput || payload instanceof Payload.TaskResumed;
    }

    private boolean isForgotten(JournalEntry entry) {
        if (forgotten.isEmpty()) {
            return false;
        }
        byte[] json = rows.get(ProjectionKeys.task(TaskRow.nameOf(entry.event())));
        return json == null || forgotten.stream().anyMatch(forget -> forget.means(TaskRow.fromJson(json)));
    }

    private @Nullable SessionRow row(String namespace, String sessionId) {
        SessionRow row = SessionRow.in(rows, namespace, sessionId);
        return row == null || forgotten.stream().anyMatch(forget -> means(forget, row)) ? null : row;
    }

    /** Whether this session is to go; with a task alone none does. */
    static boolean means(OpenForget forget, SessionRow row) {
        return forget.scope().kind() != ForgetScope.Kind.TASK
                && row.createdAt() <= forget.requestedAt()
                && forget.scope().contains(row.namespace(), "", row.sessionId());
    }

    private static JournalEntry entry(JournalCursor cursor, byte[] json) {
        try {
            return new JournalEntry(cursor, EventJson.fromJson(Json.readObject(json)));
        } catch (MalformedEventException e) {
            throw new IllegalStateException("the projection's own event cannot be read", e);
        }
    }

    private static String next(Bytes list, Bytes place) {
        byte[] tail = new byte[place.get().length - list.get().length];
        System.arraycopy(place.get(), list.get().length, tail, 0, tail.length);
        return Base64.getUrlEncoder().withoutPadding().encodeToString(tail);
    }

    private static Bytes after(Bytes list, String next) {
        try {
            byte[] tail = Base64.getUrlDecoder().decode(next);
            byte[] place = new byte[list.get().length + tail.length + 1]; // with a zero at the end: the next key
            System.arraycopy(list.get(), 0, place, 0, list.get().length);
            System.arraycopy(tail, 0, place, list.get().length, tail.length);
            return Bytes.wrap(place);
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException("before: expected what a page said is next, found \"" + next + "\"", e);
        }
    }
}
