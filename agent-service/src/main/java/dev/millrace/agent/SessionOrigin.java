package dev.millrace.agent;

import dev.millrace.schemas.Event;
import dev.millrace.schemas.JsonObject;
import dev.millrace.schemas.Payload;
import java.util.Optional;
import java.util.stream.Stream;

/** What a sender may call the place that a session is used from, where it does not know the session. */
public enum SessionOrigin {
    /** A program of somebody's. */
    CLIENT("clientId", "client_id"),
    /** A conversation of another system. */
    CHAT("chat_id", "chatId");

    /** What is longer is no name, and counts for nothing. */
    static final int MAX_CHARS = 200;

    private final String field;
    private final String otherwise;

    SessionOrigin(String field, String otherwise) {
        this.field = field;
        this.otherwise = otherwise;
    }

    /** What an event says of it: as an extension, or as metadata of what starts a task. Empty = nothing. */
    public Optional<String> in(Event event) {
        return Stream.of(Optional.ofNullable(event.extension(field)), ofMetadata(event))
                .flatMap(Optional::stream)
                .filter(name -> !name.isBlank() && name.length() <= MAX_CHARS)
                .findFirst();
    }

    private Optional<String> ofMetadata(Event event) {
        JsonObject metadata = event.payload() instanceof Payload.TaskInput input ? input.metadata() : null;
        return metadata == null
                ? Optional.empty()
                : Stream.of(field, otherwise)
                        .map(metadata::get)
                        .filter(String.class::isInstance)
                        .map(String.class::cast)
                        .findFirst();
    }
}
