package dev.millrace.testing;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/**
 * Packages from npm that tests run: installed once, into a cache folder in the user's home, from whatever registry npm
 * is set up with. Where there is no Node or no network, that is said in a line that begins with {@code SKIPPED}, which
 * {@code ./millrace test} repeats at its end.
 */
public final class NpmPackages {

    private static final int LIMIT_SECONDS = 180;

    private NpmPackages() {}

    /**
     * The folder in which {@code node_modules} has these packages, installed if need be.
     *
     * @param test who asks, for the line that says why it is skipped
     * @param packages names with versions, such as {@code kafkajs@2.2.4}
     * @return empty if they cannot be had here
     */
    public static Optional<Path> install(String test, String... packages) {
        if (!runs("node", "--version") || !runs(npm(), "--version")) {
            return skip(test, "needs Node and npm on the PATH");
        }
        Path cache = Path.of(System.getProperty("user.home"), ".cache", "millrace", "npm");
        Path folder = cache.resolve(Integer.toHexString(Arrays.hashCode(packages)));
        try {
            Files.createDirectories(cache);
            // several test JVMs may want the same
            try (FileChannel channel = FileChannel.open(
                            cache.resolve("lock"), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
                    FileLock lock = channel.lock()) {
                if (!lock.isValid() || Files.isRegularFile(folder.resolve("installed"))) {
                    return Optional.of(folder);
                }
                Files.createDirectories(folder);
                if (!installInto(folder, packages)) {
                    return skip(
                            test,
                            "could not install " + String.join(", ", packages) + "; see " + folder.resolve("npm.log"));
                }
                Files.writeString(folder.resolve("installed"), String.join("\n", packages));
                return Optional.of(folder);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static boolean installInto(Path folder, String... packages) throws IOException {
        List<String> command = new ArrayList<>(List.of(
                npm(), "install", "--no-package-lock", "--no-audit", "--no-fund", "--prefix", folder.toString()));
        command.addAll(List.of(packages));
        Process process = new ProcessBuilder(command)
                .directory(folder.toFile())
                .redirectErrorStream(true)
                .redirectOutput(folder.resolve("npm.log").toFile())
                .start();
        return endsWell(process, LIMIT_SECONDS);
    }

    /** Whether this command is there and says that all is well. */
    public static boolean runs(String... command) {
        try {
            return endsWell(
                    new ProcessBuilder(command)
                            .redirectErrorStream(true)
                            .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                            .start(),
                    30);
        } catch (IOException e) {
            return false;
        }
    }

    private static boolean endsWell(Process process, int limitSeconds) {
        try {
            if (process.waitFor(limitSeconds, TimeUnit.SECONDS)) {
                return process.exitValue() == 0;
            }
            process.destroyForcibly();
            return false;
        } catch (InterruptedException e) {
            process.destroyForcibly();
            Thread.currentThread().interrupt();
            return false;
        }
    }

    private static String npm() {
        return System.getProperty("os.name").startsWith("Windows") ? "npm.cmd" : "npm";
    }

    private static Optional<Path> skip(String test, String why) {
        System.err.println("SKIPPED: " + test + " " + why);
        return Optional.empty();
    }
}
