package dev.millrace.tools;

import static dev.millrace.tools.JsonSchemas.object;
import static dev.millrace.tools.JsonSchemas.text;

import dev.millrace.schemas.ToolDefinition;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** {@code notify{message}} (F-115, F-168): does nothing itself; the task machine makes TASK_NOTIFY of its result. */
public final class Notify implements Tool {

    @Override
    public ToolDefinition definition() {
        return new ToolDefinition(
                "notify",
                "Tells the owner of the task something right now, while the work goes on.",
                object(Map.of("message", text("What to tell, complete in itself.", 10_000)), "message"),
                "tool",
                5_000,
                ToolDefinition.SideEffects.IDEMPOTENT);
    }

    @Override
    public Object call(Map<String, @Nullable Object> params, ToolContext context) {
        return Map.of("action", "notify", "message", String.valueOf(params.get("message")), "taskId", context.taskId());
    }
}
