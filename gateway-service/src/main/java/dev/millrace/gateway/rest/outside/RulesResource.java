package dev.millrace.gateway.rest.outside;

import dev.millrace.api.RuleView;
import dev.millrace.gateway.access.Permission;
import dev.millrace.gateway.config.GatewayConfig;
import dev.millrace.gateway.rest.access.Needs;
import dev.millrace.gateway.rest.problems.Refusals;
import dev.millrace.gateway.rest.requests.Bodies;
import dev.millrace.gateway.rest.requests.BodyReader;
import dev.millrace.gateway.rest.tasks.TaskIntake;
import dev.millrace.http.client.AgentClient;
import dev.millrace.http.client.QueryUnavailableException;
import io.smallrye.common.annotation.RunOnVirtualThread;
import jakarta.inject.Inject;
import jakarta.ws.rs.Consumes;
import jakarta.ws.rs.DELETE;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.PUT;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.PathParam;
import jakarta.ws.rs.Produces;
import jakarta.ws.rs.core.Context;
import jakarta.ws.rs.core.HttpHeaders;
import jakarta.ws.rs.core.MediaType;
import jakarta.ws.rs.core.Response;
import java.io.IOException;
import java.io.InputStream;
import java.util.Map;
import org.eclipse.microprofile.openapi.annotations.Operation;
import org.eclipse.microprofile.openapi.annotations.enums.SchemaType;
import org.eclipse.microprofile.openapi.annotations.media.Content;
import org.eclipse.microprofile.openapi.annotations.media.Schema;
import org.eclipse.microprofile.openapi.annotations.parameters.RequestBody;
import org.eclipse.microprofile.openapi.annotations.responses.APIResponse;
import org.eclipse.microprofile.openapi.annotations.tags.Tag;

/** What follows from events of the outside world. */
@Path("/v1/rules")
@Produces(MediaType.APPLICATION_JSON)
@RunOnVirtualThread
@Tag(name = "Rules", description = "What follows from events of the outside world.")
public class RulesResource {

    private static final String RULES = "rules";
    private static final byte[] NO_BODY = {};

    private final AgentClient agentService;
    private final TaskIntake intake;
    private final GatewayConfig config;

    @Inject
    RulesResource(AgentClient agentService, TaskIntake intake, GatewayConfig config) {
        this.agentService = agentService;
        this.intake = intake;
        this.config = config;
    }

    @GET
    @Needs(value = Permission.READ, in = Needs.Scope.EVERYWHERE)
    @Operation(
            summary = "The rules that are in force",
            description =
                    "By priority, the highest first: those that are defined here, those of files of the instance that"
                            + " answers, and those that are built in.")
    @APIResponse(responseCode = "200", content = @Content(schema = @Schema(implementation = RuleView.All.class)))
    @APIResponse(responseCode = "503", description = "query_unavailable")
    public Response all() throws QueryUnavailableException, InterruptedException {
        return Response.ok(agentService.get(AgentClient.path(RULES), Map.of()).json())
                .build();
    }

    @GET
    @Needs(value = Permission.READ, in = Needs.Scope.EVERYWHERE)
    @Path("/{id}")
    @Operation(summary = "One rule")
    @APIResponse(responseCode = "200", content = @Content(schema = @Schema(implementation = RuleView.class)))
    @APIResponse(responseCode = "404", description = "unknown_rule")
    @APIResponse(responseCode = "503", description = "query_unavailable")
    public Response one(@PathParam("id") String id) throws QueryUnavailableException, InterruptedException {
        AgentClient.Answer answer = agentService.get(AgentClient.path(RULES, id), Map.of());
        if (!answer.found()) {
            throw Refusals.of(404, answer.json());
        }
        return Response.ok(answer.json()).build();
    }

    @PUT
    @Needs(value = Permission.ADMIN, in = Needs.Scope.EVERYWHERE)
    @Path("/{id}")
    @Consumes(MediaType.APPLICATION_JSON)
    @Operation(
            summary = "Define a rule",
            description =
                    "Makes it, or replaces the definition of this id, on every instance. It covers a rule of the same id"
                            + " of a file and one that is built in. One that says what is defined already changes nothing.")
    @RequestBody(
            required = true,
            content =
                    @Content(
                            mediaType = MediaType.APPLICATION_JSON,
                            schema =
                                    @Schema(
                                            type = SchemaType.OBJECT,
                                            description =
                                                    "What would stand under the id in a file, see docs/rules.md.")))
    @APIResponse(
            responseCode = "200",
            description = "It was defined before.",
            content = @Content(schema = @Schema(implementation = RuleView.class)))
    @APIResponse(
            responseCode = "201",
            description = "It is new.",
            content = @Content(schema = @Schema(implementation = RuleView.class)))
    @APIResponse(responseCode = "400", description = "bad_json")
    @APIResponse(responseCode = "413", description = "body_too_large")
    @APIResponse(responseCode = "415", description = "unsupported_media_type")
    @APIResponse(
            responseCode = "422",
            description = "invalid_rule: names the path, what was expected and what was found")
    @APIResponse(responseCode = "503", description = "broker_unavailable, query_unavailable; too_many_bodies")
    public Response put(@PathParam("id") String id, InputStream body, @Context HttpHeaders headers)
            throws IOException, QueryUnavailableException, InterruptedException {
        BodyReader.requireJson(headers);
        try (Bodies.Body read = intake.read(body, config.maxBodySize().asLongValue())) {
            return change("PUT", id, read.bytes());
        }
    }

    @DELETE
    @Needs(value = Permission.ADMIN, in = Needs.Scope.EVERYWHERE)
    @Path("/{id}")
    @Operation(
            summary = "Take back the definition of a rule",
            description =
                    "What it covered is in force again: the rule of a file or the one that is built in, if there is one.")
    @APIResponse(
            responseCode = "200",
            description = "The definition as it was.",
            content = @Content(schema = @Schema(implementation = RuleView.class)))
    @APIResponse(responseCode = "404", description = "unknown_rule")
    @APIResponse(responseCode = "409", description = "not_a_definition: the rule is of a file, or built in")
    @APIResponse(responseCode = "503", description = "broker_unavailable, query_unavailable")
    public Response remove(@PathParam("id") String id) throws QueryUnavailableException, InterruptedException {
        return change("DELETE", id, NO_BODY);
    }

    private Response change(String method, String id, byte[] body)
            throws QueryUnavailableException, InterruptedException {
        AgentClient.Reply reply = agentService.change(method, AgentClient.path(RULES, id), Map.of(), body);
        if (!reply.done()) {
            throw Refusals.of(reply.status(), reply.json());
        }
        return Response.status(reply.status()).entity(reply.json()).build();
    }
}
