package dev.millrace.client;

/** A task that was waited for has failed. */
public final class TaskFailedException extends MillraceException {

    private static final long serialVersionUID = 1L;

    private final String taskId;
    private final String code;

    TaskFailedException(String taskId, String code, String error) {
        super("Task " + taskId + " failed: " + error + " (" + code + ")", null);
        this.taskId = taskId;
        this.code = code;
    }

    /** Which task. */
    public String taskId() {
        return taskId;
    }

    /** Why, as a stable word such as {@code approval_expired}. */
    public String code() {
        return code;
    }
}
