package dev.millrace.engine;

/** A record or row that would be larger than its topic takes. It has not been sent. */
public final class RecordTooLargeForTopicException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    RecordTooLargeForTopicException(String what, long limitBytes, long foundBytes) {
        super(what + ": expected at most " + limitBytes + " bytes, found " + foundBytes);
    }
}
