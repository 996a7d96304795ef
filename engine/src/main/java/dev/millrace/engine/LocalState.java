package dev.millrace.engine;

import dev.millrace.kafka.ClientSettings;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;
import org.apache.kafka.streams.processor.TaskId;

/**
 * The folder with the state of a machine. With exactly-once everything in it is in the changelogs as well, so that a
 * part of it that is broken may go.
 */
final class LocalState {

    /** With less than this the stores of a task or two cannot even be opened. */
    private static final long ROOM_BYTES = 16L * 1024 * 1024;

    private final Path stateDir;
    private final String applicationId;

    LocalState(Path stateDir, String applicationId) {
        this.stateDir = stateDir.toAbsolutePath();
        this.applicationId = applicationId;
    }

    /** Whether the disk has room for a machine to start; also if that cannot be found out. */
    boolean hasRoom() {
        Path there = stateDir;
        while (!Files.exists(there)) {
            Path parent = there.getParent();
            if (parent == null) {
                return true;
            }
            there = parent;
        }
        try {
            return Files.getFileStore(there).getUsableSpace() >= ROOM_BYTES;
        } catch (IOException e) {
            return true;
        }
    }

    /**
     * Deletes the state of one task, which is built again from its changelogs then. Nothing may have it open.
     *
     * @throws UncheckedIOException if that is not possible
     */
    void forget(TaskId task) {
        Path folder = folder(task);
        if (!Files.exists(folder)) {
            return; // a task that is closed after a failure clears up itself, if it comes to that
        }
        try (Stream<Path> below = Files.walk(folder)) {
            List<Path> deepestFirst = below.sorted(Comparator.reverseOrder()).toList();
            for (Path path : deepestFirst) {
                Files.deleteIfExists(path);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Of what it is a copy. */
    Provenance provenance(ClientSettings kafka) {
        return new Provenance(kafka, applicationId, stateDir);
    }

    /** Where the state of a task is. */
    Path folder(TaskId task) {
        return stateDir.resolve(applicationId).resolve(task.toString());
    }

    @Override
    public String toString() {
        return stateDir.toString();
    }
}
