package dev.millrace.client;

import java.time.Duration;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** The gateway answered, and the answer was no (RFC 9457). */
public final class RequestRefusedException extends MillraceException {

    private static final long serialVersionUID = 1L;

    private final int status;
    private final String code;
    private final @Nullable Duration retryAfter;

    RequestRefusedException(int status, String code, String message, @Nullable Duration retryAfter) {
        super(message, null);
        this.status = status;
        this.code = code;
        this.retryAfter = retryAfter;
    }

    /** The HTTP status. */
    public int status() {
        return status;
    }

    /** Why, as a stable word such as {@code unknown_task}; empty if what answered gave none. */
    public String code() {
        return code;
    }

    /** After which time the same request may be taken; empty if that was not said. */
    public Optional<Duration> retryAfter() {
        return Optional.ofNullable(retryAfter);
    }
}
