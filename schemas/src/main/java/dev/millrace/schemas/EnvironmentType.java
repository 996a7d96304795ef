package dev.millrace.schemas;

import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The types of what happens around the agents, as far as they have a name that everybody uses. They are taken like
 * {@link CustomEventType any other name}: each has a JSON Schema that says what to expect in it, and none is refused
 * because its payload is otherwise, since the senders are strangers. What follows from one is for rules to say.
 */
public enum EnvironmentType implements EventType {
    SESSION_CREATED("session.created", "A session exists."),
    SESSION_UPDATED("session.updated", "Something about a session is another one now, such as its title."),
    SESSION_DELETED("session.deleted", "A session is gone."),
    SESSION_TURN("session.turn", "Something was said among several participants: who is given it, if anybody."),
    BACKGROUND_TASK_COMPLETED("background_task.completed", "Work in the background has come to its end."),
    BACKGROUND_TASK_FAILED("background_task.failed", "Work in the background has failed, or was cancelled."),
    BACKGROUND_TASK_PROGRESS("background_task.progress", "Work in the background is going on."),
    BACKGROUND_TASK_TIMEOUT(
            "background_task.timeout", "Work in the background took longer than it may, and was given up."),
    BACKGROUND_TASK_STOPPED("background_task.stopped", "Work in the background was stopped on request."),
    TOOL_EXECUTED("tool.executed", "A tool has run, somewhere."),
    TOOL_ERROR("tool.error", "A tool has failed, somewhere."),
    ENVIRONMENT_SWITCHED("environment.switched", "A session works in another environment now."),
    TIMER_FIRED("timer.fired", "A time has come."),
    FILE_CHANGED("file.changed", "A file is there, is another one, or is gone."),
    WEBHOOK_RECEIVED("webhook.received", "Another system has called.");

    static final Map<String, EnvironmentType> BY_NAME =
            Stream.of(values()).collect(Collectors.toUnmodifiableMap(EnvironmentType::wireName, Function.identity()));

    private final String wireName;
    private final String summary;

    EnvironmentType(String wireName, String summary) {
        this.wireName = wireName;
        this.summary = summary;
    }

    @Override
    public String wireName() {
        return wireName;
    }

    /** The same as that of every type that is in no catalogue. */
    @Override
    public int code() {
        return CustomEventType.CODE;
    }

    /** What an event of this type says, in one sentence. */
    public String summary() {
        return summary;
    }

    @Override
    public String toString() {
        return wireName;
    }
}
