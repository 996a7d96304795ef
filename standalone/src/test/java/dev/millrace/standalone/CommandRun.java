package dev.millrace.standalone;

import dev.millrace.standalone.cli.Terminal;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;

/**
 * What one command did, run in this process.
 *
 * @param exitCode what it told the shell
 * @param out what it wrote on standard output
 * @param err what it wrote on standard error
 */
public record CommandRun(int exitCode, String out, String err) {

    /** Runs {@code millrace} with these arguments. Not for {@code up}, which takes over the process. */
    public static CommandRun of(String... args) {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        ByteArrayOutputStream err = new ByteArrayOutputStream();
        int exitCode = Main.run(
                new Terminal(
                        new PrintStream(out, true, StandardCharsets.UTF_8),
                        new PrintStream(err, true, StandardCharsets.UTF_8)),
                args);
        return new CommandRun(exitCode, out.toString(StandardCharsets.UTF_8), err.toString(StandardCharsets.UTF_8));
    }
}
