package dev.millrace.agent.topology;

import dev.millrace.agent.core.TaskState;
import dev.millrace.agent.core.TranscriptEntry;
import java.time.Duration;
import org.apache.kafka.streams.state.KeyValueStore;

/** Removes the rows and transcripts of tasks that ended long ago. What they did stays in the journal. */
final class EndedTaskSweep {

    private final KeyValueStore<String, StoredTask> tasks;
    private final KeyValueStore<String, TranscriptEntry> transcripts;
    private final RowSweep<StoredTask> rows;

    EndedTaskSweep(
            KeyValueStore<String, StoredTask> tasks,
            KeyValueStore<String, TranscriptEntry> transcripts,
            Duration retention) {
        this.tasks = tasks;
        this.transcripts = transcripts;
        this.rows = new RowSweep<>(tasks, (row, nowMs) -> {
            if (row.value.updatedAtMs() < nowMs - retention.toMillis() && hasEnded(row.value.state())) {
                remove(row.value);
            }
        });
    }

    void run(long nowMs) {
        rows.run(nowMs);
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
