package dev.millrace.gateway.rest.responses;

import dev.millrace.gateway.access.Permission;
import dev.millrace.gateway.config.GatewayConfig;
import dev.millrace.gateway.kafka.BrokerUnavailableException;
import dev.millrace.gateway.kafka.EventTooLargeException;
import dev.millrace.gateway.rest.access.Access;
import dev.millrace.gateway.rest.access.Needs;
import dev.millrace.gateway.rest.chat.ChatException;
import dev.millrace.gateway.rest.problems.ProblemException;
import dev.millrace.gateway.rest.requests.Bodies;
import dev.millrace.gateway.rest.requests.BodyReader;
import dev.millrace.gateway.rest.requests.IdempotencyKey;
import dev.millrace.gateway.rest.requests.Parameters;
import dev.millrace.gateway.rest.requests.Ttl;
import dev.millrace.gateway.rest.tasks.TaskIntake;
import dev.millrace.gateway.rest.turns.TurnFeed;
import dev.millrace.gateway.rest.turns.TurnInputs;
import dev.millrace.http.client.QueryUnavailableException;
import dev.millrace.schemas.Event;
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
import jakarta.ws.rs.Produces;
import jakarta.ws.rs.QueryParam;
import jakarta.ws.rs.core.Context;
import jakarta.ws.rs.core.HttpHeaders;
import jakarta.ws.rs.core.MediaType;
import jakarta.ws.rs.core.Response;
import java.io.IOException;
import java.io.InputStream;
import java.time.Instant;
import java.util.List;
import org.eclipse.microprofile.openapi.annotations.Operation;
import org.eclipse.microprofile.openapi.annotations.media.Content;
import org.eclipse.microprofile.openapi.annotations.media.Schema;
import org.eclipse.microprofile.openapi.annotations.parameters.Parameter;
import org.eclipse.microprofile.openapi.annotations.parameters.RequestBody;
import org.eclipse.microprofile.openapi.annotations.responses.APIResponse;
import org.eclipse.microprofile.openapi.annotations.tags.Tag;
import org.jboss.resteasy.reactive.server.ServerExceptionMapper;
import org.jspecify.annotations.Nullable;

/** Agents behind OpenAI's Responses: a response is a turn of a task, at any instance. docs/openai.md. */
@Path("/v1/responses")
@Produces(MediaType.APPLICATION_JSON)
@RunOnVirtualThread
@Tag(name = "OpenAI", description = "Agents as if they were models, for any client of OpenAI's API.")
public class ResponsesResource {
    private static final String NAMESPACE = "X-Namespace";
    private static final String TENANT = "The tenant. Absent = the caller's own.";

    private final ResponseTurns turns;
    private final ResponseRuns runs;
    private final TaskIntake intake;
    private final Access access;
    private final GatewayConfig config;

    @Inject
    ResponsesResource(ResponseTurns turns, ResponseRuns runs, TaskIntake intake, Access access, GatewayConfig config) {
        this.turns = turns;
        this.runs = runs;
        this.intake = intake;
        this.access = access;
        this.config = config;
    }

    @POST
    @Needs(value = Permission.WRITE, in = Needs.Scope.BODY)
    @Consumes(MediaType.WILDCARD) // another one is refused in the shape of OpenAI's errors
    @Operation(
            summary = "Have an agent respond, as OpenAI's clients ask a model",
            description =
                    "model is the name of an agent. conversation is a session; with previous_response_id the task of"
                            + " that response goes on. With background the answer is there at once, and the task goes on without"
                            + " its client. A decision about a tool call (mcp_approval_response) needs the permission approve"
                            + " as well. With stream the response comes as server-sent events.")
    @RequestBody(required = true, content = @Content(schema = @Schema(implementation = ResponseRequest.Body.class)))
    @APIResponse(responseCode = "200", content = @Content(schema = @Schema(implementation = ResponseView.class)))
    @APIResponse(responseCode = "400", description = "A field is wrong, or asks for what cannot be had.")
    @APIResponse(
            responseCode = "404",
            description = "model_not_found, response_not_found, item_not_found, unknown_approval")
    @APIResponse(responseCode = "409", description = "not_resumable, not_waiting, already_decided")
    @APIResponse(responseCode = "413", description = "body_too_large, event_too_large")
    @APIResponse(responseCode = "415", description = "unsupported_media_type")
    @APIResponse(responseCode = "429", description = "too_many_streams: of this client")
    @APIResponse(
            responseCode = "503",
            description = "broker_unavailable, query_unavailable, shutting_down, too_many_bodies, too_many_streams")
    @APIResponse(responseCode = "504", description = "timeout: the task took too long and is cancelled")
    public Response create(
            InputStream body,
            @Parameter(description = "The session, unless the field conversation names it.")
                    @HeaderParam("X-Session-Id")
                    @Nullable
                    String session,
            @Parameter(description = TENANT) @HeaderParam(NAMESPACE) @Nullable String namespace,
            @Parameter(description = "Your own id of the task that is started.")
                    @HeaderParam(IdempotencyKey.HEADER)
                    @Nullable
                    String key,
            @Parameter(description = Ttl.DESCRIPTION) @HeaderParam(Ttl.HEADER) @Nullable String ttl,
            @Context HttpHeaders headers,
            @Context HttpServerRequest http)
            throws IOException, InterruptedException, BrokerUnavailableException, EventTooLargeException,
                    QueryUnavailableException {
        BodyReader.requireJson(headers);
        ResponseTurns.Origin origin = new ResponseTurns.Origin(
                access.namespace(Parameters.given(namespace)),
                Parameters.given(session),
                IdempotencyKey.or(null, key),
                Ttl.expiry(Instant.now(), ttl),
                headers.getHeaderString("traceparent"),
                headers.getHeaderString("tracestate"));
        ResponseRequest request;
        ResponseStory.Asked asked;
        try (Bodies.Body read = intake.read(body, config.openai().maxBodySize().asLongValue())) {
            request = ResponseRequest.of(read.bytes());
            intake.requireAgent(request.model(), origin.namespace());
            List<Event> events = turns.events(request, origin);
            events.forEach(intake::requireValid);
            asked = new ResponseStory.Asked(
                    events.getLast(), request.model(), request.background(), request.previous(), request.metadata());
            Response stream = request.stream() ? runs.stream(asked, -1, http) : null;
            send(events); // once there is a place for the stream
            if (stream != null) {
                return stream;
            }
        }
        return request.background()
                ? ok(new ResponseStory(asked, event -> {}).view())
                : runs.whole(asked, http.response());
    }

    private void send(List<Event> events) throws EventTooLargeException {
        try {
            intake.accept(events);
        } catch (BrokerUnavailableException e) {
            throw ChatException.uncertain(e);
        }
    }

    @GET
    @Needs(value = Permission.READ, in = Needs.Scope.BODY)
    @Path("{id}")
    @Operation(
            summary = "A response as it stands",
            description =
                    "At any instance, as long as the journal has it. With stream its events follow from the first one on, or"
                            + " behind starting_after: the sequence numbers are the same at every instance.")
    @APIResponse(responseCode = "200", content = @Content(schema = @Schema(implementation = ResponseView.class)))
    @APIResponse(responseCode = "404", description = "response_not_found")
    @APIResponse(responseCode = "503", description = "query_unavailable, too_many_streams")
    public Response response(
            @PathParam("id") String id,
            @Parameter(description = "Whether its events are to follow.") @QueryParam("stream") @Nullable String stream,
            @Parameter(description = "The sequence_number of the last event that you have seen.")
                    @QueryParam("starting_after")
                    @Nullable
                    String startingAfter,
            @Parameter(description = TENANT) @HeaderParam(NAMESPACE) @Nullable String namespace,
            @Context HttpServerRequest http)
            throws QueryUnavailableException, InterruptedException {
        Event begin = turns.begin(access.namespace(Parameters.given(namespace)), id);
        if (!Parameters.flag(stream)) {
            return ok(turns.view(begin));
        }
        return runs.stream(ResponseStory.Asked.before(begin), after(startingAfter), http);
    }

    private static long after(@Nullable String given) {
        try {
            return given == null || given.isBlank() ? -1 : Long.parseLong(given.strip());
        } catch (NumberFormatException e) {
            throw ChatException.invalid(
                    "invalid_value", "starting_after", "expected a sequence_number, found something else");
        }
    }

    @POST
    @Needs(value = Permission.WRITE, in = Needs.Scope.BODY)
    @Path("{id}/cancel")
    @Consumes(MediaType.WILDCARD)
    @Operation(
            summary = "Cancel the task of a response",
            description = "Answers with the response as it then stands. One that is over stays as it is.")
    @APIResponse(responseCode = "200", content = @Content(schema = @Schema(implementation = ResponseView.class)))
    @APIResponse(responseCode = "404", description = "response_not_found")
    @APIResponse(responseCode = "503", description = "query_unavailable, broker_unavailable")
    public Response cancel(
            @PathParam("id") String id,
            @Parameter(description = TENANT) @HeaderParam(NAMESPACE) @Nullable String namespace)
            throws QueryUnavailableException, InterruptedException, BrokerUnavailableException, EventTooLargeException {
        Event begin = turns.begin(access.namespace(Parameters.given(namespace)), id);
        ResponseView view = turns.view(begin);
        if (view.isOver()) {
            return ok(view);
        }
        intake.accept(List.of(access.stamped(
                TurnInputs.cancel(begin, TurnFeed.taskOf(begin), "its client has cancelled the response"))));
        return ok(runs.cancelled(begin));
    }

    private static Response ok(ResponseView view) {
        return Response.ok(Json.writeText(view)).build();
    }

    @ServerExceptionMapper
    Response refused(ChatException e) {
        return e.response();
    }

    @ServerExceptionMapper
    Response refused(ProblemException e) {
        return ChatException.of(e).response();
    }

    @ServerExceptionMapper
    Response unavailable(BrokerUnavailableException e) {
        return ChatException.of(e).response();
    }

    @ServerExceptionMapper
    Response unavailable(QueryUnavailableException e) {
        return ChatException.refused(503, "query_unavailable", String.valueOf(e.getMessage()))
                .response();
    }

    @ServerExceptionMapper
    Response tooLarge(EventTooLargeException e) {
        return ChatException.of(e).response();
    }

    @ServerExceptionMapper
    Response interrupted(InterruptedException e) {
        return ChatException.stopping().response();
    }
}
