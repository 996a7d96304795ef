package dev.millrace.agent.projection;

import dev.millrace.schemas.JournalCursor;
import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import org.apache.kafka.common.utils.Bytes;
import org.jspecify.annotations.Nullable;

/**
 * The keys of the projection's one store. A key is a kind and then parts, each text with its length before it, so that no
 * two keys are equal by accident and all keys that share their first parts lie together. Numbers are big-endian, so that
 * byte order is number order; times in lists are inverted, so that the newest comes first.
 */
final class ProjectionKeys {

    private static final int TASK = 'T';
    private static final int EVENT = 'E';
    private static final int EVENT_ID = 'D';
    private static final int LIST = 'L';
    private static final int SESSION_LIST = 'S';
    private static final int STATE_LIST = 'X';
    private static final int DUE = 'U';
    private static final int POSITION = 'P';

    private ProjectionKeys() {}

    /** A task's id with its namespace, which together are unique. */
    record TaskName(String namespace, String taskId) {}

    /** What a task is, see {@link TaskRow}. */
    static Bytes task(TaskName name) {
        return new Key(TASK).text(name.namespace()).text(name.taskId()).bytes();
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

    /** Points from an event's id to its {@link #event} key. */
    static Bytes eventId(String namespace, String eventId) {
        return new Key(EVENT_ID).text(namespace).text(eventId).bytes();
    }

    /** What all {@link #listed} keys of a list begin with: of a session, else of a state, else of everything. */
    static Bytes list(String namespace, @Nullable String state, @Nullable String sessionId) {
        if (sessionId != null) {
            return new Key(SESSION_LIST).text(namespace).text(sessionId).bytes();
        }
        return state != null
                ? new Key(STATE_LIST).text(namespace).text(state).bytes()
                : new Key(LIST).text(namespace).bytes();
    }

    /** A task's place in a list: newest first, then by id. {@code createdAt} is 0 or more. */
    static Bytes listed(Bytes list, long createdAt, String taskId) {
        return new Key(list).number(~createdAt).text(taskId).bytes();
    }

    /** The task of a {@link #listed} key. */
    static String listedTask(Bytes list, Bytes listedKey) {
        return readText(ByteBuffer.wrap(listedKey.get()).position(list.get().length + Long.BYTES));
    }

    /** Remembers to look, once the retention has passed since this moment, whether a task is old enough to be removed. */
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

    /** The task of a {@link #due} key. */
    static TaskName dueTask(Bytes dueKey) {
        ByteBuffer buffer = ByteBuffer.wrap(dueKey.get()).position(1 + Long.BYTES);
        return new TaskName(readText(buffer), readText(buffer));
    }

    /** The offset of the last record of a partition that is in the store. */
    static Bytes position(int partition) {
        return new Key(POSITION).number(partition).bytes();
    }

    /** The place in the journal of an {@link #event} key. */
    static JournalCursor cursor(Bytes eventKey) {
        byte[] key = eventKey.get();
        ByteBuffer tail = ByteBuffer.wrap(key, key.length - Integer.BYTES - Long.BYTES, Integer.BYTES + Long.BYTES);
        return new JournalCursor(tail.getInt(), tail.getLong());
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
