package dev.millrace.gateway.access;

import com.fasterxml.jackson.core.JsonProcessingException;
import dev.millrace.schemas.Json;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * The file that keys are kept in: {@code {"keys": […]}}. It is replaced as a whole, so that a reader never sees half of
 * one, and is for its owner alone.
 */
public final class ApiKeyFile {

    /** The largest file that is read. */
    public static final int MAX_BYTES = 1024 * 1024;

    private final Path path;

    private record Content(@Nullable List<ApiKey> keys) {}

    /** Need not be there yet. */
    public ApiKeyFile(Path path) {
        this.path = path;
    }

    /**
     * Its bytes.
     *
     * @throws IOException if it cannot be read, or has more than {@link #MAX_BYTES}
     */
    byte[] bytes() throws IOException {
        try (var in = Files.newInputStream(path)) {
            byte[] bytes = in.readNBytes(MAX_BYTES + 1);
            if (bytes.length > MAX_BYTES) {
                throw new IOException(path + ": expected at most " + MAX_BYTES + " bytes");
            }
            return bytes;
        }
    }

    /**
     * The keys; none if there is no file.
     *
     * @throws IOException if it cannot be read, or has something else in it
     */
    public List<ApiKey> keys() throws IOException {
        try {
            return keys(bytes());
        } catch (NoSuchFileException e) {
            return List.of();
        }
    }

    List<ApiKey> keys(byte[] bytes) throws IOException {
        List<ApiKey> keys;
        try {
            keys = Json.MAPPER.readValue(bytes, Content.class).keys();
        } catch (JsonProcessingException e) {
            // its message may repeat what was read
            throw new IOException(path + ": expected {\"keys\": […]} with keys as `millrace keys create` writes them");
        }
        if (keys == null) {
            throw new IOException(path + ": expected {\"keys\": […]}, found no keys");
        }
        Set<String> ids = new HashSet<>();
        for (ApiKey key : keys) {
            try {
                Identity unused = key.identity();
            } catch (IllegalArgumentException e) {
                throw new IOException(path + ": key " + key.id() + ": " + e.getMessage(), e);
            }
            if (!ids.add(key.id())) {
                throw new IOException(path + ": expected one key of each id, found two of " + key.id());
            }
        }
        return List.copyOf(keys);
    }

    /**
     * Changes the keys; of two who do so at the same time one waits for the other.
     *
     * @throws IOException if the file cannot be read or written; it is then as it was
     */
    public void change(UnaryOperator<List<ApiKey>> change) throws IOException {
        Path whole = path.toAbsolutePath();
        Path folder = whole.getParent();
        if (folder == null) {
            throw new IOException(path + ": expected a file");
        }
        Files.createDirectories(folder);
        Path lockFile = whole.resolveSibling(whole.getFileName() + ".lock");
        try (FileChannel channel = FileChannel.open(lockFile, StandardOpenOption.CREATE, StandardOpenOption.WRITE);
                FileLock held = channel.lock()) {
            List<ApiKey> changed = change.apply(keys());
            byte[] json = Json.MAPPER
                    .writerWithDefaultPrettyPrinter()
                    .writeValueAsString(new Content(changed))
                    .concat("\n")
                    .getBytes(StandardCharsets.UTF_8);
            if (!held.isValid() || json.length > MAX_BYTES) {
                throw new IOException(path + ": expected at most " + MAX_BYTES + " bytes of keys");
            }
            Path next = temporary(folder);
            try {
                Files.write(next, json);
                Files.move(next, whole, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
            } finally {
                Files.deleteIfExists(next);
            }
        }
    }

    private static Path temporary(Path folder) throws IOException {
        return folder.getFileSystem().supportedFileAttributeViews().contains("posix")
                ? Files.createTempFile(
                        folder,
                        ".keys",
                        null,
                        PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")))
                : Files.createTempFile(folder, ".keys", null);
    }
}
