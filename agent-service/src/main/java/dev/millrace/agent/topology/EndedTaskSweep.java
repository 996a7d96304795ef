package dev.millrace.agent.topology;

import java.time.Duration;
import java.util.function.Consumer;
import org.apache.kafka.streams.state.KeyValueStore;

/** Removes the rows and transcripts of tasks that ended long ago. What they did stays in the journal. */
final class EndedTaskSweep {

    private final RowSweep<StoredTask> rows;

    EndedTaskSweep(KeyValueStore<String, StoredTask> tasks, Consumer<StoredTask> remove, Duration retention) {
        this.rows = new RowSweep<>(tasks, (row, nowMs) -> {
            if (row.value.updatedAtMs() < nowMs - retention.toMillis() && Moves.hasEnded(row.value)) {
                remove.accept(row.value);
            }
        });
    }

    void run(long nowMs) {
        rows.run(nowMs);
    }
}
