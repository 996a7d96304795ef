package dev.millrace.agent.topology;

import dev.millrace.agent.core.TranscriptEntry;
import dev.millrace.schemas.Event;
import java.time.Instant;
import org.apache.kafka.streams.state.KeyValueIterator;
import org.apache.kafka.streams.state.KeyValueStore;
import org.jspecify.annotations.Nullable;

/** Reads the rows of tasks and writes what a {@link TaskMove} has worked out. For one stream thread. */
final class MoveWriter {

    private final KeyValueStore<String, StoredTask> tasks;
    private final KeyValueStore<String, TranscriptEntry> transcripts;
    private final KeyValueStore<String, OutstandingCall> calls;
    private final Outbox outbox;
    private final Caller caller;

    /** Who makes model calls, for this partition. */
    record Caller(ModelCalls modelCalls, int partition) {
        void request(OutstandingCall call) {
            modelCalls.request(partition, call);
        }
    }

    MoveWriter(
            KeyValueStore<String, StoredTask> tasks,
            KeyValueStore<String, TranscriptEntry> transcripts,
            KeyValueStore<String, OutstandingCall> calls,
            Outbox outbox,
            Caller caller) {
        this.tasks = tasks;
        this.transcripts = transcripts;
        this.calls = calls;
        this.outbox = outbox;
        this.caller = caller;
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

    /**
     * Writes a move.
     *
     * @param task the row, as the move and the shell together left it
     */
    void write(StoredTask task, TaskMove move, Instant now) {
        tasks.put(task.key(), task);
        move.appended().forEach((seq, entry) -> transcripts.put(Stores.transcriptKey(task.key(), seq), entry));
        for (String callId : move.settled()) {
            OutstandingCall call = calls.delete(Event.qualified(task.namespace(), callId));
            if (call != null) {
                caller.modelCalls().settle(call);
            }
        }
        move.journal().forEach(event -> outbox.journal(event, now));
        move.requests().forEach(request -> outbox.request(request, now));
        move.toOthers().forEach(event -> outbox.lane(event, now));
        for (OutstandingCall call : move.called().values()) {
            calls.put(call.key(), call);
            // the reply of a call that the committed state does not know is stale, so this need not wait for the commit
            caller.request(call);
        }
    }

    /** Whether a model call is out. */
    boolean hasOutstandingCalls() {
        try (KeyValueIterator<String, OutstandingCall> outstanding = calls.all()) {
            return outstanding.hasNext();
        }
    }

    /** Has every model call made that is out. */
    void repeatOutstandingCalls() {
        try (KeyValueIterator<String, OutstandingCall> outstanding = calls.all()) {
            outstanding.forEachRemaining(entry -> caller.request(entry.value));
        }
    }
}
