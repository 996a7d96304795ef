package dev.millrace.agent.topology;

import dev.millrace.agent.core.TranscriptEntry;
import java.time.Duration;
import java.util.Map;
import org.apache.kafka.common.config.TopicConfig;
import org.apache.kafka.common.serialization.Serde;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.streams.state.KeyValueStore;
import org.apache.kafka.streams.state.StoreBuilder;
import org.apache.kafka.streams.state.WindowStore;

/** The stores of the task topology, by name: changing a name orphans a changelog. */
public final class Stores {

    /** Rows of tasks by {@link StoredTask#key()}. */
    static final String TASKS = "tasks";
    /** Transcript entries by {@link #transcriptKey}. */
    public static final String TRANSCRIPTS = "transcripts";
    /** Model calls that are out, by {@link OutstandingCall#key()}. */
    static final String CALLS = "calls";
    /** Ids of external events that were taken, by namespace and id. */
    static final String SEEN = "seen";

    /**
     * The largest record that a changelog takes. A record on a lane has at most 1 MiB; as JSON inside JSON it can double,
     * and control characters take six bytes.
     */
    static final int MAX_RECORD_BYTES = 8 * 1024 * 1024;

    private static final Map<String, String> CHANGELOG =
            Map.of(TopicConfig.MAX_MESSAGE_BYTES_CONFIG, Integer.toString(MAX_RECORD_BYTES));
    // stands between the parts of a key; ids hold no control characters
    private static final char SEPARATOR = '\u0000';

    private Stores() {}

    static StoreBuilder<KeyValueStore<String, StoredTask>> tasks() {
        // cached: a task moves several times between two commits, and only the last row needs a changelog record
        return keyValue(TASKS, StoreSerdes.TASK).withCachingEnabled();
    }

    static StoreBuilder<KeyValueStore<String, TranscriptEntry>> transcripts() {
        return keyValue(TRANSCRIPTS, StoreSerdes.TRANSCRIPT_ENTRY).withCachingDisabled();
    }

    static StoreBuilder<KeyValueStore<String, OutstandingCall>> calls() {
        return keyValue(CALLS, StoreSerdes.OUTSTANDING_CALL).withCachingEnabled();
    }

    /** Written with the wall clock, never with an event's own time: a date in the future would expire everything. */
    static StoreBuilder<WindowStore<String, byte[]>> seen(Duration retention) {
        return org.apache.kafka.streams.state.Stores.windowStoreBuilder(
                        org.apache.kafka.streams.state.Stores.persistentWindowStore(
                                SEEN, retention, Duration.ofMillis(1), false),
                        Serdes.String(),
                        Serdes.ByteArray())
                .withCachingDisabled()
                .withLoggingEnabled(CHANGELOG);
    }

    /** The key of one transcript entry; entries of a task sort by position. */
    public static String transcriptKey(String taskKey, int seq) {
        return taskKey + SEPARATOR + String.format("%08x", seq);
    }

    static String seenKey(String namespace, String eventId) {
        return namespace + SEPARATOR + eventId;
    }

    private static <V> StoreBuilder<KeyValueStore<String, V>> keyValue(String name, Serde<V> serde) {
        return org.apache.kafka.streams.state.Stores.keyValueStoreBuilder(
                        org.apache.kafka.streams.state.Stores.persistentKeyValueStore(name), Serdes.String(), serde)
                .withLoggingEnabled(CHANGELOG);
    }
}
