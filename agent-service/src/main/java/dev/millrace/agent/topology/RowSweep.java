package dev.millrace.agent.topology;

import org.apache.kafka.streams.KeyValue;
import org.apache.kafka.streams.state.KeyValueIterator;
import org.apache.kafka.streams.state.KeyValueStore;
import org.jspecify.annotations.Nullable;

/** Looks at all rows of a store again and again, a bounded number at a time, going on where it stopped. */
final class RowSweep<V> {

    private static final int ROWS_PER_RUN = 1_000;

    private final KeyValueStore<String, V> store;
    private final Look<V> look;
    private @Nullable String nextKey;

    /** What is done about a row. */
    interface Look<V> {
        void at(KeyValue<String, V> row, long nowMs);
    }

    RowSweep(KeyValueStore<String, V> store, Look<V> look) {
        this.store = store;
        this.look = look;
    }

    void run(long nowMs) {
        try (KeyValueIterator<String, V> rows = store.range(nextKey, null)) {
            for (int looked = 0; rows.hasNext(); looked++) {
                if (looked == ROWS_PER_RUN) {
                    nextKey = rows.peekNextKey();
                    return;
                }
                look.at(rows.next(), nowMs);
            }
        }
        nextKey = null;
    }
}
