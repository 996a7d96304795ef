package dev.millrace.tools.tasks;

import static dev.millrace.tools.JsonSchemas.object;
import static dev.millrace.tools.JsonSchemas.text;

import dev.millrace.api.Entry;
import dev.millrace.schemas.ToolDefinition;
import dev.millrace.tool.api.ToolException;
import dev.millrace.tools.Tool;
import dev.millrace.tools.ToolContext;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** {@code task_replay{taskId}} (F-167): what was said in a task of the caller's namespace, and nothing else of it. */
public final class TaskReplay implements Tool {

    private static final int PAGE = 500;
    private static final int MOST_PAGES = 40;

    private final TaskQueries queries;

    public TaskReplay(TaskQueries queries) {
        this.queries = queries;
    }

    @Override
    public ToolDefinition definition() {
        return new ToolDefinition(
                "task_replay",
                "Shows what was said in a task, by the user, the model and the tools, from the beginning.",
                object(Map.of("taskId", text("The id of the task, as task_list tells it.", 300)), "taskId"),
                "tool",
                ToolDefinition.DEFAULT_TIMEOUT_MS,
                ToolDefinition.SideEffects.READ_ONLY);
    }

    @Override
    public Object call(Map<String, @Nullable Object> params, ToolContext context)
            throws ToolException, InterruptedException {
        String taskId = String.valueOf(params.get("taskId"));
        Messages messages = new Messages();
        String after = null;
        for (int i = 0; i < MOST_PAGES; i++) {
            Entry.Page page = queries.events(context.namespace(), taskId, PAGE, after)
                    .orElseThrow(() -> new ToolException("unknown_task", "There is no task \"" + taskId + "\""));
            page.events().forEach(messages::add);
            after = page.next();
            if (after == null) {
                return Map.of("messages", messages.all());
            }
        }
        return Map.of("messages", messages.all(), "truncated", true);
    }
}
