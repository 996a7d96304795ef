package dev.millrace.gateway.rest;

import dev.millrace.gateway.config.GatewayConfig;
import dev.millrace.gateway.kafka.BrokerUnavailableException;
import dev.millrace.gateway.kafka.EventStreams;
import dev.millrace.gateway.kafka.JournalFilter;
import dev.millrace.gateway.kafka.JournalListener;
import dev.millrace.gateway.kafka.JournalTail;
import dev.millrace.gateway.kafka.ListenerDroppedException;
import dev.millrace.gateway.kafka.Places;
import dev.millrace.gateway.rest.SsePump.ClientGoneException;
import dev.millrace.gateway.rest.SsePump.Outlet;
import dev.millrace.schemas.Event;
import dev.millrace.schemas.JournalCursor;
import dev.millrace.schemas.JournalEntry;
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
import jakarta.ws.rs.core.Context;
import jakarta.ws.rs.core.MediaType;
import jakarta.ws.rs.sse.OutboundSseEvent;
import java.util.Map;
import java.util.Set;
import org.eclipse.microprofile.openapi.annotations.Operation;
import org.eclipse.microprofile.openapi.annotations.media.Content;
import org.eclipse.microprofile.openapi.annotations.media.Schema;
import org.eclipse.microprofile.openapi.annotations.parameters.Parameter;
import org.eclipse.microprofile.openapi.annotations.responses.APIResponse;
import org.eclipse.microprofile.openapi.annotations.tags.Tag;
import org.jboss.resteasy.reactive.ResponseHeader;
import org.jspecify.annotations.Nullable;

/** The events of a conversation as they happen, as server-sent events. A conversation lies on one partition of the journal. */
@Path("/v1/sessions/{sessionId}/stream")
@Blocking // else a Multi counts as non-blocking, and the next annotation as a mistake
@RunOnVirtualThread
@Tag(name = "Streams", description = "Events as they happen (server-sent events).")
public class SessionStreamResource {
    private final JournalTail tail;
    private final EventStreams streams;
    private final OpenStreams open;
    private final GatewayConfig config;

    @Inject
    SessionStreamResource(JournalTail tail, EventStreams streams, OpenStreams open, GatewayConfig config) {
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
            summary = "The events of a conversation as they happen",
            description =
                    "Of all its tasks, those to come included. Begins now and does not end. event: is the type, data:"
                            + " a JournalEntry, id: its cursor, which goes into Last-Event-ID and ?after= at any instance."
                            + " tokens= adds live text, as on the stream of a task.")
    @APIResponse(
            responseCode = "200",
            content =
                    @Content(
                            mediaType = MediaType.SERVER_SENT_EVENTS,
                            schema = @Schema(implementation = ApiShapes.Entry.class)))
    @APIResponse(responseCode = "400", description = "bad_parameter")
    @APIResponse(responseCode = "429", description = "too_many_streams: of this client")
    @APIResponse(responseCode = "503", description = "broker_unavailable, too_many_streams")
    public Multi<OutboundSseEvent> session(
            @PathParam("sessionId") String sessionId,
            @QueryParam("namespace") @DefaultValue(Event.DEFAULT_NAMESPACE) String namespace,
            @Parameter(description = "Live text as well: stream = all of it, plain = the text alone. Default none.")
                    @QueryParam("tokens")
                    @Nullable
                    String tokens,
            @Parameter(description = "Only these types, separated by commas.") @QueryParam("types") @Nullable
                    String types,
            @Parameter(description = "Only what comes after this cursor.") @QueryParam("after") @Nullable String after,
            @Parameter(description = "Like after; goes before it.") @HeaderParam("Last-Event-ID") @Nullable
                    String lastEventId,
            @Context HttpServerRequest request)
            throws BrokerUnavailableException, InterruptedException {
        int partition = tail.partitionOf(Event.qualified(namespace, sessionId));
        JournalCursor last = Parameters.cursor("Last-Event-ID", lastEventId);
        JournalCursor seen = last == null ? Parameters.cursor("after", after) : last;
        if (seen != null && seen.partition() != partition) {
            throw ProblemException.badParameter("after", "a cursor of this session", seen.toString());
        }
        if (seen != null) {
            Reached.require(Map.of(partition, seen.offset() + 1), seen.toString(), tail, config.produceTimeout());
        }
        LiveText live = LiveText.of(tokens, types);
        if (live.wanted()) {
            return watch(partition, mine(namespace, sessionId), live, Parameters.seen(lastEventId, after), request);
        }
        long from = seen == null ? tail.end(partition, config.produceTimeout()) : seen.offset() + 1;
        JournalFilter filter = mine(namespace, sessionId).and(JournalFilter.types(Parameters.set(types)));
        return open.open(outlet -> run(outlet, partition, from, filter), request);
    }

    private static JournalFilter mine(String namespace, String sessionId) {
        return labels ->
                sessionId.equals(labels.sessionId()) && labels.namespace().equals(namespace);
    }

    private Multi<OutboundSseEvent> watch(
            int partition, JournalFilter filter, LiveText live, @Nullable String seen, HttpServerRequest request)
            throws BrokerUnavailableException, InterruptedException {
        JournalCursor facts = Parameters.cursor("after", seen);
        Places from = WatchStream.begin(
                seen,
                facts == null ? Map.of() : Map.of(partition, facts.offset() + 1),
                Set.of(partition),
                tail,
                streams,
                config.produceTimeout());
        WatchStream watch =
                new WatchStream(streams, filter, live, config.stream().heartbeat(), event -> false);
        return open.open(outlet -> watch.run(from, outlet), request);
    }

    private void run(Outlet outlet, int partition, long from, JournalFilter filter)
            throws InterruptedException, ListenerDroppedException, ClientGoneException {
        try (JournalListener listener = tail.listen(partition, from, filter)) {
            while (true) {
                outlet.ready();
                JournalEntry entry = listener.next(config.stream().heartbeat());
                if (entry == null) {
                    outlet.heartbeat();
                } else {
                    outlet.entry(entry.cursor().toString(), entry);
                }
            }
        }
    }
}
