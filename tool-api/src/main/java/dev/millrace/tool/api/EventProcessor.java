package dev.millrace.tool.api;

import java.util.List;

/**
 * Looks at events before anything else is done with them, and may put others in their place: a gate, a filter, a
 * translation. A public class with a constructor without parameters, in a jar that the tool service is told of, or a
 * bean of it. Called from many threads at a time, and for the same event again if a process dies meanwhile.
 */
public interface EventProcessor {

    /** How long a processor may take that does not say otherwise, in milliseconds. */
    long DEFAULT_TIMEOUT_MS = 30_000;

    /** Its name, unique among tools and processors: 1 to 64 letters, digits, {@code _} and {@code -}. */
    String name();

    /**
     * The types of the events that it is given: {@code MESSAGE_RECEIVED}, {@code WEBHOOK_TRIGGERED}, {@code
     * SCHEDULE_FIRED} or open ones such as {@code order.placed}; {@code *} = all of these. 1 to 32.
     */
    List<String> eventTypes();

    /** Who is asked first: the lower one, then by name. Those for {@code *} come before all others. */
    default int order() {
        return 0;
    }

    /**
     * Whether an event goes no further if this fails, is silent or is not there: so it is with a gate. Else the event
     * goes on as if this processor did not exist.
     */
    default boolean required() {
        return false;
    }

    /** How long it may take for one event, in milliseconds, 1 or more. */
    default long timeoutMs() {
        return DEFAULT_TIMEOUT_MS;
    }

    /**
     * Whether it wants this event.
     *
     * @throws ToolException if it fails
     */
    default boolean shouldProcess(IncomingEvent event, ToolContext context) throws ToolException, InterruptedException {
        return true;
    }

    /**
     * Does something about an event that it wants.
     *
     * @return what takes the place of the event, at most 20; empty = the event goes on
     * @throws ToolException if it fails
     */
    List<ProducedEvent> process(IncomingEvent event, ToolContext context) throws ToolException, InterruptedException;
}
