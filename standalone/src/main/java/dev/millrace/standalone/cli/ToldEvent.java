package dev.millrace.standalone.cli;

import com.fasterxml.jackson.databind.JsonNode;
import dev.millrace.api.Entry;
import dev.millrace.schemas.Event;
import dev.millrace.schemas.EventType;
import dev.millrace.schemas.Json;
import dev.millrace.schemas.Payload;
import java.time.Instant;

/**
 * An event as the gateway tells it.
 *
 * @param json everything that was told
 * @param event what it says; of the rest only the id, type, time and parent
 */
record ToldEvent(JsonNode json, Event event) {

    /** Reads a {@link Entry}. */
    static ToldEvent of(JsonNode json) {
        Entry entry = Json.MAPPER.convertValue(json, Entry.class);
        try {
            return new ToldEvent(
                    json,
                    Event.root(entry.id(), EventType.of(entry.type()), Instant.ofEpochMilli(entry.timestamp()))
                            .parentEventId(entry.parentEventId())
                            .payload(entry.payload())
                            .build());
        } catch (IllegalArgumentException e) {
            throw new CommandException(
                    ExitCodes.FAILED,
                    "Expected an event, found one that cannot be read (" + e.getMessage()
                            + "). Is that a Millrace gateway?");
        }
    }

    String id() {
        return event.id();
    }

    String type() {
        return event.type().wireName();
    }

    Payload payload() {
        return event.payload();
    }

    /** In Unix milliseconds. */
    long timestamp() {
        return event.timestamp().toEpochMilli();
    }
}
