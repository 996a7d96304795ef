package dev.millrace.gateway.rest.chat;

import com.fasterxml.jackson.annotation.JsonProperty;
import dev.millrace.api.AgentView;
import dev.millrace.gateway.access.Permission;
import dev.millrace.gateway.rest.access.Access;
import dev.millrace.gateway.rest.access.Needs;
import dev.millrace.http.client.AgentClient;
import dev.millrace.http.client.QueryUnavailableException;
import dev.millrace.schemas.Json;
import io.smallrye.common.annotation.RunOnVirtualThread;
import jakarta.inject.Inject;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.PathParam;
import jakarta.ws.rs.Produces;
import jakarta.ws.rs.core.MediaType;
import jakarta.ws.rs.core.Response;
import java.util.List;
import org.eclipse.microprofile.openapi.annotations.Operation;
import org.eclipse.microprofile.openapi.annotations.responses.APIResponse;
import org.eclipse.microprofile.openapi.annotations.tags.Tag;
import org.jboss.resteasy.reactive.server.ServerExceptionMapper;

/** The agents, as OpenAI's clients list models. */
@Path("/v1/models")
@Produces(MediaType.APPLICATION_JSON)
@RunOnVirtualThread
@Tag(name = "OpenAI")
public class ModelsResource {

    private final AgentClient agentService;
    private final Access access;

    @Inject
    ModelsResource(AgentClient agentService, Access access) {
        this.agentService = agentService;
        this.access = access;
    }

    @GET
    @Needs(value = Permission.READ, in = Needs.Scope.ANYWHERE)
    @Operation(summary = "The agents, as OpenAI's clients list models")
    @APIResponse(responseCode = "200", description = "As OpenAI describes it; created is always 0.")
    @APIResponse(responseCode = "503", description = "query_unavailable")
    public Response models() throws QueryUnavailableException, InterruptedException {
        List<Model> models =
                agentService.get(AgentClient.path("agents"), access.whose()).as(AgentView.All.class).agents().stream()
                        .map(agent -> shown(agent.name()))
                        .toList();
        return Response.ok(Json.writeText(new Models("list", models))).build();
    }

    @GET
    @Needs(value = Permission.READ, in = Needs.Scope.ANYWHERE)
    @Path("{model}")
    @Operation(summary = "One agent, as OpenAI's clients ask for a model")
    @APIResponse(responseCode = "200", description = "As OpenAI describes it.")
    @APIResponse(responseCode = "404", description = "model_not_found")
    @APIResponse(responseCode = "503", description = "query_unavailable")
    public Response model(@PathParam("model") String name) throws QueryUnavailableException, InterruptedException {
        if (!agentService.get(AgentClient.path("agents", name), access.whose()).found()) {
            throw ChatException.unknownModel(
                    "There is no agent " + name + "; GET /v1/models lists those that there are.");
        }
        return Response.ok(Json.writeText(shown(name))).build();
    }

    private record Models(String object, List<Model> data) {}

    private record Model(
            String id,
            String object,
            long created,
            @JsonProperty("owned_by") String ownedBy) {}

    private static Model shown(String name) {
        return new Model(name, "model", 0, "millrace");
    }

    @ServerExceptionMapper
    Response refused(ChatException e) {
        return e.response();
    }

    @ServerExceptionMapper
    Response unavailable(QueryUnavailableException e) {
        return ChatException.refused(503, "query_unavailable", String.valueOf(e.getMessage()))
                .response();
    }
}
