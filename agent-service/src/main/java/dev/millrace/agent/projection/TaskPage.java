package dev.millrace.agent.projection;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Some tasks, newest first.
 *
 * @param tasks may be fewer than asked for although there are more
 * @param next where the next page begins, for {@link TaskQuery#before}; {@code null} = this is the last page
 */
public record TaskPage(List<TaskView> tasks, @Nullable String next) {
    public TaskPage {
        tasks = List.copyOf(tasks);
    }
}
