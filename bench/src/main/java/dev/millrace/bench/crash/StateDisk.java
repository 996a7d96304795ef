package dev.millrace.bench.crash;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;

/** A small file system in memory for a state folder, which can be filled up. Needs the right to mount. */
final class StateDisk implements AutoCloseable {

    /** Some times of what the state of a run needs. */
    private static final String SIZE = "256m";

    private static final int BLOCK_BYTES = 1 << 16;

    private final Path folder;
    private final Path filler;

    /** Nobody else clears a mount away if this process is ended. */
    private final Thread hook = Thread.ofPlatform().unstarted(this::unmount);

    private StateDisk(Path folder) {
        this.folder = folder;
        this.filler = folder.resolve("filler");
        Runtime.getRuntime().addShutdownHook(hook);
    }

    /** Mounts one at this folder; empty if that is not allowed here. */
    static Optional<StateDisk> mount(Path folder) throws IOException, InterruptedException {
        Files.createDirectories(folder);
        return run("mount", "-t", "tmpfs", "-o", "size=" + SIZE, "tmpfs", folder.toString())
                ? Optional.of(new StateDisk(folder))
                : Optional.empty();
    }

    /** Takes all the space there is. */
    void fill() throws IOException {
        try (OutputStream out = Files.newOutputStream(filler)) {
            for (int size = BLOCK_BYTES; size > 0; size /= 2) {
                fill(out, size);
            }
        } catch (IOException e) {
            // closing it found the disk full
        }
    }

    private static void fill(OutputStream out, int size) {
        byte[] block = new byte[size];
        try {
            while (true) {
                out.write(block);
            }
        } catch (IOException e) {
            // full, as far as pieces of this size go
        }
    }

    /** Gives the space back. */
    void free() throws IOException {
        Files.deleteIfExists(filler);
    }

    @Override
    public void close() {
        unmount();
        Runtime.getRuntime().removeShutdownHook(hook);
    }

    private void unmount() {
        try {
            // lazily, because a process that was killed a moment ago may still hold files
            run("umount", "-l", folder.toString());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private static boolean run(String... command) throws InterruptedException {
        try {
            Process process =
                    new ProcessBuilder(command).redirectErrorStream(true).start();
            new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            return process.waitFor() == 0;
        } catch (IOException e) {
            return false;
        }
    }
}
