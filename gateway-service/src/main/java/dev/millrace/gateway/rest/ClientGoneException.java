package dev.millrace.gateway.rest;

/** Nobody takes the answer any more. */
final class ClientGoneException extends Exception {
    private static final long serialVersionUID = 1L;
}
