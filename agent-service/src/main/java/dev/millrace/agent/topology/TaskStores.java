package dev.millrace.agent.topology;

import dev.millrace.agent.core.TranscriptEntry;
import dev.millrace.engine.MachineStreams;
import dev.millrace.engine.StoreSection;
import dev.millrace.schemas.Event;
import java.time.Duration;
import java.util.HexFormat;
import java.util.OptionalLong;
import org.apache.kafka.common.serialization.Serde;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.state.KeyValueIterator;
import org.apache.kafka.streams.state.ReadOnlyKeyValueStore;
import org.apache.kafka.streams.state.StoreBuilder;
import org.apache.kafka.streams.state.WindowStore;

/**
 * The stores of the task topology, by name: changing a name orphans a changelog. All rows are in one of them, in
 * sections; apart from it is what expires by itself.
 */
public final class TaskStores {

    /** The rows of all sections. */
    public static final String ROWS = "rows";
    /** Ids of external events that were taken, by namespace and id. */
    static final String SEEN = "seen";
    /** Requests to cancel tasks whose start has not been read yet, by the task's key. */
    static final String CANCELS = "cancels";

    /** Rows of tasks by {@link StoredTask#key()}. */
    static final StoreSection<StoredTask> TASKS = new StoreSection<>('t', StoreSerdes.TASK);
    /** Transcript entries by {@link #transcriptKey}. */
    public static final StoreSection<TranscriptEntry> TRANSCRIPTS =
            new StoreSection<>('e', StoreSerdes.TRANSCRIPT_ENTRY);
    /** Model calls that are out, by {@link OutstandingCall#key()}. */
    static final StoreSection<OutstandingCall> CALLS = new StoreSection<>('c', StoreSerdes.OUTSTANDING_CALL);
    /** Requests for tools that are out in the process that has the partition, by namespace and call id. */
    static final StoreSection<Event> LOCAL_CALLS = new StoreSection<>('l', StoreSerdes.EVENT);
    /** Who waits for admission, and whom they wait for. */
    static final StoreSection<AdmissionRow> ADMISSION = new StoreSection<>('a', StoreSerdes.ADMISSION_ROW);
    /** What sessions have used and said, and what they are called, by {@link StoredTask#conversation()}. */
    static final StoreSection<Sessions.Row> SESSIONS = new StoreSection<>('s', StoreSerdes.SESSION);
    /** Which parts of whose transcripts are the history of a session, by {@link #historyKey}. */
    static final StoreSection<Sessions.Told> HISTORY = new StoreSection<>('h', StoreSerdes.TOLD);
    /** Keys of tasks by {@link #timerKey}. */
    static final StoreSection<String> TIMERS = new StoreSection<>('w', Serdes.String());
    /** Keys of tasks that have ended, by when they did: {@link #timerKey}. */
    static final StoreSection<String> ENDED = new StoreSection<>('x', Serdes.String());
    /** Keys of sessions, by when they were last used: {@link #timerKey}. */
    static final StoreSection<String> USED_SESSIONS = new StoreSection<>('u', Serdes.String());
    /** What is being forgotten, and what was, by the id of the request. */
    static final StoreSection<TaskForgetting.Row> FORGOTTEN = new StoreSection<>('f', StoreSerdes.FORGETTING);

    /** Messages by which agents are given events, until their tasks have ended, by {@link StoredTask#key()}. */
    static final StoreSection<Event> GIVEN = new StoreSection<>('g', StoreSerdes.EVENT);

    /** Events that wait until it is quiet, by {@link HeldEvents#key}. */
    static final StoreSection<HeldEvents.Row> HELD = new StoreSection<>('q', StoreSerdes.HELD);

    /** Events that processors look at, in the order of their arrival. */
    static final StoreSection<Processing.Row> PROCESSING = new StoreSection<>('p', StoreSerdes.PROCESSING);

    /** How far schedules are, by {@link dev.millrace.agent.schedule.Schedule#key()}. */
    static final StoreSection<ScheduleRow> SCHEDULES = new StoreSection<>('d', StoreSerdes.SCHEDULE);

    private static final int TIME_DIGITS = 16;
    // stands between the parts of a key; ids hold no control characters
    private static final char SEPARATOR = '\u0000';

    private TaskStores() {}

    /** Written with the wall clock, never with an event's own time: a date in the future would expire everything. */
    static StoreBuilder<WindowStore<String, byte[]>> seen(Duration retention) {
        return window(SEEN, retention, Serdes.ByteArray());
    }

    static StoreBuilder<WindowStore<String, Event>> cancels(Duration retention) {
        return window(CANCELS, retention, StoreSerdes.EVENT);
    }

    /** The key of one transcript entry; entries of a task sort by position. */
    public static String transcriptKey(String taskKey, int seq) {
        return taskKey + SEPARATOR + HexFormat.of().toHexDigits(seq);
    }

    /**
     * The key of a part of a session's history; parts of a session sort by position.
     *
     * @param conversation see {@link StoredTask#conversation()}
     * @param position of its first entry, 0 or more
     */
    static String historyKey(String conversation, int position) {
        return conversation + SEPARATOR + HexFormat.of().toHexDigits(position);
    }

    /** What stands before the number in a {@link #transcriptKey} or a {@link #historyKey}. */
    static String firstPart(String key) {
        return key.substring(0, key.lastIndexOf(SEPARATOR));
    }

    /** The position of a {@link #historyKey}. */
    static int historyPosition(String historyKey) {
        return HexFormat.fromHexDigits(historyKey, historyKey.lastIndexOf(SEPARATOR) + 1, historyKey.length());
    }

    static String seenKey(String namespace, String eventId) {
        return namespace + SEPARATOR + eventId;
    }

    static String seenKey(String namespace, String eventId, String source) {
        return seenKey(namespace, eventId) + SEPARATOR + source;
    }

    /** The key of a wake-up; they sort by time. */
    static String timerKey(long atMs, String taskKey) {
        return HexFormat.of().toHexDigits(atMs) + taskKey;
    }

    /** The time of a wake-up. */
    static long timerTime(String timerKey) {
        return HexFormat.fromHexDigitsToLong(timerKey, 0, TIME_DIGITS);
    }

    /**
     * When the next task is to be woken, or the next event has waited for long enough, in Unix milliseconds, as the
     * rows of a partition say; empty = nothing waits for the time.
     */
    public static OptionalLong nextTimer(ReadOnlyKeyValueStore<Bytes, byte[]> rows) {
        long next = Long.MAX_VALUE;
        try (KeyValueIterator<String, String> timers = TIMERS.readIn(rows).all()) {
            next = timers.hasNext() ? timerTime(timers.next().key) : next;
        }
        try (KeyValueIterator<String, HeldEvents.Row> held = HELD.readIn(rows).all()) {
            while (held.hasNext()) {
                next = Math.min(next, held.next().value.dueAtMs());
            }
        }
        return next == Long.MAX_VALUE ? OptionalLong.empty() : OptionalLong.of(next);
    }

    private static <V> StoreBuilder<WindowStore<String, V>> window(String name, Duration retention, Serde<V> serde) {
        return org.apache.kafka.streams.state.Stores.windowStoreBuilder(
                        org.apache.kafka.streams.state.Stores.persistentWindowStore(
                                name, retention, Duration.ofMillis(1), false),
                        Serdes.String(),
                        serde)
                .withCachingDisabled()
                .withLoggingEnabled(MachineStreams.CHANGELOG);
    }
}
