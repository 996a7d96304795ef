package dev.millrace.broker;

import org.jspecify.annotations.Nullable;

/**
 * The broker did not start. The message is for the person at the terminal: what was expected, what was found, and what
 * to do about it. Nothing is left running or locked.
 */
public final class BrokerStartException extends Exception {

    /** What stood in the way. */
    public enum Reason {
        /** Another process listens on the wanted port. */
        PORT_IN_USE,
        /** Another running broker uses the data folder. */
        FOLDER_LOCKED,
        /** The folder cannot be created, read or written. */
        FOLDER_NOT_WRITABLE,
        /** The folder holds something else than the data of a broker. Nothing in it was touched. */
        FOLDER_FOREIGN,
        /** The folder holds the data of a broker, but the data cannot be read. */
        FOLDER_DAMAGED,
        /** Anything else. */
        OTHER
    }

    private static final long serialVersionUID = 1L;

    private final Reason reason;

    BrokerStartException(Reason reason, String message, @Nullable Throwable cause) {
        super(message, cause);
        this.reason = reason;
    }

    /** What stood in the way. */
    public Reason reason() {
        return reason;
    }
}
