package dev.millrace.agent.config;

import dev.millrace.agent.projection.ProjectionNotReadyException;
import dev.millrace.agent.projection.TaskProjection;
import dev.millrace.agent.topology.SessionLookup;
import java.util.Optional;

/** Asks the projection of the journal, which has the tasks of all partitions, a moment late. */
final class ProjectedSessions implements SessionLookup {

    private final TaskProjection projection;

    ProjectedSessions(TaskProjection projection) {
        this.projection = projection;
    }

    @Override
    public boolean isElsewhere(String namespace, String taskId, int partition) {
        try {
            return projection
                    .task(namespace, taskId)
                    .map(details -> details.task().partition() != partition)
                    .orElse(false);
        } catch (ProjectionNotReadyException e) {
            return false;
        }
    }

    @Override
    public Optional<String> sessionOf(String namespace, String taskId) {
        try {
            return projection
                    .task(namespace, taskId)
                    .map(details -> details.task().sessionId());
        } catch (ProjectionNotReadyException e) {
            return Optional.empty();
        }
    }
}
