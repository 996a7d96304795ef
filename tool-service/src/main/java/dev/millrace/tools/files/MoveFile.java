package dev.millrace.tools.files;

import static dev.millrace.tools.JsonSchemas.object;
import static dev.millrace.tools.JsonSchemas.text;

import dev.millrace.schemas.ToolDefinition;
import dev.millrace.tool.api.ToolException;
import dev.millrace.tools.Tool;
import dev.millrace.tools.ToolContext;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** {@code move_file{from,to}}. */
public final class MoveFile implements Tool {

    private final Workspace workspace;

    public MoveFile(Workspace workspace) {
        this.workspace = workspace;
    }

    @Override
    public ToolDefinition definition() {
        return new ToolDefinition(
                "move_file",
                "Moves or renames a file or folder of the workspace. Nothing may be at the new place.",
                object(
                        Map.of(
                                "from", text("Path relative to the workspace.", 4_096),
                                "to",
                                        text(
                                                "The new path, relative to the workspace. Missing folders are made.",
                                                4_096)),
                        "from",
                        "to"),
                "tool",
                ToolDefinition.DEFAULT_TIMEOUT_MS,
                ToolDefinition.SideEffects.DESTRUCTIVE);
    }

    @Override
    public Object call(Map<String, @Nullable Object> params, ToolContext context) throws ToolException {
        String from = String.valueOf(params.get("from"));
        String to = String.valueOf(params.get("to"));
        workspace.move(from, to);
        return Map.of("from", from, "to", to);
    }
}
