package dev.millrace.gateway.kafka;

/** An event is larger than its topic takes. */
public final class EventTooLargeException extends Exception {
    private static final long serialVersionUID = 1L;

    private final boolean nothingIsStored;

    EventTooLargeException(String message, boolean nothingIsStored) {
        super(message);
        this.nothingIsStored = nothingIsStored;
    }

    /** Whether it is certain that no other event of the same request is stored either. */
    public boolean nothingIsStored() {
        return nothingIsStored;
    }
}
