package dev.millrace.tools;

/** A tool's "no": an ordinary result, which the model reads. */
public final class ToolException extends Exception {
    private static final long serialVersionUID = 1L;

    private final String code;

    /**
     * Says no.
     *
     * @param code a stable word, lower snake case, such as {@code file_not_found}
     * @param message what was expected and found, for a model
     */
    public ToolException(String code, String message) {
        super(message);
        this.code = code;
    }

    /** A stable word, lower snake case. */
    public String code() {
        return code;
    }
}
