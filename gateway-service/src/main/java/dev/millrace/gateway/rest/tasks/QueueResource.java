package dev.millrace.gateway.rest.tasks;

import dev.millrace.api.QueueItem;
import dev.millrace.gateway.access.Permission;
import dev.millrace.gateway.kafka.BrokerUnavailableException;
import dev.millrace.gateway.kafka.EventTooLargeException;
import dev.millrace.gateway.rest.access.Needs;
import dev.millrace.gateway.rest.requests.Parameters;
import dev.millrace.http.client.QueryUnavailableException;
import dev.millrace.schemas.Event;
import dev.millrace.schemas.Json;
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
import org.eclipse.microprofile.openapi.annotations.Operation;
import org.eclipse.microprofile.openapi.annotations.enums.SchemaType;
import org.eclipse.microprofile.openapi.annotations.media.Content;
import org.eclipse.microprofile.openapi.annotations.media.Schema;
import org.eclipse.microprofile.openapi.annotations.parameters.Parameter;
import org.eclipse.microprofile.openapi.annotations.parameters.RequestBody;
import org.eclipse.microprofile.openapi.annotations.responses.APIResponse;
import org.eclipse.microprofile.openapi.annotations.tags.Tag;
import org.jspecify.annotations.Nullable;

/** What was accepted, and how far it is. */
@Path("/v1/queue")
@Produces(MediaType.APPLICATION_JSON)
@RunOnVirtualThread
@Tag(name = "Queue", description = "Events that were accepted, as items of a queue.")
public class QueueResource {

    static final int MAX_ITEMS = 200;

    private final QueueControls queue;
    private final Controls controls;

    @Inject
    QueueResource(QueueControls queue, Controls controls) {
        this.queue = queue;
        this.controls = controls;
    }

    @GET
    @Needs(Permission.READ)
    @Operation(
            summary = "List what was accepted",
            description =
                    "The newest first, or in the order of work. Dead letters are listed for status=dead_letter only, which"
                            + " needs admin too; what is of no namespace is told by /v1/dead-letters.")
    @APIResponse(responseCode = "200", content = @Content(schema = @Schema(implementation = QueueItem.Page.class)))
    @APIResponse(responseCode = "400", description = "bad_parameter")
    @APIResponse(responseCode = "503", description = "query_unavailable, broker_unavailable")
    public Response list(
            @QueryParam("namespace") @DefaultValue(Event.DEFAULT_NAMESPACE) String namespace,
            @Parameter(
                            description = "Only those that are pending, processing, completed, failed, expired,"
                                    + " overwritten, cancelled or dead_letter.")
                    @QueryParam("status")
                    @Nullable
                    String status,
            @Parameter(description = "Only those of one session.") @QueryParam("sessionId") @Nullable String sessionId,
            @Parameter(
                            description = "work = what is pending in a session, the next one first; needs sessionId.",
                            schema =
                                    @Schema(
                                            enumeration = {"newest", "work"},
                                            defaultValue = "newest"))
                    @QueryParam("order")
                    @Nullable
                    String order,
            @Parameter(description = "1 to 200", schema = @Schema(type = SchemaType.INTEGER, defaultValue = "50"))
                    @QueryParam("limit")
                    @DefaultValue("50")
                    String limit,
            @Parameter(description = "What next said on the page before.") @QueryParam("cursor") @Nullable
                    String cursor)
            throws QueryUnavailableException, BrokerUnavailableException, InterruptedException {
        return Response.ok(queue.page(new QueueControls.Wanted(
                        namespace,
                        Parameters.given(status),
                        Parameters.given(sessionId),
                        Parameters.given(order),
                        Parameters.number("limit", limit, MAX_ITEMS),
                        Parameters.given(cursor))))
                .build();
    }

    @GET
    @Needs(Permission.READ)
    @Path("/{eventId}")
    @Operation(
            summary = "How far one event is",
            description =
                    "Of a task that it has started, or of its own; what was not taken is looked for among the dead"
                            + " letters, as many of the newest as can be read in time.")
    @APIResponse(responseCode = "200", content = @Content(schema = @Schema(implementation = QueueItem.class)))
    @APIResponse(responseCode = "404", description = "unknown_event")
    @APIResponse(responseCode = "503", description = "query_unavailable, broker_unavailable")
    public Response item(
            @PathParam("eventId") String eventId,
            @QueryParam("namespace") @DefaultValue(Event.DEFAULT_NAMESPACE) String namespace)
            throws QueryUnavailableException, BrokerUnavailableException, InterruptedException {
        return Response.ok(Json.writeText(queue.item(namespace, eventId))).build();
    }

    @POST
    @Needs(Permission.WRITE)
    @Path("/{eventId}/retry")
    @Consumes(MediaType.WILDCARD)
    @Operation(
            summary = "Try what has failed again",
            description = "Sends the event once more, with another payload if the body has one, as an event that the"
                    + " failed one has led to. What only the machines say, such as what a fork goes on from, stays as it"
                    + " was. One failure is tried again once: asking a second time changes nothing.")
    @RequestBody(content = @Content(schema = @Schema(implementation = QueueItem.Retry.class)))
    @APIResponse(responseCode = "202", content = @Content(schema = @Schema(implementation = QueueItem.Queued.class)))
    @APIResponse(responseCode = "400", description = "bad_json, unknown_field, bad_field")
    @APIResponse(responseCode = "404", description = "unknown_event")
    @APIResponse(
            responseCode = "409",
            description = "not_failed; part_of_a_task: another task waited for its answer, try that one again")
    @APIResponse(responseCode = "413", description = "body_too_large, event_too_large")
    @APIResponse(responseCode = "422", description = "invalid_payload, unknown_agent")
    @APIResponse(responseCode = "503", description = "query_unavailable, broker_unavailable, too_many_bodies")
    public Response retry(
            @PathParam("eventId") String eventId,
            @QueryParam("namespace") @DefaultValue(Event.DEFAULT_NAMESPACE) String namespace,
            InputStream body,
            @Context HttpHeaders headers)
            throws IOException, QueryUnavailableException, BrokerUnavailableException, EventTooLargeException,
                    InterruptedException {
        QueueItem.Retry request = controls.body(body, headers, QueueItem.Retry.class);
        return Response.accepted(Json.writeText(queue.retry(namespace, eventId, request.payload())))
                .build();
    }
}
