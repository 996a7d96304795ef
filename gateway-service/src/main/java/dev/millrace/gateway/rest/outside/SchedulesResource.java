package dev.millrace.gateway.rest.outside;

import dev.millrace.api.ScheduleView;
import dev.millrace.api.Task;
import dev.millrace.gateway.access.Permission;
import dev.millrace.gateway.config.GatewayConfig;
import dev.millrace.gateway.kafka.BrokerUnavailableException;
import dev.millrace.gateway.kafka.EventTooLargeException;
import dev.millrace.gateway.rest.access.Access;
import dev.millrace.gateway.rest.access.Needs;
import dev.millrace.gateway.rest.problems.ProblemException;
import dev.millrace.gateway.rest.problems.Refusals;
import dev.millrace.gateway.rest.requests.Bodies;
import dev.millrace.gateway.rest.requests.BodyReader;
import dev.millrace.gateway.rest.requests.IdempotencyKey;
import dev.millrace.gateway.rest.requests.Parameters;
import dev.millrace.gateway.rest.tasks.TaskIntake;
import dev.millrace.http.client.AgentClient;
import dev.millrace.http.client.QueryUnavailableException;
import dev.millrace.schemas.Event;
import dev.millrace.schemas.EventJson;
import dev.millrace.schemas.Ids;
import dev.millrace.schemas.Json;
import dev.millrace.schemas.MalformedEventException;
import dev.millrace.schemas.Problem;
import io.smallrye.common.annotation.RunOnVirtualThread;
import jakarta.inject.Inject;
import jakarta.ws.rs.Consumes;
import jakarta.ws.rs.DELETE;
import jakarta.ws.rs.DefaultValue;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.HeaderParam;
import jakarta.ws.rs.POST;
import jakarta.ws.rs.PUT;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.PathParam;
import jakarta.ws.rs.Produces;
import jakarta.ws.rs.QueryParam;
import jakarta.ws.rs.core.Context;
import jakarta.ws.rs.core.HttpHeaders;
import jakarta.ws.rs.core.MediaType;
import jakarta.ws.rs.core.Response;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.eclipse.microprofile.openapi.annotations.Operation;
import org.eclipse.microprofile.openapi.annotations.media.Content;
import org.eclipse.microprofile.openapi.annotations.media.Schema;
import org.eclipse.microprofile.openapi.annotations.parameters.Parameter;
import org.eclipse.microprofile.openapi.annotations.parameters.RequestBody;
import org.eclipse.microprofile.openapi.annotations.responses.APIResponse;
import org.eclipse.microprofile.openapi.annotations.tags.Tag;
import org.jspecify.annotations.Nullable;

/** Tasks that are due by the clock. */
@Path("/v1/schedules")
@Produces(MediaType.APPLICATION_JSON)
@RunOnVirtualThread
@Tag(name = "Schedules", description = "Tasks that are due by the clock.")
public class SchedulesResource {

    private static final String SCHEDULES = "schedules";
    private static final int MAX_NEXT = 100;
    private static final byte[] NO_BODY = {};

    private final AgentClient agentService;
    private final TaskIntake intake;
    private final Access access;
    private final GatewayConfig config;

    @Inject
    SchedulesResource(AgentClient agentService, TaskIntake intake, Access access, GatewayConfig config) {
        this.access = access;
        this.agentService = agentService;
        this.intake = intake;
        this.config = config;
    }

    @GET
    @Needs(Permission.READ)
    @Operation(summary = "The schedules of a namespace", description = "By name, each with when it is due next.")
    @APIResponse(responseCode = "200", content = @Content(schema = @Schema(implementation = ScheduleView.All.class)))
    @APIResponse(responseCode = "400", description = "bad_parameter")
    @APIResponse(responseCode = "503", description = "query_unavailable")
    public Response all(
            @QueryParam("namespace") @DefaultValue(Event.DEFAULT_NAMESPACE) String namespace,
            @Parameter(description = "How many of the next moments of each, 1 to 100.")
                    @QueryParam("next")
                    @DefaultValue("1")
                    String next)
            throws QueryUnavailableException, InterruptedException {
        return Response.ok(agentService
                        .get(AgentClient.path(SCHEDULES), query(namespace, next))
                        .json())
                .build();
    }

    @GET
    @Needs(Permission.READ)
    @Path("/{name}")
    @Operation(summary = "One schedule, with when it is due next")
    @APIResponse(responseCode = "200", content = @Content(schema = @Schema(implementation = ScheduleView.class)))
    @APIResponse(responseCode = "400", description = "bad_parameter")
    @APIResponse(responseCode = "404", description = "unknown_schedule")
    @APIResponse(responseCode = "503", description = "query_unavailable")
    public Response one(
            @PathParam("name") String name,
            @QueryParam("namespace") @DefaultValue(Event.DEFAULT_NAMESPACE) String namespace,
            @Parameter(description = "How many of the next moments, 1 to 100.") @QueryParam("next") @DefaultValue("5")
                    String next)
            throws QueryUnavailableException, InterruptedException {
        AgentClient.Answer answer = agentService.get(AgentClient.path(SCHEDULES, name), query(namespace, next));
        if (!answer.found()) {
            throw Refusals.of(404, answer.json());
        }
        return Response.ok(answer.json()).build();
    }

    @PUT
    @Needs(Permission.WRITE)
    @Path("/{name}")
    @Consumes(MediaType.APPLICATION_JSON)
    @Operation(
            summary = "Define a schedule",
            description =
                    "Makes it, or replaces the one of this name. It counts from now: nothing before is made up for. One"
                            + " that says what is there already changes nothing.")
    @RequestBody(
            required = true,
            content =
                    @Content(
                            mediaType = MediaType.APPLICATION_JSON,
                            schema = @Schema(implementation = ScheduleView.Definition.class)))
    @APIResponse(
            responseCode = "200",
            description = "It was there before.",
            content = @Content(schema = @Schema(implementation = ScheduleView.class)))
    @APIResponse(
            responseCode = "201",
            description = "It is new.",
            content = @Content(schema = @Schema(implementation = ScheduleView.class)))
    @APIResponse(responseCode = "400", description = "bad_json")
    @APIResponse(responseCode = "413", description = "body_too_large")
    @APIResponse(responseCode = "415", description = "unsupported_media_type")
    @APIResponse(responseCode = "422", description = "invalid_schedule, unknown_agent")
    @APIResponse(responseCode = "503", description = "query_unavailable; too_many_bodies")
    public Response put(
            @PathParam("name") String name,
            @QueryParam("namespace") @DefaultValue(Event.DEFAULT_NAMESPACE) String namespace,
            InputStream body,
            @Context HttpHeaders headers)
            throws IOException, QueryUnavailableException, InterruptedException {
        BodyReader.requireJson(headers);
        try (Bodies.Body read = intake.read(body, config.maxBodySize().asLongValue())) {
            requireAgent(read.bytes(), namespace);
            return change("PUT", AgentClient.path(SCHEDULES, name), namespace, read.bytes());
        }
    }

    @DELETE
    @Needs(Permission.WRITE)
    @Path("/{name}")
    @Operation(summary = "Remove a schedule", description = "Tasks that it has started go on.")
    @APIResponse(
            responseCode = "200",
            description = "The schedule as it was.",
            content = @Content(schema = @Schema(implementation = ScheduleView.class)))
    @APIResponse(responseCode = "404", description = "unknown_schedule")
    @APIResponse(responseCode = "503", description = "query_unavailable")
    public Response remove(
            @PathParam("name") String name,
            @QueryParam("namespace") @DefaultValue(Event.DEFAULT_NAMESPACE) String namespace)
            throws QueryUnavailableException, InterruptedException {
        return change("DELETE", AgentClient.path(SCHEDULES, name), namespace, NO_BODY);
    }

    @POST
    @Needs(Permission.WRITE)
    @Path("/{name}/pause")
    @Operation(summary = "Pause a schedule", description = "It is not due until it is resumed. Twice is once.")
    @APIResponse(responseCode = "200", content = @Content(schema = @Schema(implementation = ScheduleView.class)))
    @APIResponse(responseCode = "404", description = "unknown_schedule")
    @APIResponse(responseCode = "503", description = "query_unavailable")
    public Response pause(
            @PathParam("name") String name,
            @QueryParam("namespace") @DefaultValue(Event.DEFAULT_NAMESPACE) String namespace)
            throws QueryUnavailableException, InterruptedException {
        return change("POST", AgentClient.path(SCHEDULES, name, "pause"), namespace, NO_BODY);
    }

    @POST
    @Needs(Permission.WRITE)
    @Path("/{name}/resume")
    @Operation(summary = "Resume a schedule", description = "From now on; what it missed is not made up for.")
    @APIResponse(responseCode = "200", content = @Content(schema = @Schema(implementation = ScheduleView.class)))
    @APIResponse(responseCode = "404", description = "unknown_schedule")
    @APIResponse(responseCode = "503", description = "query_unavailable")
    public Response resume(
            @PathParam("name") String name,
            @QueryParam("namespace") @DefaultValue(Event.DEFAULT_NAMESPACE) String namespace)
            throws QueryUnavailableException, InterruptedException {
        return change("POST", AgentClient.path(SCHEDULES, name, "resume"), namespace, NO_BODY);
    }

    @POST
    @Needs(Permission.WRITE)
    @Path("/{name}/fire")
    @Operation(
            summary = "Fire a schedule now",
            description = "Starts its task at once, also if it is paused; when it is due next stays as it is.")
    @APIResponse(
            responseCode = "202",
            description = "The task is stored.",
            content = @Content(schema = @Schema(implementation = Task.Accepted.class)))
    @APIResponse(responseCode = "404", description = "unknown_schedule")
    @APIResponse(responseCode = "422", description = "unknown_agent, invalid_payload")
    @APIResponse(responseCode = "503", description = "broker_unavailable, query_unavailable")
    public Response fire(
            @PathParam("name") String name,
            @QueryParam("namespace") @DefaultValue(Event.DEFAULT_NAMESPACE) String namespace,
            @Parameter(description = "Id of the task; a repeated request with the same one makes no second task.")
                    @HeaderParam("Idempotency-Key")
                    @Nullable
                    String idempotencyKey)
            throws QueryUnavailableException, InterruptedException, BrokerUnavailableException, EventTooLargeException {
        String given = IdempotencyKey.or(null, idempotencyKey);
        Map<String, @Nullable String> query = new HashMap<>(query(namespace, null));
        query.put("id", given == null ? Ids.random() : given);
        AgentClient.Answer answer = agentService.get(AgentClient.path(SCHEDULES, name, "event"), query);
        if (!answer.found()) {
            throw Refusals.of(404, answer.json());
        }
        Event event;
        try {
            event = access.stamped(
                    EventJson.fromJson(Json.readObject(answer.json().getBytes(StandardCharsets.UTF_8))));
        } catch (MalformedEventException e) {
            throw new QueryUnavailableException("agent-service answered with something that is no event", e);
        }
        intake.requireValid(event);
        intake.requireAgent(event);
        intake.accept(List.of(event));
        Task.Links links = Task.Links.of(event.namespace(), event.id());
        return Response.accepted(
                        Json.writeText(new Task.Accepted(event.id(), event.id(), event.sessionId(), "accepted", links)))
                .location(URI.create(links.self()))
                .build();
    }

    private void requireAgent(byte[] body, String namespace) throws InterruptedException {
        try {
            if (Json.readObject(body).get("taskType") instanceof String agent && !agent.isBlank()) {
                intake.requireAgent(agent, namespace);
            }
        } catch (MalformedEventException e) {
            throw new ProblemException(Problem.of(400, "bad_json", "Not JSON", String.valueOf(e.getMessage())));
        }
    }

    private Response change(String method, String path, String namespace, byte[] body)
            throws QueryUnavailableException, InterruptedException {
        AgentClient.Reply reply = agentService.change(method, path, query(namespace, null), body);
        if (!reply.done()) {
            throw Refusals.of(reply.status(), reply.json());
        }
        return Response.status(reply.status()).entity(reply.json()).build();
    }

    private static Map<String, @Nullable String> query(String namespace, @Nullable String next) {
        Map<String, @Nullable String> query = new HashMap<>();
        query.put("namespace", namespace);
        query.put("next", next == null ? null : Integer.toString(Parameters.number("next", next, MAX_NEXT)));
        return query;
    }
}
