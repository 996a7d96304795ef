package dev.millrace.engine;

/** A record that is an event but cannot be taken; it goes to the dead letters with the reason and the message. */
public final class RejectedRecordException extends Exception {
    private static final long serialVersionUID = 1L;

    private final String reason;

    /**
     * A refusal.
     *
     * @param reason a stable word, lower snake case, for programs
     * @param message what was expected and found, for people
     */
    public RejectedRecordException(String reason, String message) {
        super(message);
        this.reason = reason;
    }

    /** A stable word, lower snake case. */
    public String reason() {
        return reason;
    }
}
