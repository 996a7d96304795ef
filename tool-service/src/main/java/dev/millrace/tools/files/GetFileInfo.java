package dev.millrace.tools.files;

import static dev.millrace.tools.JsonSchemas.object;
import static dev.millrace.tools.JsonSchemas.text;

import dev.millrace.schemas.ToolDefinition;
import dev.millrace.tool.api.ToolException;
import dev.millrace.tools.Tool;
import dev.millrace.tools.ToolContext;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** {@code get_file_info{path}}. */
public final class GetFileInfo implements Tool {

    private final Workspace workspace;

    public GetFileInfo(Workspace workspace) {
        this.workspace = workspace;
    }

    @Override
    public ToolDefinition definition() {
        return new ToolDefinition(
                "get_file_info",
                "Tells what a path of the workspace is: file or folder, how large, and when it was last changed.",
                object(Map.of("path", text("Path relative to the workspace.", 4_096)), "path"),
                "tool",
                ToolDefinition.DEFAULT_TIMEOUT_MS,
                ToolDefinition.SideEffects.READ_ONLY);
    }

    @Override
    public Object call(Map<String, @Nullable Object> params, ToolContext context) throws ToolException {
        String path = String.valueOf(params.get("path"));
        Path place = workspace.existing(path);
        try {
            BasicFileAttributes attributes =
                    Files.readAttributes(place, BasicFileAttributes.class, LinkOption.NOFOLLOW_LINKS);
            Map<String, Object> result = new LinkedHashMap<>();
            result.put("path", workspace.shown(place));
            result.put("type", WorkspaceWalk.type(attributes));
            result.put("sizeBytes", attributes.isRegularFile() ? attributes.size() : 0);
            result.put("modifiedAt", attributes.lastModifiedTime().toInstant().toString());
            return result;
        } catch (IOException e) {
            throw new ToolException("unreadable_file", "Path \"" + path + "\" cannot be read");
        }
    }
}
