package dev.millrace.agent.topology;

import dev.millrace.agent.core.TranscriptEntry;
import dev.millrace.engine.MachineStreams;
import dev.millrace.schemas.Event;
import java.time.Duration;
import java.util.HexFormat;
import java.util.Map;
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

    /** Who waits for admission, and whom they wait for. */
    static final String ADMISSION = "admission";
    /** What sessions have used, by {@link StoredTask#conversation()}. */
    static final String SESSIONS = "sessions";
    /** Keys of tasks by {@link #timerKey}. */
    static final String TIMERS = "timers";
    /** Requests to cancel tasks whose start has not been read yet, by the task's key. */
    static final String CANCELS = "cancels";
    /** What is being forgotten, and what was, by the id of the request. */
    static final String FORGOTTEN = "forgotten";

    private static final Map<String, String> CHANGELOG = MachineStreams.CHANGELOG;
    private static final int TIME_DIGITS = 16;
    // stands between the parts of a key; ids hold no control characters
    private static final char SEPARATOR = '\u0000';

    private Stores() {}

    static StoreBuilder<KeyValueStore<String, StoredTask>> tasks() {
        // cached: a task moves several times between two commits, and only the last row needs a changelog record
        return keyValue(TASKS, StoreSerdes.TASK).withCachingEnabled();
    }

    /** The store of transcripts, entries by {@link #transcriptKey}. */
    public static StoreBuilder<KeyValueStore<String, TranscriptEntry>> transcripts() {
        return keyValue(TRANSCRIPTS, StoreSerdes.TRANSCRIPT_ENTRY).withCachingDisabled();
    }

    static StoreBuilder<KeyValueStore<String, OutstandingCall>> calls() {
        return keyValue(CALLS, StoreSerdes.OUTSTANDING_CALL).withCachingEnabled();
    }

    /** Written with the wall clock, never with an event's own time: a date in the future would expire everything. */
    static StoreBuilder<WindowStore<String, byte[]>> seen(Duration retention) {
        return window(SEEN, retention, Serdes.ByteArray());
    }

    static StoreBuilder<KeyValueStore<String, AdmissionRow>> admission() {
        // cached, as is whatever a task leaves again soon: what comes and goes between two commits is never written
        return keyValue(ADMISSION, StoreSerdes.ADMISSION_ROW).withCachingEnabled();
    }

    static StoreBuilder<KeyValueStore<String, Sessions.Row>> sessions() {
        return keyValue(SESSIONS, StoreSerdes.SESSION).withCachingEnabled();
    }

    static StoreBuilder<KeyValueStore<String, String>> timers() {
        return keyValue(TIMERS, Serdes.String()).withCachingEnabled();
    }

    static StoreBuilder<KeyValueStore<String, Forgetting.Row>> forgotten() {
        return keyValue(FORGOTTEN, StoreSerdes.FORGETTING).withCachingEnabled();
    }

    static StoreBuilder<WindowStore<String, Event>> cancels(Duration retention) {
        return window(CANCELS, retention, StoreSerdes.EVENT);
    }

    /** The key of one transcript entry; entries of a task sort by position. */
    public static String transcriptKey(String taskKey, int seq) {
        return taskKey + SEPARATOR + String.format("%08x", seq);
    }

    static String seenKey(String namespace, String eventId) {
        return namespace + SEPARATOR + eventId;
    }

    /** The key of a wake-up; they sort by time. */
    static String timerKey(long atMs, String taskKey) {
        return HexFormat.of().toHexDigits(atMs) + taskKey;
    }

    /** The time of a wake-up. */
    static long timerTime(String timerKey) {
        return HexFormat.fromHexDigitsToLong(timerKey, 0, TIME_DIGITS);
    }

    private static <V> StoreBuilder<WindowStore<String, V>> window(String name, Duration retention, Serde<V> serde) {
        return org.apache.kafka.streams.state.Stores.windowStoreBuilder(
                        org.apache.kafka.streams.state.Stores.persistentWindowStore(
                                name, retention, Duration.ofMillis(1), false),
                        Serdes.String(),
                        serde)
                .withCachingDisabled()
                .withLoggingEnabled(CHANGELOG);
    }

    private static <V> StoreBuilder<KeyValueStore<String, V>> keyValue(String name, Serde<V> serde) {
        return org.apache.kafka.streams.state.Stores.keyValueStoreBuilder(
                        org.apache.kafka.streams.state.Stores.persistentKeyValueStore(name), Serdes.String(), serde)
                .withLoggingEnabled(CHANGELOG);
    }
}
