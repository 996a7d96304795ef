package dev.millrace.agent.projection;

import dev.millrace.schemas.JournalCursor;
import dev.millrace.schemas.JournalEntry;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Some of a task's events, in journal order.
 *
 * @param events may be fewer than asked for although there are more
 * @param next the next page holds what comes after this; {@code null} = this is the last page
 * @param upTo everything of this task up to this place, the place included, is on this page or on one before it; {@code
 *     null} unless this is the last page. Whoever reads the journal from there on misses nothing and sees nothing twice
 */
public record EventPage(
        List<JournalEntry> events,
        @Nullable JournalCursor next,
        @Nullable JournalCursor upTo) {
    public EventPage {
        events = List.copyOf(events);
    }
}
