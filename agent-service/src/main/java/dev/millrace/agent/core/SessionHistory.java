package dev.millrace.agent.core;

import dev.millrace.agent.core.ContextWindow.Prefix;
import dev.millrace.agent.core.ContextWindow.Turn;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What the tasks of a session have said together, as the next one is shown it. The entries stay in the transcripts of
 * the tasks that said them; here they have positions, one after the other in the order in which their tasks ended or
 * gave way, which never change. Small, since it is rewritten with each task.
 *
 * @param length how many entries there are; the position of the next one
 * @param from position of the first entry that is shown as it is
 * @param summary what stands for the entries before {@code from}; {@code null} = nothing
 * @param tokens estimate of what is shown, the summary included
 * @param chars characters of the same
 * @param size tokens that the model took that answered last, 1 or more
 * @param overhead tokens that its provider counted beyond the estimate, for the system prompt and tools; 0 or more
 * @param turns where it may be cut, oldest first; {@link Turn#seq} is the position
 */
public record SessionHistory(
        int length,
        int from,
        @Nullable Summary summary,
        long tokens,
        long chars,
        long size,
        long overhead,
        List<Turn> turns) {

    /** Of a session in which nobody has said anything. */
    public static final SessionHistory EMPTY =
            new SessionHistory(0, 0, null, 0, 0, ContextWindow.DEFAULT_SIZE, 0, List.of());

    /** More would be written with each task of the session, and be of use to few. */
    static final int MAX_TURNS = 6;

    public SessionHistory {
        turns = List.copyOf(turns);
    }

    /**
     * A summary that one of the tasks has made; it stands in its transcript.
     *
     * @param taskId the task
     * @param seq position in its transcript
     * @param tokens of the summary, estimated
     */
    public record Summary(String taskId, int seq, long tokens) {}

    /**
     * Entries that come at the end.
     *
     * @param from position in the task's transcript of the first one
     * @param to of the first one that does not come along
     * @param tokens estimate of all of them
     * @param chars characters of the same
     */
    public record Segment(int from, int to, long tokens, long chars) {}

    /** Whether a task has been shown everything that is here, so that it goes on from there with its own. */
    boolean isSeenBy(TaskContext task, int told) {
        Prefix prefix = task.window().prefix();
        return prefix != null && length == prefix.length() + told;
    }

    /**
     * With entries of a task at the end.
     *
     * @param task as it is when it has ended or given way
     * @param heard whether its input stood in the history before, so that its own entries have other positions than
     *     their number
     */
    public SessionHistory with(TaskContext task, Segment more, boolean heard) {
        ContextWindow window = task.window();
        Prefix prefix = window.prefix();
        boolean whole = more.to() == task.transcriptLength();
        if (prefix != null && whole && !heard && isSeenBy(task, more.from())) {
            ContextWindow.Summary own = window.summary();
            return new SessionHistory(
                    length + more.to() - more.from(),
                    own == null ? from : prefix.length() + own.keptFrom(),
                    own == null ? summary : new Summary(task.taskId(), own.seq(), own.tokens()),
                    window.estimate(),
                    task.transcriptChars(),
                    window.size(),
                    overhead(window),
                    newest(window.turns().stream()
                            .map(turn -> new Turn(prefix.length() + turn.seq(), turn.tokens(), turn.chars()))
                            .toList()));
        }
        List<Turn> all = new ArrayList<>(turns);
        if (length > from) {
            all.add(new Turn(length, tokens, chars));
        }
        return new SessionHistory(
                        length + more.to() - more.from(),
                        from,
                        summary,
                        tokens + more.tokens(),
                        chars + more.chars(),
                        window.size(),
                        overhead(window),
                        all)
                .summedUpBy(task)
                .trimmed();
    }

    /**
     * With the summary that a task has made, as far as it goes: others have said something meanwhile that the task has
     * not been shown, and that must not be covered by it.
     */
    private SessionHistory summedUpBy(TaskContext task) {
        ContextWindow.Summary own = task.window().summary();
        Prefix prefix = task.window().prefix();
        if (own == null || prefix == null) {
            return this;
        }
        int cut = prefix.length() + Math.min(0, own.keptFrom());
        return turns.stream()
                .filter(turn -> turn.seq() == cut && cut > from)
                .findFirst()
                .map(turn -> cutAt(turn, new Summary(task.taskId(), own.seq(), own.tokens())))
                .orElse(this);
    }

    private SessionHistory cutAt(Turn cut, Summary text) {
        return new SessionHistory(
                length,
                cut.seq(),
                text,
                tokens - cut.tokens() + text.tokens(),
                // about as many as the summary has
                chars - cut.chars() + TokenEstimate.charsOf(text.tokens()),
                size,
                overhead,
                turns.stream()
                        .filter(turn -> turn.seq() > cut.seq())
                        .map(turn -> new Turn(
                                turn.seq(),
                                turn.tokens() - cut.tokens() + text.tokens(),
                                turn.chars() - cut.chars() + TokenEstimate.charsOf(text.tokens())))
                        .toList());
    }

    /**
     * Without its summary, which told of what has been forgotten: everything is shown as it is again, as far as it is
     * there.
     *
     * @param all estimate of all entries
     */
    public SessionHistory unsummarised(Segment all) {
        return new SessionHistory(length, 0, null, all.tokens(), all.chars(), size, overhead, List.of());
    }

    private SessionHistory trimmed() {
        return new SessionHistory(length, from, summary, tokens, chars, size, overhead, newest(turns));
    }

    private static List<Turn> newest(List<Turn> all) {
        return all.subList(Math.max(0, all.size() - MAX_TURNS), all.size());
    }

    private static long overhead(ContextWindow window) {
        return Math.max(0, window.promptTokens() - window.promptEstimate());
    }
}
