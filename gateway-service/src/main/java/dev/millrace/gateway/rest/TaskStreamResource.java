package dev.millrace.gateway.rest;

import dev.millrace.gateway.config.GatewayConfig;
import dev.millrace.gateway.kafka.EventStreams;
import dev.millrace.gateway.kafka.JournalTail;
import dev.millrace.gateway.kafka.Places;
import dev.millrace.gateway.query.QueryUnavailableException;
import dev.millrace.gateway.query.Tasks;
import dev.millrace.schemas.Event;
import dev.millrace.schemas.JournalCursor;
import io.smallrye.common.annotation.Blocking;
import io.smallrye.common.annotation.RunOnVirtualThread;
import io.smallrye.mutiny.Multi;
import io.vertx.core.http.HttpServerRequest;
import jakarta.inject.Inject;
import jakarta.ws.rs.DefaultValue;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.HeaderParam;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.PathParam;
import jakarta.ws.rs.Produces;
import jakarta.ws.rs.QueryParam;
import jakarta.ws.rs.WebApplicationException;
import jakarta.ws.rs.core.Context;
import jakarta.ws.rs.core.MediaType;
import jakarta.ws.rs.core.Response;
import jakarta.ws.rs.sse.OutboundSseEvent;
import java.util.Map;
import org.eclipse.microprofile.openapi.annotations.Operation;
import org.eclipse.microprofile.openapi.annotations.media.Content;
import org.eclipse.microprofile.openapi.annotations.media.Schema;
import org.eclipse.microprofile.openapi.annotations.parameters.Parameter;
import org.eclipse.microprofile.openapi.annotations.responses.APIResponse;
import org.eclipse.microprofile.openapi.annotations.tags.Tag;
import org.jboss.resteasy.reactive.ResponseHeader;
import org.jspecify.annotations.Nullable;

/** The events of a task as they happen, as server-sent events. */
@Path("/v1/tasks/{taskId}/stream")
@Blocking // else a Multi counts as non-blocking, and the next annotation as a mistake
@RunOnVirtualThread
@Tag(name = "Streams", description = "Events as they happen (server-sent events).")
public class TaskStreamResource {
    private final Tasks tasks;
    private final JournalTail tail;
    private final EventStreams streams;
    private final OpenStreams open;
    private final GatewayConfig config;

    @Inject
    TaskStreamResource(Tasks tasks, JournalTail tail, EventStreams streams, OpenStreams open, GatewayConfig config) {
        this.tasks = tasks;
        this.tail = tail;
        this.streams = streams;
        this.open = open;
        this.config = config;
    }

    @GET
    @Produces(MediaType.SERVER_SENT_EVENTS)
    @ResponseHeader(name = "Cache-Control", value = "no-store")
    @ResponseHeader(name = "X-Accel-Buffering", value = "no")
    @Operation(
            summary = "The events of a task as they happen",
            description =
                    "Begins with the first event of the task and ends after the one that ends it. event: is the type,"
                            + " data: a JournalEntry, id: its cursor. A client that comes back with Last-Event-ID (or ?after=)"
                            + " goes on behind it, without a gap or a double, at any instance; 204 tells it that there will be"
                            + " no more. A comment every 15 s of silence keeps the connection open. With tokens=stream live text"
                            + " comes in between: what the model says while it says it, as stream.start, stream.text and so on"
                            + " (docs/streaming.md); with tokens=plain as TOKEN. The reply of a call is told after its live text.")
    @APIResponse(
            responseCode = "200",
            content =
                    @Content(
                            mediaType = MediaType.SERVER_SENT_EVENTS,
                            schema = @Schema(implementation = ApiShapes.Entry.class)))
    @APIResponse(responseCode = "204", description = "The task has ended and the client has seen everything.")
    @APIResponse(responseCode = "400", description = "bad_parameter")
    @APIResponse(responseCode = "404", description = "unknown_task")
    @APIResponse(responseCode = "429", description = "too_many_streams: of this client")
    @APIResponse(responseCode = "503", description = "query_unavailable, too_many_streams")
    public Multi<OutboundSseEvent> task(
            @PathParam("taskId") String taskId,
            @QueryParam("namespace") @DefaultValue(Event.DEFAULT_NAMESPACE) String namespace,
            @Parameter(description = "Only what comes after this cursor.") @QueryParam("after") @Nullable String after,
            @Parameter(description = "Live text as well: stream = all of it, plain = the text alone. Default none.")
                    @QueryParam("tokens")
                    @Nullable
                    String tokens,
            @Parameter(description = "Only these types, separated by commas; the stream ends all the same.")
                    @QueryParam("types")
                    @Nullable
                    String types,
            @Parameter(description = "Goes on after the task has ended: it may be resumed.")
                    @QueryParam("follow")
                    @Nullable
                    String follow,
            @Parameter(description = "Like after; goes before it.") @HeaderParam("Last-Event-ID") @Nullable
                    String lastEventId,
            @Context HttpServerRequest request)
            throws QueryUnavailableException, InterruptedException {
        LiveText live = LiveText.of(tokens, types);
        String seen = Parameters.seen(lastEventId, after);
        Places places = seen == null ? null : Places.parse(seen).orElse(null);
        JournalCursor cursor = seen(lastEventId, after);
        TaskStream stream = new TaskStream(
                new TaskStream.Name(namespace, taskId),
                cursor,
                Parameters.flag(follow),
                config.stream().heartbeat(),
                new TaskStream.Sources(tasks, tail, streams),
                live);
        if (tasks.task(namespace, taskId, null).isEmpty()) {
            throw ProblemException.unknownTask(namespace, taskId);
        }
        requireReached(cursor, places, seen);
        if (stream.isOver()) {
            throw new WebApplicationException(Response.noContent().build());
        }
        return open.open(
                live.wanted() ? outlet -> stream.watch(outlet, places, config.produceTimeout()) : stream::run, request);
    }

    private void requireReached(@Nullable JournalCursor cursor, @Nullable Places places, @Nullable String seen)
            throws InterruptedException {
        if (places != null && places.next().size() == 1) {
            Reached.require(places, String.valueOf(seen), tail, streams, config.produceTimeout());
        } else if (cursor != null) {
            Reached.require(
                    Map.of(cursor.partition(), cursor.offset() + 1), cursor.toString(), tail, config.produceTimeout());
        }
    }

    private @Nullable JournalCursor seen(@Nullable String lastEventId, @Nullable String after) {
        JournalCursor last = Parameters.cursor("Last-Event-ID", lastEventId);
        JournalCursor seen = last == null ? Parameters.cursor("after", after) : last;
        if (seen != null && seen.partition() >= tail.partitions()) {
            throw ProblemException.badParameter(
                    "after", "a partition from 0 to " + (tail.partitions() - 1), seen.toString());
        }
        return seen;
    }
}
