package dev.millrace.standalone.cli;

import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;

/**
 * Where a command writes: results to {@code out}, so that they can be piped, all else to {@code err}. UTF-8 whatever the
 * locale says, because answers are, and a container's locale seldom says so.
 *
 * @param out for results
 * @param err for progress and errors
 */
public record Terminal(PrintStream out, PrintStream err) {

    /** The one that the process was started in. */
    public static Terminal ofProcess() {
        return new Terminal(stream(FileDescriptor.out), stream(FileDescriptor.err));
    }

    private static PrintStream stream(FileDescriptor descriptor) {
        return new PrintStream(new FileOutputStream(descriptor), true, StandardCharsets.UTF_8);
    }
}
