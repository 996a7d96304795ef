package dev.millrace.standalone;

import dev.millrace.agent.projection.ProjectionNotReadyException;
import dev.millrace.agent.projection.TaskProjection;
import dev.millrace.agent.rest.QueryResource;
import dev.millrace.agent.rest.TaskNotes;
import dev.millrace.agent.topology.LocalTools;
import dev.millrace.gateway.query.LocalTasks;
import dev.millrace.http.client.QueryUnavailableException;
import dev.millrace.requests.DirectCalls;
import dev.millrace.schemas.Event;
import jakarta.enterprise.inject.Produces;
import jakarta.inject.Singleton;
import java.util.function.Consumer;

/** What services in one process have of each other. */
public class TogetherWiring {

    /** Tools that only read are called from hand to hand. */
    @Produces
    @Singleton
    LocalTools localTools(DirectCalls calls) {
        return new LocalTools() {
            @Override
            public boolean serves(String toolName) {
                return calls.takes(toolName);
            }

            @Override
            public void call(Event request, Consumer<Event> reply) {
                calls.call(request, reply);
            }
        };
    }

    /** The gateway asks for a task without HTTP. */
    @Produces
    @Singleton
    LocalTasks localTasks(TaskProjection projection, TaskNotes notes) {
        return (namespace, taskId, at) -> {
            try {
                if (at != null && !projection.await(at, QueryResource.CATCH_UP)) {
                    throw new QueryUnavailableException("the projection is behind", null);
                }
                return projection.task(namespace, taskId).map(notes::noted);
            } catch (ProjectionNotReadyException e) {
                throw new QueryUnavailableException("the projection is starting or catching up", e);
            }
        };
    }
}
