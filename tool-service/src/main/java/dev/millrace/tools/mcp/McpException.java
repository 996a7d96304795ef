package dev.millrace.tools.mcp;

/** A server did not do what it was asked. */
final class McpException extends Exception {
    private static final long serialVersionUID = 1L;

    /** What that says about the server. */
    enum Kind {
        /** It answers, and says no. */
        REFUSED,
        /** It certainly has not seen the request; another connection may help. */
        NOT_SENT,
        /** It is gone or does not answer, and may have done something or not. */
        GONE
    }

    private final Kind kind;

    McpException(Kind kind, String message) {
        super(message);
        this.kind = kind;
    }

    McpException(Kind kind, String message, Throwable cause) {
        super(message, cause);
        this.kind = kind;
    }

    Kind kind() {
        return kind;
    }
}
