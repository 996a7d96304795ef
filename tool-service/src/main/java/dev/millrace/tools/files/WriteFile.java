package dev.millrace.tools.files;

import static dev.millrace.tools.JsonSchemas.anyText;
import static dev.millrace.tools.JsonSchemas.object;
import static dev.millrace.tools.JsonSchemas.text;

import dev.millrace.schemas.ToolDefinition;
import dev.millrace.tool.api.ToolException;
import dev.millrace.tools.Tool;
import dev.millrace.tools.ToolContext;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** {@code write_file{path,content,encoding?}}: the same call twice leaves the same file. */
public final class WriteFile implements Tool {

    private final Workspace workspace;
    private final int maxBytes;

    /** Writes files of at most {@code maxBytes}. */
    public WriteFile(Workspace workspace, int maxBytes) {
        this.workspace = workspace;
        this.maxBytes = maxBytes;
    }

    @Override
    public ToolDefinition definition() {
        return new ToolDefinition(
                "write_file",
                "Writes a file of the workspace: makes it, with the folders on the way, or replaces all of it.",
                object(
                        Map.of(
                                "path",
                                text("Path relative to the workspace, such as docs/notes.txt.", 4_096),
                                "content",
                                anyText("The whole new content."),
                                "encoding",
                                TextEncoding.schema("How the content becomes bytes; base64 for binary files.")),
                        "path",
                        "content"),
                "tool",
                ToolDefinition.DEFAULT_TIMEOUT_MS,
                ToolDefinition.SideEffects.IDEMPOTENT);
    }

    @Override
    public Object call(Map<String, @Nullable Object> params, ToolContext context) throws ToolException {
        String path = String.valueOf(params.get("path"));
        byte[] bytes = TextEncoding.of(params.get("encoding")).encode(String.valueOf(params.get("content")));
        if (bytes.length > maxBytes) {
            throw new ToolException(
                    "file_too_large",
                    "The content is " + bytes.length + " bytes long, more than the " + maxBytes
                            + " that can be written at once");
        }
        boolean replaced = workspace.write(path, bytes);
        Map<String, Object> result = new LinkedHashMap<>();
        result.put("path", path);
        result.put("sizeBytes", bytes.length);
        result.put("created", !replaced);
        return result;
    }
}
