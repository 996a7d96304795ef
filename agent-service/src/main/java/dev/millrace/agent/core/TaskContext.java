package dev.millrace.agent.core;

import java.util.HexFormat;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What decides about a task beside its state. Small, because it is rewritten on each move; messages and results are in
 * the transcript.
 *
 * @param taskId the task
 * @param taskType the agent that works on it
 * @param priority the effective priority of the event that started it
 * @param causalDepth how many tasks led to this one, each starting the next; 0 = none did
 * @param progress how far it is
 * @param budget what it may use and has used
 * @param children the tasks that it has started
 * @param window what of the transcript the model is shown
 */
public record TaskContext(
        String taskId,
        String taskType,
        int priority,
        int causalDepth,
        Progress progress,
        Budget budget,
        Children children,
        ContextWindow window) {

    // what was stored before there were windows has none
    public TaskContext(
            String taskId,
            String taskType,
            int priority,
            int causalDepth,
            Progress progress,
            Budget budget,
            Children children,
            @Nullable ContextWindow window) {
        this.taskId = taskId;
        this.taskType = taskType;
        this.priority = priority;
        this.causalDepth = causalDepth;
        this.progress = progress;
        this.budget = budget;
        this.children = children;
        this.window = window == null ? ContextWindow.EMPTY : window;
    }

    /**
     * How far a task is.
     *
     * @param iteration model calls since the start or the last resume from completed
     * @param actionsCount steps done so far
     * @param inputSeq position in the transcript of the input that the task works on now
     * @param transcriptLength number of transcript entries; the position of the next one
     * @param transcriptChars characters of what the model is shown of the transcript, and of its session's before it
     */
    public record Progress(int iteration, int actionsCount, int inputSeq, int transcriptLength, long transcriptChars) {

        Progress appended(List<TranscriptEntry> entries) {
            return new Progress(
                    iteration,
                    actionsCount,
                    inputSeq,
                    transcriptLength + entries.size(),
                    transcriptChars
                            + entries.stream().mapToLong(TranscriptEntry::chars).sum());
        }
    }

    /**
     * What a task may use, and has used.
     *
     * @param limits chosen when it started
     * @param expiresAtMs when its life time ends, in Unix milliseconds; {@link Deadlines#NEVER} = never
     * @param usage of all its model calls so far
     * @param sessionBefore what the other tasks of its session had used when it was last admitted
     */
    public record Budget(TaskLimits limits, long expiresAtMs, Usage usage, Usage sessionBefore) {

        /** What its whole session has used so far, as far as the task knows. */
        public Usage sessionUsage() {
            return sessionBefore.plus(usage);
        }
    }

    static TaskContext start(TaskEvent.InputReceived input, TaskLimits limits) {
        long expiresAtMs = Deadlines.after(input.meta().nowMs(), limits.maxLifeTimeMs());
        return new TaskContext(
                input.meta().taskId(),
                input.taskType(),
                input.priority(),
                input.terms().causalDepth(),
                new Progress(0, 0, input.terms().opening().history().size(), 0, 0)
                        .appended(input.terms().opening().with(input.text())),
                new Budget(limits, expiresAtMs, Usage.NONE, Usage.NONE),
                Children.NONE,
                ContextWindow.EMPTY.appended(0, 0, input.terms().opening().with(input.text())));
    }

    /** Model calls since the start or the last resume from completed. */
    public int iteration() {
        return progress.iteration();
    }

    /** Steps done so far. */
    public int actionsCount() {
        return progress.actionsCount();
    }

    /** Position in the transcript of the input that the task works on now. */
    public int inputSeq() {
        return progress.inputSeq();
    }

    /** Number of transcript entries; the position of the next one. */
    public int transcriptLength() {
        return progress.transcriptLength();
    }

    /** Characters of what the model is shown of the transcript, and of its session's before it. */
    public long transcriptChars() {
        return progress.transcriptChars();
    }

    /** Tokens and cost of all its model calls so far. */
    public Usage usage() {
        return budget.usage();
    }

    TaskLimits limits() {
        return budget.limits();
    }

    private TaskContext with(Progress next) {
        return new TaskContext(taskId, taskType, priority, causalDepth, next, budget, children, window);
    }

    private TaskContext with(Budget next) {
        return new TaskContext(taskId, taskType, priority, causalDepth, progress, next, children, window);
    }

    TaskContext with(Children next) {
        return new TaskContext(taskId, taskType, priority, causalDepth, progress, budget, next, window);
    }

    TaskContext with(ContextWindow next) {
        return new TaskContext(taskId, taskType, priority, causalDepth, progress, budget, children, next);
    }

    TaskContext nextIteration() {
        return with(new Progress(iteration() + 1, actionsCount(), inputSeq(), transcriptLength(), transcriptChars()));
    }

    /** The model call of this iteration has to be made again. */
    TaskContext sameIteration() {
        return with(new Progress(iteration() - 1, actionsCount(), inputSeq(), transcriptLength(), transcriptChars()));
    }

    TaskContext actionDone() {
        return with(new Progress(iteration(), actionsCount() + 1, inputSeq(), transcriptLength(), transcriptChars()));
    }

    TaskContext used(Usage more) {
        return with(new Budget(budget.limits(), budget.expiresAtMs(), usage().plus(more), budget.sessionBefore()));
    }

    /** Admitted when its session had used so much, this task's own use included. */
    TaskContext admitted(Usage sessionUse) {
        return with(new Budget(budget.limits(), budget.expiresAtMs(), usage(), sessionUse.minus(usage())));
    }

    /** Goes on with what its session has said so far. */
    TaskContext joined(SessionHistory before) {
        return with(new Progress(
                        iteration(),
                        actionsCount(),
                        inputSeq(),
                        transcriptLength(),
                        transcriptChars() + before.chars()))
                .with(window.behind(before));
    }

    /** Characters of what the model is shown of the task's own transcript. */
    long ownChars() {
        return transcriptChars() - window.priorChars();
    }

    /** After the model has answered, and before anything of its answer is appended. */
    TaskContext answered(Usage ofReply, @Nullable Long contextWindow) {
        return used(ofReply).with(window.answered(ofReply.inputTokens(), contextWindow));
    }

    TaskContext appended(List<TranscriptEntry> entries) {
        return with(progress.appended(entries)).with(window.appended(transcriptLength(), transcriptChars(), entries));
    }

    /** With this summary, which is appended, in place of what stands before the cut. */
    TaskContext compacted(ContextWindow.Turn cut, TranscriptEntry summary) {
        return with(new Progress(
                        iteration(),
                        actionsCount(),
                        inputSeq(),
                        transcriptLength() + 1,
                        transcriptChars() - cut.chars() + summary.chars()))
                .with(window.compacted(cut, transcriptLength(), summary));
    }

    /**
     * Ready for new input after completion: iterations and life time start anew, transcript and actions stay.
     *
     * @param more what it may use from now on at most; {@link TaskLimits#UNLIMITED} = what is left of its own limits
     */
    TaskContext withNewInput(long nowMs, TaskLimits more) {
        TaskLimits limits = budget.limits().after(usage(), more);
        return with(new Progress(0, actionsCount(), transcriptLength(), transcriptLength(), transcriptChars()))
                .with(new Budget(
                        limits, Deadlines.after(nowMs, limits.maxLifeTimeMs()), usage(), budget.sessionBefore()));
    }

    /**
     * The id of the model call (ordinal 0) or tool call (ordinal 1 and up) of this iteration that an event causes:
     * unique within the task, and the same on every replay.
     */
    String callId(int ordinal, Meta cause) {
        return callId(String.valueOf(ordinal), cause);
    }

    /** The id of the call that makes the summary before this iteration. */
    String summaryCallId(Meta cause) {
        return callId("summary", cause);
    }

    private String callId(String ordinal, Meta cause) {
        // Iterations start anew when a completed task is resumed, so the iteration alone is not unique; the position in
        // the transcript is, since every model call is followed by at least one entry. The hash tells apart two tasks
        // that were given the same id, one after the other; String.hashCode is fixed by the Java specification.
        return taskId
                + '/'
                + iteration()
                + '/'
                + ordinal
                + '-'
                + transcriptLength()
                + '-'
                + HexFormat.of().toHexDigits(cause.eventId().hashCode());
    }
}
