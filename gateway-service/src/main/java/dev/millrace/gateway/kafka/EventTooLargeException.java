package dev.millrace.gateway.kafka;

/** The brokers do not take an event of this size. */
public final class EventTooLargeException extends Exception {
    private static final long serialVersionUID = 1L;

    EventTooLargeException(Throwable cause) {
        super("the event is larger than its topic takes", cause);
    }
}
