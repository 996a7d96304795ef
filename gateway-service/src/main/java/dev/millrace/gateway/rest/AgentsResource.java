package dev.millrace.gateway.rest;

import dev.millrace.gateway.query.AgentClient;
import dev.millrace.gateway.query.QueryUnavailableException;
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

/** Who takes tasks. */
@Path("/v1/agents")
@Produces(MediaType.APPLICATION_JSON)
@RunOnVirtualThread
@Tag(name = "Agents", description = "Who takes tasks.")
public class AgentsResource {
    private final AgentClient agentService;

    @Inject
    AgentsResource(AgentClient agentService) {
        this.agentService = agentService;
    }

    @GET
    @Operation(summary = "The agents", description = "The name of one is what taskType names.")
    @APIResponse(responseCode = "200", content = @Content(schema = @Schema(implementation = ApiShapes.Agents.class)))
    @APIResponse(responseCode = "503", description = "query_unavailable")
    public Response agents() throws QueryUnavailableException, InterruptedException {
        return Response.ok(
                        agentService.get(AgentClient.path("agents"), Map.of()).json())
                .build();
    }
}
