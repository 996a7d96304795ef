package dev.millrace.reflection.core;

/** Memory says no, in words that help a language model to do better. */
public final class MemoryException extends Exception {
    private static final long serialVersionUID = 1L;

    private final String code;

    /**
     * A refusal.
     *
     * @param code a stable word, lower snake case; the list is in {@code docs/events.md}
     * @param message for a language model or a person
     */
    public MemoryException(String code, String message) {
        super(message);
        this.code = code;
    }

    /** A stable word, lower snake case. */
    public String code() {
        return code;
    }
}
