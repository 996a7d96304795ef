package dev.millrace.tools.files;

import static dev.millrace.tools.JsonSchemas.object;
import static dev.millrace.tools.JsonSchemas.text;

import dev.millrace.schemas.ToolDefinition;
import dev.millrace.tool.api.ToolException;
import dev.millrace.tools.Tool;
import dev.millrace.tools.ToolContext;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** {@code read_file{path,encoding?}}. */
public final class ReadFile implements Tool {

    private final Workspace workspace;
    private final int maxBytes;

    /** Reads files of at most {@code maxBytes}. */
    public ReadFile(Workspace workspace, int maxBytes) {
        this.workspace = workspace;
        this.maxBytes = maxBytes;
    }

    @Override
    public ToolDefinition definition() {
        return new ToolDefinition(
                "read_file",
                "Reads a file of the workspace.",
                object(
                        Map.of(
                                "path",
                                text("Path relative to the workspace, such as docs/notes.txt.", 4_096),
                                "encoding",
                                TextEncoding.schema("How to turn bytes into text; base64 for binary files.")),
                        "path"),
                "tool",
                ToolDefinition.DEFAULT_TIMEOUT_MS,
                ToolDefinition.SideEffects.READ_ONLY);
    }

    @Override
    public Object call(Map<String, @Nullable Object> params, ToolContext context) throws ToolException {
        String path = String.valueOf(params.get("path"));
        byte[] bytes = workspace.read(path, maxBytes);
        if (bytes.length > maxBytes) {
            throw new ToolException(
                    "file_too_large",
                    "File \"" + path + "\" is larger than the " + maxBytes + " bytes that can be read at once");
        }
        Map<String, Object> result = new LinkedHashMap<>();
        result.put("path", path);
        result.put("content", TextEncoding.of(params.get("encoding")).decode(path, bytes));
        result.put("sizeBytes", bytes.length);
        return result;
    }
}
