package dev.millrace.gateway.rest.catalogue;

import dev.millrace.api.ToolView;
import dev.millrace.gateway.access.Permission;
import dev.millrace.gateway.rest.access.Access;
import dev.millrace.gateway.rest.access.Needs;
import dev.millrace.http.client.AgentClient;
import dev.millrace.http.client.QueryUnavailableException;
import io.smallrye.common.annotation.RunOnVirtualThread;
import jakarta.inject.Inject;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.Produces;
import jakarta.ws.rs.QueryParam;
import jakarta.ws.rs.core.MediaType;
import jakarta.ws.rs.core.Response;
import java.util.HashMap;
import java.util.Map;
import org.eclipse.microprofile.openapi.annotations.Operation;
import org.eclipse.microprofile.openapi.annotations.media.Content;
import org.eclipse.microprofile.openapi.annotations.media.Schema;
import org.eclipse.microprofile.openapi.annotations.parameters.Parameter;
import org.eclipse.microprofile.openapi.annotations.responses.APIResponse;
import org.eclipse.microprofile.openapi.annotations.tags.Tag;
import org.jspecify.annotations.Nullable;

/** What tasks can do. */
@Path("/v1/tools")
@Produces(MediaType.APPLICATION_JSON)
@RunOnVirtualThread
@Tag(name = "Tools", description = "What tasks can do.")
public class ToolsResource {
    private final AgentClient agentService;
    private final Access access;

    @Inject
    ToolsResource(AgentClient agentService, Access access) {
        this.agentService = agentService;
        this.access = access;
    }

    @GET
    @Needs(value = Permission.READ, in = Needs.Scope.ANYWHERE)
    @Operation(
            summary = "The tools",
            description = "Those that somebody serves now, as they stand on the definitions topic; without those that"
                    + " are reserved for others' namespaces.")
    @APIResponse(responseCode = "200", content = @Content(schema = @Schema(implementation = ToolView.All.class)))
    @APIResponse(responseCode = "404", description = "unknown_agent")
    @APIResponse(responseCode = "503", description = "query_unavailable")
    public Response tools(
            @Parameter(
                            description =
                                    "Only those that this agent may use, with its own rules for approval in place of"
                                            + " the tools'.")
                    @QueryParam("agent")
                    @Nullable
                    String agent)
            throws QueryUnavailableException, InterruptedException {
        String name = agent == null || agent.isBlank() ? null : agent;
        Map<String, @Nullable String> query = new HashMap<>(access.whose());
        query.put("agent", name);
        return AgentsResource.response(agentService.get(AgentClient.path("tools"), query), String.valueOf(name));
    }
}
