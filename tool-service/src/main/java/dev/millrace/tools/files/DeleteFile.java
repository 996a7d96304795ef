package dev.millrace.tools.files;

import static dev.millrace.tools.JsonSchemas.object;
import static dev.millrace.tools.JsonSchemas.text;

import dev.millrace.schemas.ToolDefinition;
import dev.millrace.tool.api.ToolException;
import dev.millrace.tools.Tool;
import dev.millrace.tools.ToolContext;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** {@code delete_file{path}}. */
public final class DeleteFile implements Tool {

    private final Workspace workspace;

    public DeleteFile(Workspace workspace) {
        this.workspace = workspace;
    }

    @Override
    public ToolDefinition definition() {
        return new ToolDefinition(
                "delete_file",
                "Deletes a file of the workspace, for good. Folders are not deleted.",
                object(Map.of("path", text("Path relative to the workspace.", 4_096)), "path"),
                "tool",
                ToolDefinition.DEFAULT_TIMEOUT_MS,
                ToolDefinition.SideEffects.DESTRUCTIVE);
    }

    @Override
    public Object call(Map<String, @Nullable Object> params, ToolContext context) throws ToolException {
        String path = String.valueOf(params.get("path"));
        workspace.delete(path);
        return Map.of("path", path, "deleted", true);
    }
}
