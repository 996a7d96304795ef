package dev.millrace.tools.files;

import dev.millrace.requests.NamespaceFolder;
import dev.millrace.tool.api.ToolContext;
import dev.millrace.tool.api.ToolException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SeekableByteChannel;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.Objects;
import java.util.UUID;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * A folder that file tools may see. A path is relative to it, with {@code /} between names. A link inside it is
 * followed only where it leads to another place inside it. Safe for any thread.
 */
public final class Workspace {

    private static final int MAX_PATH = 4_096;
    /** Each folder costs a look, and a path of thousands of them would cost minutes. */
    private static final int MAX_NAMES = 100;

    private final Path root;

    /** A workspace; the folder is made when it is first needed, and need not exist before. */
    public Workspace(Path root) {
        this.root = root.toAbsolutePath().normalize();
    }

    /** The same one for every call. */
    public static Function<ToolContext, Workspace> shared(Path root) {
        Workspace all = new Workspace(root);
        return any -> all;
    }

    /** One for each namespace, which sees nothing of the others. */
    public static Function<ToolContext, Workspace> ofNamespaces(Path root) {
        return call -> new Workspace(NamespaceFolder.of(root, call.namespace()));
    }

    /**
     * The real folder, free of links.
     *
     * @throws ToolException with code {@code workspace_unavailable} if it cannot be made or read
     */
    Path realRoot() throws ToolException {
        try {
            Files.createDirectories(root);
            return root.toRealPath();
        } catch (IOException e) {
            throw new ToolException("workspace_unavailable", "the workspace folder cannot be used: " + reason(e));
        }
    }

    /**
     * The real place of a path that exists.
     *
     * @throws ToolException with code {@code path_outside_workspace}, {@code bad_path} or {@code file_not_found}
     */
    Path existing(String path) throws ToolException {
        Path real = realRoot();
        Path asked = lexical(real, path);
        try {
            Path place = asked.toRealPath();
            if (!place.startsWith(real)) {
                throw outside(path);
            }
            return place;
        } catch (NoSuchFileException e) {
            throw notFound(path);
        } catch (FileSystemException e) {
            throw new ToolException("bad_path", "Path \"" + path + "\" cannot be read: " + reason(e));
        } catch (IOException e) {
            throw new ToolException("bad_path", "Path \"" + path + "\" cannot be read: " + e.getMessage());
        }
    }

    /**
     * At most {@code limit + 1} bytes of a file. Between the look at the path and the opening nobody can put a link in
     * its way: every folder on the way is opened as what it is, not as what a link says.
     */
    byte[] read(String path, int limit) throws ToolException {
        return readReal(existing(path), path, limit);
    }

    /** The same for a place that {@link #existing} or a walk below it gave. */
    byte[] readReal(Path place, String shown, int limit) throws ToolException {
        try (SeekableByteChannel channel = open(place, shown)) {
            int size = (int) Math.min(channel.size(), limit + 1L);
            ByteBuffer buffer = ByteBuffer.allocate(size);
            while (buffer.hasRemaining() && channel.read(buffer) >= 0) {
                // a channel may give less than asked for
            }
            byte[] bytes = new byte[buffer.position()];
            buffer.flip().get(bytes);
            return bytes;
        } catch (NoSuchFileException e) {
            throw notFound(shown);
        } catch (IOException e) {
            throw new ToolException("unreadable_file", "File \"" + shown + "\" cannot be read: " + reason(e));
        }
    }

    /** The path as the model writes it. */
    String shown(Path place) throws ToolException {
        String relative = realRoot().relativize(place).toString().replace('\\', '/');
        return relative.isEmpty() ? "." : relative;
    }

    private SeekableByteChannel open(Path place, String shown) throws IOException, ToolException {
        if (!Files.isRegularFile(place, LinkOption.NOFOLLOW_LINKS)) {
            throw new ToolException("not_a_file", "Path \"" + shown + "\" is not a regular file");
        }
        try (Folder folder = Folder.open(realRoot(), parentOf(place))) {
            return folder.read(nameOf(place));
        }
    }

    /**
     * Writes a file in one step: whoever reads it gets the old or the new content, and never a part of one. Folders on
     * the way are made. A link inside the workspace is written through where it leads to another place inside it.
     *
     * @return whether there was such a file before
     * @throws ToolException with a code of {@link #existing}, {@code not_a_file} or {@code unwritable_file}
     */
    boolean write(String path, byte[] bytes) throws ToolException {
        Path place = target(path, true);
        try (Folder folder = Folder.open(realRoot(), parentOf(place))) {
            String name = nameOf(place);
            BasicFileAttributes before = folder.attributes(name);
            if (before != null && !before.isRegularFile()) {
                throw new ToolException("not_a_file", "Path \"" + path + "\" is not a regular file");
            }
            replace(folder, name, bytes, before != null);
            return before != null;
        } catch (IOException e) {
            throw unwritable(path, e);
        }
    }

    private static void replace(Folder folder, String name, byte[] bytes, boolean exists) throws IOException {
        String written = ".millrace-" + UUID.randomUUID() + ".tmp";
        boolean moved = false;
        try {
            folder.create(written, bytes);
            if (exists) {
                folder.copyPermissions(name, written);
            }
            folder.move(written, folder, name);
            moved = true;
        } finally {
            if (!moved && folder.attributes(written) != null) {
                folder.delete(written);
            }
        }
    }

    /**
     * Deletes a file, or a link and not what it leads to.
     *
     * @throws ToolException with a code of {@link #existing}, {@code not_a_file} or {@code unwritable_file}
     */
    void delete(String path) throws ToolException {
        Path place = itself(path, false);
        try (Folder folder = Folder.open(realRoot(), parentOf(place))) {
            String name = nameOf(place);
            BasicFileAttributes there = folder.attributes(name);
            if (there == null) {
                throw notFound(path);
            }
            if (there.isDirectory()) {
                throw new ToolException("not_a_file", "Path \"" + path + "\" is a folder; only files can be deleted");
            }
            folder.delete(name);
        } catch (NoSuchFileException e) {
            throw notFound(path);
        } catch (IOException e) {
            throw unwritable(path, e);
        }
    }

    /**
     * Moves a file, a link or a folder in one step, and never onto something that is there. Folders on the way to the
     * new place are made.
     *
     * @throws ToolException with a code of {@link #existing}, {@code file_exists} or {@code unwritable_file}
     */
    void move(String from, String to) throws ToolException {
        Path old = itself(from, false);
        Path real = realRoot();
        try (Folder source = Folder.open(real, parentOf(old))) {
            if (source.attributes(nameOf(old)) == null) {
                throw notFound(from);
            }
            Path place = itself(to, true);
            try (Folder target = Folder.open(real, parentOf(place))) {
                if (target.attributes(nameOf(place)) != null) {
                    throw new ToolException("file_exists", "Path \"" + to + "\" is there already");
                }
                source.move(nameOf(old), target, nameOf(place));
            }
        } catch (NoSuchFileException e) {
            throw notFound(from);
        } catch (IOException e) {
            throw unwritable(to, e);
        }
    }

    /**
     * The real place that a path leads to, which need not exist; links that are there are followed inside the
     * workspace.
     */
    private Path target(String path, boolean makeFolders) throws ToolException {
        Path place = itself(path, makeFolders);
        return Files.isSymbolicLink(place) ? existing(path) : place;
    }

    /** The real folder and the last name of a path, which need not exist; if it is a link, the link itself. */
    private Path itself(String path, boolean makeFolders) throws ToolException {
        Path real = realRoot();
        Path asked = lexical(real, path);
        if (asked.equals(real)) {
            throw new ToolException("not_a_file", "Path \"" + path + "\" is the workspace itself");
        }
        Path folder = real;
        try {
            for (Path name : real.relativize(parentOf(asked))) {
                if (name.toString().isEmpty()) {
                    continue;
                }
                Path next = folder.resolve(name);
                if (makeFolders && !Files.exists(next, LinkOption.NOFOLLOW_LINKS)) {
                    Files.createDirectory(next);
                }
                folder = next.toRealPath();
                if (!folder.startsWith(real)) {
                    throw outside(path);
                }
                if (!Files.isDirectory(folder, LinkOption.NOFOLLOW_LINKS)) {
                    throw new ToolException("not_a_folder", "Path \"" + path + "\" leads through a file");
                }
            }
            return folder.resolve(nameOf(asked));
        } catch (NoSuchFileException e) {
            throw notFound(path);
        } catch (IOException e) {
            throw new ToolException("bad_path", "Path \"" + path + "\" cannot be used: " + reason(e));
        }
    }

    private static Path parentOf(Path place) {
        return Objects.requireNonNull(place.getParent(), "a place below the root has a parent");
    }

    private static String nameOf(Path place) {
        return place.getFileName().toString();
    }

    /** Checks the path as it is written, without a look at the disk. */
    private static Path lexical(Path real, String path) throws ToolException {
        if (path.length() > MAX_PATH || path.chars().anyMatch(Character::isISOControl)) {
            throw new ToolException(
                    "bad_path", "path: expected at most " + MAX_PATH + " characters without control characters");
        }
        boolean absolute =
                path.startsWith("/") || path.startsWith("\\") || path.startsWith("~") || path.matches("^[A-Za-z]:.*");
        try {
            Path asked = real.resolve(path.replace('\\', '/')).normalize();
            if (absolute || !asked.startsWith(real)) {
                throw outside(path);
            }
            if (asked.getNameCount() - real.getNameCount() > MAX_NAMES) {
                throw new ToolException("bad_path", "path: expected at most " + MAX_NAMES + " folders in each other");
            }
            return asked;
        } catch (InvalidPathException e) {
            throw new ToolException("bad_path", "path: expected a relative path, found one that no file can have");
        }
    }

    private static ToolException outside(String path) {
        return new ToolException("path_outside_workspace", "Path \"" + path + "\" escapes workspace directory");
    }

    private static ToolException notFound(String path) {
        return new ToolException("file_not_found", "File not found: \"" + path + "\"");
    }

    private static ToolException unwritable(String path, IOException e) {
        return new ToolException("unwritable_file", "Path \"" + path + "\" cannot be written: " + reason(e));
    }

    private static String reason(IOException e) {
        @Nullable String reason = e instanceof FileSystemException system ? system.getReason() : e.getMessage();
        return reason == null ? e.getClass().getSimpleName() : reason;
    }
}
