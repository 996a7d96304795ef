package dev.millrace.agent.projection;

import org.jspecify.annotations.Nullable;

/** The projection is starting, catching up or stopped; asking again later helps. */
public final class ProjectionNotReadyException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    ProjectionNotReadyException(@Nullable Throwable cause) {
        super("the projection of the journal is not ready", cause);
    }
}
