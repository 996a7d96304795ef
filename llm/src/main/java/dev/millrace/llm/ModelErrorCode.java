package dev.millrace.llm;

import java.util.Locale;

/** The closed list of reasons for which a model call fails. The codes are stable; tasks and dashboards name them. */
public enum ModelErrorCode {
    /** The provider takes no more calls for now (HTTP 429). */
    RATE_LIMITED(true),
    /** The provider is away, overloaded or broken (connection refused or lost, HTTP 5xx). */
    MODEL_UNAVAILABLE(true),
    /** No reply in time: one attempt, or the whole call. */
    TIMEOUT(true),
    /** The reply could not be read. */
    BAD_RESPONSE(true),
    /** The key is missing, wrong or not allowed to do this (HTTP 401, 403). */
    AUTH_FAILED(false),
    /** The provider has no such model (HTTP 404). */
    MODEL_NOT_FOUND(false),
    /** The provider rejected the request (HTTP 4xx). */
    BAD_REQUEST(false),
    /** The conversation is longer than the model's context window. */
    CONTEXT_OVERFLOW(false),
    /** A content filter stopped the request or the reply. */
    CONTENT_FILTERED(false),
    /** The model itself declined to answer. */
    REFUSED(false),
    /** The answer does not have the form that was asked for, also after the model was told so. */
    OUTPUT_MISMATCH(false),
    /** The caller gave up. */
    CANCELLED(false),
    /** The scripted model's script makes no sense for this request. */
    SCRIPT_ERROR(false),
    /** A defect of our own: the request could not be built, or the adapter broke. */
    INTERNAL_ERROR(false);

    private final boolean retryable;
    private final String wireName = name().toLowerCase(Locale.ROOT);

    ModelErrorCode(boolean retryable) {
        this.retryable = retryable;
    }

    /** Whether a later attempt with the same request may succeed, unless the failure itself says otherwise. */
    public boolean retryable() {
        return retryable;
    }

    /** The code in events and JSON, lower snake case. */
    public String wireName() {
        return wireName;
    }
}
