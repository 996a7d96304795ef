package dev.millrace.gateway.rest.a2a;

import dev.millrace.api.AgentView;
import dev.millrace.gateway.access.Login;
import dev.millrace.gateway.rest.access.OpenToAll;
import dev.millrace.http.client.QueryUnavailableException;
import dev.millrace.schemas.Json;
import io.smallrye.common.annotation.RunOnVirtualThread;
import jakarta.inject.Inject;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.PathParam;
import jakarta.ws.rs.Produces;
import jakarta.ws.rs.core.Context;
import jakarta.ws.rs.core.HttpHeaders;
import jakarta.ws.rs.core.MediaType;
import jakarta.ws.rs.core.Response;
import jakarta.ws.rs.core.UriInfo;
import java.util.List;
import org.eclipse.microprofile.openapi.annotations.Operation;
import org.eclipse.microprofile.openapi.annotations.media.Content;
import org.eclipse.microprofile.openapi.annotations.media.Schema;
import org.eclipse.microprofile.openapi.annotations.responses.APIResponse;
import org.eclipse.microprofile.openapi.annotations.tags.Tag;

/** Introduces agents to clients that speak A2A. */
@Path("/a2a/{agent}/.well-known/agent-card.json")
@Produces(MediaType.APPLICATION_JSON)
@RunOnVirtualThread
@Tag(name = "A2A", description = "Agents for clients that speak A2A.")
public class A2aCardResource {
    private final A2aDoor door;
    private final Login login;

    @Inject
    A2aCardResource(A2aDoor door, Login login) {
        this.door = door;
        this.login = login;
    }

    @GET
    @OpenToAll("an agent that says expose: [a2a] introduces itself to anybody")
    @Operation(summary = "The card of an agent", description = "Of one whose file says expose: [a2a].")
    @APIResponse(responseCode = "200", content = @Content(schema = @Schema(implementation = A2aCard.class)))
    @APIResponse(responseCode = "404", description = "unknown_agent")
    @APIResponse(responseCode = "503", description = "query_unavailable")
    public Response card(@PathParam("agent") String agent, @Context UriInfo uri)
            throws QueryUnavailableException, InterruptedException {
        return card(door.agent(agent), uri);
    }

    /** The card of this agent. */
    Response card(AgentView agent, UriInfo uri) {
        boolean asks = !(login.of(List.of()) instanceof Login.Open);
        return Response.ok(Json.writeText(A2aCard.of(agent, uri.getBaseUri(), asks)))
                .header(HttpHeaders.CACHE_CONTROL, "no-store") // it names the host by which it was asked for
                .build();
    }
}
