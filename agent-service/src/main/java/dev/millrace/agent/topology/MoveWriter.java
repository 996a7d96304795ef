package dev.millrace.agent.topology;

import dev.millrace.agent.core.TaskState;
import dev.millrace.agent.core.TranscriptEntry;
import dev.millrace.engine.OutstandingCalls;
import dev.millrace.schemas.Event;
import java.time.Instant;
import org.apache.kafka.streams.state.KeyValueStore;
import org.jspecify.annotations.Nullable;

/** Reads the rows of tasks and writes what a {@link TaskMove} has worked out. For one stream thread. */
final class MoveWriter {

    private final KeyValueStore<String, StoredTask> tasks;
    private final KeyValueStore<String, TranscriptEntry> transcripts;
    private final OutstandingCalls<OutstandingCall> calls;
    private final Outbox outbox;

    MoveWriter(
            KeyValueStore<String, StoredTask> tasks,
            KeyValueStore<String, TranscriptEntry> transcripts,
            OutstandingCalls<OutstandingCall> calls,
            Outbox outbox) {
        this.tasks = tasks;
        this.transcripts = transcripts;
        this.calls = calls;
        this.outbox = outbox;
    }

    @Nullable
    StoredTask task(String key) {
        return tasks.get(key);
    }

    @Nullable
    TranscriptEntry transcript(String taskKey, int seq) {
        return transcripts.get(Stores.transcriptKey(taskKey, seq));
    }

    /** Writes a row of which nothing has changed that anybody else would have to know. */
    void keep(StoredTask task) {
        tasks.put(task.key(), task);
    }

    /** Removes a row and its transcript. What the task did stays in the journal. */
    void remove(StoredTask task) {
        int length = task.state() instanceof TaskState.Existing existing
                ? existing.context().transcriptLength()
                : 0;
        for (int seq = 0; seq < length; seq++) {
            transcripts.delete(Stores.transcriptKey(task.key(), seq));
        }
        tasks.delete(task.key());
    }

    /**
     * Writes a move.
     *
     * @param task the row, as the move and the shell together left it
     */
    void write(StoredTask task, TaskMove move, Instant now) {
        tasks.put(task.key(), task);
        move.appended().forEach((seq, entry) -> transcripts.put(Stores.transcriptKey(task.key(), seq), entry));
        for (String callId : move.settled()) {
            calls.settle(Event.qualified(task.namespace(), callId));
        }
        move.journal().forEach(event -> outbox.journal(event, now));
        move.requests().forEach(request -> outbox.request(request, now));
        move.toOthers().forEach(event -> outbox.lane(event, now));
        move.called().values().forEach(calls::request);
    }
}
