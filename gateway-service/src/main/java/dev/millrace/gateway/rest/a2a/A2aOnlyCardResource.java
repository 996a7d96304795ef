package dev.millrace.gateway.rest.a2a;

import dev.millrace.api.AgentView;
import dev.millrace.gateway.rest.access.OpenToAll;
import dev.millrace.gateway.rest.problems.ProblemException;
import dev.millrace.http.client.QueryUnavailableException;
import dev.millrace.schemas.Problem;
import io.smallrye.common.annotation.RunOnVirtualThread;
import jakarta.inject.Inject;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.Produces;
import jakarta.ws.rs.core.Context;
import jakarta.ws.rs.core.MediaType;
import jakarta.ws.rs.core.Response;
import jakarta.ws.rs.core.UriInfo;
import java.util.List;
import org.eclipse.microprofile.openapi.annotations.Operation;
import org.eclipse.microprofile.openapi.annotations.media.Content;
import org.eclipse.microprofile.openapi.annotations.media.Schema;
import org.eclipse.microprofile.openapi.annotations.responses.APIResponse;
import org.eclipse.microprofile.openapi.annotations.tags.Tag;

/** Introduces the one agent that there is to clients that speak A2A. */
@Path("/.well-known/agent-card.json")
@Produces(MediaType.APPLICATION_JSON)
@RunOnVirtualThread
@Tag(name = "A2A", description = "Agents for clients that speak A2A.")
public class A2aOnlyCardResource {
    private final A2aDoor door;
    private final A2aCardResource cards;

    @Inject
    A2aOnlyCardResource(A2aDoor door, A2aCardResource cards) {
        this.door = door;
        this.cards = cards;
    }

    @GET
    @OpenToAll("an agent that says expose: [a2a] introduces itself to anybody")
    @Operation(summary = "The card of the agent", description = "Where exactly one says expose: [a2a].")
    @APIResponse(responseCode = "200", content = @Content(schema = @Schema(implementation = A2aCard.class)))
    @APIResponse(responseCode = "404", description = "unknown_agent: there is none, or there are several")
    @APIResponse(responseCode = "503", description = "query_unavailable")
    public Response only(@Context UriInfo uri) throws QueryUnavailableException, InterruptedException {
        List<AgentView> agents = door.agents();
        if (agents.size() != 1) {
            throw new ProblemException(Problem.of(
                    404,
                    "unknown_agent",
                    "Unknown agent",
                    "Expected one agent whose file says expose: [a2a], found " + agents.size()
                            + ". The card of each is at /a2a/{agent}/.well-known/agent-card.json."));
        }
        return cards.card(agents.getFirst(), uri);
    }
}
