package dev.millrace.tools.files;

import dev.millrace.tool.api.Param;
import dev.millrace.tool.api.SideEffects;
import dev.millrace.tool.api.Tool;
import dev.millrace.tool.api.ToolContext;
import dev.millrace.tool.api.ToolException;
import jakarta.validation.constraints.Size;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.Optional;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Function;

/** Tools on single files of the workspace. */
public final class FileTools {

    static final int MAX_PATH = 4_096;

    private static final String PATH = "Path relative to the workspace.";
    private static final String PATH_SUCH_AS = "Path relative to the workspace, such as docs/notes.txt.";

    private final Function<ToolContext, Workspace> workspaces;
    private final int maxBytes;
    /** Two edits of one file at the same time would lose one of them. */
    private final ReentrantLock editing = new ReentrantLock();

    /**
     * Reads, writes and edits files of at most {@code maxBytes}.
     *
     * @param workspaces which folder a call is about
     */
    public FileTools(Function<ToolContext, Workspace> workspaces, int maxBytes) {
        this.workspaces = workspaces;
        this.maxBytes = maxBytes;
    }

    /** A file that was read. */
    record Content(String path, String content, int sizeBytes) {}

    /** A file that was written. */
    record Written(String path, int sizeBytes, boolean created) {}

    /** A file that was edited. */
    record Edited(String path, int replacements, int sizeBytes) {}

    /** A file that is gone. */
    record Deleted(String path, boolean deleted) {}

    /** A file or folder that was moved. */
    record Moved(String from, String to) {}

    /** What a path is. */
    record Attributes(String path, String type, long sizeBytes, String modifiedAt) {}

    @Tool(name = "read_file", value = "Reads a file of the workspace.", sideEffects = SideEffects.READ_ONLY)
    Content read(
            @Param(PATH_SUCH_AS) @Size(min = 1, max = MAX_PATH) String path,
            @Param("How to turn bytes into text; base64 for binary files. Absent = utf-8.")
                    Optional<TextEncoding> encoding,
            ToolContext context)
            throws ToolException {
        byte[] bytes = workspaces.apply(context).read(path, maxBytes);
        if (bytes.length > maxBytes) {
            throw new ToolException(
                    "file_too_large",
                    "File \"" + path + "\" is larger than the " + maxBytes + " bytes that can be read at once");
        }
        return new Content(path, encoding.orElse(TextEncoding.UTF_8).decode(path, bytes), bytes.length);
    }

    @Tool(
            name = "write_file",
            value = "Writes a file of the workspace: makes it, with the folders on the way, or replaces all of it.",
            sideEffects = SideEffects.IDEMPOTENT)
    Written write(
            @Param(PATH_SUCH_AS) @Size(min = 1, max = MAX_PATH) String path,
            @Param("The whole new content.") String content,
            @Param("How the content becomes bytes; base64 for binary files. Absent = utf-8.")
                    Optional<TextEncoding> encoding,
            ToolContext context)
            throws ToolException {
        byte[] bytes = encoding.orElse(TextEncoding.UTF_8).encode(content);
        if (bytes.length > maxBytes) {
            throw new ToolException(
                    "file_too_large",
                    "The content is " + bytes.length + " bytes long, more than the " + maxBytes
                            + " that can be written at once");
        }
        boolean replaced = workspaces.apply(context).write(path, bytes);
        return new Written(path, bytes.length, !replaced);
    }

    @Tool(
            name = "edit_file",
            value =
                    "Replaces a text in a UTF-8 file of the workspace. The old text has to be in it exactly once, unless"
                            + " all of its occurrences are to be replaced.")
    Edited edit(
            @Param(PATH) @Size(min = 1, max = MAX_PATH) String path,
            @Param(name = "old_string", value = "The text to replace, exactly as it stands in the file.")
                    @Size(min = 1, max = 400_000)
                    String oldText,
            @Param(name = "new_string", value = "The text to put there.") String newText,
            @Param(name = "replace_all", value = "Whether to replace every occurrence. Absent = no.")
                    Optional<Boolean> all,
            ToolContext context)
            throws ToolException, InterruptedException {
        Workspace workspace = workspaces.apply(context);
        editing.lockInterruptibly();
        try {
            byte[] bytes = workspace.read(path, maxBytes);
            requireSize(path, bytes.length);
            String content = TextEncoding.UTF_8.decode(path, bytes);
            int found = occurrences(content, oldText);
            if (found == 0) {
                throw new ToolException("string_not_found", "String not found in " + path);
            }
            if (found > 1 && !all.orElse(false)) {
                throw new ToolException(
                        "string_not_unique",
                        "String appears multiple times in " + path
                                + " — provide more context to make it unique, or set replace_all");
            }
            requireSize(path, bytes.length + (long) found * (newText.length() - oldText.length()));
            byte[] changed = TextEncoding.UTF_8.encode(content.replace(oldText, newText));
            requireSize(path, changed.length);
            workspace.write(path, changed);
            return new Edited(path, found, changed.length);
        } finally {
            editing.unlock();
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

    @Tool(name = "delete_file", value = "Deletes a file of the workspace, for good. Folders are not deleted.")
    Deleted delete(@Param(PATH) @Size(min = 1, max = MAX_PATH) String path, ToolContext context) throws ToolException {
        workspaces.apply(context).delete(path);
        return new Deleted(path, true);
    }

    @Tool(
            name = "move_file",
            value = "Moves or renames a file or folder of the workspace. Nothing may be at the new place.")
    Moved move(
            @Param(PATH) @Size(min = 1, max = MAX_PATH) String from,
            @Param("The new path, relative to the workspace. Missing folders are made.") @Size(min = 1, max = MAX_PATH)
                    String to,
            ToolContext context)
            throws ToolException {
        workspaces.apply(context).move(from, to);
        return new Moved(from, to);
    }

    @Tool(
            name = "get_file_info",
            value = "Tells what a path of the workspace is: file or folder, how large, and when it was last changed.",
            sideEffects = SideEffects.READ_ONLY)
    Attributes info(@Param(PATH) @Size(min = 1, max = MAX_PATH) String path, ToolContext context) throws ToolException {
        Workspace workspace = workspaces.apply(context);
        Path place = workspace.existing(path);
        try {
            BasicFileAttributes attributes =
                    Files.readAttributes(place, BasicFileAttributes.class, LinkOption.NOFOLLOW_LINKS);
            return new Attributes(
                    workspace.shown(place),
                    WorkspaceWalk.type(attributes),
                    attributes.isRegularFile() ? attributes.size() : 0,
                    attributes.lastModifiedTime().toInstant().toString());
        } catch (IOException e) {
            throw new ToolException("unreadable_file", "Path \"" + path + "\" cannot be read");
        }
    }
}
