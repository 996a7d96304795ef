package dev.millrace.gateway.rest.turns;

import dev.millrace.gateway.rest.streams.ClientGoneException;
import dev.millrace.gateway.rest.streams.TaskPast;
import io.vertx.core.http.HttpServerResponse;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** Follows a turn as long as its client does, and not longer than a time. */
public final class TurnPatience implements TaskPast.Waiting {
    private final @Nullable HttpServerResponse client;
    private final TaskPast.@Nullable Waiting outlet;
    private final long endNanos;

    /** Somebody has waited for as long as they may. */
    public static final class OverException extends RuntimeException {
        private static final long serialVersionUID = 1L;
    }

    /**
     * Begins now.
     *
     * @param client who waits; {@code null} = nobody who could go
     * @param outlet what is written to meanwhile; {@code null} = nothing
     */
    public TurnPatience(@Nullable HttpServerResponse client, TaskPast.@Nullable Waiting outlet, Duration atMost) {
        this.client = client;
        this.outlet = outlet;
        this.endNanos = System.nanoTime() + atMost.toNanos();
    }

    @Override
    public void ready() throws InterruptedException, ClientGoneException {
        look();
        if (outlet != null) {
            outlet.ready();
        }
    }

    @Override
    public void heartbeat() throws InterruptedException, ClientGoneException {
        look();
        if (outlet != null) {
            outlet.heartbeat();
        }
    }

    private void look() throws ClientGoneException {
        if (client != null && client.closed()) {
            throw new ClientGoneException();
        }
        if (System.nanoTime() - endNanos > 0) {
            throw new OverException();
        }
    }
}
