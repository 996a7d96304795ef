package dev.millrace.agent.config;

import dev.millrace.agent.SessionOrigin;
import dev.millrace.agent.projection.ProjectionNotReadyException;
import dev.millrace.agent.projection.TaskProjection;
import dev.millrace.agent.topology.SessionLookup;
import dev.millrace.api.Task;
import java.util.Optional;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Asks the projection of the journal, which has the tasks of all partitions, a moment late. The machine's own thread
 * does so and must not pay for what is wrong with the projection: then nothing is known, as while it starts.
 */
final class ProjectedSessions implements SessionLookup {

    private static final Logger LOGGER = LoggerFactory.getLogger(ProjectedSessions.class);

    private final TaskProjection projection;

    ProjectedSessions(TaskProjection projection) {
        this.projection = projection;
    }

    @Override
    public boolean isElsewhere(String namespace, String taskId, int partition) {
        return details(namespace, taskId)
                .map(details -> details.task().partition() != partition)
                .orElse(false);
    }

    @Override
    public Optional<String> sessionOf(String namespace, String taskId) {
        return details(namespace, taskId).map(details -> details.task().sessionId());
    }

    @Override
    public Optional<String> newestOf(String namespace, SessionOrigin origin, String name) {
        return asked(() -> projection.newestSession(namespace, origin, name));
    }

    private Optional<Task.Details> details(String namespace, String taskId) {
        return asked(() -> projection.task(namespace, taskId));
    }

    private static <T> Optional<T> asked(Supplier<Optional<T>> question) {
        try {
            return question.get();
        } catch (ProjectionNotReadyException e) {
            return Optional.empty();
        } catch (RuntimeException e) {
            LOGGER.atWarn()
                    .setCause(e)
                    .log("The projection could not be asked; what was to be found counts as not known");
            return Optional.empty();
        }
    }
}
