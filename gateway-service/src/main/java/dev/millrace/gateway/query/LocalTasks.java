package dev.millrace.gateway.query;

import dev.millrace.api.Task;
import dev.millrace.http.client.QueryUnavailableException;
import dev.millrace.schemas.JournalCursor;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** What an agent-service in this process says of tasks, for it not to be asked over HTTP. Safe for any thread. */
@FunctionalInterface
public interface LocalTasks {

    /**
     * A task, as agent-service would answer. Blocks as that does.
     *
     * @param at a place of the journal that the answer has to take into account; {@code null} = any
     * @return empty if it does not know it
     * @throws QueryUnavailableException if it is starting, or further behind than a reader should wait
     */
    Optional<Task.Details> task(String namespace, String taskId, @Nullable JournalCursor at)
            throws QueryUnavailableException, InterruptedException;
}
