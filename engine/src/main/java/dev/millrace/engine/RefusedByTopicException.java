package dev.millrace.engine;

import dev.millrace.schemas.ErrorCode;

/** A record that its topic has refused before, in a transaction that was undone for it. It has not been sent. */
public final class RefusedByTopicException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final ErrorCode code;

    RefusedByTopicException(String topic, ErrorCode code, Throwable refusal) {
        super("a record for " + topic + " was refused: " + refusal.getMessage(), refusal);
        this.code = code;
    }

    /** Why. */
    ErrorCode code() {
        return code;
    }
}
