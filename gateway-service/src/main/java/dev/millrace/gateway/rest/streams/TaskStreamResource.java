package dev.millrace.gateway.rest.streams;

import dev.millrace.api.Entry;
import dev.millrace.gateway.access.Permission;
import dev.millrace.gateway.config.GatewayConfig;
import dev.millrace.gateway.kafka.EventStreams;
import dev.millrace.gateway.kafka.Places;
import dev.millrace.gateway.query.Tasks;
import dev.millrace.gateway.query.Tasks.Found;
import dev.millrace.gateway.rest.access.Needs;
import dev.millrace.gateway.rest.problems.ProblemException;
import dev.millrace.gateway.rest.requests.Parameters;
import dev.millrace.gateway.rest.tasks.TaskWaiter;
import dev.millrace.http.client.QueryUnavailableException;
import dev.millrace.schemas.Event;
import io.smallrye.common.annotation.Blocking;
import io.smallrye.common.annotation.RunOnVirtualThread;
import io.smallrye.mutiny.Multi;
import io.vertx.core.http.HttpServerRequest;
import jakarta.inject.Inject;
import jakarta.ws.rs.BeanParam;
import jakarta.ws.rs.DefaultValue;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.PathParam;
import jakarta.ws.rs.Produces;
import jakarta.ws.rs.QueryParam;
import jakarta.ws.rs.WebApplicationException;
import jakarta.ws.rs.core.Context;
import jakarta.ws.rs.core.MediaType;
import jakarta.ws.rs.core.Response;
import jakarta.ws.rs.sse.OutboundSseEvent;
import org.eclipse.microprofile.openapi.annotations.Operation;
import org.eclipse.microprofile.openapi.annotations.media.Content;
import org.eclipse.microprofile.openapi.annotations.media.Schema;
import org.eclipse.microprofile.openapi.annotations.parameters.Parameter;
import org.eclipse.microprofile.openapi.annotations.responses.APIResponse;
import org.eclipse.microprofile.openapi.annotations.tags.Tag;
import org.jspecify.annotations.Nullable;

/** The events of a task as they happen, as server-sent events. */
@Path("/v1/tasks/{taskId}/stream")
@Blocking // else a Multi counts as non-blocking, and the next annotation as a mistake
@RunOnVirtualThread
@Tag(name = "Streams", description = "Events as they happen (server-sent events).")
public class TaskStreamResource {
    private final Tasks tasks;
    private final EventStreams streams;
    private final OpenStreams open;
    private final TaskWaiter waiter;
    private final GatewayConfig config;

    @Inject
    TaskStreamResource(Tasks tasks, EventStreams streams, OpenStreams open, TaskWaiter waiter, GatewayConfig config) {
        this.waiter = waiter;
        this.tasks = tasks;
        this.streams = streams;
        this.open = open;
        this.config = config;
    }

    @GET
    @Needs(Permission.READ)
    @Produces(MediaType.SERVER_SENT_EVENTS)
    @Operation(
            summary = "The events of a task as they happen",
            description =
                    "Begins with the first event of the task and ends after the one that ends it. event: is the type,"
                            + " data: a JournalEntry, id: its cursor. A client that comes back with Last-Event-ID (or ?after=)"
                            + " goes on behind it, without a gap or a double, at any instance; 204 tells it that there will be"
                            + " no more of what it wants to see. A comment every 15 s of silence keeps the connection open. With tokens=stream live text"
                            + " comes in between: what the model says while it says it, as stream.start, stream.text and so on"
                            + " (docs/streaming.md); with tokens=plain as TOKEN. The reply of a call is told after its live text.")
    @APIResponse(
            responseCode = "200",
            content =
                    @Content(mediaType = MediaType.SERVER_SENT_EVENTS, schema = @Schema(implementation = Entry.class)))
    @APIResponse(responseCode = "204", description = "The task has ended and the client has seen all of these types.")
    @APIResponse(responseCode = "400", description = "bad_parameter")
    @APIResponse(responseCode = "404", description = "unknown_task")
    @APIResponse(responseCode = "429", description = "too_many_streams: of this client")
    @APIResponse(responseCode = "503", description = "query_unavailable, too_many_streams")
    public Multi<OutboundSseEvent> task(
            @PathParam("taskId") String taskId,
            @QueryParam("namespace") @DefaultValue(Event.DEFAULT_NAMESPACE) String namespace,
            @Parameter(description = LiveTextView.TOKENS) @QueryParam("tokens") @Nullable String tokens,
            @Parameter(description = "Only these types, separated by commas; the stream ends all the same.")
                    @QueryParam("types")
                    @Nullable
                    String types,
            @Parameter(description = "Goes on after the task has ended: it may be resumed.")
                    @QueryParam("follow")
                    @Nullable
                    String follow,
            @BeanParam SeenParameters seen,
            @Context HttpServerRequest request)
            throws QueryUnavailableException, InterruptedException {
        Places from = seen.places();
        TaskStream stream = new TaskStream(
                new TaskStream.Name(namespace, taskId),
                from,
                Parameters.flag(follow),
                LiveTextView.of(tokens, types),
                new TaskStream.Sources(tasks, streams, config.produceTimeout()));
        if (from != null
                && !(from.next().size() == 1
                        && streams.partitions().containsAll(from.next().keySet()))) {
            throw seen.refused();
        }
        Found found =
                tasks.task(namespace, taskId, null).orElseThrow(() -> ProblemException.unknownTask(namespace, taskId));
        if (from != null) {
            EventStream.requireReached(from, seen, streams, config.produceTimeout());
            int partition = waiter.partitionOf(found);
            if (!from.next().containsKey(partition)) {
                throw seen.refused("an id of this task's stream (its partition is " + partition + ")");
            }
        }
        if (stream.isOver()) {
            throw new WebApplicationException(Response.noContent().build());
        }
        return open.open(stream::run, request);
    }
}
