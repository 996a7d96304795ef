package dev.millrace.client;

import org.jspecify.annotations.Nullable;

/** Something that was asked of Millrace did not come about; the subclasses say in which way. */
public class MillraceException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    MillraceException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
