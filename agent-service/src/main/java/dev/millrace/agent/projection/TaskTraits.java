package dev.millrace.agent.projection;

import dev.millrace.api.Task;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * What tasks are to have in common besides what there are lists of. {@code null} = whatever it is.
 *
 * @param agent the agent that works on it, or was asked for
 * @param errorCode why it failed
 * @param text stands in what it was asked, its answer, its error or its question, in capitals or not
 * @param parentTaskId the task that started it as a part of itself
 * @param forkedFrom the task from which it goes on in another way
 * @param createdFrom when it began or later, Unix milliseconds
 * @param createdBefore before when it began, Unix milliseconds
 */
public record TaskTraits(
        @Nullable String agent,
        @Nullable String errorCode,
        @Nullable String text,
        @Nullable String parentTaskId,
        @Nullable String forkedFrom,
        @Nullable Long createdFrom,
        @Nullable Long createdBefore) {

    /** Any task. */
    public static final TaskTraits ANY = new TaskTraits(null, null, null, null, null, null, null);

    boolean fit(Task task) {
        return isAny(agent, task.taskType())
                && isAny(errorCode, task.errorCode())
                && isAny(parentTaskId, task.parentTaskId())
                && (forkedFrom == null
                        || (task.forkedFrom() != null
                                && forkedFrom.equals(task.forkedFrom().taskId())))
                && (createdFrom == null || task.createdAt() >= createdFrom)
                && (createdBefore == null || task.createdAt() < createdBefore)
                && (text == null
                        || contains(task.inputText(), text)
                        || contains(task.response(), text)
                        || contains(task.error(), text)
                        || contains(task.question(), text));
    }

    /** Whether no task that began earlier than this one can fit. */
    boolean excludeOlderThan(Task task) {
        return createdFrom != null && task.createdAt() < createdFrom;
    }

    private static boolean isAny(@Nullable String wanted, @Nullable String found) {
        return wanted == null || wanted.equals(found);
    }

    private static boolean contains(@Nullable String whole, String part) {
        return whole != null && whole.toLowerCase(Locale.ROOT).contains(part.toLowerCase(Locale.ROOT));
    }
}
