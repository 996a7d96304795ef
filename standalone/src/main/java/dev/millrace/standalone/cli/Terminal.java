package dev.millrace.standalone.cli;

import java.io.BufferedReader;
import java.io.FileDescriptor;
import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Where a command writes: results to {@code out}, so that they can be piped, all else to {@code err}. UTF-8 whatever
 * the locale says, because answers are, and a container's locale seldom says so.
 *
 * @param out for results
 * @param err for progress, questions and errors
 * @param person reads what the person at the terminal types; {@code null} = there is nobody to ask
 * @param live whether {@code out} is looked at while it is written
 * @param columns how wide lines may be that are cut
 */
public record Terminal(
        PrintStream out, PrintStream err, @Nullable BufferedReader person, boolean live, int columns) {

    /** How wide lines may be where nobody can tell. */
    public static final int DEFAULT_COLUMNS = 120;

    /** Set by the launcher script, which can tell, where Java cannot, whether standard input is a terminal. */
    private static final String INTERACTIVE = "millrace.interactive";

    /** The same for standard output. */
    private static final String LIVE = "millrace.live";

    /** How wide that is; 0 = no terminal, or it does not say. */
    private static final String COLUMNS = "millrace.columns";

    /** The one that the process was started in. */
    public static Terminal ofProcess() {
        return new Terminal(
                stream(FileDescriptor.out),
                stream(FileDescriptor.err),
                Boolean.getBoolean(INTERACTIVE)
                        ? new BufferedReader(
                                new InputStreamReader(new FileInputStream(FileDescriptor.in), StandardCharsets.UTF_8))
                        : null,
                Boolean.getBoolean(LIVE),
                columnsOf(Integer.getInteger(COLUMNS, 0)));
    }

    private static int columnsOf(int told) {
        return told > 0 ? told : DEFAULT_COLUMNS;
    }

    /**
     * What somebody has said, for {@code out}: without what steers a terminal where it is looked at, else as it is.
     */
    String shown(String text) {
        return live ? Progress.printableLines(text) : text;
    }

    /** Asks the person; empty if there is none, or nothing but blanks was typed. */
    Optional<String> ask(String prompt) {
        BufferedReader reader = person;
        if (reader == null) {
            return Optional.empty();
        }
        err.print(prompt);
        err.flush();
        try {
            return Optional.ofNullable(reader.readLine()).map(String::strip).filter(line -> !line.isEmpty());
        } catch (IOException e) {
            return Optional.empty(); // the terminal is gone
        }
    }

    private static PrintStream stream(FileDescriptor descriptor) {
        return new PrintStream(new FileOutputStream(descriptor), true, StandardCharsets.UTF_8);
    }
}
