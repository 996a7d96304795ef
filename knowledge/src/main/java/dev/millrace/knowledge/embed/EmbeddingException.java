package dev.millrace.knowledge.embed;

import org.jspecify.annotations.Nullable;

/** There are no vectors now. The message says why, for people. */
public final class EmbeddingException extends Exception {
    private static final long serialVersionUID = 1L;

    public EmbeddingException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
