package dev.millrace.tools.tasks;

import static dev.millrace.tools.JsonSchemas.object;

import dev.millrace.api.Task;
import dev.millrace.schemas.ToolDefinition;
import dev.millrace.tool.api.ToolException;
import dev.millrace.tools.Tool;
import dev.millrace.tools.ToolContext;
import java.time.DateTimeException;
import java.time.Instant;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** {@code task_list{date?}} (F-167): tasks of the caller's namespace. */
public final class TaskList implements Tool {

    private static final int MOST = 200;
    private static final int PAGE = 500;
    /** A day long ago is looked for through all days since; somewhere that ends. */
    private static final int MOST_PAGES = 40;

    private final TaskQueries queries;

    public TaskList(TaskQueries queries) {
        this.queries = queries;
    }

    @Override
    public ToolDefinition definition() {
        return new ToolDefinition(
                "task_list",
                "Lists tasks, the newest first, " + MOST + " at most: of one day, or of any time.",
                object(Map.of(
                        "date",
                        Map.of(
                                "type",
                                "string",
                                "description",
                                "A day in UTC, such as 2026-03-01. Absent = the newest tasks of any day.",
                                "pattern",
                                "^\\d{4}-\\d{2}-\\d{2}$"))),
                "tool",
                ToolDefinition.DEFAULT_TIMEOUT_MS,
                ToolDefinition.SideEffects.READ_ONLY);
    }

    @Override
    public Object call(Map<String, @Nullable Object> params, ToolContext context)
            throws ToolException, InterruptedException {
        LocalDate day = params.get("date") instanceof String date ? day(date) : null;
        long from = day == null ? Long.MIN_VALUE : startOf(day);
        long to = day == null ? Long.MAX_VALUE : startOf(day.plusDays(1));
        List<Map<String, @Nullable Object>> found = new ArrayList<>();
        String before = null;
        for (int i = 0; i < MOST_PAGES; i++) {
            Task.Page page = queries.tasks(context.namespace(), day == null ? MOST : PAGE, before);
            for (Task task : page.tasks()) {
                long createdAt = task.createdAt();
                if (createdAt < from || found.size() == MOST) {
                    return found;
                }
                if (createdAt < to) {
                    found.add(summary(task));
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

    private static Map<String, @Nullable Object> summary(Task task) {
        Map<String, @Nullable Object> summary = new LinkedHashMap<>();
        summary.put("taskId", task.taskId());
        summary.put("inputText", task.inputText());
        summary.put("status", status(task.state()));
        summary.put("createdAt", Instant.ofEpochMilli(task.createdAt()).toString());
        return summary;
    }

    private static String status(String state) {
        return switch (state) {
            case "completed" -> "completed";
            // the specification has no word for a task that somebody ended
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
}
