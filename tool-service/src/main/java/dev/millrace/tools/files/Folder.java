package dev.millrace.tools.files;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.SeekableByteChannel;
import java.nio.file.DirectoryStream;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.nio.file.SecureDirectoryStream;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributeView;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.PosixFileAttributeView;
import java.nio.file.attribute.PosixFilePermission;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * An open folder. What is done in it is done in this very folder, whatever is put in its place meanwhile, where the
 * platform can do that (Linux); elsewhere it is done by path, after a look. No name in it is followed if it is a link.
 */
final class Folder implements AutoCloseable {

    private final Path place;
    private final DirectoryStream<Path> stream;
    private final @Nullable SecureDirectoryStream<Path> secure;

    private Folder(Path place, DirectoryStream<Path> stream) {
        this.place = place;
        this.stream = stream;
        this.secure = stream instanceof SecureDirectoryStream<Path> able ? able : null;
    }

    /**
     * Opens a folder at or below the root. Every folder on the way is opened as what it is, not as what a link says.
     *
     * @param root a real place
     * @param place a real place at or below it
     */
    @SuppressWarnings("StreamResourceLeak") // closed by the folder, or on the way down
    static Folder open(Path root, Path place) throws IOException {
        DirectoryStream<Path> current = Files.newDirectoryStream(root);
        try {
            if (!(current instanceof SecureDirectoryStream<Path>)) {
                DirectoryStream<Path> there = Files.newDirectoryStream(place);
                current.close();
                return new Folder(place, there);
            }
            if (!place.equals(root)) {
                for (Path name : root.relativize(place)) {
                    SecureDirectoryStream<Path> next =
                            ((SecureDirectoryStream<Path>) current).newDirectoryStream(name, LinkOption.NOFOLLOW_LINKS);
                    current.close();
                    current = next;
                }
            }
            return new Folder(place, current);
        } catch (IOException | RuntimeException e) {
            current.close();
            throw e;
        }
    }

    /** What has this name; {@code null} if nothing has. */
    @Nullable
    BasicFileAttributes attributes(String name) throws IOException {
        try {
            return view(name, BasicFileAttributeView.class).readAttributes();
        } catch (NoSuchFileException e) {
            return null;
        }
    }

    /** Opens a file for reading. */
    SeekableByteChannel read(String name) throws IOException {
        return channel(name, Set.of(StandardOpenOption.READ, LinkOption.NOFOLLOW_LINKS));
    }

    /** Makes a file that is not there yet, and returns when its bytes are on the disk. */
    void create(String name, byte[] bytes) throws IOException {
        try (SeekableByteChannel out = channel(
                name, Set.of(StandardOpenOption.WRITE, StandardOpenOption.CREATE_NEW, LinkOption.NOFOLLOW_LINKS))) {
            ByteBuffer buffer = ByteBuffer.wrap(bytes);
            while (buffer.hasRemaining()) {
                int unused = out.write(buffer);
            }
            if (out instanceof FileChannel file) {
                file.force(true);
            }
        }
    }

    /** Gives a file the permissions of another one, where there are such. */
    void copyPermissions(String from, String to) throws IOException {
        if (FileSystems.getDefault().supportedFileAttributeViews().contains("posix")) {
            Set<PosixFilePermission> permissions =
                    view(from, PosixFileAttributeView.class).readAttributes().permissions();
            view(to, PosixFileAttributeView.class).setPermissions(permissions);
        }
    }

    /** Moves what has this name, in one step; a file of the other name is replaced. */
    void move(String name, Folder target, String newName) throws IOException {
        if (secure != null && target.secure != null) {
            secure.move(path(name), target.secure, path(newName));
        } else {
            Files.move(
                    place.resolve(name),
                    target.place.resolve(newName),
                    StandardCopyOption.ATOMIC_MOVE,
                    StandardCopyOption.REPLACE_EXISTING);
        }
    }

    /** Deletes a file, or a link and not what it leads to. */
    void delete(String name) throws IOException {
        if (secure != null) {
            secure.deleteFile(path(name));
        } else {
            Files.delete(place.resolve(name));
        }
    }

    @Override
    public void close() throws IOException {
        stream.close();
    }

    private SeekableByteChannel channel(String name, Set<? extends OpenOption> options) throws IOException {
        return secure != null
                ? secure.newByteChannel(path(name), options)
                : Files.newByteChannel(place.resolve(name), options);
    }

    private <V extends BasicFileAttributeView> V view(String name, Class<V> type) throws IOException {
        V view = secure != null
                ? secure.getFileAttributeView(path(name), type, LinkOption.NOFOLLOW_LINKS)
                : Files.getFileAttributeView(place.resolve(name), type, LinkOption.NOFOLLOW_LINKS);
        if (view == null) {
            throw new IOException("this file system has no " + type.getSimpleName());
        }
        return view;
    }

    private static Path path(String name) {
        return Path.of(name);
    }
}
