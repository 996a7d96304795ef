package dev.millrace.gateway.rest.tasks;

import dev.millrace.api.Fork;
import dev.millrace.api.Replay;
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
import dev.millrace.http.client.AgentClient;
import dev.millrace.http.client.QueryUnavailableException;
import dev.millrace.schemas.Event;
import dev.millrace.schemas.Ids;
import dev.millrace.schemas.Json;
import dev.millrace.schemas.JsonObject;
import dev.millrace.schemas.KnownEventType;
import io.smallrye.common.annotation.RunOnVirtualThread;
import jakarta.inject.Inject;
import jakarta.ws.rs.Consumes;
import jakarta.ws.rs.DefaultValue;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.HeaderParam;
import jakarta.ws.rs.POST;
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
import java.time.Instant;
import java.util.Map;
import org.eclipse.microprofile.openapi.annotations.Operation;
import org.eclipse.microprofile.openapi.annotations.enums.SchemaType;
import org.eclipse.microprofile.openapi.annotations.media.Content;
import org.eclipse.microprofile.openapi.annotations.media.Schema;
import org.eclipse.microprofile.openapi.annotations.parameters.Parameter;
import org.eclipse.microprofile.openapi.annotations.parameters.RequestBody;
import org.eclipse.microprofile.openapi.annotations.responses.APIResponse;
import org.eclipse.microprofile.openapi.annotations.tags.Tag;
import org.jspecify.annotations.Nullable;

/** Playing a task again from its log, and going on from there in another way. */
@Path("/v1/tasks/{taskId}")
@Produces(MediaType.APPLICATION_JSON)
@RunOnVirtualThread
@Tag(name = "Tasks")
public class ForkResource {

    private static final int MAX_STEPS = 1_000;

    private final TaskIntake intake;
    private final AgentClient agentService;
    private final Access access;
    private final GatewayConfig config;

    @Inject
    ForkResource(TaskIntake intake, AgentClient agentService, Access access, GatewayConfig config) {
        this.intake = intake;
        this.agentService = agentService;
        this.access = access;
        this.config = config;
    }

    @GET
    @Needs(Permission.READ)
    @Path("/replay")
    @Operation(
            summary = "Play a task again from its log",
            description = "What happened to the task is given to the state machine once more, which decides anew; each"
                    + " step says whether that is what the log says. No model and no tool is called.")
    @APIResponse(responseCode = "200", content = @Content(schema = @Schema(implementation = Replay.class)))
    @APIResponse(responseCode = "400", description = "bad_parameter")
    @APIResponse(responseCode = "404", description = "unknown_task")
    @APIResponse(responseCode = "409", description = "log_incomplete: the journal has lost the start of the task")
    @APIResponse(responseCode = "422", description = "log_too_long")
    @APIResponse(responseCode = "503", description = "query_unavailable")
    public Response replay(
            @PathParam("taskId") String taskId,
            @QueryParam("namespace") @DefaultValue(Event.DEFAULT_NAMESPACE) String namespace,
            @Parameter(
                            description = "Only the steps after this number.",
                            schema = @Schema(type = SchemaType.INTEGER, defaultValue = "0"))
                    @QueryParam("after")
                    @DefaultValue("0")
                    String after,
            @Parameter(description = "1 to 1000", schema = @Schema(type = SchemaType.INTEGER, defaultValue = "500"))
                    @QueryParam("limit")
                    @DefaultValue("500")
                    String limit)
            throws QueryUnavailableException, InterruptedException {
        Map<String, @Nullable String> query = Map.of(
                "namespace",
                namespace,
                "after",
                after.equals("0") ? after : "" + Parameters.number("after", after, Integer.MAX_VALUE),
                "limit",
                "" + Parameters.number("limit", limit, MAX_STEPS));
        // GET has no word for what is there and cannot be played
        AgentClient.Reply reply =
                agentService.change("GET", AgentClient.path("tasks", taskId, "replay"), query, new byte[0]);
        if (!reply.done()) {
            throw Refusals.of(reply.status(), reply.json());
        }
        return Response.ok(reply.json()).build();
    }

    @POST
    @Needs(Permission.WRITE)
    @Path("/fork")
    @Consumes(MediaType.APPLICATION_JSON)
    @Operation(
            summary = "Go on from an event of a task in another way",
            description =
                    "Starts a task of its own, in no session. Its model is shown what the origin's was shown up to there,"
                            + " with what the body changes; from there on its calls are really made. The origin stays as"
                            + " it is. A repeated request with the same id makes no second task.")
    @RequestBody(
            required = true,
            content = @Content(mediaType = MediaType.APPLICATION_JSON, schema = @Schema(implementation = Fork.class)))
    @APIResponse(
            responseCode = "202",
            description = "The fork is stored.",
            content = @Content(schema = @Schema(implementation = Task.Accepted.class)))
    @APIResponse(responseCode = "400", description = "bad_json, unknown_field, bad_field, bad_parameter")
    @APIResponse(responseCode = "404", description = "unknown_task")
    @APIResponse(
            responseCode = "409",
            description =
                    "fork_impossible: no model call to begin with; not_a_result: there is nothing to put the result"
                            + " in the place of; log_incomplete")
    @APIResponse(responseCode = "413", description = "body_too_large, event_too_large: what was said is too much")
    @APIResponse(responseCode = "415", description = "unsupported_media_type")
    @APIResponse(
            responseCode = "422",
            description = "unknown_agent (lists the known ones), unknown_event: none of the task, invalid_payload,"
                    + " log_too_long")
    @APIResponse(
            responseCode = "503",
            description = "query_unavailable, broker_unavailable: try again with the same id; too_many_bodies")
    public Response fork(
            @PathParam("taskId") String taskId,
            @QueryParam("namespace") @DefaultValue(Event.DEFAULT_NAMESPACE) String namespace,
            @Parameter(description = "The same as the field id.") @HeaderParam("Idempotency-Key") @Nullable
                    String idempotencyKey,
            InputStream body,
            @Context HttpHeaders headers)
            throws IOException, QueryUnavailableException, BrokerUnavailableException, EventTooLargeException,
                    InterruptedException {
        BodyReader.requireJson(headers);
        try (Bodies.Body read = intake.read(body, config.maxBodySize().asLongValue())) {
            Fork wanted = checked(BodyReader.read(read.bytes(), Fork.class));
            intake.requireAgent(wanted.agent(), namespace);
            AgentClient.Reply reply = agentService.change(
                    "POST",
                    AgentClient.path("tasks", taskId, "fork"),
                    Map.of("namespace", namespace),
                    Json.write(wanted));
            if (!reply.done()) {
                throw Refusals.of(reply.status(), reply.json());
            }
            String id = IdempotencyKey.or(wanted.id(), idempotencyKey);
            Event event = event(id == null ? Ids.random() : id, namespace, reply);
            intake.requireValid(event);
            intake.acceptWithTheMachines(event);
            Task.Links links = Task.Links.of(namespace, event.id());
            return Response.accepted(Json.writeText(new Task.Accepted(event.id(), event.id(), null, "accepted", links)))
                    .location(URI.create(links.self()))
                    .build();
        }
    }

    private Event event(String id, String namespace, AgentClient.Reply reply) throws QueryUnavailableException {
        Start start = new AgentClient.Answer(true, reply.json()).as(Start.class);
        try {
            return access.stamped(Event.root(id, KnownEventType.MESSAGE_RECEIVED, Instant.now())
                    .source("user")
                    .namespace(namespace)
                    .priority(start.priority())
                    .payload(start.payload())
                    .build());
        } catch (IllegalArgumentException e) {
            throw ProblemException.unreadable(e);
        }
    }

    /** What agent-service says of a fork: how it starts. */
    private record Start(int priority, JsonObject payload) {}

    private static Fork checked(Fork wanted) {
        BodyReader.text("fromEvent", wanted.fromEvent(), Ids.MAX_LENGTH);
        BodyReader.text("text", wanted.text(), Task.Request.MAX_TEXT);
        BodyReader.text("agent", wanted.agent(), Ids.MAX_LENGTH);
        BodyReader.text("model", wanted.model(), Ids.MAX_LENGTH);
        BodyReader.text("error", wanted.error(), Task.Request.MAX_TEXT);
        BodyReader.text("id", wanted.id(), Ids.MAX_LENGTH);
        if (wanted.result() != null && wanted.error() != null) {
            throw ProblemException.badField("error", "only one of result and error", wanted.error());
        }
        return wanted;
    }
}
