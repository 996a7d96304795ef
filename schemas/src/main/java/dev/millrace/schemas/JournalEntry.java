package dev.millrace.schemas;

import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * An event with its place in the journal: what the HTTP APIs show.
 *
 * @param cursor where it stands
 * @param event what it says
 */
public record JournalEntry(JournalCursor cursor, Event event) {

    /** The fields of {@link EventJson#toJson} and {@code cursor}. */
    public Map<String, @Nullable Object> toJson() {
        Map<String, @Nullable Object> json = new LinkedHashMap<>(EventJson.toJson(event));
        json.put("cursor", cursor.toString());
        return json;
    }
}
