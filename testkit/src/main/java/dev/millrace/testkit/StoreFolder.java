package dev.millrace.testkit;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Comparator;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;

/**
 * The folder of a driver's stores.
 *
 * @param path where it is
 */
record StoreFolder(Path path) {

    /** A folder in memory, where the system has one: the driver writes to its stores after each record. */
    private static final Path MEMORY = Path.of("/dev/shm");
    /** A store that is not written to has soon done with its tidying. */
    private static final int MOST_COPIES = 1_000;

    /** A new one. */
    static StoreFolder create() {
        try {
            return new StoreFolder(
                    Files.isWritable(MEMORY)
                            ? Files.createTempDirectory(MEMORY, "millrace-testkit")
                            : Files.createTempDirectory("millrace-testkit"));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /**
     * Another one with the same in it. Stores merge their files on threads of their own, and note each change at the
     * end of one that they have: a copy holds if that is the same afterwards.
     */
    StoreFolder copy() {
        StoreFolder copy = create();
        try {
            for (int i = 0; i < MOST_COPIES; i++) {
                if (isCopied(copy.path)) {
                    return copy;
                }
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        throw new IllegalStateException("expected stores that are at rest, found changes in " + path);
    }

    /** False if something has changed meanwhile. */
    private boolean isCopied(Path to) throws IOException {
        try {
            Map<Path, Long> before = sizes();
            for (Path file : before.keySet()) {
                Path target = to.resolve(path.relativize(file));
                Files.createDirectories(target.getParent());
                Files.copy(file, target, StandardCopyOption.REPLACE_EXISTING);
            }
            return before.equals(sizes());
        } catch (NoSuchFileException e) {
            return false;
        } catch (UncheckedIOException e) {
            if (e.getCause() instanceof NoSuchFileException) {
                return false;
            }
            throw e;
        }
    }

    private Map<Path, Long> sizes() throws IOException {
        Map<Path, Long> sizes = new TreeMap<>();
        try (Stream<Path> files = Files.walk(path)) {
            for (Path file : files.filter(Files::isRegularFile).toList()) {
                sizes.put(file, Files.size(file));
            }
        }
        return sizes;
    }

    /** Removes it, with what is in it. */
    void delete() {
        try (Stream<Path> files = Files.walk(path)) {
            for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                Files.delete(file);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
