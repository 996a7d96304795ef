package dev.millrace.agent.topology;

import dev.millrace.agent.AgentDefinition;
import dev.millrace.agent.Targeting;
import dev.millrace.agent.core.SessionHistory;
import dev.millrace.agent.core.TaskState;
import dev.millrace.agent.core.TranscriptEntry;
import dev.millrace.agent.core.Usage;
import dev.millrace.schemas.Event;
import dev.millrace.schemas.ForgetScope;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.IntFunction;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.KeyValue;
import org.apache.kafka.streams.state.KeyValueIterator;
import org.apache.kafka.streams.state.KeyValueStore;
import org.jspecify.annotations.Nullable;

/**
 * What is known of sessions: what their tasks have used together, for limits that hold for all of them, and which parts
 * of whose transcripts are their history, in order. Nothing of a transcript is copied: those that a history refers to
 * stay as long as the session does, also without their tasks' rows. For one stream thread.
 */
final class Sessions {

    /** Stands in place of a summary that told of something that has been forgotten. */
    static final String FORGOTTEN_SUMMARY = "[What this summary told of has been forgotten]";

    /** So many rows are looked at or removed in one turn. */
    static final int ROWS_AT_ONCE = 1_000;

    private static final long HOUR_MS = Duration.ofHours(1).toMillis();

    private final KeyValueStore<String, Row> store;
    private final KeyValueStore<String, String> used;
    private final KeyValueStore<String, Told> history;
    private final KeyValueStore<String, TranscriptEntry> transcripts;
    private final KeyValueStore<String, StoredTask> tasks;

    /**
     * The row of a session.
     *
     * @param usage what its tasks have used so far
     * @param updatedAtMs when something last happened in it, in Unix milliseconds
     * @param createdAtMs when it began, in Unix milliseconds; {@code null} in a row of before sessions had a history
     * @param title what people call it; {@code null} = nothing
     * @param history what was said in it; {@code null} = nothing
     * @param participants who takes part, see {@link Targeting}; {@code null} = nobody has said
     */
    record Row(
            Usage usage,
            long updatedAtMs,
            @Nullable Long createdAtMs,
            @Nullable String title,
            @Nullable SessionHistory history,
            @Nullable List<String> participants) {

        /** To the hour, so that the index need not be written with every call; never before it was. */
        private long usedAtMs() {
            return (updatedAtMs / HOUR_MS + 1) * HOUR_MS;
        }

        private Row at(long nowMs) {
            return new Row(usage, nowMs, createdAtMs, title, history, participants);
        }

        private Row used(Usage more) {
            return new Row(usage.plus(more), updatedAtMs, createdAtMs, title, history, participants);
        }

        private Row called(@Nullable String now) {
            return new Row(usage, updatedAtMs, createdAtMs, now == null ? title : now, history, participants);
        }

        private Row telling(SessionHistory now) {
            return new Row(usage, updatedAtMs, createdAtMs, title, now, participants);
        }

        private Row joinedBy(List<String> now) {
            return new Row(usage, updatedAtMs, createdAtMs, title, history, now);
        }

        private SessionHistory told() {
            return history == null ? SessionHistory.EMPTY : history;
        }
    }

    /**
     * A part of a task's transcript that is part of its session's history.
     *
     * @param taskId the task
     * @param from position in its transcript of the first entry
     * @param to of the first one that is not part of it
     * @param forgotten whether the task has been forgotten: the entries are gone
     * @param speaker the agent that others are told to have said it; {@code null} = it is as if said by whoever reads
     *     it
     */
    record Told(
            String taskId,
            int from,
            int to,
            boolean forgotten,
            @Nullable String speaker) {
        int length() {
            return to - from;
        }
    }

    /** As these rows, of all sections, have them. */
    Sessions(KeyValueStore<Bytes, byte[]> rows) {
        this.store = TaskStores.SESSIONS.in(rows);
        this.used = TaskStores.USED_SESSIONS.in(rows);
        this.history = TaskStores.HISTORY.in(rows);
        this.transcripts = TaskStores.TRANSCRIPTS.in(rows);
        this.tasks = TaskStores.TASKS.in(rows);
    }

    /** Whether there is this session here: somebody has made it, or a task has begun in it. */
    boolean exists(String namespace, String sessionId) {
        return store.get(StoredTask.conversation(namespace, sessionId)) != null;
    }

    /**
     * Makes a session, or gives one a title.
     *
     * @param title {@code null} = it stays as it is
     * @param receivedMs when that was wanted, in Unix milliseconds
     */
    void note(String namespace, String sessionId, @Nullable String title, long receivedMs, long nowMs) {
        String key = StoredTask.conversation(namespace, sessionId);
        Row row = Optional.ofNullable(store.get(key)).orElseGet(() -> newRow(receivedMs, nowMs));
        put(key, row.called(title), nowMs);
    }

    /**
     * Says who takes part in a session from now on.
     *
     * @param receivedMs when that was wanted, in Unix milliseconds
     */
    void join(String namespace, String sessionId, List<String> participants, long receivedMs, long nowMs) {
        String key = StoredTask.conversation(namespace, sessionId);
        Row row = Optional.ofNullable(store.get(key)).orElseGet(() -> newRow(receivedMs, nowMs));
        if (!participants.equals(row.participants())) {
            put(key, row.joinedBy(participants), nowMs);
        }
    }

    /**
     * Who takes part in a session; empty = nobody has said.
     *
     * @param key see {@link StoredTask#conversation()}
     */
    List<String> participants(String key) {
        Row row = store.get(key);
        return row == null || row.participants() == null ? List.of() : row.participants();
    }

    /** What the session of this task has used, the task itself included; nothing if it has none. */
    Usage usage(StoredTask task) {
        Row row = task.sessionId() == null ? null : store.get(task.conversation());
        return row == null ? Usage.NONE : row.usage();
    }

    /** What has been said in the session of this task; {@code null} = it has none. */
    @Nullable
    SessionHistory history(StoredTask task) {
        Row row = task.sessionId() == null ? null : store.get(task.conversation());
        return task.sessionId() == null ? null : row == null ? SessionHistory.EMPTY : row.told();
    }

    /**
     * Takes note of a move: what it has used, that the task has begun, and, when the task has ended or given way, what
     * it has said.
     *
     * @param from the state before
     * @param entries the task's transcript as it is after the move
     * @return the task, which knows how much of it has been told
     */
    StoredTask take(TaskState from, StoredTask after, IntFunction<@Nullable TranscriptEntry> entries, long nowMs) {
        if (after.sessionId() == null || !(after.state() instanceof TaskState.Existing state)) {
            return after;
        }
        Usage more = after.usage().minus(used(from));
        Told part = part(after, state, entries);
        if (part == null && more.equals(Usage.NONE) && from instanceof TaskState.Existing) {
            return after;
        }
        String key = after.conversation();
        Row before = store.get(key);
        Row row = (before == null ? newRow(after.lineage().createdAtMs(), nowMs) : before).used(more);
        if (part == null) {
            put(key, row, nowMs);
            return after;
        }
        int at = row.told().length();
        Told told = row.participants() == null
                ? part
                : new Told(
                        part.taskId(),
                        part.from(),
                        part.to(),
                        false,
                        AgentDefinition.nameIn(after.agent().reference()));
        history.put(TaskStores.historyKey(key, at), told);
        put(
                key,
                row.telling(row.told()
                        .with(
                                state.context(),
                                segment(part, entries),
                                after.lineage().heard())),
                nowMs);
        return after.told(
                part.to(), after.lineage().told() == 0 ? at : after.lineage().toldAt());
    }

    /** What a task has to tell now; {@code null} = nothing, or it is not the time for it. */
    private static @Nullable Told part(
            StoredTask task, TaskState.Existing state, IntFunction<@Nullable TranscriptEntry> entries) {
        boolean works = state.holdsSession() || state instanceof TaskState.Idle;
        boolean neverBegan = task.lineage().told() == 0
                && state.context().iteration() == 0
                && state.context().window().prefix() == null;
        if (works || neverBegan) {
            return null;
        }
        // what a client brought along was said elsewhere
        int own = state.context().window().prefix() == null ? state.context().inputSeq() : 0;
        if (task.lineage().heard()) {
            own = state.context().inputSeq() + 1; // whoever said it has told it
        }
        int from = task.lineage().told() == 0 ? own : task.lineage().told();
        int to = state.toldLength();
        // what nobody has answered yet is told with its answer, or the next one would take it for its own to answer
        while (!hasEnded(state) && to > from && entries.apply(to - 1) instanceof TranscriptEntry.UserText) {
            to--;
        }
        return to > from ? new Told(task.taskId(), from, to, false, null) : null;
    }

    private static boolean hasEnded(TaskState.Existing state) {
        return state instanceof TaskState.Completed || state instanceof TaskState.Ended;
    }

    private static SessionHistory.Segment segment(Told part, IntFunction<@Nullable TranscriptEntry> entries) {
        long tokens = 0;
        long chars = 0;
        for (int seq = part.from(); seq < part.to(); seq++) {
            TranscriptEntry entry = entries.apply(seq);
            if (entry != null && !(entry instanceof TranscriptEntry.Summary)) {
                tokens += entry.tokens();
                chars += entry.chars();
            }
        }
        return new SessionHistory.Segment(part.from(), part.to(), tokens, chars);
    }

    /**
     * Whether the transcript of a task is to stay although its row goes: its session's history refers to it, and is
     * there.
     */
    boolean refersTo(StoredTask task) {
        if (task.sessionId() == null || task.lineage().told() == 0) {
            return false;
        }
        Told part = history.get(
                TaskStores.historyKey(task.conversation(), task.lineage().toldAt()));
        return part != null && part.taskId().equals(task.taskId()) && store.get(task.conversation()) != null;
    }

    /**
     * Takes a task that is forgotten out of its session's history, where it leaves a hole, and with it every summary
     * that may tell of it. What the session has used and what others have said stays.
     */
    void forget(StoredTask task) {
        if (task.sessionId() != null && task.lineage().told() > 0) {
            forget(task.conversation(), task.taskId(), task.lineage().toldAt());
        }
    }

    /** Whether there is a transcript of a task whose row is gone. */
    boolean outlivesItsRow(String taskKey) {
        if (tasks.get(taskKey) != null) {
            return false;
        }
        try (KeyValueIterator<String, TranscriptEntry> entries = entriesOf(taskKey)) {
            return entries.hasNext();
        }
    }

    /**
     * Forgets a task of which nothing is left but its transcript and what sessions have of it, as {@link
     * #forget(StoredTask)} forgets others. Looks at a bounded number of rows to find its session.
     *
     * @param conversation its session, see {@link StoredTask#conversation()}; {@code null} = it is looked for
     * @param from where to go on looking; empty = at the first
     * @return where to go on; {@code null} = it is forgotten
     */
    @Nullable
    String forgetOutliving(String namespace, String taskId, @Nullable String conversation, String from) {
        String first = conversation != null ? TaskStores.historyKey(conversation, 0) : from.isEmpty() ? null : from;
        String last = conversation == null ? null : TaskStores.historyKey(conversation, Integer.MAX_VALUE);
        String found = null;
        try (KeyValueIterator<String, Told> parts = history.range(first, last)) {
            for (int looked = 0; parts.hasNext() && found == null; looked++) {
                if (looked >= ROWS_AT_ONCE && conversation == null) {
                    return parts.peekNextKey();
                }
                KeyValue<String, Told> part = parts.next();
                if (part.value.taskId().equals(taskId)
                        && namespaceOf(TaskStores.firstPart(part.key)).equals(namespace)) {
                    found = part.key;
                }
            }
        }
        if (found != null) {
            forget(TaskStores.firstPart(found), taskId, TaskStores.historyPosition(found));
        }
        removeEntries(Event.qualified(namespace, taskId), Integer.MAX_VALUE);
        return null;
    }

    /**
     * The same of a task that has told this session something.
     *
     * @param toldAt position of the first of it
     */
    private void forget(String conversation, String taskId, int toldAt) {
        Row row = store.get(conversation);
        if (row == null) {
            return;
        }
        SessionHistory told = row.told();
        SessionHistory.Summary summary = told.summary();
        boolean summedUp = summary != null && (summary.taskId().equals(taskId) || told.from() > toldAt);
        long tokens = 0;
        long chars = 0;
        for (KeyValue<String, Told> part : parts(conversation, summedUp ? 0 : toldAt, Integer.MAX_VALUE)) {
            if (part.value.taskId().equals(taskId)) {
                history.put(part.key, new Told(taskId, part.value.from(), part.value.to(), true, null));
            } else if (!part.value.forgotten()) {
                boolean later = TaskStores.historyPosition(part.key) > toldAt;
                SessionHistory.Segment size = segment(part.value, seq -> {
                    String key = TaskStores.transcriptKey(
                            Event.qualified(namespaceOf(conversation), part.value.taskId()), seq);
                    TranscriptEntry entry = transcripts.get(key);
                    if (later && entry instanceof TranscriptEntry.Summary) {
                        transcripts.put(key, new TranscriptEntry.Summary(FORGOTTEN_SUMMARY, null));
                    }
                    return entry;
                });
                tokens += size.tokens();
                chars += size.chars();
            }
        }
        if (summedUp) {
            store.put(
                    conversation,
                    row.telling(told.unsummarised(new SessionHistory.Segment(0, told.length(), tokens, chars))));
        }
    }

    /**
     * Removes a session that is forgotten, with what its history refers to; rows of tasks are not touched.
     *
     * @param key see {@link StoredTask#conversation()}
     * @param most how many rows at most, 1 or more
     * @return how many; as many as there may be = some may be left
     */
    int remove(String key, int most) {
        int removed = 0;
        for (KeyValue<String, Told> part : parts(key, 0, most)) {
            String taskKey = Event.qualified(namespaceOf(key), part.value.taskId());
            if (tasks.get(taskKey) == null) {
                removed += removeEntries(taskKey, most - removed);
            }
            if (removed >= most) {
                return most;
            }
            history.delete(part.key);
            removed++;
        }
        if (removed < most) {
            drop(store.delete(key), key);
            removed++;
        }
        return removed;
    }

    /**
     * Removes sessions that began up to a moment, some at a time.
     *
     * @param scope those of a session or a namespace
     * @param from where to go on; empty = at the first
     * @param untilMs that moment, in Unix milliseconds
     * @return where to go on; {@code null} = there are no more
     */
    @Nullable
    String forget(ForgetScope scope, String from, long untilMs) {
        String only = scope.kind() == ForgetScope.Kind.SESSION
                ? StoredTask.conversation(scope.namespace(), String.valueOf(scope.id()))
                : null;
        int left = ROWS_AT_ONCE;
        for (String key : keys(only == null ? from.isEmpty() ? null : from : only, only)) {
            Row row = store.get(key);
            boolean meant = row != null
                    && namespaceOf(key).equals(scope.namespace())
                    && (row.createdAtMs() == null || row.createdAtMs() <= untilMs);
            left -= meant ? remove(key, left) : 1;
            if (left <= 0) {
                return key;
            }
        }
        return null;
    }

    private List<String> keys(@Nullable String from, @Nullable String to) {
        List<String> keys = new ArrayList<>();
        try (KeyValueIterator<String, Row> rows = store.range(from, to)) {
            while (rows.hasNext() && keys.size() <= ROWS_AT_ONCE) {
                keys.add(rows.peekNextKey());
                rows.next();
            }
        }
        return keys;
    }

    private int removeEntries(String taskKey, int most) {
        List<String> keys = new ArrayList<>();
        try (KeyValueIterator<String, TranscriptEntry> entries = entriesOf(taskKey)) {
            while (entries.hasNext() && keys.size() < most) {
                keys.add(entries.peekNextKey());
                entries.next();
            }
        }
        keys.forEach(transcripts::delete);
        return keys.size();
    }

    private KeyValueIterator<String, TranscriptEntry> entriesOf(String taskKey) {
        return transcripts.range(TaskStores.transcriptKey(taskKey, 0), TaskStores.transcriptKey(taskKey, -1));
    }

    /** The parts from this position on, so many at most. */
    private List<KeyValue<String, Told>> parts(String key, int position, int most) {
        List<KeyValue<String, Told>> parts = new ArrayList<>();
        try (KeyValueIterator<String, Told> all =
                history.range(TaskStores.historyKey(key, position), TaskStores.historyKey(key, Integer.MAX_VALUE))) {
            while (all.hasNext() && parts.size() < most) {
                parts.add(all.next());
            }
        }
        return parts;
    }

    /** Forgets sessions in which nothing has happened for so long, with what their history refers to. */
    DueRows sweep(Duration retention) {
        return new DueRows(used, retention, new DueRows.Rows() {
            @Override
            public KeyValueIterator<String, ?> from(@Nullable String key) {
                return store.range(key, null);
            }

            @Override
            public long usedAtMs(String key) {
                Row row = store.get(key);
                return row == null ? DueRows.GONE : row.usedAtMs();
            }

            @Override
            public int remove(String key, int most) {
                return Sessions.this.remove(key, most);
            }
        });
    }

    private static Row newRow(long beganMs, long nowMs) {
        return new Row(Usage.NONE, nowMs, beganMs == 0 ? nowMs : beganMs, null, null, null);
    }

    private void put(String key, Row row, long nowMs) {
        Row before = store.get(key);
        Row now = row.at(nowMs);
        store.put(key, now);
        if (before == null || before.usedAtMs() != now.usedAtMs()) {
            drop(before, key);
            DueRows.add(used, now.usedAtMs(), key);
        }
    }

    private void drop(@Nullable Row row, String key) {
        if (row != null) {
            DueRows.drop(used, row.usedAtMs(), key);
        }
    }

    private static Usage used(TaskState state) {
        return state instanceof TaskState.Existing task ? task.context().usage() : Usage.NONE;
    }

    private static String namespaceOf(String key) {
        String qualified = key.substring(StoredTask.SESSION.length());
        int slash = qualified.indexOf('/');
        return slash < 0 ? Event.DEFAULT_NAMESPACE : qualified.substring(0, slash);
    }
}
