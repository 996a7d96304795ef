package dev.millrace.gateway.rest.tasks;

import dev.millrace.gateway.kafka.BrokerUnavailableException;
import dev.millrace.gateway.kafka.EventTooLargeException;
import dev.millrace.gateway.query.RecentTasks;
import dev.millrace.schemas.Event;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * An event that a client has sent: whole until it is stored, and in outline after that, so that whoever waits for what
 * comes of it holds little however long that takes. For one thread.
 */
public final class SentEvent {
    private final Event outline;
    private @Nullable Event whole;

    public SentEvent(Event event) {
        this.whole = event;
        this.outline = RecentTasks.outline(event);
    }

    /** The event without most of its payload, see {@link RecentTasks#outline}. */
    public Event outline() {
        return outline;
    }

    /** Whether it is stored. */
    public boolean isStored() {
        return whole == null;
    }

    /** Has it stored. A second call does nothing. */
    public void send(TaskIntake intake) throws BrokerUnavailableException, EventTooLargeException {
        Event event = whole;
        if (event != null) {
            intake.accept(List.of(event));
            whole = null;
        }
    }
}
