package dev.millrace.agent.expressions;

/** It cannot be said whether an expression holds. */
public final class UndecidableException extends Exception {

    private static final long serialVersionUID = 1L;

    private final boolean tooCostly;

    /**
     * For a reason.
     *
     * @param tooCostly see {@link #tooCostly}
     */
    public UndecidableException(String message, boolean tooCostly) {
        super(message);
        this.tooCostly = tooCostly;
    }

    /** Whether that is because it would have taken too many steps. */
    public boolean tooCostly() {
        return tooCostly;
    }
}
