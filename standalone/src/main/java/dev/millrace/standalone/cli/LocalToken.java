package dev.millrace.standalone.cli;

import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;

/** The key that {@code up --token} has left in its data folder, for commands that are called beside it. */
public final class LocalToken {

    /** Its file in the data folder. */
    public static final String FILE = "token";

    /** Where {@code up} keeps everything unless it is told otherwise, the only folder in which commands look. */
    public static final Path DATA = Path.of("data");

    /** How this machine is called in the URLs of people. */
    static final Set<String> LOOPBACK = Set.of("localhost", "127.0.0.1", "[::1]");

    private LocalToken() {}

    /** The key for this URL; empty if there is none, or the URL is that of another machine. */
    static String of(URI url, Path dataFolder) {
        Path file = dataFolder.resolve(FILE);
        if (!LOOPBACK.contains(String.valueOf(url.getHost())) || !Files.isReadable(file)) {
            return "";
        }
        try {
            return Files.readString(file).strip();
        } catch (IOException e) {
            throw new CommandException(ExitCodes.FAILED, "The key in " + file + " cannot be read: " + e.getMessage());
        }
    }
}
