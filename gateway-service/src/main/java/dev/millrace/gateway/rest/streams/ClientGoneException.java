package dev.millrace.gateway.rest.streams;

/** Nobody takes the answer any more. */
public final class ClientGoneException extends Exception {
    private static final long serialVersionUID = 1L;
}
