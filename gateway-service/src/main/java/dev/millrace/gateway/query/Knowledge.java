package dev.millrace.gateway.query;

import dev.millrace.http.client.AgentClient;

/**
 * The knowledge service, as the gateway asks it.
 *
 * @param client asks it
 */
public record Knowledge(AgentClient client) implements AutoCloseable {

    /** Closes its connections. */
    @Override
    public void close() {
        client.close();
    }
}
