package dev.millrace.gateway.rest.catalogue;

import dev.millrace.api.MachineView;
import dev.millrace.gateway.access.Permission;
import dev.millrace.gateway.rest.access.Needs;
import dev.millrace.http.client.AgentClient;
import dev.millrace.http.client.QueryUnavailableException;
import io.smallrye.common.annotation.RunOnVirtualThread;
import jakarta.inject.Inject;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.Produces;
import jakarta.ws.rs.core.MediaType;
import jakarta.ws.rs.core.Response;
import java.util.Map;
import org.eclipse.microprofile.openapi.annotations.Operation;
import org.eclipse.microprofile.openapi.annotations.media.Content;
import org.eclipse.microprofile.openapi.annotations.media.Schema;
import org.eclipse.microprofile.openapi.annotations.responses.APIResponse;
import org.eclipse.microprofile.openapi.annotations.tags.Tag;

/** How tasks live. */
@Path("/v1/machine")
@Produces(MediaType.APPLICATION_JSON)
@RunOnVirtualThread
@Tag(name = "Tasks", description = "Submit tasks and see what becomes of them.")
public class LifecycleResource {
    private final AgentClient agentService;

    @Inject
    LifecycleResource(AgentClient agentService) {
        this.agentService = agentService;
    }

    @GET
    @Needs(value = Permission.READ, in = Needs.Scope.ANYWHERE)
    @Operation(
            summary = "The state machine that every task is",
            description =
                    "Its states and moves, as the machine itself makes them; the same for all tasks of a version.")
    @APIResponse(responseCode = "200", content = @Content(schema = @Schema(implementation = MachineView.class)))
    @APIResponse(responseCode = "503", description = "query_unavailable")
    public Response machine() throws QueryUnavailableException, InterruptedException {
        return Response.ok(
                        agentService.get(AgentClient.path("machine"), Map.of()).json())
                .build();
    }
}
