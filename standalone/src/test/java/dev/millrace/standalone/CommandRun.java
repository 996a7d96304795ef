package dev.millrace.standalone;

import dev.millrace.standalone.cli.Terminal;
import java.io.BufferedReader;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.io.StringReader;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

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
        return run(null, false, Terminal.DEFAULT_COLUMNS, args);
    }

    /** The same with its output on a screen. */
    static CommandRun live(String... args) {
        return run(null, true, Terminal.DEFAULT_COLUMNS, args);
    }

    /** The same on a screen of this width. */
    static CommandRun onScreenOf(int columns, String... args) {
        return run(null, true, columns, args);
    }

    /** The same at a terminal, where a person types these lines. */
    static CommandRun typing(String lines, String... args) {
        return run(new BufferedReader(new StringReader(lines)), false, Terminal.DEFAULT_COLUMNS, args);
    }

    private static CommandRun run(@Nullable BufferedReader person, boolean live, int columns, String... args) {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        ByteArrayOutputStream err = new ByteArrayOutputStream();
        int exitCode = Main.run(
                new Terminal(
                        new PrintStream(out, true, StandardCharsets.UTF_8),
                        new PrintStream(err, true, StandardCharsets.UTF_8),
                        person,
                        live,
                        columns),
                args);
        return new CommandRun(exitCode, out.toString(StandardCharsets.UTF_8), err.toString(StandardCharsets.UTF_8));
    }
}
