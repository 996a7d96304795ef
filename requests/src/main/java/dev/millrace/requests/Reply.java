package dev.millrace.requests;

import org.jspecify.annotations.Nullable;

/** How the work of a request went. */
public sealed interface Reply {

    /** How long the work took, in milliseconds, 0 or more. */
    long durationMs();

    /**
     * The work is done.
     *
     * @param result what came of it, as JSON values: {@link String}, {@link Boolean}, {@link Number}, {@link
     *     java.util.List}, {@link java.util.Map} and {@code null}
     * @param durationMs how long it took, in milliseconds
     */
    record Completed(@Nullable Object result, long durationMs) implements Reply {}

    /**
     * The work is not done, and doing the same again is not this worker's business.
     *
     * @param code why, as a stable word in lower snake case such as {@code tool_timeout}
     * @param error why, in words for a language model or a person
     * @param durationMs how long it took to find out, in milliseconds
     */
    record Failed(String code, String error, long durationMs) implements Reply {}
}
