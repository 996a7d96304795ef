package dev.millrace.tools.files;

import static dev.millrace.tools.JsonSchemas.flag;
import static dev.millrace.tools.JsonSchemas.object;
import static dev.millrace.tools.JsonSchemas.text;

import dev.millrace.schemas.ToolDefinition;
import dev.millrace.tool.api.ToolException;
import dev.millrace.tools.Tool;
import dev.millrace.tools.ToolContext;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** {@code list_files{path=".",recursive?,pattern?}}. */
public final class ListFiles implements Tool {

    static final int MAX_ENTRIES = 1_000;
    private static final int MAX_LOOKED_AT = 100_000;
    private static final int MAX_DEPTH = 50;

    private final Workspace workspace;

    public ListFiles(Workspace workspace) {
        this.workspace = workspace;
    }

    @Override
    public ToolDefinition definition() {
        return new ToolDefinition(
                "list_files",
                "Lists files and folders of the workspace. Links are listed and not followed.",
                object(Map.of(
                        "path", text("Folder relative to the workspace. Absent = the workspace itself.", 4_096),
                        "recursive", flag("Whether to list what is in its folders too. Absent = no."),
                        "pattern", text("Only names like this, such as *.md. Absent = all.", 500))),
                "tool",
                ToolDefinition.DEFAULT_TIMEOUT_MS,
                ToolDefinition.SideEffects.READ_ONLY);
    }

    @Override
    public Object call(Map<String, @Nullable Object> params, ToolContext context)
            throws ToolException, InterruptedException {
        String path = params.get("path") instanceof String given ? given : ".";
        Path folder = workspace.existing(path);
        if (!Files.isDirectory(folder)) {
            throw new ToolException("not_a_folder", "Path \"" + path + "\" is not a folder");
        }
        Predicate<Path> wanted = Globs.of(params.get("pattern"));
        int depth = Boolean.TRUE.equals(params.get("recursive")) ? MAX_DEPTH : 1;
        List<Map<String, Object>> entries = new ArrayList<>();
        boolean truncated = false;
        for (WorkspaceWalk.Found found : WorkspaceWalk.below(folder, depth, MAX_LOOKED_AT)) {
            if (Thread.interrupted()) {
                throw new InterruptedException("interrupted while comparing names");
            }
            if (!wanted.test(folder.relativize(found.place()))) {
                continue;
            }
            if (entries.size() == MAX_ENTRIES) {
                truncated = true;
                break;
            }
            entries.add(entry(found));
        }
        Map<String, Object> result = new LinkedHashMap<>();
        result.put("path", workspace.shown(folder));
        result.put("entries", entries);
        if (truncated) {
            result.put("truncated", true);
        }
        return result;
    }

    private Map<String, Object> entry(WorkspaceWalk.Found found) throws ToolException {
        Map<String, Object> entry = new LinkedHashMap<>();
        entry.put("path", workspace.shown(found.place()));
        entry.put("type", found.type());
        entry.put("sizeBytes", found.sizeBytes());
        return entry;
    }
}
