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

/**
 * What was accepted for one conversation. A class of its own: JAX-RS looks for a route in the class with the longest
 * path only.
 */
@Path("/v1/sessions/{sessionId}/queue")
@Produces(MediaType.APPLICATION_JSON)
@RunOnVirtualThread
@Tag(name = "Queue")
public class SessionQueueResource {

    private final QueueControls queue;
    private final Controls controls;

    @Inject
    SessionQueueResource(QueueControls queue, Controls controls) {
        this.queue = queue;
        this.controls = controls;
    }

    @GET
    @Needs(Permission.READ)
    @Operation(
            summary = "List what was accepted for a session",
            description = "The newest first, or in the order of work.")
    @APIResponse(responseCode = "200", content = @Content(schema = @Schema(implementation = QueueItem.Page.class)))
    @APIResponse(responseCode = "400", description = "bad_parameter")
    @APIResponse(responseCode = "503", description = "query_unavailable, broker_unavailable")
    public Response list(
            @PathParam("sessionId") String sessionId,
            @QueryParam("namespace") @DefaultValue(Event.DEFAULT_NAMESPACE) String namespace,
            @Parameter(
                            description = "Only those that are pending, processing, completed, failed, expired,"
                                    + " overwritten, cancelled or dead_letter.")
                    @QueryParam("status")
                    @Nullable
                    String status,
            @Parameter(
                            description = "work = what is pending, the next one first.",
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
                        sessionId,
                        Parameters.given(order),
                        Parameters.number("limit", limit, QueueResource.MAX_ITEMS),
                        Parameters.given(cursor))))
                .build();
    }

    @POST
    @Needs(value = Permission.WRITE, in = Needs.Scope.BODY)
    @Consumes(MediaType.APPLICATION_JSON)
    @Operation(
            summary = "Put an event into the queue of a session",
            description = "The same as POST /v1/events, in other words: a higher priority goes first.")
    @RequestBody(required = true, content = @Content(schema = @Schema(implementation = QueueItem.Request.class)))
    @APIResponse(responseCode = "202", content = @Content(schema = @Schema(implementation = QueueItem.Queued.class)))
    @APIResponse(responseCode = "400", description = "bad_json, unknown_field, bad_field")
    @APIResponse(responseCode = "403", description = "not_for_clients, not_permitted")
    @APIResponse(responseCode = "413", description = "body_too_large, event_too_large")
    @APIResponse(responseCode = "415", description = "unsupported_media_type")
    @APIResponse(responseCode = "422", description = "invalid_payload, unknown_agent")
    @APIResponse(responseCode = "503", description = "broker_unavailable, too_many_bodies")
    public Response put(@PathParam("sessionId") String sessionId, InputStream body, @Context HttpHeaders headers)
            throws IOException, BrokerUnavailableException, EventTooLargeException, InterruptedException {
        QueueItem.Request request = controls.body(body, headers, QueueItem.Request.class);
        return Response.accepted(Json.writeText(queue.put(sessionId, request))).build();
    }
}
