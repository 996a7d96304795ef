package dev.millrace.standalone.transfer;

/** An installation cannot be written to a file, or read from one; the message is for people. */
public final class TransferException extends Exception {

    private static final long serialVersionUID = 1L;

    TransferException(String message) {
        super(message);
    }

    TransferException(String message, Throwable cause) {
        super(message, cause);
    }
}
