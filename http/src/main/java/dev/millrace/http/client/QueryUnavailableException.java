package dev.millrace.http.client;

import org.jspecify.annotations.Nullable;

/** Agent-service cannot answer now. Trying again soon helps. The message says why, for people. */
public final class QueryUnavailableException extends Exception {
    private static final long serialVersionUID = 1L;

    /** Says why, without a full stop; {@code cause} is {@code null} if agent-service itself says so. */
    public QueryUnavailableException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
