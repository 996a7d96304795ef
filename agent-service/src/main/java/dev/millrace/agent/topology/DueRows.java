package dev.millrace.agent.topology;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.apache.kafka.streams.KeyValue;
import org.apache.kafka.streams.state.KeyValueIterator;
import org.apache.kafka.streams.state.KeyValueStore;
import org.jspecify.annotations.Nullable;

/**
 * Removes rows that nothing has happened to for so long. They stand in an index by the time at which something last
 * did, so that nobody looks at what is not due; each run removes a bounded number. For one stream thread.
 */
final class DueRows {

    /** So many rows of the index are looked at in one run. */
    static final int MOST_AT_ONCE = 200;
    /** So many rows are removed in one run. */
    static final int ROWS_AT_ONCE = 4_000;
    /** So many rows of before there was an index are looked at in one run. */
    private static final int INDEXED_AT_ONCE = 1_000;

    /** Something happens to it. */
    static final long IN_USE = Long.MAX_VALUE;
    /** There is no such row any more. */
    static final long GONE = Long.MIN_VALUE;

    /** In the index, behind all times: that every row is in it. */
    private static final String COMPLETE = "~";

    private final KeyValueStore<String, String> index;
    private final long retentionMs;
    private final Rows rows;
    /** There is none before this time; looking there would pass over everything that was ever deleted. */
    private long startMs;
    /** None is due before this time. */
    private long nextMs;
    /** Where to go on with rows of before there was an index; {@code null} = nowhere. */
    private @Nullable String unindexed;

    /** The rows themselves. */
    interface Rows {

        /** The keys from this one on. */
        KeyValueIterator<String, ?> from(@Nullable String key);

        /** When something last happened to a row, in Unix milliseconds, {@link #IN_USE} or {@link #GONE}. */
        long usedAtMs(String key);

        /**
         * Removes a row, and what belongs to it.
         *
         * @param most how many rows in all, 1 or more
         * @return how many; as many as there may be = some may be left
         */
        int remove(String key, int most);
    }

    /** As the store has them. */
    DueRows(KeyValueStore<String, String> index, Duration retention, Rows rows) {
        this.index = index;
        this.retentionMs = retention.toMillis();
        this.rows = rows;
        this.unindexed = index.get(COMPLETE) == null ? "" : null;
    }

    /** Puts a row into the index. */
    static void add(KeyValueStore<String, String> index, long usedAtMs, String key) {
        index.put(TaskStores.timerKey(usedAtMs, key), key);
    }

    /** Takes a row out of the index, where it stood with this time. */
    static void drop(KeyValueStore<String, String> index, long usedAtMs, String key) {
        index.put(TaskStores.timerKey(usedAtMs, key), null);
    }

    /** Removes some of what is due, if anything is. */
    void run(long nowMs) {
        if (unindexed != null) {
            unindexed = index(unindexed);
            nextMs = 0;
        }
        if (nowMs < nextMs) {
            return;
        }
        long oldMs = nowMs - retentionMs;
        List<KeyValue<String, String>> due = due(oldMs);
        int left = ROWS_AT_ONCE;
        for (KeyValue<String, String> entry : due) {
            if (rows.usedAtMs(entry.value) < oldMs) {
                left -= rows.remove(entry.value, left);
                if (left <= 0) {
                    return; // the rest of this one is next time's work
                }
            }
            index.put(entry.key, null);
            startMs = TaskStores.timerTime(entry.key);
        }
        if (due.size() < MOST_AT_ONCE) {
            nextMs = nextMs(nowMs);
        }
    }

    private List<KeyValue<String, String>> due(long oldMs) {
        List<KeyValue<String, String>> due = new ArrayList<>();
        if (oldMs > startMs) {
            try (KeyValueIterator<String, String> all =
                    index.range(TaskStores.timerKey(startMs, ""), TaskStores.timerKey(oldMs, ""))) {
                while (all.hasNext() && due.size() < MOST_AT_ONCE) {
                    due.add(all.next());
                }
            }
        }
        return due;
    }

    /** What is added later is due later. */
    private long nextMs(long nowMs) {
        try (KeyValueIterator<String, String> all = index.range(TaskStores.timerKey(startMs, ""), COMPLETE)) {
            String first = all.hasNext() ? all.peekNextKey() : COMPLETE;
            return (first.equals(COMPLETE) ? nowMs : TaskStores.timerTime(first)) + retentionMs + 1;
        }
    }

    private @Nullable String index(String from) {
        try (KeyValueIterator<String, ?> all = rows.from(from.isEmpty() ? null : from)) {
            for (int looked = 0; all.hasNext(); looked++) {
                String key = all.peekNextKey();
                if (looked == INDEXED_AT_ONCE) {
                    return key;
                }
                all.next();
                long usedAtMs = rows.usedAtMs(key);
                if (usedAtMs != IN_USE && usedAtMs != GONE) {
                    add(index, Math.max(0, usedAtMs), key);
                }
            }
        }
        index.put(COMPLETE, "");
        return null;
    }
}
