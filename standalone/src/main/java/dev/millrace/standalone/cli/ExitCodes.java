package dev.millrace.standalone.cli;

/** What the commands tell the shell. {@code millrace --help} lists them, and so does docs/operations.md. */
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
    /** The task waits for a person's answer, or to be resumed. */
    public static final int SUSPENDED = 5;
    /** The task waits for a person's decision on a tool call. */
    public static final int UNDECIDED = 6;

    private ExitCodes() {}
}
