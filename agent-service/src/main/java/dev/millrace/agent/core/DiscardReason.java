package dev.millrace.agent.core;

/** Why an event changed nothing. None of them is an error: late and doubled events are part of life. */
public enum DiscardReason {
    /** The same event came before. */
    DUPLICATE,
    /** A reply to a call that the task does not wait for (any more). */
    STALE_CALL,
    /** There is no such task. */
    UNKNOWN_TASK,
    /** The task has failed or was cancelled. */
    TASK_ENDED,
    /** The task has completed, and this is not a resume. */
    TASK_COMPLETED,
    /** The task is not suspended, or waits for nobody. */
    NOT_WAITING,
    /** The task does nothing that could be suspended. */
    NOT_SUSPENDABLE,
    /** Nothing of what the task waits for is overdue. */
    NOT_DUE
}
