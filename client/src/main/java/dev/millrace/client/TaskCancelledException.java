package dev.millrace.client;

/** A task that was waited for was cancelled. */
public final class TaskCancelledException extends MillraceException {

    private static final long serialVersionUID = 1L;

    private final String taskId;

    TaskCancelledException(String taskId, String reason) {
        super("Task " + taskId + " was cancelled" + (reason.isEmpty() ? "" : ": " + reason), null);
        this.taskId = taskId;
    }

    /** Which task. */
    public String taskId() {
        return taskId;
    }
}
