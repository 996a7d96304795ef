package dev.millrace.gateway.rest.streams;

import dev.millrace.api.Entry;
import dev.millrace.gateway.access.Permission;
import dev.millrace.gateway.config.GatewayConfig;
import dev.millrace.gateway.kafka.BrokerUnavailableException;
import dev.millrace.gateway.kafka.EventStreams;
import dev.millrace.gateway.kafka.JournalFilter;
import dev.millrace.gateway.kafka.Places;
import dev.millrace.gateway.rest.access.Needs;
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
import jakarta.ws.rs.core.Context;
import jakarta.ws.rs.core.MediaType;
import jakarta.ws.rs.sse.OutboundSseEvent;
import java.util.Set;
import org.eclipse.microprofile.openapi.annotations.Operation;
import org.eclipse.microprofile.openapi.annotations.media.Content;
import org.eclipse.microprofile.openapi.annotations.media.Schema;
import org.eclipse.microprofile.openapi.annotations.parameters.Parameter;
import org.eclipse.microprofile.openapi.annotations.responses.APIResponse;
import org.eclipse.microprofile.openapi.annotations.tags.Tag;
import org.jspecify.annotations.Nullable;

/**
 * The events of one conversation. A class of its own: JAX-RS looks for a route in the class with the longest path only,
 * which below {@code /v1/sessions} is another one.
 */
@Path("/v1/sessions/{sessionId}/stream")
@Blocking // else a Multi counts as non-blocking, and the next annotation as a mistake
@RunOnVirtualThread
@Tag(name = "Streams", description = "Events as they happen (server-sent events).")
public class SessionStreamResource {
    private final EventStreams streams;
    private final OpenStreams open;
    private final GatewayConfig config;

    @Inject
    SessionStreamResource(EventStreams streams, OpenStreams open, GatewayConfig config) {
        this.streams = streams;
        this.open = open;
        this.config = config;
    }

    @GET
    @Needs(Permission.READ)
    @Produces(MediaType.SERVER_SENT_EVENTS)
    @Operation(
            summary = "The events of a conversation as they happen",
            description =
                    "Of all its tasks, those to come included. Begins now and does not end. event: is the type, data:"
                            + " a JournalEntry, id: its cursor, which goes into Last-Event-ID and ?after= at any instance."
                            + " tokens= adds live text, as on the stream of a task.")
    @APIResponse(
            responseCode = "200",
            content =
                    @Content(mediaType = MediaType.SERVER_SENT_EVENTS, schema = @Schema(implementation = Entry.class)))
    @APIResponse(responseCode = "400", description = "bad_parameter")
    @APIResponse(responseCode = "429", description = "too_many_streams: of this client")
    @APIResponse(responseCode = "503", description = "broker_unavailable, too_many_streams")
    public Multi<OutboundSseEvent> session(
            @PathParam("sessionId") String sessionId,
            @QueryParam("namespace") @DefaultValue(Event.DEFAULT_NAMESPACE) String namespace,
            @Parameter(description = LiveTextView.TOKENS) @QueryParam("tokens") @Nullable String tokens,
            @Parameter(description = "Only these types, separated by commas.") @QueryParam("types") @Nullable
                    String types,
            @BeanParam SeenParameters seen,
            @Context HttpServerRequest request)
            throws BrokerUnavailableException, InterruptedException {
        LiveTextView live = LiveTextView.of(tokens, types);
        JournalFilter filter = live.filter()
                .and(labels -> sessionId.equals(labels.sessionId()) && namespace.equals(labels.namespace()));
        Set<Integer> partition = Set.of(streams.partitionOf(Event.qualified(namespace, sessionId)));
        Places from = EventStream.begin(seen, partition, live.wanted(), streams, config.produceTimeout());
        EventStream stream = new EventStream(streams, filter, live);
        return open.open(outlet -> stream.run(from, Set.of(), outlet), request);
    }
}
