package dev.millrace.standalone.cli;

/** A command cannot do what it was asked for; the message is all that its user needs to see. */
public class CommandException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    private final int exitCode;

    /** With one of {@link ExitCodes} and a message for the terminal. */
    public CommandException(int exitCode, String message) {
        super(message);
        this.exitCode = exitCode;
    }

    /** One of {@link ExitCodes}. */
    public int exitCode() {
        return exitCode;
    }
}
