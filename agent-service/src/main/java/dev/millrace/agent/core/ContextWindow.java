package dev.millrace.agent.core;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * How much of the model's context window the task's conversation fills, and what of the transcript the model is shown.
 * The model is shown the summary, if there is one, then everything from {@link #keptFrom} on. Small, since it is
 * rewritten with every move: of the turns it knows only the last ones. What other tasks of its session have said before
 * has positions below 0: the entry right before the task's own first one is at -1.
 *
 * @param size tokens that the model takes, 1 or more
 * @param promptTokens what the provider counted in the last prompt; 0 = it has not said
 * @param promptEstimate what {@link #estimate} was then
 * @param estimate tokens of what the model is shown of the transcript, estimated
 * @param summary what stands for the older part; {@code null} = everything is shown
 * @param turns where it may be cut, oldest first
 * @param prefix what its session had said when the task was admitted; {@code null} = it goes on with no session's
 *     history
 */
public record ContextWindow(
        long size,
        long promptTokens,
        long promptEstimate,
        long estimate,
        @Nullable Summary summary,
        List<Turn> turns,
        @Nullable Prefix prefix) {

    /** What a model takes of which nobody says what it takes. */
    public static final long DEFAULT_SIZE = 128_000;

    /** Of a task without a transcript. */
    public static final ContextWindow EMPTY = new ContextWindow(DEFAULT_SIZE, 0, 0, 0, null, List.of());

    /** What is further back is never what a compaction keeps: it keeps a fraction of the window. */
    static final int MAX_TURNS = 12;

    /** A compaction that makes room for less than this part is not worth its price. */
    private static final double WORTHWHILE = 0.05;

    public ContextWindow {
        turns = List.copyOf(turns);
    }

    /** Of a task that goes on with no session's history. */
    public ContextWindow(
            long size,
            long promptTokens,
            long promptEstimate,
            long estimate,
            @Nullable Summary summary,
            List<Turn> turns) {
        this(size, promptTokens, promptEstimate, estimate, summary, turns, null);
    }

    /**
     * When to compact, and how far.
     *
     * @param threshold the part of the window that a prompt may fill before the conversation is compacted, above 0 and
     *     at most 1
     * @param kept the part of the window that the newest turns may fill that are kept as they are, 0 to
     *     {@code threshold}; the last turn is kept whatever its size
     */
    public record Rules(double threshold, double kept) {

        /** From four fifths down to one fifth. */
        public static final Rules DEFAULT = new Rules(0.8, 0.2);

        public Rules {
            if (!(threshold > 0 && threshold <= 1)) {
                throw new IllegalArgumentException(
                        "millrace.agent.compaction.threshold: expected more than 0 and at most 1, found " + threshold);
            }
            if (!(kept >= 0 && kept <= threshold)) {
                throw new IllegalArgumentException(
                        "millrace.agent.compaction.kept: expected 0 to the threshold, found " + kept);
            }
        }
    }

    /**
     * What stands for the older part of the transcript.
     *
     * @param seq its position in the transcript, 1 or more
     * @param keptFrom position of the first entry that is shown as it is
     * @param tokens of the summary itself, estimated
     */
    public record Summary(int seq, int keptFrom, long tokens) {}

    /**
     * What the session had said before this task.
     *
     * @param length entries of the session's history then; the session's position of the task's own first entry, if
     *     nobody else comes between
     * @param from position in the session's history of the first entry that is shown as it is
     * @param chars characters of what is shown of it
     * @param summary what stands for the entries before {@code from}; {@code null} = nothing
     */
    public record Prefix(int length, int from, long chars, SessionHistory.@Nullable Summary summary) {}

    /**
     * A position before which the transcript may be cut: no tool call stands before it whose result stands behind it.
     *
     * @param seq position of the turn's first entry
     * @param tokens estimate of what is shown before it, the summary included
     * @param chars characters of the same
     */
    public record Turn(int seq, long tokens, long chars) {}

    /** Position of the first entry that is shown as it is; below 0 = it is one of the session's. */
    public int keptFrom() {
        if (summary != null) {
            return summary.keptFrom();
        }
        return prefix == null ? 0 : prefix.from() - prefix.length();
    }

    /** What of the session's history is shown, or what stands for it; {@code null} = nothing. */
    public @Nullable Prefix shownPrefix() {
        boolean shown = prefix != null && (summary == null ? prefix.length() > 0 : summary.keptFrom() < 0);
        return shown ? prefix : null;
    }

    /** Characters of what other tasks have said, as long as nothing of the task's own stands for it. */
    long priorChars() {
        return prefix == null || summary != null ? 0 : prefix.chars();
    }

    /** The same behind what its session has said so far. */
    ContextWindow behind(SessionHistory before) {
        List<Turn> all = new ArrayList<>();
        before.turns().forEach(turn -> all.add(new Turn(turn.seq() - before.length(), turn.tokens(), turn.chars())));
        if (before.length() > 0) {
            all.add(new Turn(0, before.tokens(), before.chars()));
        }
        turns.forEach(
                turn -> all.add(new Turn(turn.seq(), turn.tokens() + before.tokens(), turn.chars() + before.chars())));
        return new ContextWindow(
                before.length() == 0 ? size : before.size(),
                before.length() == 0 ? promptTokens : before.tokens() + before.overhead(),
                before.length() == 0 ? promptEstimate : before.tokens(),
                estimate + before.tokens(),
                summary,
                newest(all),
                new Prefix(before.length(), before.from(), before.chars(), before.summary()));
    }

    private static List<Turn> newest(List<Turn> all) {
        return all.subList(Math.max(0, all.size() - MAX_TURNS), all.size());
    }

    private long summaryTokens() {
        if (summary != null) {
            return summary.tokens();
        }
        return prefix == null || prefix.summary() == null ? 0 : prefix.summary().tokens();
    }

    /** Position of the summary; 0 = there is none. */
    public int summarySeq() {
        return summary == null ? 0 : summary.seq();
    }

    /**
     * Tokens that the next prompt is going to have: what was counted of the last one, and an estimate of what is new.
     */
    public long nextPromptTokens() {
        return promptTokens == 0 ? estimate : Math.max(estimate, promptTokens + estimate - promptEstimate);
    }

    /**
     * With these entries at the end.
     *
     * @param seq position of the first one
     * @param chars characters of what is shown before them
     */
    ContextWindow appended(int seq, long chars, List<TranscriptEntry> entries) {
        List<Turn> more = new ArrayList<>(turns);
        long tokensBefore = estimate;
        long charsBefore = chars;
        for (int i = 0; i < entries.size(); i++) {
            TranscriptEntry entry = entries.get(i);
            if (!(entry instanceof TranscriptEntry.ToolResult) && seq + i > keptFrom()) {
                more.add(new Turn(seq + i, tokensBefore, charsBefore));
            }
            tokensBefore += entry.tokens();
            charsBefore += entry.chars();
        }
        return new ContextWindow(size, promptTokens, promptEstimate, tokensBefore, summary, newest(more), prefix);
    }

    /**
     * After the model has answered to everything that is shown.
     *
     * @param inputTokens what the provider counted; 0 = it does not say
     * @param windowSize tokens that the model takes; {@code null} = nobody says
     */
    ContextWindow answered(long inputTokens, @Nullable Long windowSize) {
        return new ContextWindow(
                windowSize == null || windowSize < 1 ? size : windowSize,
                inputTokens == 0 ? nextPromptTokens() : inputTokens,
                estimate,
                estimate,
                summary,
                turns,
                prefix);
    }

    /**
     * Where to cut before the next call of the model; empty if there is room, or if a cut would not make any.
     *
     * @param chars characters of what is shown
     * @param maxChars how many there may be
     */
    Optional<Turn> due(Rules rules, long chars, long maxChars) {
        if (nextPromptTokens() <= rules.threshold() * size && chars <= rules.threshold() * maxChars) {
            return Optional.empty();
        }
        return cut(rules.kept() * size, chars, rules.kept() * maxChars)
                .filter(turn ->
                        turn.tokens() - summaryTokens() >= WORTHWHILE * size || turn.chars() >= WORTHWHILE * maxChars);
    }

    /**
     * Where to cut after the provider has said that the prompt is too long, whatever we thought; empty if there is
     * nothing to cut, or if that was done just now.
     *
     * @param length how many entries the transcript has
     */
    Optional<Turn> overflowing(Rules rules, int length) {
        return summarySeq() > 0 && summarySeq() == length - 1
                ? Optional.empty()
                : cut(Math.min(rules.kept() * size, estimate / 4.0), 0, 0);
    }

    /** Keeps as much as allowed, and the last turn in any case. */
    private Optional<Turn> cut(double keptTokens, long chars, double keptChars) {
        return turns.stream()
                .filter(turn -> estimate - turn.tokens() <= keptTokens && chars - turn.chars() <= keptChars)
                .findFirst()
                .or(() -> turns.isEmpty() ? Optional.empty() : Optional.of(turns.getLast()));
    }

    /**
     * With a summary in place of what stands before the cut.
     *
     * @param seq position of the summary
     */
    ContextWindow compacted(Turn cut, int seq, TranscriptEntry text) {
        long tokens = text.tokens();
        return new ContextWindow(
                size,
                promptTokens,
                promptEstimate,
                estimate - cut.tokens() + tokens,
                new Summary(seq, cut.seq(), tokens),
                turns.stream()
                        .filter(turn -> turn.seq() > cut.seq())
                        .map(turn -> new Turn(
                                turn.seq(),
                                turn.tokens() - cut.tokens() + tokens,
                                turn.chars() - cut.chars() + text.chars()))
                        .toList(),
                prefix);
    }
}
