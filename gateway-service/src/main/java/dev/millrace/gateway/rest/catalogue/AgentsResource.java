package dev.millrace.gateway.rest.catalogue;

import dev.millrace.api.AgentView;
import dev.millrace.gateway.access.Permission;
import dev.millrace.gateway.rest.access.Access;
import dev.millrace.gateway.rest.access.Needs;
import dev.millrace.gateway.rest.problems.ProblemException;
import dev.millrace.http.client.AgentClient;
import dev.millrace.http.client.QueryUnavailableException;
import dev.millrace.schemas.Problem;
import io.smallrye.common.annotation.RunOnVirtualThread;
import jakarta.inject.Inject;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.PathParam;
import jakarta.ws.rs.Produces;
import jakarta.ws.rs.core.MediaType;
import jakarta.ws.rs.core.Response;
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
    private final Access access;

    @Inject
    AgentsResource(AgentClient agentService, Access access) {
        this.agentService = agentService;
        this.access = access;
    }

    @GET
    @Needs(value = Permission.READ, in = Needs.Scope.ANYWHERE)
    @Operation(
            summary = "The agents",
            description =
                    "The name of one is what taskType names; without those that are reserved for others' namespaces. With the files of agents that are no good, if the"
                            + " instance of agent-service that was asked has any.")
    @APIResponse(responseCode = "200", content = @Content(schema = @Schema(implementation = AgentView.All.class)))
    @APIResponse(responseCode = "503", description = "query_unavailable")
    public Response agents() throws QueryUnavailableException, InterruptedException {
        return response(agentService.get(AgentClient.path("agents"), access.whose()));
    }

    @GET
    @Needs(value = Permission.READ, in = Needs.Scope.ANYWHERE)
    @Path("{name}")
    @Operation(summary = "One agent, with its prompt")
    @APIResponse(responseCode = "200", content = @Content(schema = @Schema(implementation = AgentView.Detail.class)))
    @APIResponse(responseCode = "404", description = "unknown_agent")
    @APIResponse(responseCode = "503", description = "query_unavailable")
    public Response agent(@PathParam("name") String name) throws QueryUnavailableException, InterruptedException {
        return response(agentService.get(AgentClient.path("agents", name), access.whose()), name);
    }

    private static Response response(AgentClient.Answer answer) {
        return Response.ok(answer.json()).build();
    }

    /** What agent-service says about one agent, or that there is none. */
    static Response response(AgentClient.Answer answer, String agent) {
        if (!answer.found()) {
            throw new ProblemException(Problem.of(
                    404,
                    "unknown_agent",
                    "Unknown agent",
                    "There is no agent " + agent + "; GET /v1/agents lists those that there are."));
        }
        return response(answer);
    }
}
