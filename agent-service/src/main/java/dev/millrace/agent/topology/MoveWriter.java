package dev.millrace.agent.topology;

import dev.millrace.agent.core.TaskEvent;
import dev.millrace.agent.core.TaskState;
import dev.millrace.agent.core.TranscriptEntry;
import dev.millrace.engine.OutstandingCalls;
import dev.millrace.schemas.Event;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.state.KeyValueIterator;
import org.apache.kafka.streams.state.KeyValueStore;
import org.jspecify.annotations.Nullable;

/**
 * Reads the rows of tasks and writes what a {@link TaskMove} has worked out. For one stream thread, and for one life of
 * its stores: of an aborted transaction it would remember too much.
 */
final class MoveWriter {

    /** A task moves several times in a short while, and its row need not be read out of JSON for each. */
    static final int MOST_RECENT = 1_000;

    /** A larger row is not kept as an object, in bytes of JSON: some have all that a person or a model has said. */
    static final int LARGE = 16 * 1024;

    private final KeyValueStore<Bytes, byte[]> rows;
    private final KeyValueStore<String, StoredTask> tasks;
    private final KeyValueStore<String, TranscriptEntry> transcripts;
    private final OutstandingCalls<OutstandingCall> calls;
    private final KeyValueStore<String, String> ended;
    private final LocalCalls localCalls;
    private final SeenEvents seen;
    private final Outbox outbox;
    private final Map<String, StoredTask> recent = new LinkedHashMap<>(16, 0.75f, true) {
        @Override
        protected boolean removeEldestEntry(Map.Entry<String, StoredTask> eldest) {
            return size() > MOST_RECENT;
        }
    };
    /** The key that has been asked for last and is no task's: of a new one it is asked for several times. */
    private @Nullable String absent;

    /**
     * Over these rows.
     *
     * @param rows of all sections
     */
    MoveWriter(
            KeyValueStore<Bytes, byte[]> rows,
            OutstandingCalls<OutstandingCall> calls,
            LocalCalls localCalls,
            SeenEvents seen,
            Outbox outbox) {
        this.rows = rows;
        this.tasks = TaskStores.TASKS.in(rows);
        this.transcripts = TaskStores.TRANSCRIPTS.in(rows);
        this.ended = TaskStores.ENDED.in(rows);
        this.calls = calls;
        this.localCalls = localCalls;
        this.seen = seen;
        this.outbox = outbox;
    }

    @Nullable
    StoredTask task(String key) {
        StoredTask task = recent.get(key);
        if (task == null && !key.equals(absent)) {
            task = tasks.get(key);
            if (task == null) {
                absent = key;
            }
        }
        return task;
    }

    @Nullable
    TranscriptEntry transcript(String taskKey, int seq) {
        return transcripts.get(TaskStores.transcriptKey(taskKey, seq));
    }

    /** A request to interrupt a task with what its model has said so far; anything else as it is. */
    TaskEvent withLastWords(StoredTask before, TaskEvent event) {
        if (!(event instanceof TaskEvent.CancelRequested cancel) || cancel.interruption() == null) {
            return event;
        }
        TaskState.Active working =
                switch (before.state()) {
                    case TaskState.Active active -> active;
                    case TaskState.Suspended suspended when suspended.awaitsReply() -> suspended.from();
                    default -> null;
                };
        return working instanceof TaskState.Asking asking
                ? cancel.after(calls.saidSoFar(Event.qualified(before.namespace(), asking.awaiting())))
                : event;
    }

    /** Writes a row of which nothing has changed that anybody else would have to know. */
    void keep(StoredTask task) {
        StoredTask before = task(task.key());
        absent = null;
        byte[] row = TaskStores.TASKS.storeValue(task);
        rows.put(Bytes.wrap(TaskStores.TASKS.storeKey(task.key())), row);
        if (row.length > LARGE) {
            recent.remove(task.key());
        } else {
            recent.put(task.key(), task);
        }
        if (before != null && Moves.hasEnded(before)) {
            DueRows.drop(ended, before.updatedAtMs(), before.key());
        }
        if (Moves.hasEnded(task)) {
            DueRows.add(ended, task.updatedAtMs(), task.key());
        }
    }

    /**
     * Removes tasks that ended so long ago, with their transcripts. What they did stays in the journal.
     *
     * @param referred whether the transcript of a task is to stay
     */
    DueRows sweep(Duration retention, Predicate<StoredTask> referred) {
        return new DueRows(ended, retention, new DueRows.Rows() {
            @Override
            public KeyValueIterator<String, ?> from(@Nullable String key) {
                return tasks.range(key, null);
            }

            @Override
            public long usedAtMs(String key) {
                StoredTask task = task(key);
                return task == null ? DueRows.GONE : Moves.hasEnded(task) ? task.updatedAtMs() : DueRows.IN_USE;
            }

            @Override
            public int remove(String key, int most) {
                StoredTask task = task(key);
                if (task != null && referred.test(task)) {
                    tasks.put(key, null);
                    recent.remove(key);
                    return Math.min(1, most - 1); // nothing is left: the transcript is not to be gone on with
                }
                return removeSome(key, most);
            }
        });
    }

    /** The row first: nothing goes on with a transcript of which a part is gone. */
    private int removeSome(String key, int most) {
        tasks.put(key, null);
        recent.remove(key);
        List<String> found = new ArrayList<>();
        try (KeyValueIterator<String, TranscriptEntry> entries =
                transcripts.range(TaskStores.transcriptKey(key, 0), TaskStores.transcriptKey(key, -1))) {
            while (entries.hasNext() && found.size() < most) {
                found.add(entries.peekNextKey());
                entries.next();
            }
        }
        found.forEach(transcripts::delete);
        return Math.max(1, found.size());
    }

    /** Removes a row and its transcript. What the task did stays in the journal. */
    void remove(StoredTask task, Instant now) {
        int length = task.state() instanceof TaskState.Existing existing
                ? existing.context().transcriptLength()
                : 0;
        for (int seq = 0; seq < length; seq++) {
            transcripts.put(TaskStores.transcriptKey(task.key(), seq), null);
        }
        tasks.put(task.key(), null);
        recent.remove(task.key());
        DueRows.drop(ended, task.updatedAtMs(), task.key());
        localCalls.forget(task.key());
        seen.add(task.namespace(), task.taskId(), now);
    }

    /**
     * Writes a move.
     *
     * @param task the row, as the move and the shell together left it
     */
    void write(StoredTask task, TaskMove move, Instant now) {
        keep(task);
        move.appended().forEach((seq, entry) -> transcripts.put(TaskStores.transcriptKey(task.key(), seq), entry));
        for (String callId : move.settled()) {
            calls.settle(Event.qualified(task.namespace(), callId));
        }
        for (Event event : move.journal()) {
            String outcome = move.outcome(event);
            if (outcome == null) {
                outbox.journal(event, now);
            } else {
                outbox.journal(event, now, outcome);
            }
            localCalls.settle(event);
        }
        for (TaskMove.Request asked : move.requests()) {
            TaskMove.Request request = outbox.traced(asked);
            if (!localCalls.take(request)) {
                outbox.request(request, now);
            }
        }
        move.toOthers().forEach(event -> outbox.lane(event, now));
        move.called().values().forEach(calls::request);
    }
}
