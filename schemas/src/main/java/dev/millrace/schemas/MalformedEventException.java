package dev.millrace.schemas;

/**
 * Bytes, headers or fields that are not an event. The message says what was expected and found, for a person to read.
 */
public final class MalformedEventException extends Exception {
    private static final long serialVersionUID = 1L;

    private final String code;

    /**
     * Says why.
     *
     * @param code a stable word for programs, lower snake case, such as {@code bad_json}
     * @param message what was expected and what was found
     */
    public MalformedEventException(String code, String message) {
        super(message);
        this.code = code;
    }

    /** A stable word for programs, lower snake case. */
    public String code() {
        return code;
    }
}
