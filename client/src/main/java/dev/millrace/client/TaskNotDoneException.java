package dev.millrace.client;

import java.time.Duration;

/** A task that was waited for has not ended in that time. It goes on, and may be waited for again. */
public final class TaskNotDoneException extends MillraceException {

    private static final long serialVersionUID = 1L;

    private final String taskId;

    TaskNotDoneException(String taskId, Duration limit) {
        super("Task " + taskId + " did not end within " + limit + ". It goes on.", null);
        this.taskId = taskId;
    }

    /** Which task. */
    public String taskId() {
        return taskId;
    }
}
