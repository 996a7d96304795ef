package dev.millrace.gateway.rest.tasks;

import dev.millrace.api.Task;
import dev.millrace.gateway.access.Permission;
import dev.millrace.gateway.rest.access.Needs;
import dev.millrace.gateway.rest.requests.TaskFilters;
import dev.millrace.http.client.AgentClient;
import dev.millrace.http.client.QueryUnavailableException;
import dev.millrace.schemas.Event;
import io.smallrye.common.annotation.RunOnVirtualThread;
import jakarta.inject.Inject;
import jakarta.ws.rs.BeanParam;
import jakarta.ws.rs.DefaultValue;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.Produces;
import jakarta.ws.rs.QueryParam;
import jakarta.ws.rs.core.MediaType;
import jakarta.ws.rs.core.Response;
import java.util.Map;
import org.eclipse.microprofile.openapi.annotations.Operation;
import org.eclipse.microprofile.openapi.annotations.media.Content;
import org.eclipse.microprofile.openapi.annotations.media.Schema;
import org.eclipse.microprofile.openapi.annotations.responses.APIResponse;
import org.eclipse.microprofile.openapi.annotations.tags.Tag;
import org.jspecify.annotations.Nullable;

/** How many tasks there are. Not below {@code /v1/tasks}, where any word may be the id of a task. */
@Path("/v1/task-counts")
@Produces(MediaType.APPLICATION_JSON)
@RunOnVirtualThread
@Tag(name = "Tasks", description = "Submit tasks and see what becomes of them.")
public class TaskCountsResource {
    private final AgentClient agentService;

    @Inject
    TaskCountsResource(AgentClient agentService) {
        this.agentService = agentService;
    }

    @GET
    @Needs(Permission.READ)
    @Operation(
            summary = "How many tasks there are in each state",
            description = "Filters are those of GET /v1/tasks. At most 10 000 tasks are looked at, the newest first.")
    @APIResponse(responseCode = "200", content = @Content(schema = @Schema(implementation = Task.Counts.class)))
    @APIResponse(responseCode = "400", description = "bad_parameter")
    @APIResponse(responseCode = "503", description = "query_unavailable")
    public Response counts(
            @QueryParam("namespace") @DefaultValue(Event.DEFAULT_NAMESPACE) String namespace,
            @BeanParam TaskFilters filters)
            throws QueryUnavailableException, InterruptedException {
        TasksResource.requireOneOf("waitingFor", filters.waitingFor(), TasksResource.WAITS);
        Map<String, @Nullable String> query = filters.query(null);
        query.put("namespace", namespace);
        return Response.ok(
                        agentService.get(AgentClient.path("task-counts"), query).json())
                .build();
    }
}
