package dev.millrace.agent.topology;

import dev.millrace.agent.core.TranscriptEntry;
import dev.millrace.engine.OpenStores;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Transcripts as they were read for a task's last model call, so that for the next one only what has come since is
 * read. They are bounded in sum: what was asked for least lately goes first. For any thread.
 */
final class KeptTranscripts {

    private final long limit;
    /** Least lately used first. Guarded by this, like the next. */
    private final Map<String, Kept> byTask = new LinkedHashMap<>(16, 0.75f, true);

    private long chars;

    /** @param limit how many characters all of them may have together */
    KeptTranscripts(long limit) {
        this.limit = limit;
    }

    /**
     * Entries of one transcript, without a gap.
     *
     * @param opened what they were read of
     * @param from position of the first one
     */
    private record Kept(OpenStores.Opened opened, int from, List<TranscriptEntry> entries, long chars) {}

    /** What is kept of a task from this position on, read of the store as it is open now; empty = nothing. */
    synchronized List<TranscriptEntry> of(OpenStores.Opened opened, String taskKey, int from) {
        Kept kept = byTask.get(taskKey);
        return kept == null
                        || !kept.opened().equals(opened)
                        || kept.from() > from
                        || kept.from() + kept.entries().size() < from
                ? List.of()
                : kept.entries().subList(from - kept.from(), kept.entries().size());
    }

    /** Keeps these, in place of what was kept of the task before; more than the limit is not kept. */
    synchronized void keep(OpenStores.Opened opened, String taskKey, int from, List<TranscriptEntry> entries) {
        drop(taskKey);
        Kept kept = new Kept(
                opened,
                from,
                List.copyOf(entries),
                entries.stream().mapToLong(TranscriptEntry::chars).sum());
        if (kept.chars() > limit) {
            return;
        }
        byTask.put(taskKey, kept);
        chars += kept.chars();
        while (chars > limit) {
            drop(byTask.keySet().iterator().next());
        }
    }

    /** Keeps nothing of this task any longer. */
    synchronized void drop(String taskKey) {
        @Nullable Kept gone = byTask.remove(taskKey);
        if (gone != null) {
            chars -= gone.chars();
        }
    }
}
