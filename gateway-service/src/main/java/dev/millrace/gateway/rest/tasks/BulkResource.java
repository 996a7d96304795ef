package dev.millrace.gateway.rest.tasks;

import dev.millrace.api.TaskBulk;
import dev.millrace.gateway.access.Permission;
import dev.millrace.gateway.kafka.BrokerUnavailableException;
import dev.millrace.gateway.kafka.EventTooLargeException;
import dev.millrace.gateway.rest.access.Needs;
import dev.millrace.http.client.QueryUnavailableException;
import dev.millrace.schemas.Event;
import dev.millrace.schemas.Json;
import io.smallrye.common.annotation.RunOnVirtualThread;
import jakarta.inject.Inject;
import jakarta.ws.rs.Consumes;
import jakarta.ws.rs.DefaultValue;
import jakarta.ws.rs.POST;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.Produces;
import jakarta.ws.rs.QueryParam;
import jakarta.ws.rs.core.Context;
import jakarta.ws.rs.core.HttpHeaders;
import jakarta.ws.rs.core.MediaType;
import jakarta.ws.rs.core.Response;
import java.io.IOException;
import java.io.InputStream;
import org.eclipse.microprofile.openapi.annotations.Operation;
import org.eclipse.microprofile.openapi.annotations.media.Content;
import org.eclipse.microprofile.openapi.annotations.media.Schema;
import org.eclipse.microprofile.openapi.annotations.parameters.RequestBody;
import org.eclipse.microprofile.openapi.annotations.responses.APIResponse;
import org.eclipse.microprofile.openapi.annotations.tags.Tag;

/** One thing that is done with many tasks. */
@Path("/v1/tasks")
@Produces(MediaType.APPLICATION_JSON)
@RunOnVirtualThread
@Tag(name = "Tasks")
public class BulkResource {
    private final BulkControls bulk;
    private final Controls controls;

    @Inject
    BulkResource(BulkControls bulk, Controls controls) {
        this.bulk = bulk;
        this.controls = controls;
    }

    @POST
    @Needs(Permission.WRITE)
    @Path("/bulk")
    @Consumes(MediaType.WILDCARD)
    @Operation(
            summary = "Cancel, suspend or resume many tasks",
            description =
                    "Those with these ids, or else all that a filter matches, 200 at a time: with next the call goes on"
                            + " where it ended. Each has an outcome of its own, by the rules of the routes for one task. With"
                            + " dryRun nothing is done, and the answer says how many are meant and what would become of the"
                            + " first ones. The header Idempotency-Key is your own id of the request.")
    @RequestBody(required = true, content = @Content(schema = @Schema(implementation = TaskBulk.Request.class)))
    @APIResponse(
            responseCode = "202",
            description = "The requests that were possible are stored.",
            content = @Content(schema = @Schema(implementation = TaskBulk.Outcome.class)))
    @APIResponse(
            responseCode = "200",
            description = "Only with dryRun: nothing was done.",
            content = @Content(schema = @Schema(implementation = TaskBulk.Outcome.class)))
    @APIResponse(responseCode = "400", description = "bad_json, unknown_field, bad_field, bad_parameter")
    @APIResponse(
            responseCode = "503",
            description = "query_unavailable; broker_unavailable: some of the requests may be stored")
    public Response bulk(
            @QueryParam("namespace") @DefaultValue(Event.DEFAULT_NAMESPACE) String namespace,
            InputStream body,
            @Context HttpHeaders headers)
            throws IOException, QueryUnavailableException, BrokerUnavailableException, EventTooLargeException,
                    InterruptedException {
        TaskBulk.Outcome outcome = bulk.run(namespace, controls.body(body, headers, TaskBulk.Request.class), headers);
        return Response.status(outcome.dryRun() ? 200 : 202)
                .entity(Json.writeText(outcome))
                .build();
    }
}
