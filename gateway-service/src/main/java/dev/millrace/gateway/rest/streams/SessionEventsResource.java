package dev.millrace.gateway.rest.streams;

import dev.millrace.gateway.access.Permission;
import dev.millrace.gateway.config.GatewayConfig;
import dev.millrace.gateway.kafka.BrokerUnavailableException;
import dev.millrace.gateway.kafka.EventStreams;
import dev.millrace.gateway.kafka.FactListener;
import dev.millrace.gateway.kafka.FactListener.Heard;
import dev.millrace.gateway.kafka.JournalFilter;
import dev.millrace.gateway.kafka.ListenerDroppedException;
import dev.millrace.gateway.kafka.Places;
import dev.millrace.gateway.rest.access.Needs;
import dev.millrace.gateway.rest.problems.ProblemException;
import dev.millrace.schemas.Event;
import dev.millrace.schemas.Json;
import dev.millrace.schemas.JsonObject;
import io.smallrye.common.annotation.Blocking;
import io.smallrye.common.annotation.RunOnVirtualThread;
import io.smallrye.mutiny.Multi;
import io.vertx.core.http.HttpServerRequest;
import jakarta.inject.Inject;
import jakarta.ws.rs.BeanParam;
import jakarta.ws.rs.DefaultValue;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.Produces;
import jakarta.ws.rs.QueryParam;
import jakarta.ws.rs.core.Context;
import jakarta.ws.rs.core.MediaType;
import jakarta.ws.rs.sse.OutboundSseEvent;
import java.util.List;
import java.util.Set;
import org.eclipse.microprofile.openapi.annotations.Operation;
import org.eclipse.microprofile.openapi.annotations.enums.SchemaType;
import org.eclipse.microprofile.openapi.annotations.media.Content;
import org.eclipse.microprofile.openapi.annotations.media.Schema;
import org.eclipse.microprofile.openapi.annotations.parameters.Parameter;
import org.eclipse.microprofile.openapi.annotations.responses.APIResponse;
import org.eclipse.microprofile.openapi.annotations.tags.Tag;
import org.jspecify.annotations.Nullable;

/** The events of one conversation for the plainest client that there is: flat messages without names. */
@Path("/events")
@Blocking // else a Multi counts as non-blocking, and the next annotation as a mistake
@RunOnVirtualThread
@Tag(name = "Streams", description = "Events as they happen (server-sent events).")
public class SessionEventsResource {
    private final EventStreams streams;
    private final OpenStreams open;
    private final GatewayConfig config;

    @Inject
    SessionEventsResource(EventStreams streams, OpenStreams open, GatewayConfig config) {
        this.streams = streams;
        this.open = open;
        this.config = config;
    }

    @GET
    @Needs(Permission.READ)
    @Produces(MediaType.SERVER_SENT_EVENTS)
    @Operation(
            summary = "The events of a conversation as flat messages",
            description =
                    "For onmessage of an EventSource: data: is {type, sessionId, timestamp, ...properties}. Begins with"
                            + " server.connected, and says server.heartbeat after each 15 s of silence. In between: every event"
                            + " of exactly this session, live text (stream.text and stream.reasoning with delta, and content,"
                            + " which is all so far), stream.tool.result, and query.completed at the end of a query"
                            + " (docs/streaming.md). id: goes into Last-Event-ID and ?after=, at any instance.")
    @APIResponse(
            responseCode = "200",
            content =
                    @Content(
                            mediaType = MediaType.SERVER_SENT_EVENTS,
                            schema =
                                    @Schema(
                                            type = SchemaType.OBJECT,
                                            requiredProperties = {"type", "sessionId"})))
    @APIResponse(responseCode = "400", description = "bad_parameter")
    @APIResponse(responseCode = "429", description = "too_many_streams: of this client")
    @APIResponse(responseCode = "503", description = "broker_unavailable, too_many_streams")
    public Multi<OutboundSseEvent> events(
            @Parameter(description = "Which conversation; required.") @QueryParam("sessionId") @Nullable
                    String sessionId,
            @Parameter(description = "The same as sessionId.") @QueryParam("session") @Nullable String session,
            @QueryParam("namespace") @DefaultValue(Event.DEFAULT_NAMESPACE) String namespace,
            @BeanParam SeenParameters seen,
            @Context HttpServerRequest request)
            throws BrokerUnavailableException, InterruptedException {
        String id = sessionId != null && !sessionId.isBlank() ? sessionId : session;
        if (id == null || id.isBlank()) {
            throw ProblemException.badParameter("sessionId", "the id of a session", "none");
        }
        JournalFilter filter = labels -> id.equals(labels.sessionId()) && namespace.equals(labels.namespace());
        Set<Integer> partition = Set.of(streams.partitionOf(Event.qualified(namespace, id)));
        Places from = EventStream.begin(seen, partition, true, streams, config.produceTimeout());
        return open.open(outlet -> run(new SessionMessages(id), from, filter, outlet), request);
    }

    private void run(SessionMessages messages, Places from, JournalFilter filter, SsePump.Outlet outlet)
            throws InterruptedException, ListenerDroppedException, ClientGoneException {
        outlet.data(Json.writeText(messages.ofServer(SessionMessages.CONNECTED, System.currentTimeMillis())));
        try (FactListener listener = streams.listen(from, filter)) {
            while (true) {
                outlet.ready();
                Heard heard = listener.next(outlet.untilHeartbeat());
                if (heard != null) {
                    List<JsonObject> told = messages.of(heard);
                    for (int i = 0; i < told.size(); i++) {
                        // whoever comes back goes on behind all that one event had to tell
                        String place = i == told.size() - 1 ? heard.next().toString() : null;
                        outlet.message(place, Json.writeText(told.get(i)));
                    }
                } else if (outlet.untilHeartbeat().isZero()) {
                    outlet.data(
                            Json.writeText(messages.ofServer(SessionMessages.HEARTBEAT, System.currentTimeMillis())));
                }
            }
        }
    }
}
