package dev.millrace.agent.projection;

import dev.millrace.schemas.JournalEntry;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * An event and what led to it.
 *
 * @param chain the event that was asked for last, what caused it before it, and so on
 * @param next the event that caused the first of these, whose chain is the next page; {@code null} = there is no more
 */
public record ChainPage(List<JournalEntry> chain, @Nullable String next) {

    /** The longest page. */
    public static final int MAX_LIMIT = 500;

    public ChainPage {
        chain = List.copyOf(chain);
    }
}
