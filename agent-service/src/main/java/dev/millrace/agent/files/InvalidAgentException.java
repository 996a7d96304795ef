package dev.millrace.agent.files;

/**
 * A definition of an agent, or a file of rules, that is none; the message says where, what was expected and what was
 * found.
 */
public final class InvalidAgentException extends Exception {
    private static final long serialVersionUID = 1L;

    InvalidAgentException(String message) {
        super(message);
    }
}
