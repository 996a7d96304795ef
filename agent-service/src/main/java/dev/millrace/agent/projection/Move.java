package dev.millrace.agent.projection;

import dev.millrace.schemas.Event;
import dev.millrace.schemas.JournalEntry;

/**
 * A task moved from state to state (F-138). Written as JSON as it stands.
 *
 * @param fromState the state that it left
 * @param toState the state that it came to
 * @param triggerEventType type of the event that moved it
 * @param triggerEventId id of the event that moved it
 * @param timestamp Unix milliseconds
 * @param cursor the place of the event that tells of it
 */
public record Move(
        String fromState,
        String toState,
        String triggerEventType,
        String triggerEventId,
        long timestamp,
        String cursor) {

    static Move of(JournalEntry told) {
        Event event = told.event();
        return new Move(
                text(event, "fromState"),
                text(event, "toState"),
                text(event, "triggerEventType"),
                text(event, "triggerEventId"),
                event.timestamp().toEpochMilli(),
                told.cursor().toString());
    }

    private static String text(Event event, String field) {
        String text = event.text(field);
        return text == null ? "" : text;
    }
}
