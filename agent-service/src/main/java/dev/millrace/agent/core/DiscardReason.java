package dev.millrace.agent.core;

/** Why an event changed nothing. None of them is an error: late and doubled events are part of life. */
public enum DiscardReason {
    /** The same event came before. */
    DUPLICATE,
    /** A reply to a call that the task does not wait for (any more). */
    STALE_CALL,
    /** There is no such task. */
    UNKNOWN_TASK,
    /** The task has failed or was cancelled (F-136). */
    TASK_ENDED,
    /** The task has completed, and this is not a resume (F-133). */
    TASK_COMPLETED,
    /** The task is not suspended, or waits for nobody. */
    NOT_WAITING,
    /** The task does nothing that could be suspended (F-134). */
    NOT_SUSPENDABLE,
    /** Nothing of what the task waits for is overdue. */
    NOT_DUE
}
