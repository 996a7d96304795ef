package dev.millrace.gateway.kafka;

/** A listener gets no more entries. Everything before that it has got; it may listen again from there. */
public final class ListenerDroppedException extends Exception {
    private static final long serialVersionUID = 1L;

    /** Why. */
    public enum Reason {
        /** It took its entries more slowly than they came. */
        TOO_SLOW,
        /** The tail was closed. */
        CLOSED
    }

    private final Reason reason;

    ListenerDroppedException(Reason reason) {
        super("the listener was dropped: " + reason);
        this.reason = reason;
    }

    /** Why. */
    public Reason reason() {
        return reason;
    }
}
