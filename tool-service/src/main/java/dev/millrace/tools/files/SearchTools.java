package dev.millrace.tools.files;

import com.fasterxml.jackson.annotation.JsonInclude;
import dev.millrace.schemas.LinearPattern;
import dev.millrace.tool.api.Param;
import dev.millrace.tool.api.SideEffects;
import dev.millrace.tool.api.Tool;
import dev.millrace.tool.api.ToolContext;
import dev.millrace.tool.api.ToolException;
import jakarta.validation.constraints.Size;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.Predicate;

/** Tools that look through the folders of the workspace. Links are not followed. */
public final class SearchTools {

    static final int MAX_ENTRIES = 1_000;
    static final int MAX_MATCHES = 200;
    private static final int MAX_LINE = 500;
    private static final int MAX_FILE_BYTES = 5_000_000;
    private static final int MAX_LOOKED_AT = 100_000;
    private static final int MAX_DEPTH = 50;
    static final int MAX_GLOB = 500;

    private final Function<ToolContext, Workspace> workspaces;

    /** Searches in the folder that a call is about. */
    public SearchTools(Function<ToolContext, Workspace> workspaces) {
        this.workspaces = workspaces;
    }

    /** What is in a folder; {@code truncated} is left out if it is all. */
    record Entries(
            String path,
            List<Entry> entries,
            @JsonInclude(JsonInclude.Include.NON_DEFAULT) boolean truncated) {}

    /** One file or folder. */
    record Entry(String path, String type, long sizeBytes) {}

    /** Lines that were found. */
    record Matches(List<Match> matches, boolean truncated) {}

    /** One line. */
    record Match(String path, int line, String text) {}

    @Tool(
            name = "list_files",
            value = "Lists files and folders of the workspace. Links are listed and not followed.",
            sideEffects = SideEffects.READ_ONLY)
    Entries list(
            @Param("Folder relative to the workspace. Absent = the workspace itself.")
                    Optional<@Size(min = 1, max = FileTools.MAX_PATH) String> path,
            @Param("Whether to list what is in its folders too. Absent = no.") Optional<Boolean> recursive,
            @Param("Only names like this, such as *.md. Absent = all.")
                    Optional<@Size(min = 1, max = MAX_GLOB) String> pattern,
            ToolContext context)
            throws ToolException, InterruptedException {
        Workspace workspace = workspaces.apply(context);
        Path folder = workspace.existing(path.orElse("."));
        if (!Files.isDirectory(folder)) {
            throw new ToolException("not_a_folder", "Path \"" + path.orElse(".") + "\" is not a folder");
        }
        Predicate<Path> wanted = Glob.filter(pattern);
        List<Entry> entries = new ArrayList<>();
        for (WorkspaceWalk.Found found :
                WorkspaceWalk.below(folder, recursive.orElse(false) ? MAX_DEPTH : 1, MAX_LOOKED_AT)) {
            requireTime("interrupted while comparing names");
            if (wanted.test(folder.relativize(found.place()))) {
                if (entries.size() == MAX_ENTRIES) {
                    return new Entries(workspace.shown(folder), entries, true);
                }
                entries.add(new Entry(workspace.shown(found.place()), found.type(), found.sizeBytes()));
            }
        }
        return new Entries(workspace.shown(folder), entries, false);
    }

    private static void requireTime(String message) throws InterruptedException {
        if (Thread.interrupted()) {
            throw new InterruptedException(message);
        }
    }

    @Tool(
            name = "grep_files",
            value = "Searches the text files of the workspace for a regular expression, line by line.",
            sideEffects = SideEffects.READ_ONLY)
    Matches grep(
            @Param("Regular expression (RE2: no back-references, no lookaround), such as (?i)todo.")
                    @Size(min = 1, max = LinearPattern.MAX_LENGTH)
                    String pattern,
            @Param("File or folder relative to the workspace. Absent = all of it.")
                    Optional<@Size(min = 1, max = FileTools.MAX_PATH) String> path,
            @Param("Only files with names like this, such as *.md. Absent = all.")
                    Optional<@Size(min = 1, max = MAX_GLOB) String> include,
            ToolContext context)
            throws ToolException, InterruptedException {
        Workspace workspace = workspaces.apply(context);
        LinearPattern compiled = compile(pattern);
        Path start = workspace.existing(path.orElse("."));
        Predicate<Path> wanted = Glob.filter(include);
        List<Match> matches = new ArrayList<>();
        for (Path file : files(start)) {
            requireTime("interrupted while searching");
            Path relative = file.equals(start) ? file.getFileName() : start.relativize(file);
            if (wanted.test(relative) && !search(workspace, file, compiled, matches)) {
                return new Matches(matches, true);
            }
        }
        return new Matches(matches, false);
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
    private static boolean search(Workspace workspace, Path file, LinearPattern pattern, List<Match> matches)
            throws ToolException, InterruptedException {
        String shown = workspace.shown(file);
        byte[] bytes = workspace.readReal(file, shown, MAX_FILE_BYTES);
        if (isBinary(bytes)) {
            return true;
        }
        int number = 0;
        for (String line : new String(bytes, StandardCharsets.UTF_8).split("\r?\n", -1)) {
            number++;
            if (finds(pattern, line)) {
                if (matches.size() == MAX_MATCHES) {
                    return false;
                }
                matches.add(
                        new Match(shown, number, line.length() <= MAX_LINE ? line : line.substring(0, MAX_LINE) + "…"));
            }
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
