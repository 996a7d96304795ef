package dev.millrace.agent.projection;

import dev.millrace.schemas.JournalCursor;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Some of a task's moves, the oldest first.
 *
 * @param moves may be fewer than asked for although there are more
 * @param next the next page holds what comes after this; {@code null} = this is the last page
 */
public record MovePage(List<Move> moves, @Nullable JournalCursor next) {
    public MovePage {
        moves = List.copyOf(moves);
    }
}
