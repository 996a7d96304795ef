package dev.millrace.agent.topology;

import dev.millrace.agent.AgentDefinition;
import dev.millrace.agent.core.ContextWindow.Prefix;
import dev.millrace.agent.core.SessionHistory;
import dev.millrace.agent.core.TranscriptEntry;
import dev.millrace.engine.OpenStores;
import dev.millrace.engine.StoreReader;
import dev.millrace.schemas.Event;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.IntStream;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.KeyValue;
import org.apache.kafka.streams.state.KeyValueIterator;
import org.apache.kafka.streams.state.ReadOnlyKeyValueStore;
import org.jspecify.annotations.Nullable;

/** Reads transcripts out of the running topology's stores, from any thread. */
public final class StreamsTranscripts implements Transcripts {

    /** What is shown in place of what has been forgotten, or is gone for whatever reason. */
    static final String HOLE = "[A part of this conversation has been forgotten]";

    /**
     * So many entries are read one by one: what was written last is in the cache of Streams, while an iterator asks
     * RocksDB as well, and to make one costs as much as some ten entries.
     */
    private static final int FEW = 10;

    /** Of conversations that are as long as they may be before they are summed up, some twenty. */
    private static final long KEPT_CHARS = 8_000_000;

    private final StoreReader<TranscriptEntry> rows;
    private final KeptTranscripts kept = new KeptTranscripts(KEPT_CHARS);

    /** What somebody says, as others are shown it. */
    static String spoken(String speaker, String text) {
        return "[" + speaker + "]: " + text;
    }

    /** Those of the machine that has these stores. */
    public StreamsTranscripts(OpenStores stores) {
        this.rows = new StoreReader<>(stores, TaskStores.TRANSCRIPTS);
    }

    @Override
    public Optional<List<TranscriptEntry>> read(int partition, OutstandingCall call) throws InterruptedException {
        if (call.iteration() == 1) {
            kept.drop(call.taskKey()); // of a task that had the id before, and has been removed
        }
        return rows.readOpened(
                partition,
                opened -> shown(
                        opened.rows(),
                        call,
                        (transcripts, from, to) -> readOn(opened, transcripts, call.taskKey(), from, to)));
    }

    @Override
    public void release(String taskKey) {
        kept.drop(taskKey);
    }

    /**
     * Reads what was not read for the task's call before. While a store is open no entry is rewritten but for
     * summaries, and what stands in them is read anew each time.
     */
    private List<TranscriptEntry> readOn(
            OpenStores.Opened opened,
            ReadOnlyKeyValueStore<String, TranscriptEntry> transcripts,
            String taskKey,
            int from,
            int to) {
        List<TranscriptEntry> before = kept.of(opened, taskKey, from);
        List<TranscriptEntry> entries = new ArrayList<>(before.subList(0, Math.min(before.size(), to - from)));
        entries.addAll(entries(transcripts, taskKey, from + entries.size(), to));
        if (entries.size() == to - from && entries.size() > FEW) {
            kept.keep(opened, taskKey, from, entries);
        }
        return entries;
    }

    /**
     * What a model is shown in this call, out of the rows of its task's partition; empty = they do not have all of the
     * task's own transcript yet. What the session said before is never waited for: what is not there leaves a hole.
     */
    public static Optional<List<TranscriptEntry>> shown(
            ReadOnlyKeyValueStore<Bytes, byte[]> rows, OutstandingCall call) {
        return shown(rows, call, (transcripts, from, to) -> entries(transcripts, call.taskKey(), from, to));
    }

    /** How entries of the task's own transcript are read, which are more than none. */
    private interface Own {
        List<TranscriptEntry> read(ReadOnlyKeyValueStore<String, TranscriptEntry> transcripts, int from, int to);
    }

    private static Optional<List<TranscriptEntry>> shown(
            ReadOnlyKeyValueStore<Bytes, byte[]> rows, OutstandingCall call, Own own) {
        ReadOnlyKeyValueStore<String, TranscriptEntry> transcripts = TaskStores.TRANSCRIPTS.readIn(rows);
        OutstandingCall.Shown shown = call.shown();
        List<TranscriptEntry> entries = new ArrayList<>();
        if (shown.summarySeq() > 0) {
            TranscriptEntry summary = transcripts.get(TaskStores.transcriptKey(call.taskKey(), shown.summarySeq()));
            if (summary == null) {
                return Optional.empty();
            }
            entries.add(summary);
        }
        Prefix prefix = shown.prefix();
        if (prefix != null) {
            addPrefix(rows, call, prefix, entries);
        }
        int from = Math.max(0, shown.from());
        int to = Math.max(from, call.transcriptLength());
        int found = to == from ? 0 : new Shown(entries, null).addAll(own.read(transcripts, from, to));
        return found == to - from ? Optional.of(entries) : Optional.empty();
    }

    /** Adds what the session said before the task, as far as it is shown. */
    private static void addPrefix(
            ReadOnlyKeyValueStore<Bytes, byte[]> rows,
            OutstandingCall call,
            Prefix prefix,
            List<TranscriptEntry> entries) {
        ReadOnlyKeyValueStore<String, TranscriptEntry> transcripts = TaskStores.TRANSCRIPTS.readIn(rows);
        SessionHistory.Summary summary = prefix.summary();
        if (call.shown().summarySeq() == 0 && summary != null) {
            TranscriptEntry text = transcripts.get(
                    TaskStores.transcriptKey(Event.qualified(call.namespace(), summary.taskId()), summary.seq()));
            addOrHole(text, entries);
        }
        int from = prefix.length() + Math.min(0, call.shown().from());
        int to = prefix.length() + Math.min(0, call.transcriptLength());
        int position = from;
        for (KeyValue<String, Sessions.Told> part : parts(rows, call, from, to)) {
            int start = TaskStores.historyPosition(part.key);
            Sessions.Told told = part.value;
            int first = Math.max(from, start);
            int end = Math.min(to, start + told.length());
            if (first > position) {
                addHole(entries);
            }
            if (end > first) {
                String taskKey = Event.qualified(call.namespace(), told.taskId());
                int wanted = end - first;
                int found = told.forgotten()
                        ? 0
                        : new Shown(entries, other(told, call))
                                .addAll(entries(
                                        transcripts, taskKey, told.from() + first - start, told.from() + end - start));
                if (found < wanted) {
                    addHole(entries);
                }
                position = end;
            }
        }
        if (position < to) {
            addHole(entries);
        }
    }

    /** The parts of the session's history that have entries from one position to another. */
    private static List<KeyValue<String, Sessions.Told>> parts(
            ReadOnlyKeyValueStore<Bytes, byte[]> rows, OutstandingCall call, int from, int to) {
        ReadOnlyKeyValueStore<String, Sessions.Told> history = TaskStores.HISTORY.readIn(rows);
        String conversation = StoredTask.conversation(call.namespace(), String.valueOf(call.sessionId()));
        List<KeyValue<String, Sessions.Told>> parts = new ArrayList<>();
        if (to <= from) {
            return parts;
        }
        try (KeyValueIterator<String, Sessions.Told> range = history.reverseRange(
                TaskStores.historyKey(conversation, 0), TaskStores.historyKey(conversation, to - 1))) {
            while (range.hasNext() && (parts.isEmpty() || TaskStores.historyPosition(parts.getLast().key) > from)) {
                parts.add(range.next());
            }
        }
        return parts.reversed();
    }

    /** Those of a transcript that are there. */
    private static List<TranscriptEntry> entries(
            ReadOnlyKeyValueStore<String, TranscriptEntry> transcripts, String taskKey, int from, int to) {
        return to - from > FEW ? range(transcripts, taskKey, from, to) : each(transcripts, taskKey, from, to);
    }

    private static List<TranscriptEntry> each(
            ReadOnlyKeyValueStore<String, TranscriptEntry> transcripts, String taskKey, int from, int to) {
        return IntStream.range(from, to)
                .mapToObj(seq -> transcripts.get(TaskStores.transcriptKey(taskKey, seq)))
                .filter(Objects::nonNull)
                .toList();
    }

    private static List<TranscriptEntry> range(
            ReadOnlyKeyValueStore<String, TranscriptEntry> transcripts, String taskKey, int from, int to) {
        List<TranscriptEntry> found = new ArrayList<>();
        // From its end to its beginning: an iterator reads one row too many, and behind the newest transcript are the
        // deleted rows of calls that have ended, thousands of them, all of which RocksDB reads to find the next one.
        try (KeyValueIterator<String, TranscriptEntry> range = transcripts.reverseRange(
                TaskStores.transcriptKey(taskKey, from), TaskStores.transcriptKey(taskKey, to - 1))) {
            range.forEachRemaining(row -> found.add(row.value));
        }
        return found.reversed();
    }

    /** Who has said this part, if it was another participant of the session; {@code null} = it was not. */
    private static @Nullable String other(Sessions.Told told, OutstandingCall call) {
        String reader = AgentDefinition.nameIn(call.agent().reference());
        return told.speaker() == null || told.speaker().equals(reader) ? null : told.speaker();
    }

    /**
     * What is shown so far, and how what comes is added to it.
     *
     * @param speaker another agent whose entries they are: its words are shown with its name, what its tools did is
     *     not; {@code null} = they are the reader's own
     */
    private record Shown(
            List<TranscriptEntry> entries, @Nullable String speaker) {

        /**
         * Adds these, but for summaries: the one that counts stands first, and others are summed up in it.
         *
         * @return how many they are, with summaries
         */
        int addAll(List<TranscriptEntry> found) {
            for (TranscriptEntry entry : found) {
                if (!(entry instanceof TranscriptEntry.Summary)) {
                    add(entry);
                }
            }
            return found.size();
        }

        private void add(TranscriptEntry entry) {
            if (speaker == null || entry instanceof TranscriptEntry.UserText) {
                entries.add(entry);
            } else if (entry instanceof TranscriptEntry.AssistantTurn turn
                    && turn.text() != null
                    && !turn.text().isBlank()) {
                entries.add(new TranscriptEntry.UserText(spoken(speaker, turn.text())));
            }
        }
    }

    private static void addOrHole(@Nullable TranscriptEntry entry, List<TranscriptEntry> entries) {
        if (entry == null) {
            addHole(entries);
        } else {
            entries.add(entry);
        }
    }

    private static void addHole(List<TranscriptEntry> entries) {
        TranscriptEntry hole = new TranscriptEntry.UserText(HOLE);
        if (entries.isEmpty() || !entries.getLast().equals(hole)) {
            entries.add(hole);
        }
    }
}
