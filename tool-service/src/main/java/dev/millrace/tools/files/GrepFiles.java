package dev.millrace.tools.files;

import static dev.millrace.tools.JsonSchemas.object;
import static dev.millrace.tools.JsonSchemas.text;

import dev.millrace.schemas.LinearPattern;
import dev.millrace.schemas.ToolDefinition;
import dev.millrace.tool.api.ToolException;
import dev.millrace.tools.Tool;
import dev.millrace.tools.ToolContext;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * {@code grep_files{pattern,path?,include?}}. Patterns are RE2's, see {@link LinearPattern}.
 */
public final class GrepFiles implements Tool {

    static final int MAX_MATCHES = 200;
    private static final int MAX_LINE = 500;
    private static final int MAX_FILE_BYTES = 5_000_000;
    private static final int MAX_LOOKED_AT = 100_000;
    private static final int MAX_DEPTH = 50;

    private final Workspace workspace;

    public GrepFiles(Workspace workspace) {
        this.workspace = workspace;
    }

    @Override
    public ToolDefinition definition() {
        return new ToolDefinition(
                "grep_files",
                "Searches the text files of the workspace for a regular expression, line by line.",
                object(
                        Map.of(
                                "pattern",
                                        text(
                                                "Regular expression (RE2: no back-references, no lookaround), such as (?i)todo.",
                                                LinearPattern.MAX_LENGTH),
                                "path", text("File or folder relative to the workspace. Absent = all of it.", 4_096),
                                "include", text("Only files with names like this, such as *.md. Absent = all.", 500)),
                        "pattern"),
                "tool",
                ToolDefinition.DEFAULT_TIMEOUT_MS,
                ToolDefinition.SideEffects.READ_ONLY);
    }

    @Override
    public Object call(Map<String, @Nullable Object> params, ToolContext context)
            throws ToolException, InterruptedException {
        LinearPattern pattern = compile(String.valueOf(params.get("pattern")));
        Path start = workspace.existing(params.get("path") instanceof String path ? path : ".");
        Predicate<Path> wanted = Globs.of(params.get("include"));
        List<Map<String, Object>> matches = new ArrayList<>();
        boolean truncated = false;
        for (Path file : files(start)) {
            Path relative = file.equals(start) ? file.getFileName() : start.relativize(file);
            if (Thread.interrupted()) {
                throw new InterruptedException("interrupted while searching");
            }
            if (wanted.test(relative) && !search(file, pattern, matches)) {
                truncated = true;
                break;
            }
        }
        return Map.of("matches", matches, "truncated", truncated);
    }

    private static List<Path> files(Path start) throws ToolException, InterruptedException {
        if (!Files.isDirectory(start)) {
            return List.of(start);
        }
        return WorkspaceWalk.below(start, MAX_DEPTH, MAX_LOOKED_AT).stream()
                .filter(found -> found.type().equals("file") && found.sizeBytes() <= MAX_FILE_BYTES)
                .map(WorkspaceWalk.Found::place)
                .toList();
    }

    /** False if there are more matches than are given. */
    private boolean search(Path file, LinearPattern pattern, List<Map<String, Object>> matches)
            throws ToolException, InterruptedException {
        String shown = workspace.shown(file);
        byte[] bytes = workspace.readReal(file, shown, MAX_FILE_BYTES);
        if (isBinary(bytes)) {
            return true;
        }
        int number = 0;
        for (String line : new String(bytes, StandardCharsets.UTF_8).split("\r?\n", -1)) {
            number++;
            if (!finds(pattern, line)) {
                continue;
            }
            if (matches.size() == MAX_MATCHES) {
                return false;
            }
            Map<String, Object> match = new LinkedHashMap<>();
            match.put("path", shown);
            match.put("line", number);
            match.put("text", line.length() <= MAX_LINE ? line : line.substring(0, MAX_LINE) + "…");
            matches.add(match);
        }
        return true;
    }

    private static boolean finds(LinearPattern pattern, String line) throws InterruptedException {
        try {
            return pattern.isIn(new InterruptibleText(line));
        } catch (InterruptibleText.InterruptedSearchException e) {
            throw new InterruptedException("interrupted while searching");
        }
    }

    private static boolean isBinary(byte[] bytes) {
        for (int i = 0; i < Math.min(bytes.length, 8_000); i++) {
            if (bytes[i] == 0) {
                return true;
            }
        }
        return false;
    }

    private static LinearPattern compile(String regex) throws ToolException {
        try {
            return LinearPattern.of(regex);
        } catch (IllegalArgumentException e) {
            throw new ToolException(
                    "bad_pattern",
                    "pattern: expected a regular expression as RE2 has them, found one with: " + e.getMessage());
        }
    }
}
