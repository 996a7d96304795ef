package dev.millrace.engine;

/**
 * A stored row that this version cannot read, most likely because a newer one wrote it. It is the fault of no record,
 * so the instance stops with it: whoever can read the row takes its partition over, and nothing is lost.
 */
public final class UnreadableRowException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    /** A row of this kind, and what is wrong with it. */
    public UnreadableRowException(String kind, Throwable cause) {
        super(
                "expected a stored " + kind + " of this version of Millrace, found one that it cannot read ("
                        + cause.getMessage() + "): run the newest version that has used this installation",
                cause);
    }
}
