package dev.millrace.tools.files;

import dev.millrace.tool.api.ToolException;
import java.io.IOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.EnumSet;
import java.util.List;

/** Looks through folders of the workspace without following a single link. */
final class WorkspaceWalk {

    /**
     * Something that was found.
     *
     * @param place where it really is
     * @param type {@code file}, {@code directory}, {@code symlink} or {@code other}
     * @param sizeBytes of a file; 0 of anything else
     */
    record Found(Path place, String type, long sizeBytes) {}

    private WorkspaceWalk() {}

    /**
     * What lies below a folder, sorted by path; what cannot be read is left out.
     *
     * @param depth 1 = only the folder's own entries
     * @param limit at most so many
     * @throws InterruptedException if the thread is interrupted meanwhile
     */
    static List<Found> below(Path folder, int depth, int limit) throws ToolException, InterruptedException {
        List<Found> found = new ArrayList<>();
        try {
            Files.walkFileTree(
                    folder, EnumSet.noneOf(java.nio.file.FileVisitOption.class), depth, new SimpleFileVisitor<>() {
                        @Override
                        public FileVisitResult preVisitDirectory(Path place, BasicFileAttributes attributes) {
                            return place.equals(folder) ? FileVisitResult.CONTINUE : add(place, attributes);
                        }

                        @Override
                        public FileVisitResult visitFile(Path place, BasicFileAttributes attributes) {
                            return add(place, attributes);
                        }

                        @Override
                        public FileVisitResult visitFileFailed(Path place, IOException e) {
                            return FileVisitResult.CONTINUE;
                        }

                        private FileVisitResult add(Path place, BasicFileAttributes attributes) {
                            found.add(new Found(
                                    place, type(attributes), attributes.isRegularFile() ? attributes.size() : 0));
                            return found.size() < limit
                                            && !Thread.currentThread().isInterrupted()
                                    ? FileVisitResult.CONTINUE
                                    : FileVisitResult.TERMINATE;
                        }
                    });
        } catch (IOException e) {
            throw new ToolException("unreadable_folder", "The folder cannot be read: " + e.getMessage());
        }
        if (Thread.interrupted()) {
            throw new InterruptedException("interrupted while looking through folders");
        }
        found.sort(Comparator.comparing(Found::place));
        return found;
    }

    /** {@code file}, {@code directory}, {@code symlink} or {@code other}. */
    static String type(BasicFileAttributes attributes) {
        if (attributes.isSymbolicLink()) {
            return "symlink";
        }
        return attributes.isDirectory() ? "directory" : attributes.isRegularFile() ? "file" : "other";
    }
}
