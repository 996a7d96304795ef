package dev.millrace.tools.tasks;

import com.fasterxml.jackson.annotation.JsonInclude;
import dev.millrace.api.Entry;
import dev.millrace.api.Task;
import dev.millrace.tool.api.Param;
import dev.millrace.tool.api.SideEffects;
import dev.millrace.tool.api.Tool;
import dev.millrace.tool.api.ToolContext;
import dev.millrace.tool.api.ToolException;
import jakarta.validation.constraints.Pattern;
import jakarta.validation.constraints.Size;
import java.time.DateTimeException;
import java.time.Instant;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Tools about tasks, of the caller's namespace only. */
public final class TaskTools {

    private static final int MOST = 200;
    private static final int PAGE = 500;
    /** A day long ago is looked for through all days since; somewhere that ends. */
    private static final int MOST_PAGES = 40;

    private final TaskQueries queries;

    public TaskTools(TaskQueries queries) {
        this.queries = queries;
    }

    /** One of a list of tasks. */
    record Summary(String taskId, String inputText, String status, String createdAt) {}

    /** What the task machine makes TASK_NOTIFY of. */
    record Told(String action, String message, String taskId) {}

    /** What was said; {@code truncated} is left out if it is all. */
    record Replay(
            List<TaskMessages.Message> messages,
            @JsonInclude(JsonInclude.Include.NON_DEFAULT) boolean truncated) {}

    /** Does nothing itself: the task machine makes TASK_NOTIFY of its result. */
    @Tool(
            value = "Tells the owner of the task something right now, while the work goes on.",
            name = "notify",
            sideEffects = SideEffects.IDEMPOTENT,
            timeoutMs = 5_000)
    Told notifyOwner(
            @Param("What to tell, complete in itself.") @Size(min = 1, max = 10_000) String message,
            ToolContext context) {
        return new Told("notify", message, context.taskId());
    }

    @Tool(
            name = "task_list",
            value = "Lists tasks, the newest first, " + MOST + " at most: of one day, or of any time.",
            sideEffects = SideEffects.READ_ONLY)
    List<Summary> list(
            @Param("A day in UTC, such as 2026-03-01. Absent = the newest tasks of any day.")
                    Optional<@Pattern(regexp = "^\\d{4}-\\d{2}-\\d{2}$") String> date,
            ToolContext context)
            throws ToolException, InterruptedException {
        LocalDate day = date.isPresent() ? day(date.get()) : null;
        long from = day == null ? Long.MIN_VALUE : startOf(day);
        long to = day == null ? Long.MAX_VALUE : startOf(day.plusDays(1));
        List<Summary> found = new ArrayList<>();
        String before = null;
        for (int i = 0; i < MOST_PAGES; i++) {
            Task.Page page = queries.tasks(context.namespace(), day == null ? MOST : PAGE, before);
            for (Task task : page.tasks()) {
                long createdAt = task.createdAt();
                if (createdAt < from || found.size() == MOST) {
                    return found;
                }
                if (createdAt < to) {
                    found.add(new Summary(
                            task.taskId(),
                            task.inputText(),
                            status(task.state()),
                            Instant.ofEpochMilli(createdAt).toString()));
                }
            }
            before = page.next();
            if (before == null) {
                return found;
            }
        }
        if (found.isEmpty()) {
            throw new ToolException(
                    "invalid_arguments",
                    "date: there are too many tasks since " + day
                            + " to look for those of that day; ask for a later one");
        }
        return found;
    }

    private static String status(String state) {
        return switch (state) {
            case "completed" -> "completed";
            // there is no word for a task that somebody ended
            case "failed", "cancelled" -> "failed";
            default -> "in_progress";
        };
    }

    private static LocalDate day(String text) throws ToolException {
        try {
            return LocalDate.parse(text);
        } catch (DateTimeException e) {
            throw new ToolException(
                    "invalid_arguments", "date: expected a day such as 2026-03-01, found \"" + text + "\"");
        }
    }

    private static long startOf(LocalDate day) {
        return day.atStartOfDay(ZoneOffset.UTC).toInstant().toEpochMilli();
    }

    @Tool(
            name = "task_replay",
            value = "Shows what was said in a task, by the user, the model and the tools, from the beginning.",
            sideEffects = SideEffects.READ_ONLY)
    Replay replay(
            @Param("The id of the task, as task_list tells it.") @Size(min = 1, max = 300) String taskId,
            ToolContext context)
            throws ToolException, InterruptedException {
        TaskMessages messages = new TaskMessages();
        String after = null;
        for (int i = 0; i < MOST_PAGES; i++) {
            Entry.Page page = queries.events(context.namespace(), taskId, PAGE, after)
                    .orElseThrow(() -> new ToolException("unknown_task", "There is no task \"" + taskId + "\""));
            page.events().forEach(messages::add);
            after = page.next();
            if (after == null) {
                return new Replay(messages.all(), false);
            }
        }
        return new Replay(messages.all(), true);
    }
}
