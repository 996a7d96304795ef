package dev.millrace.client;

/**
 * Nobody answered, or the connection broke: whether the request was taken is not known. Asking again with the same id
 * is safe.
 */
public final class UnreachableException extends MillraceException {

    private static final long serialVersionUID = 1L;

    UnreachableException(String message, Throwable cause) {
        super(message, cause);
    }
}
