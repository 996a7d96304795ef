package dev.millrace.standalone.cli;

/** What the commands tell the shell. {@code millrace ask --help} lists them. */
public final class ExitCodes {

    /** Done; of a task: completed. */
    public static final int DONE = 0;
    /** Not done; of a task: failed or cancelled. */
    public static final int FAILED = 1;
    /** The command line makes no sense. */
    public static final int USAGE = 2;
    /** Nobody answers at the URL. */
    public static final int UNREACHABLE = 3;
    /** The task did not end in time; it goes on. */
    public static final int TIMED_OUT = 4;
    /** The task waits for a person. */
    public static final int SUSPENDED = 5;

    private ExitCodes() {}
}
