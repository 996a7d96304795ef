package dev.millrace.gateway.rest.tasks;

import dev.millrace.api.Entry;
import dev.millrace.gateway.access.Permission;
import dev.millrace.gateway.config.GatewayConfig;
import dev.millrace.gateway.kafka.BrokerUnavailableException;
import dev.millrace.gateway.kafka.EventTooLargeException;
import dev.millrace.gateway.query.Tasks;
import dev.millrace.gateway.query.Tasks.Found;
import dev.millrace.gateway.rest.access.Access;
import dev.millrace.gateway.rest.access.Needs;
import dev.millrace.gateway.rest.problems.ProblemException;
import dev.millrace.gateway.rest.requests.Bodies;
import dev.millrace.gateway.rest.requests.Parameters;
import dev.millrace.http.client.QueryUnavailableException;
import dev.millrace.schemas.Event;
import dev.millrace.schemas.Json;
import dev.millrace.schemas.Problem;
import io.smallrye.common.annotation.RunOnVirtualThread;
import jakarta.inject.Inject;
import jakarta.ws.rs.Consumes;
import jakarta.ws.rs.DefaultValue;
import jakarta.ws.rs.GET;
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
import org.eclipse.microprofile.openapi.annotations.enums.SchemaType;
import org.eclipse.microprofile.openapi.annotations.media.Content;
import org.eclipse.microprofile.openapi.annotations.media.Schema;
import org.eclipse.microprofile.openapi.annotations.parameters.Parameter;
import org.eclipse.microprofile.openapi.annotations.parameters.RequestBody;
import org.eclipse.microprofile.openapi.annotations.responses.APIResponse;
import org.eclipse.microprofile.openapi.annotations.tags.Tag;

/** Any event in, and what led to one. */
@Path("/v1/events")
@Produces(MediaType.APPLICATION_JSON)
@RunOnVirtualThread
@Tag(name = "Events", description = "Everything is an event: send any CloudEvent, and ask what led to one.")
public class EventsResource {
    private static final int MAX_CHAIN = 500;

    private final TaskIntake intake;
    private final Tasks tasks;
    private final Access access;
    private final GatewayConfig config;

    @Inject
    EventsResource(TaskIntake intake, Tasks tasks, Access access, GatewayConfig config) {
        this.access = access;
        this.intake = intake;
        this.tasks = tasks;
        this.config = config;
    }

    @POST
    @Needs(value = Permission.WRITE, in = Needs.Scope.BODY)
    @Consumes(MediaType.WILDCARD)
    @Operation(
            summary = "Send CloudEvents",
            description = "One event in binary mode (headers ce-id, ce-type, ce-source, ce-specversion; the body is the"
                    + " payload) or structured mode, or a batch. What workers and the machines themselves write is not taken"
                    + " here: its problem says where else. Of a batch all events are accepted or, if one is"
                    + " invalid, none. The same id a second time is accepted again and does nothing.")
    @RequestBody(
            required = true,
            content = {
                @Content(
                        mediaType = CloudEventRequest.STRUCTURED,
                        schema = @Schema(type = SchemaType.OBJECT, description = "A CloudEvent 1.0")),
                @Content(
                        mediaType = CloudEventRequest.BATCH,
                        schema = @Schema(type = SchemaType.ARRAY, description = "CloudEvents 1.0")),
                @Content(
                        mediaType = MediaType.APPLICATION_JSON,
                        schema = @Schema(type = SchemaType.OBJECT, description = "The payload, in binary mode"))
            })
    @APIResponse(
            responseCode = "202",
            description = "All are stored.",
            content = @Content(schema = @Schema(implementation = Entry.Accepted.class)))
    @APIResponse(responseCode = "400", description = "bad_json, not_a_cloud_event, unknown_field, bad_field")
    @APIResponse(
            responseCode = "403",
            description = "not_for_clients: workers and machines write it, over Kafka; not_permitted")
    @APIResponse(responseCode = "413", description = "body_too_large, event_too_large")
    @APIResponse(responseCode = "415", description = "unsupported_media_type")
    @APIResponse(responseCode = "422", description = "invalid_payload, unknown_agent (lists the known ones)")
    @APIResponse(
            responseCode = "503",
            description = "broker_unavailable: try again with the same ids; too_many_bodies: try again")
    public Response send(InputStream body, @Context HttpHeaders headers)
            throws IOException, BrokerUnavailableException, EventTooLargeException, InterruptedException {
        try (Bodies.Body read = intake.read(body, config.maxBodySize().asLongValue())) {
            List<Event> events = new CloudEventRequest(headers.getRequestHeaders(), read.bytes(), Instant.now())
                    .events(access.home()).stream().map(access::stamped).toList();
            for (Event event : events) {
                Permission needed = OutsideEvents.needs(event.type());
                if (OutsideEvents.concernsAll(event.type())) {
                    access.requireEverywhere(needed);
                } else {
                    access.require(event.namespace(), needed);
                }
            }
            events.forEach(OutsideEvents::requireTaken);
            events.forEach(OutsideEvents::requireKnownFields);
            events.forEach(intake::requireValid);
            for (Event event : events) {
                intake.requireAgent(event);
            }
            intake.accept(events);
            return Response.accepted(Json.writeText(
                            new Entry.Accepted(events.stream().map(Event::id).toList())))
                    .build();
        }
    }

    @GET
    @Needs(Permission.READ)
    @Path("/{eventId}/chain")
    @Operation(
            summary = "What led to an event",
            description =
                    "The events from the root to this one, each caused by the one before it. A long chain comes in"
                            + " pages, the one that ends with this event first.")
    @APIResponse(responseCode = "200", content = @Content(schema = @Schema(implementation = Entry.Chain.class)))
    @APIResponse(responseCode = "400", description = "bad_parameter")
    @APIResponse(responseCode = "404", description = "unknown_event")
    @APIResponse(responseCode = "503", description = "query_unavailable")
    public Response chain(
            @PathParam("eventId") String eventId,
            @QueryParam("namespace") @DefaultValue(Event.DEFAULT_NAMESPACE) String namespace,
            @Parameter(description = "1 to 500", schema = @Schema(type = SchemaType.INTEGER, defaultValue = "500"))
                    @QueryParam("limit")
                    @DefaultValue("500")
                    String limit,
            @Parameter(description = "What next said on the page before.") @QueryParam("cursor") @DefaultValue("")
                    String cursor)
            throws QueryUnavailableException, InterruptedException {
        String last = cursor.isBlank() ? eventId : cursor.strip();
        int most = Parameters.number("limit", limit, MAX_CHAIN);
        if (tasks.chain(namespace, last, most).orElse(null) instanceof Found.Known known) {
            return Response.ok(known.answer().json()).build();
        }
        throw new ProblemException(Problem.of(
                404,
                "unknown_event",
                "Unknown event",
                "There is no event " + last + " in the journal of the namespace " + namespace + "."));
    }
}
