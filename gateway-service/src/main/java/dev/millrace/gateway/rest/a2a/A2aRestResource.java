package dev.millrace.gateway.rest.a2a;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.millrace.gateway.access.Permission;
import dev.millrace.gateway.config.GatewayConfig;
import dev.millrace.gateway.kafka.BrokerUnavailableException;
import dev.millrace.gateway.kafka.EventTooLargeException;
import dev.millrace.gateway.rest.access.Access;
import dev.millrace.gateway.rest.access.Needs;
import dev.millrace.gateway.rest.problems.ProblemException;
import dev.millrace.gateway.rest.problems.ProblemMappers;
import dev.millrace.gateway.rest.requests.Bodies;
import dev.millrace.gateway.rest.requests.BodyReader;
import dev.millrace.gateway.rest.requests.Parameters;
import dev.millrace.gateway.rest.tasks.TaskIntake;
import dev.millrace.http.client.BadQueryException;
import dev.millrace.http.client.QueryUnavailableException;
import dev.millrace.schemas.Json;
import io.smallrye.common.annotation.RunOnVirtualThread;
import io.vertx.core.http.HttpServerRequest;
import jakarta.inject.Inject;
import jakarta.ws.rs.Consumes;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.HeaderParam;
import jakarta.ws.rs.POST;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.PathParam;
import jakarta.ws.rs.QueryParam;
import jakarta.ws.rs.core.Context;
import jakarta.ws.rs.core.HttpHeaders;
import jakarta.ws.rs.core.MediaType;
import jakarta.ws.rs.core.Response;
import jakarta.ws.rs.core.UriInfo;
import java.io.IOException;
import java.io.InputStream;
import org.eclipse.microprofile.openapi.annotations.Operation;
import org.eclipse.microprofile.openapi.annotations.media.Content;
import org.eclipse.microprofile.openapi.annotations.media.Schema;
import org.eclipse.microprofile.openapi.annotations.parameters.Parameter;
import org.eclipse.microprofile.openapi.annotations.parameters.RequestBody;
import org.eclipse.microprofile.openapi.annotations.responses.APIResponse;
import org.eclipse.microprofile.openapi.annotations.tags.Tag;
import org.jboss.resteasy.reactive.server.ServerExceptionMapper;
import org.jspecify.annotations.Nullable;

/** A2A by plain HTTP and JSON, at any instance. docs/a2a.md. */
@Path("/a2a/{agent}")
@RunOnVirtualThread
@Tag(name = "A2A", description = "Agents for clients that speak A2A.")
public class A2aRestResource {
    private static final String NAMESPACE = "X-Namespace";
    private static final String TENANT = "The tenant. Absent = the caller's own.";
    private static final String UNKNOWN = "TASK_NOT_FOUND; unknown_agent";
    private static final String AWAY = "broker_unavailable, query_unavailable, too_many_bodies, too_many_streams";
    private static final String MEDIA_TYPE = "application/a2a+json";

    private final A2aDoor door;
    private final A2aRuns runs;
    private final TaskIntake intake;
    private final Access access;
    private final GatewayConfig config;

    @Inject
    A2aRestResource(A2aDoor door, A2aRuns runs, TaskIntake intake, Access access, GatewayConfig config) {
        this.door = door;
        this.runs = runs;
        this.intake = intake;
        this.access = access;
        this.config = config;
    }

    @POST
    @Needs(value = Permission.WRITE, in = Needs.Scope.BODY)
    @Path("message:send")
    @Consumes(MediaType.WILDCARD)
    @Operation(
            summary = "Send an agent a message",
            description =
                    "The answer comes once the task has ended or needs somebody, or as it is after millrace.gateway.max-wait."
                            + " Decisions about tool calls need the permission approve as well.")
    @RequestBody(required = true, content = @Content(schema = @Schema(implementation = A2aSend.Body.class)))
    @APIResponse(responseCode = "200", content = @Content(schema = @Schema(implementation = A2aTask.Sent.class)))
    @APIResponse(responseCode = "400", description = "INVALID_PARAMS, UNSUPPORTED_OPERATION, VERSION_NOT_SUPPORTED")
    @APIResponse(responseCode = "404", description = UNKNOWN)
    @APIResponse(responseCode = "413", description = "body_too_large, event_too_large")
    @APIResponse(responseCode = "415", description = "CONTENT_TYPE_NOT_SUPPORTED; unsupported_media_type")
    @APIResponse(responseCode = "503", description = AWAY)
    public Response send(
            @PathParam("agent") String agent,
            InputStream body,
            @Parameter(description = TENANT) @HeaderParam(NAMESPACE) @Nullable String tenant,
            @HeaderParam(A2aRequest.VERSION) @Nullable String version,
            @Context HttpHeaders headers,
            @Context HttpServerRequest http)
            throws IOException, InterruptedException, QueryUnavailableException, BrokerUnavailableException,
                    EventTooLargeException {
        A2aDoor.Place place = place(agent, tenant, version);
        A2aSend send = read(body, headers);
        return ok(new A2aTask.Sent(runs.begin(door.turn(send, place), send.waits(), http)));
    }

    @POST
    @Needs(value = Permission.WRITE, in = Needs.Scope.BODY)
    @Path("message:stream")
    @Consumes(MediaType.WILDCARD)
    @Operation(summary = "Send an agent a message, and hear what becomes of it", description = "See message:send.")
    @RequestBody(required = true, content = @Content(schema = @Schema(implementation = A2aSend.Body.class)))
    @APIResponse(responseCode = "200", description = "Server-sent events, each a StreamResponse.")
    @APIResponse(responseCode = "400", description = "INVALID_PARAMS, UNSUPPORTED_OPERATION, VERSION_NOT_SUPPORTED")
    @APIResponse(responseCode = "404", description = UNKNOWN)
    @APIResponse(responseCode = "413", description = "body_too_large, event_too_large")
    @APIResponse(responseCode = "415", description = "CONTENT_TYPE_NOT_SUPPORTED; unsupported_media_type")
    @APIResponse(responseCode = "429", description = "too_many_streams: of this client")
    @APIResponse(responseCode = "503", description = AWAY)
    public Response stream(
            @PathParam("agent") String agent,
            InputStream body,
            @Parameter(description = TENANT) @HeaderParam(NAMESPACE) @Nullable String tenant,
            @HeaderParam(A2aRequest.VERSION) @Nullable String version,
            @Context HttpHeaders headers,
            @Context HttpServerRequest http)
            throws IOException, InterruptedException, QueryUnavailableException, BrokerUnavailableException,
                    EventTooLargeException {
        A2aDoor.Place place = place(agent, tenant, version);
        return runs.stream(door.turn(read(body, headers), place), update -> update, http);
    }

    private A2aSend read(InputStream body, HttpHeaders headers) throws IOException, InterruptedException {
        BodyReader.requireJson(headers, MEDIA_TYPE);
        try (Bodies.Body read = intake.read(body, config.maxBodySize().asLongValue())) {
            ObjectNode json = BodyReader.object(read.bytes());
            return A2aSend.of(json);
        }
    }

    @GET
    @Needs(value = Permission.READ, in = Needs.Scope.BODY)
    @Path("tasks")
    @Operation(summary = "Tasks of an agent", description = "Newest first. A page may have fewer than were asked for.")
    @APIResponse(responseCode = "200", content = @Content(schema = @Schema(implementation = A2aTask.Page.class)))
    @APIResponse(responseCode = "400", description = "INVALID_PARAMS, VERSION_NOT_SUPPORTED")
    @APIResponse(responseCode = "404", description = "unknown_agent")
    @APIResponse(responseCode = "503", description = "query_unavailable")
    public Response list(
            @PathParam("agent") String agent,
            @Parameter(description = TENANT) @HeaderParam(NAMESPACE) @Nullable String tenant,
            @HeaderParam(A2aRequest.VERSION) @Nullable String version,
            @QueryParam("contextId") @Nullable String contextId,
            @QueryParam("status") @Nullable String status,
            @QueryParam("pageSize") @Nullable String pageSize,
            @QueryParam("pageToken") @Nullable String pageToken,
            @Parameter(hidden = true) @QueryParam("historyLength") @Nullable String historyLength,
            @Parameter(hidden = true) @QueryParam("statusTimestampAfter") @Nullable String statusTimestampAfter,
            @QueryParam("includeArtifacts") @Nullable String includeArtifacts)
            throws QueryUnavailableException, InterruptedException {
        String size = Parameters.given(pageSize);
        return ok(door.list(
                place(agent, tenant, version),
                A2aRequest.listing(
                        contextId,
                        status,
                        size == null ? null : Parameters.number("pageSize", size, A2aTasks.MAX_PAGE),
                        pageToken,
                        statusTimestampAfter,
                        Parameters.flag(includeArtifacts))));
    }

    @GET
    @Needs(value = Permission.READ, in = Needs.Scope.BODY)
    @Path("tasks/{id}")
    @Operation(summary = "A task as it stands", description = "Without history: that is the session's.")
    @APIResponse(responseCode = "200", content = @Content(schema = @Schema(implementation = A2aTask.class)))
    @APIResponse(responseCode = "404", description = UNKNOWN)
    @APIResponse(responseCode = "503", description = "query_unavailable")
    public Response task(
            @PathParam("agent") String agent,
            @PathParam("id") String id,
            @Parameter(hidden = true) @QueryParam("historyLength") @Nullable String historyLength,
            @Parameter(description = TENANT) @HeaderParam(NAMESPACE) @Nullable String tenant,
            @HeaderParam(A2aRequest.VERSION) @Nullable String version)
            throws QueryUnavailableException, InterruptedException {
        return ok(door.task(place(agent, tenant, version), id));
    }

    @POST
    @Needs(value = Permission.WRITE, in = Needs.Scope.BODY)
    @Path("tasks/{id}:cancel")
    @Consumes(MediaType.WILDCARD)
    @Operation(summary = "Cancel a task", description = "Answers with the task as it then stands.")
    @APIResponse(responseCode = "200", content = @Content(schema = @Schema(implementation = A2aTask.class)))
    @APIResponse(responseCode = "404", description = UNKNOWN)
    @APIResponse(responseCode = "409", description = "TASK_NOT_CANCELABLE")
    @APIResponse(responseCode = "503", description = "broker_unavailable, query_unavailable")
    public Response cancel(
            @PathParam("agent") String agent,
            @PathParam("id") String id,
            @Parameter(description = TENANT) @HeaderParam(NAMESPACE) @Nullable String tenant,
            @HeaderParam(A2aRequest.VERSION) @Nullable String version)
            throws QueryUnavailableException, InterruptedException, BrokerUnavailableException, EventTooLargeException {
        return ok(door.cancel(place(agent, tenant, version), id));
    }

    @GET
    @Needs(value = Permission.READ, in = Needs.Scope.BODY)
    @Path("tasks/{id}:subscribe")
    @Operation(
            summary = "What becomes of a task",
            description = "From the beginning of what it is at, at any instance, until it ends or needs somebody.")
    @APIResponse(responseCode = "200", description = "Server-sent events, each a StreamResponse.")
    @APIResponse(responseCode = "400", description = "UNSUPPORTED_OPERATION: it has ended; VERSION_NOT_SUPPORTED")
    @APIResponse(responseCode = "404", description = UNKNOWN)
    @APIResponse(responseCode = "429", description = "too_many_streams: of this client")
    @APIResponse(responseCode = "503", description = "query_unavailable, too_many_streams")
    public Response subscribe(
            @PathParam("agent") String agent,
            @PathParam("id") String id,
            @Parameter(description = TENANT) @HeaderParam(NAMESPACE) @Nullable String tenant,
            @HeaderParam(A2aRequest.VERSION) @Nullable String version,
            @Context HttpServerRequest http)
            throws QueryUnavailableException, InterruptedException {
        return follow(place(agent, tenant, version), id, http);
    }

    @POST
    @Needs(value = Permission.WRITE, in = Needs.Scope.BODY)
    @Path("tasks/{id}:subscribe")
    @Consumes(MediaType.WILDCARD)
    @Operation(summary = "The same, as some clients ask for it", description = "Needs the permission read as well.")
    @APIResponse(responseCode = "200", description = "Server-sent events, each a StreamResponse.")
    @APIResponse(responseCode = "400", description = "UNSUPPORTED_OPERATION: it has ended; VERSION_NOT_SUPPORTED")
    @APIResponse(responseCode = "404", description = UNKNOWN)
    @APIResponse(responseCode = "429", description = "too_many_streams: of this client")
    @APIResponse(responseCode = "503", description = "query_unavailable, too_many_streams")
    public Response subscribeByPost(
            @PathParam("agent") String agent,
            @PathParam("id") String id,
            @Parameter(description = TENANT) @HeaderParam(NAMESPACE) @Nullable String tenant,
            @HeaderParam(A2aRequest.VERSION) @Nullable String version,
            @Context HttpServerRequest http)
            throws QueryUnavailableException, InterruptedException {
        return follow(door.readable(place(agent, tenant, version)), id, http);
    }

    private Response follow(A2aDoor.Place place, String id, HttpServerRequest http)
            throws QueryUnavailableException, InterruptedException {
        return runs.follow(door.current(place, id), update -> update, http);
    }

    private A2aDoor.Place place(String agent, @Nullable String tenant, @Nullable String version)
            throws QueryUnavailableException, InterruptedException {
        String namespace = access.namespace(Parameters.given(tenant));
        A2aRequest.requireVersion(version);
        return door.place(agent, namespace);
    }

    private static Response ok(Object answer) {
        return Response.ok(Json.writeText(answer), MediaType.APPLICATION_JSON_TYPE)
                .build();
    }

    @ServerExceptionMapper
    Response refused(A2aFault e) {
        return e.response();
    }

    @ServerExceptionMapper
    Response refused(BadQueryException e) {
        return new A2aFault(A2aFault.Reason.INVALID_PARAMS, String.valueOf(e.getMessage())).response();
    }

    @ServerExceptionMapper
    Response refused(ProblemException e, UriInfo uri) {
        return A2aFault.of(e)
                .map(A2aFault::response)
                .orElseGet(() -> ProblemMappers.response(e.problem(), e.retryAfter(), uri));
    }
}
