package dev.millrace.agent.topology;

import dev.millrace.schemas.Event;
import dev.millrace.schemas.Payload;
import org.jspecify.annotations.Nullable;

/**
 * That no task is admitted.
 *
 * @param reason for people; {@code null} = none was given
 * @param by who asked for it; {@code null} = nobody had to say
 * @param sinceMs when it was asked for, in Unix milliseconds
 */
public record Drain(@Nullable String reason, @Nullable String by, long sinceMs) {

    /** What a gateway stamps on events of those who have logged in. */
    private static final String PRINCIPAL = "authid";

    /** As an event asks for it; {@code null} = it asks for the end of one. */
    static @Nullable Drain of(Event event) {
        return event.payload() instanceof Payload.SystemShuttingDown stops && Broadcast.stopsAdmission(event)
                ? new Drain(
                        stops.reason(),
                        event.extensions().get(PRINCIPAL),
                        event.timestamp().toEpochMilli())
                : null;
    }
}
