package dev.millrace.schemas;

/**
 * An event with its place in the journal: what the HTTP APIs show.
 *
 * @param cursor where it stands
 * @param event what it says
 */
public record JournalEntry(JournalCursor cursor, Event event) {

    /** The fields of {@link EventJson#toJson} and {@code cursor}. */
    public JsonObject toJson() {
        return JsonObject.builder()
                .putAll(EventJson.toJson(event))
                .put("cursor", cursor.toString())
                .build();
    }
}
