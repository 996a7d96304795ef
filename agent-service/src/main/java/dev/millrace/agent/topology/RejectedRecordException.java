package dev.millrace.agent.topology;

/** A record that is an event but cannot be taken; it goes to the dead letters with the reason and the message. */
final class RejectedRecordException extends Exception {
    private static final long serialVersionUID = 1L;

    private final String reason;

    RejectedRecordException(String reason, String message) {
        super(message);
        this.reason = reason;
    }

    /** A stable word, lower snake case. */
    String reason() {
        return reason;
    }
}
