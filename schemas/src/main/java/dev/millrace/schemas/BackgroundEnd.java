package dev.millrace.schemas;

import java.util.Arrays;
import java.util.Optional;

/** How a task in the background has ended, and the type of the event that says so. */
public enum BackgroundEnd {
    COMPLETED("completed"),
    FAILED("failed"),
    /** It took longer than it might. */
    TIMEOUT("timeout"),
    /** Somebody wanted it to end. */
    STOPPED("stopped");

    /** The type of the event that says, again and again, how far a task in the background is. */
    public static final String PROGRESS = "background_task.progress";

    private final String state;

    BackgroundEnd(String state) {
        this.state = state;
    }

    /** The end that an event of this type tells; empty if it tells none. */
    public static Optional<BackgroundEnd> of(EventType type) {
        return Arrays.stream(values()).filter(end -> end.type().equals(type)).findFirst();
    }

    /** The state that the task is in by then, as it is told. */
    public String state() {
        return state;
    }

    /** The type of the event. */
    public EventType type() {
        return EventType.of("background_task." + state);
    }
}
