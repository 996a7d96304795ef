package dev.millrace.agent.core;

import java.util.HexFormat;
import java.util.List;

/**
 * What decides about a task beside its state. Small, because it is rewritten on each move; messages and results are in
 * the transcript.
 *
 * @param taskId the task
 * @param taskType the agent that works on it (F-111)
 * @param priority the effective priority of the event that started it
 * @param iteration model calls since the start or the last resume from completed (F-074)
 * @param actionsCount steps done so far (F-085, F-086)
 * @param inputSeq position in the transcript of the input that the task works on now
 * @param transcriptLength number of transcript entries; the position of the next one
 * @param transcriptChars characters in the transcript
 * @param usage tokens of all model calls so far
 */
public record TaskContext(
        String taskId,
        String taskType,
        int priority,
        int iteration,
        int actionsCount,
        int inputSeq,
        int transcriptLength,
        long transcriptChars,
        Usage usage) {

    static TaskContext start(TaskEvent.InputReceived input) {
        return new TaskContext(
                input.meta().taskId(),
                input.taskType(),
                input.priority(),
                0,
                0,
                0,
                1,
                input.text().length(),
                Usage.NONE);
    }

    TaskContext nextIteration() {
        return new TaskContext(
                taskId,
                taskType,
                priority,
                iteration + 1,
                actionsCount,
                inputSeq,
                transcriptLength,
                transcriptChars,
                usage);
    }

    TaskContext actionDone() {
        return new TaskContext(
                taskId,
                taskType,
                priority,
                iteration,
                actionsCount + 1,
                inputSeq,
                transcriptLength,
                transcriptChars,
                usage);
    }

    TaskContext used(Usage more) {
        return new TaskContext(
                taskId,
                taskType,
                priority,
                iteration,
                actionsCount,
                inputSeq,
                transcriptLength,
                transcriptChars,
                usage.plus(more));
    }

    TaskContext appended(List<TranscriptEntry> entries) {
        return new TaskContext(
                taskId,
                taskType,
                priority,
                iteration,
                actionsCount,
                inputSeq,
                transcriptLength + entries.size(),
                transcriptChars
                        + entries.stream().mapToLong(TranscriptEntry::chars).sum(),
                usage);
    }

    /** Ready for new input after completion (F-148): iterations start anew, transcript and actions stay. */
    TaskContext withNewInput() {
        return new TaskContext(
                taskId,
                taskType,
                priority,
                0,
                actionsCount,
                transcriptLength,
                transcriptLength,
                transcriptChars,
                usage);
    }

    /**
     * The id of the model call (ordinal 0) or tool call (ordinal 1 and up) of this iteration that an event causes: unique
     * within the task, and the same on every replay.
     */
    String callId(int ordinal, Meta cause) {
        // Iterations start anew when a completed task is resumed, so the iteration alone is not unique; the position in
        // the transcript is, since every model call is followed by at least one entry. The hash tells apart two tasks
        // that were given the same id, one after the other; String.hashCode is fixed by the Java specification.
        return taskId
                + '/'
                + iteration
                + '/'
                + ordinal
                + '-'
                + transcriptLength
                + '-'
                + HexFormat.of().toHexDigits(cause.eventId().hashCode());
    }
}
