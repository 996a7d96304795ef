package dev.millrace.standalone.cli;

import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.NoSuchFileException;

/** A command cannot do what it was asked for; the message is all that its user needs to see. */
public class CommandException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    private final int exitCode;

    /** With one of {@link ExitCodes} and a message for the terminal. */
    public CommandException(int exitCode, String message) {
        super(message);
        this.exitCode = exitCode;
    }

    /** For a file, or what else was to be read, that cannot be. */
    static CommandException unreadable(Object what, IOException e) {
        String why =
                switch (e) {
                    case NoSuchFileException none -> "there is no such file";
                    case AccessDeniedException denied -> "it may not be read";
                    default -> e.toString();
                };
        return new CommandException(ExitCodes.FAILED, what + " cannot be read: " + why);
    }

    /** One of {@link ExitCodes}. */
    public int exitCode() {
        return exitCode;
    }
}
