package dev.millrace.agent.projection;

import dev.millrace.agent.SessionOrigin;
import dev.millrace.schemas.JournalCursor;
import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import org.apache.kafka.common.utils.Bytes;

/**
 * The keys of the projection's one store. A key is a kind and then parts, each text with its length before it, so that
 * no two keys are equal by accident and all keys that share their first parts lie together. Numbers are big-endian, so
 * that byte order is number order; times in lists are inverted, so that the newest comes first.
 */
final class ProjectionKeys {

    private static final int TASK = 'T';
    private static final int EVENT = 'E';
    private static final int EVENT_ID = 'D';
    private static final int LIST = 'L';
    private static final int SESSION_LIST = 'S';
    private static final int STATE_LIST = 'X';
    private static final int WAITING_LIST = 'W';
    private static final int QUEUE = 'J';
    private static final int IN_LINE = 'c';
    private static final int ALONE = 'Q';
    private static final int ALONE_IN_SESSION = 'Z';
    private static final int TRANSITION = 'H';
    private static final int OPEN_APPROVAL = 'A';
    private static final int APPROVAL_REQUEST = 'C';
    private static final int APPROVAL_DECISION = 'V';
    private static final int DUE = 'U';
    private static final int POSITION = 'P';
    private static final int NAMESPACE_USAGE = 'M';
    private static final int TASK_USAGE = 'N';
    private static final int USED_IN = 'I';
    private static final int COUNTED = 'R';
    private static final int FORGETTING = 'F';
    private static final int SESSION = 'G';
    private static final int NAMESPACE_SESSIONS = 'K';
    private static final int MESSAGE = 'Y';
    private static final int DUE_SESSION = 'B';
    private static final int NEWEST_SESSION = 'O';

    /** More than any offset has, and few enough for a priority before them. */
    private static final int OFFSET_BITS = 50;

    private ProjectionKeys() {}

    /** A task's id with its namespace, which together are unique. */
    record TaskName(String namespace, String taskId) {}

    /** What a task is, see {@link TaskRow}. */
    static Bytes task(TaskName name) {
        return new Key(TASK).text(name.namespace()).text(name.taskId()).bytes();
    }

    /** What all {@link #task} keys of a namespace begin with. */
    static Bytes tasks(String namespace) {
        return new Key(TASK).text(namespace).bytes();
    }

    /** One event of a task. */
    static Bytes event(TaskName name, JournalCursor cursor) {
        return new Key(events(name))
                .number(cursor.partition())
                .number(cursor.offset())
                .bytes();
    }

    /** What all {@link #event} keys of a task begin with. */
    static Bytes events(TaskName name) {
        return new Key(EVENT).text(name.namespace()).text(name.taskId()).bytes();
    }

    /** Points from an event's id to its {@link #event} key, for an event at this place. */
    static Bytes eventId(String namespace, String eventId, JournalCursor cursor) {
        return new Key(eventIds(namespace, eventId))
                .number(cursor.partition())
                .number(cursor.offset())
                .bytes();
    }

    /**
     * What all {@link #eventId} keys of an id begin with. There is one, but for an event that was recorded twice; the
     * place is in the key so that no write has to look whether it is the first.
     */
    static Bytes eventIds(String namespace, String eventId) {
        return new Key(EVENT_ID).text(namespace).text(eventId).bytes();
    }

    /** One move of a task from state to state, by the place of the event that tells it. */
    static Bytes transition(TaskName name, JournalCursor cursor) {
        return new Key(transitions(name))
                .number(cursor.partition())
                .number(cursor.offset())
                .bytes();
    }

    /** What all {@link #transition} keys of a task begin with. */
    static Bytes transitions(TaskName name) {
        return new Key(TRANSITION).text(name.namespace()).text(name.taskId()).bytes();
    }

    /**
     * A tool call that waits for a decision: the one that has waited longest comes first. {@code atMs} is 0 or more.
     */
    static Bytes openApproval(TaskName name, long atMs, JournalCursor requested) {
        return new Key(openApprovals(name.namespace()))
                .number(atMs)
                .text(name.taskId())
                .number(requested.partition())
                .number(requested.offset())
                .bytes();
    }

    /** What all {@link #openApproval} keys of a namespace begin with. */
    static Bytes openApprovals(String namespace) {
        return new Key(OPEN_APPROVAL).text(namespace).bytes();
    }

    /** The {@link #event} key of the event that asked for the approval of an {@link #openApproval} key. */
    static Bytes requestOf(String namespace, Bytes openApproval) {
        ByteBuffer buffer = ByteBuffer.wrap(openApproval.get())
                .position(openApprovals(namespace).get().length + Long.BYTES);
        return event(new TaskName(namespace, readText(buffer)), cursor(openApproval));
    }

    /** Points from a call's id to the {@link #event} key of the event that asked for its approval. */
    static Bytes approvalRequest(String namespace, String callId) {
        return new Key(APPROVAL_REQUEST).text(namespace).text(callId).bytes();
    }

    /** Points from a call's id to the {@link #event} key of the event that decided on it. */
    static Bytes approvalDecision(String namespace, String callId) {
        return new Key(APPROVAL_DECISION).text(namespace).text(callId).bytes();
    }

    /** What all {@link #listed} keys of the list of a whole namespace begin with. */
    static Bytes list(String namespace) {
        return new Key(LIST).text(namespace).bytes();
    }

    /** The same of the tasks of a session. */
    static Bytes sessionList(String namespace, String sessionId) {
        return new Key(SESSION_LIST).text(namespace).text(sessionId).bytes();
    }

    /** The same of the tasks in a state. */
    static Bytes stateList(String namespace, String state) {
        return new Key(STATE_LIST).text(namespace).text(state).bytes();
    }

    /** The same of what is of this status and in no list of tasks of its own. */
    static Bytes queueList(String namespace, String status) {
        return new Key(QUEUE).text(namespace).text(status).bytes();
    }

    /** What all {@link #inLine} keys of a session begin with. */
    static Bytes line(String namespace, String sessionId) {
        return new Key(IN_LINE).text(namespace).text(sessionId).bytes();
    }

    /**
     * The place of a task that waits for its turn in its session: by priority, then by arrival, which is the order of
     * the journal, where a session has one partition. {@link #listedTask} reads it like a {@link #listed} key.
     */
    static Bytes inLine(Bytes line, int priority, JournalCursor first, String taskId) {
        return new Key(line)
                .number((long) priority << OFFSET_BITS | first.offset())
                .text(taskId)
                .bytes();
    }

    /** The same of the events that are of no task. */
    static Bytes alone(String namespace) {
        return new Key(ALONE).text(namespace).bytes();
    }

    /** The same of the events of a session that are of no task. */
    static Bytes aloneInSession(String namespace, String sessionId) {
        return new Key(ALONE_IN_SESSION).text(namespace).text(sessionId).bytes();
    }

    /** The same of the tasks that wait for something of this kind. */
    static Bytes waitingList(String namespace, String kind) {
        return new Key(WAITING_LIST).text(namespace).text(kind).bytes();
    }

    /** A task's place in a list: newest first, then by id. {@code createdAt} is 0 or more. */
    static Bytes listed(Bytes list, long createdAt, String taskId) {
        return new Key(list).number(~createdAt).text(taskId).bytes();
    }

    /** The task of a {@link #listed} key. */
    static String listedTask(Bytes list, Bytes listedKey) {
        return readText(ByteBuffer.wrap(listedKey.get()).position(list.get().length + Long.BYTES));
    }

    /**
     * Remembers to look, once the retention has passed since this moment, whether a task is old enough to be removed.
     */
    static Bytes due(long atMs, TaskName name) {
        return new Key(DUE)
                .number(atMs)
                .text(name.namespace())
                .text(name.taskId())
                .bytes();
    }

    /** What all {@link #due} keys up to this moment lie below. */
    static Bytes due(long atMs) {
        return new Key(DUE).number(atMs).bytes();
    }

    /** The moment of a {@link #due} key. */
    static long dueAt(Bytes dueKey) {
        return ByteBuffer.wrap(dueKey.get()).getLong(1);
    }

    /** The task of a {@link #due} key. */
    static TaskName dueTask(Bytes dueKey) {
        ByteBuffer buffer = ByteBuffer.wrap(dueKey.get()).position(1 + Long.BYTES);
        return new TaskName(readText(buffer), readText(buffer));
    }

    /** A request to forget that is not carried out to its end, by the place of the event that tells it. */
    static Bytes forgetting(JournalCursor told) {
        return new Key(FORGETTING)
                .number(told.partition())
                .number(told.offset())
                .bytes();
    }

    /** What all {@link #forgetting} keys begin with. */
    static Bytes forgettings() {
        return new Key(FORGETTING).bytes();
    }

    /** What a session is, see {@link SessionRow}. */
    static Bytes session(String namespace, String sessionId) {
        return new Key(sessionRows(namespace)).text(sessionId).bytes();
    }

    /** What all {@link #session} keys of a namespace begin with. */
    static Bytes sessionRows(String namespace) {
        return new Key(SESSION).text(namespace).bytes();
    }

    /** What all {@link #listed} keys of the list of a namespace's sessions begin with. */
    static Bytes sessions(String namespace) {
        return new Key(NAMESPACE_SESSIONS).text(namespace).bytes();
    }

    /** Says which session of this origin something happened in last. */
    static Bytes newestSession(String namespace, SessionOrigin origin, String name) {
        return new Key(NEWEST_SESSION)
                .text(namespace)
                .text(origin.name())
                .text(name)
                .bytes();
    }

    /** Whether this is a {@link #message} key. */
    static boolean isMessage(Bytes key) {
        return key.get()[0] == MESSAGE;
    }

    /** Points to the {@link #event} key of something that was said in a session. */
    static Bytes message(String namespace, String sessionId, JournalCursor cursor) {
        return new Key(messages(namespace, sessionId))
                .number(cursor.partition())
                .number(cursor.offset())
                .bytes();
    }

    /** What all {@link #message} keys of a session begin with. */
    static Bytes messages(String namespace, String sessionId) {
        return new Key(MESSAGE).text(namespace).text(sessionId).bytes();
    }

    /** Remembers to look, once the retention has passed since this moment, whether a session is old enough to go. */
    static Bytes dueSession(long atMs, String namespace, String sessionId) {
        return new Key(DUE_SESSION).number(atMs).text(namespace).text(sessionId).bytes();
    }

    /** What all {@link #dueSession} keys up to this moment lie below. */
    static Bytes dueSession(long atMs) {
        return new Key(DUE_SESSION).number(atMs).bytes();
    }

    /** The offset of the last record of a partition that is in the store. */
    static Bytes position(int partition) {
        return new Key(POSITION).number(partition).bytes();
    }

    /** What an agent used by a model within an hour, of a whole namespace. */
    static Bytes namespaceUsage(UsageKey key) {
        return new Key(NAMESPACE_USAGE)
                .number(key.hour())
                .text(key.namespace())
                .text(key.agent())
                .text(key.model())
                .bytes();
    }

    /** What all {@link #namespaceUsage} keys of hours before this one lie below, and those from it on do not. */
    static Bytes namespaceUsage(long hour) {
        return new Key(NAMESPACE_USAGE).number(hour).bytes();
    }

    /** What all {@link #namespaceUsage} keys of a namespace in an hour begin with. */
    static Bytes namespaceUsage(long hour, String namespace) {
        return new Key(namespaceUsage(hour)).text(namespace).bytes();
    }

    /** Reads a {@link #namespaceUsage} key. */
    static UsageKey ofNamespaceUsage(Bytes key) {
        ByteBuffer buffer = ByteBuffer.wrap(key.get()).position(1);
        return new UsageKey(buffer.getLong(), readText(buffer), "", "", readText(buffer), readText(buffer));
    }

    /** What an agent used by a model within an hour, of one task. */
    static Bytes taskUsage(UsageKey key) {
        return new Key(taskUsage(key.hour(), key.namespace(), key.sessionId()))
                .text(key.taskId())
                .text(key.agent())
                .text(key.model())
                .bytes();
    }

    /** What all {@link #taskUsage} keys of hours before this one lie below, and those from it on do not. */
    static Bytes taskUsage(long hour) {
        return new Key(TASK_USAGE).number(hour).bytes();
    }

    /** What all {@link #taskUsage} keys of a namespace in an hour begin with. */
    static Bytes taskUsage(long hour, String namespace) {
        return new Key(taskUsage(hour)).text(namespace).bytes();
    }

    /** What all {@link #taskUsage} keys of a session in an hour begin with. */
    static Bytes taskUsage(long hour, String namespace, String sessionId) {
        return new Key(taskUsage(hour, namespace)).text(sessionId).bytes();
    }

    /** Reads a {@link #taskUsage} key. */
    static UsageKey ofTaskUsage(Bytes key) {
        ByteBuffer buffer = ByteBuffer.wrap(key.get()).position(1);
        return new UsageKey(
                buffer.getLong(),
                readText(buffer),
                readText(buffer),
                readText(buffer),
                readText(buffer),
                readText(buffer));
    }

    /** The hour of a key that begins with its kind and an hour. */
    static long hour(Bytes key) {
        return ByteBuffer.wrap(key.get()).position(1).getLong();
    }

    /** Says that tasks of this session used something within this hour. */
    static Bytes usedIn(String namespace, String sessionId, long hour) {
        return new Key(usedIn(namespace, sessionId)).number(hour).bytes();
    }

    /** What all {@link #usedIn} keys of a session begin with. */
    static Bytes usedIn(String namespace, String sessionId) {
        return new Key(USED_IN).text(namespace).text(sessionId).bytes();
    }

    /** The hour of a {@link #usedIn} key. */
    static long usedInHour(Bytes key) {
        return ByteBuffer.wrap(key.get())
                .position(key.get().length - Long.BYTES)
                .getLong();
    }

    /** Says that this end of a call has been added up; its value is the place in the journal that told it. */
    static Bytes counted(long hour, String namespace, String callId, long repliedAt) {
        return new Key(counted(hour))
                .text(namespace)
                .text(callId)
                .number(repliedAt)
                .bytes();
    }

    /** What all {@link #counted} keys of hours before this one lie below, and those from it on do not. */
    static Bytes counted(long hour) {
        return new Key(COUNTED).number(hour).bytes();
    }

    /** The place in the journal of a key that ends with one, such as an {@link #event} key. */
    static JournalCursor cursor(Bytes eventKey) {
        byte[] key = eventKey.get();
        ByteBuffer tail = ByteBuffer.wrap(key, key.length - Integer.BYTES - Long.BYTES, Integer.BYTES + Long.BYTES);
        return new JournalCursor(tail.getInt(), tail.getLong());
    }

    /** What all keys of the lists of tasks of whole namespaces begin with. */
    static Bytes lists() {
        return new Key(LIST).bytes();
    }

    /** What all keys of the lists of sessions of namespaces begin with. */
    static Bytes sessions() {
        return new Key(NAMESPACE_SESSIONS).bytes();
    }

    /** The namespace of a key in which it comes first. */
    static String namespace(Bytes key) {
        return readText(ByteBuffer.wrap(key.get()).position(1));
    }

    private static String readText(ByteBuffer buffer) {
        byte[] text = new byte[buffer.getShort()];
        buffer.get(text);
        return new String(text, StandardCharsets.UTF_8);
    }

    private static final class Key {
        private final ByteArrayOutputStream bytes = new ByteArrayOutputStream(64);
        private final DataOutputStream out = new DataOutputStream(bytes);

        Key(int kind) {
            bytes.write(kind);
        }

        Key(Bytes prefix) {
            bytes.writeBytes(prefix.get());
        }

        Key text(String value) {
            byte[] text = value.getBytes(StandardCharsets.UTF_8);
            try {
                out.writeShort(text.length);
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
            bytes.writeBytes(text);
            return this;
        }

        Key number(int value) {
            bytes.writeBytes(ByteBuffer.allocate(Integer.BYTES).putInt(value).array());
            return this;
        }

        Key number(long value) {
            bytes.writeBytes(ByteBuffer.allocate(Long.BYTES).putLong(value).array());
            return this;
        }

        Bytes bytes() {
            return Bytes.wrap(bytes.toByteArray());
        }
    }
}
