package dev.millrace.standalone.cli;

import com.fasterxml.jackson.databind.JsonNode;
import dev.millrace.client.FeedEvent;
import dev.millrace.client.TaskFeed;
import java.time.Duration;
import java.util.Optional;

/** A stream of events for a command: as it was told, and with failures in the words of the command line. */
record EventFeed(GatewayClient client, TaskFeed feed) implements AutoCloseable {

    /**
     * The next event; empty if none comes in time.
     *
     * @throws CommandException if the gateway is gone or refuses
     */
    Optional<JsonNode> next(Duration limit) throws InterruptedException {
        try {
            return feed.next(limit).map(FeedEvent::json);
        } catch (RuntimeException e) {
            throw client.told("The events cannot be had: ", e);
        }
    }

    @Override
    public void close() {
        feed.close();
    }
}
