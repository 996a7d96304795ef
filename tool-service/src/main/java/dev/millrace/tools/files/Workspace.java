package dev.millrace.tools.files;

import dev.millrace.tools.ToolException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SeekableByteChannel;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.SecureDirectoryStream;
import java.nio.file.StandardOpenOption;
import java.util.Iterator;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The one folder that file tools may see. A path is relative to it, with {@code /} between names. A link inside it is
 * followed only where it leads to another place inside it. Safe for any thread.
 */
public final class Workspace {

    private static final int MAX_PATH = 4_096;

    private final Path root;

    /** A workspace; the folder is made when it is first needed, and need not exist before. */
    public Workspace(Path root) {
        this.root = root.toAbsolutePath().normalize();
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
        Path real = realRoot();
        try (var folder = Files.newDirectoryStream(real)) {
            if (folder instanceof SecureDirectoryStream<Path> secure) {
                return open(secure, real.relativize(place).iterator());
            }
        }
        return Files.newByteChannel(place, StandardOpenOption.READ, LinkOption.NOFOLLOW_LINKS);
    }

    private static SeekableByteChannel open(SecureDirectoryStream<Path> folder, Iterator<Path> names)
            throws IOException {
        Path name = names.next();
        if (!names.hasNext()) {
            return folder.newByteChannel(name, Set.of(StandardOpenOption.READ, LinkOption.NOFOLLOW_LINKS));
        }
        try (SecureDirectoryStream<Path> next = folder.newDirectoryStream(name, LinkOption.NOFOLLOW_LINKS)) {
            return open(next, names);
        }
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

    private static String reason(IOException e) {
        @Nullable String reason = e instanceof FileSystemException system ? system.getReason() : e.getMessage();
        return reason == null ? e.getClass().getSimpleName() : reason;
    }
}
