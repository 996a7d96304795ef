package dev.millrace.tools.files;

import static dev.millrace.tools.JsonSchemas.anyText;
import static dev.millrace.tools.JsonSchemas.flag;
import static dev.millrace.tools.JsonSchemas.object;
import static dev.millrace.tools.JsonSchemas.text;

import dev.millrace.schemas.ToolDefinition;
import dev.millrace.tool.api.ToolException;
import dev.millrace.tools.Tool;
import dev.millrace.tools.ToolContext;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/** {@code edit_file{path,old_string,new_string,replace_all?}}: replaces a text in a file. */
public final class EditFile implements Tool {

    private final Workspace workspace;
    private final int maxBytes;
    /** Two edits of one file at the same time would lose one of them. */
    private final ReentrantLock lock = new ReentrantLock();

    /** Edits files of at most {@code maxBytes}, before and after. */
    public EditFile(Workspace workspace, int maxBytes) {
        this.workspace = workspace;
        this.maxBytes = maxBytes;
    }

    @Override
    public ToolDefinition definition() {
        return new ToolDefinition(
                "edit_file",
                "Replaces a text in a UTF-8 file of the workspace. The old text has to be in it exactly once, unless"
                        + " all of its occurrences are to be replaced.",
                object(
                        Map.of(
                                "path", text("Path relative to the workspace.", 4_096),
                                "old_string", text("The text to replace, exactly as it stands in the file.", 400_000),
                                "new_string", anyText("The text to put there."),
                                "replace_all", flag("Whether to replace every occurrence. Absent = no.")),
                        "path",
                        "old_string",
                        "new_string"),
                "tool",
                ToolDefinition.DEFAULT_TIMEOUT_MS,
                ToolDefinition.SideEffects.DESTRUCTIVE);
    }

    @Override
    public Object call(Map<String, @Nullable Object> params, ToolContext context)
            throws ToolException, InterruptedException {
        String path = String.valueOf(params.get("path"));
        String oldText = String.valueOf(params.get("old_string"));
        String newText = String.valueOf(params.get("new_string"));
        boolean all = Boolean.TRUE.equals(params.get("replace_all"));
        lock.lockInterruptibly();
        try {
            byte[] bytes = workspace.read(path, maxBytes);
            requireSize(path, bytes.length);
            String content = TextEncoding.UTF_8.decode(path, bytes);
            int found = occurrences(content, oldText);
            if (found == 0) {
                throw new ToolException("string_not_found", "String not found in " + path);
            }
            if (found > 1 && !all) {
                throw new ToolException(
                        "string_not_unique",
                        "String appears multiple times in " + path
                                + " — provide more context to make it unique, or set replace_all");
            }
            requireSize(path, bytes.length + (long) found * (newText.length() - oldText.length()));
            byte[] changed = TextEncoding.UTF_8.encode(content.replace(oldText, newText));
            requireSize(path, changed.length);
            workspace.write(path, changed);
            Map<String, Object> result = new LinkedHashMap<>();
            result.put("path", path);
            result.put("replacements", found);
            result.put("sizeBytes", changed.length);
            return result;
        } finally {
            lock.unlock();
        }
    }

    private void requireSize(String path, long bytes) throws ToolException {
        if (bytes > maxBytes) {
            throw new ToolException(
                    "file_too_large",
                    "File \"" + path + "\" is or would become larger than the " + maxBytes
                            + " bytes that can be edited");
        }
    }

    private static int occurrences(String text, String wanted) {
        int found = 0;
        for (int at = text.indexOf(wanted); at >= 0; at = text.indexOf(wanted, at + wanted.length())) {
            found++;
        }
        return found;
    }
}
