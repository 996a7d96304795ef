package dev.millrace.agent.topology;

import dev.millrace.agent.core.TaskState;
import dev.millrace.agent.core.TranscriptEntry;
import java.time.Duration;
import org.apache.kafka.streams.state.KeyValueIterator;
import org.apache.kafka.streams.state.KeyValueStore;
import org.jspecify.annotations.Nullable;

/**
 * Removes the rows and transcripts of tasks that ended long ago, a bounded number at a time, and remembers where it
 * stopped so that it does not look at the same rows again and again. What they did stays in the journal.
 */
final class EndedTaskSweep {

    private static final int ROWS_PER_RUN = 1_000;

    private final KeyValueStore<String, StoredTask> tasks;
    private final KeyValueStore<String, TranscriptEntry> transcripts;
    private final Duration retention;
    private @Nullable String nextKey;

    EndedTaskSweep(
            KeyValueStore<String, StoredTask> tasks,
            KeyValueStore<String, TranscriptEntry> transcripts,
            Duration retention) {
        this.tasks = tasks;
        this.transcripts = transcripts;
        this.retention = retention;
    }

    void run(long nowMs) {
        long oldest = nowMs - retention.toMillis();
        try (KeyValueIterator<String, StoredTask> rows = tasks.range(nextKey, null)) {
            for (int looked = 0; rows.hasNext(); looked++) {
                if (looked == ROWS_PER_RUN) {
                    nextKey = rows.peekNextKey();
                    return;
                }
                StoredTask task = rows.next().value;
                if (task.updatedAtMs() < oldest && hasEnded(task.state())) {
                    remove(task);
                }
            }
        }
        nextKey = null;
    }

    private static boolean hasEnded(TaskState state) {
        return state instanceof TaskState.Completed || state instanceof TaskState.Ended;
    }

    private void remove(StoredTask task) {
        int length = task.state() instanceof TaskState.Existing existing
                ? existing.context().transcriptLength()
                : 0;
        for (int seq = 0; seq < length; seq++) {
            transcripts.delete(Stores.transcriptKey(task.key(), seq));
        }
        tasks.delete(task.key());
    }
}
