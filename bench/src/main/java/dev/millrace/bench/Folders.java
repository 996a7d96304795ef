package dev.millrace.bench;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;

/** Clears away what a run has written: some gigabytes, in a temporary folder that nobody else clears. */
public final class Folders {

    private Folders() {}

    /** Deletes a folder and all that is in it. */
    public static void delete(Path folder) {
        try (Stream<Path> walk = Files.walk(folder)) {
            List<Path> deepestFirst = walk.sorted(Comparator.reverseOrder()).toList();
            for (Path path : deepestFirst) {
                Files.deleteIfExists(path);
            }
        } catch (IOException e) {
            throw new UncheckedIOException("could not clear " + folder, e);
        }
    }
}
