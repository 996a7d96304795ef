package dev.millrace.knowledge.ingest;

/** A document cannot be taken in. The message says why, for people. */
public final class IngestException extends Exception {
    private static final long serialVersionUID = 1L;

    private final String code;

    public IngestException(String code, String message) {
        super(message);
        this.code = code;
    }

    /** Why, as a stable word in lower snake case. */
    public String code() {
        return code;
    }
}
