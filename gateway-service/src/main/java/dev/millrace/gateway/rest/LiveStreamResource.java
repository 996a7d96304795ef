package dev.millrace.gateway.rest;

import dev.millrace.gateway.config.GatewayConfig;
import dev.millrace.gateway.kafka.BrokerUnavailableException;
import dev.millrace.gateway.kafka.JournalFilter;
import dev.millrace.gateway.kafka.JournalTail;
import io.smallrye.common.annotation.Blocking;
import io.smallrye.common.annotation.RunOnVirtualThread;
import io.smallrye.mutiny.Multi;
import io.vertx.core.http.HttpServerResponse;
import jakarta.inject.Inject;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.HeaderParam;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.Produces;
import jakarta.ws.rs.QueryParam;
import jakarta.ws.rs.core.Context;
import jakarta.ws.rs.core.MediaType;
import jakarta.ws.rs.sse.OutboundSseEvent;
import java.util.Arrays;
import java.util.Set;
import java.util.stream.Collectors;
import org.eclipse.microprofile.openapi.annotations.Operation;
import org.eclipse.microprofile.openapi.annotations.media.Content;
import org.eclipse.microprofile.openapi.annotations.media.Schema;
import org.eclipse.microprofile.openapi.annotations.parameters.Parameter;
import org.eclipse.microprofile.openapi.annotations.responses.APIResponse;
import org.eclipse.microprofile.openapi.annotations.tags.Tag;
import org.jboss.resteasy.reactive.ResponseHeader;
import org.jspecify.annotations.Nullable;

/** All events as they happen, as server-sent events. */
@Path("/v1/stream")
@Blocking // else a Multi counts as non-blocking, and the next annotation as a mistake
@RunOnVirtualThread
@Tag(name = "Streams", description = "Events as they happen (server-sent events).")
public class LiveStreamResource {
    private final JournalTail tail;
    private final GatewayConfig config;

    @Inject
    LiveStreamResource(JournalTail tail, GatewayConfig config) {
        this.tail = tail;
        this.config = config;
    }

    @GET
    @Produces(MediaType.SERVER_SENT_EVENTS)
    @ResponseHeader(name = "Cache-Control", value = "no-store")
    @ResponseHeader(name = "X-Accel-Buffering", value = "no")
    @Operation(
            summary = "All events as they happen",
            description = "Begins now and does not end. id: goes into Last-Event-ID and ?after= of this route, at any"
                    + " instance.")
    @APIResponse(
            responseCode = "200",
            content =
                    @Content(
                            mediaType = MediaType.SERVER_SENT_EVENTS,
                            schema = @Schema(implementation = ApiShapes.Entry.class)))
    @APIResponse(responseCode = "400", description = "bad_parameter")
    @APIResponse(responseCode = "503", description = "broker_unavailable")
    public Multi<OutboundSseEvent> everything(
            @Parameter(description = "Only these types, separated by commas.", example = "TASK_COMPLETED,TASK_FAILED")
                    @QueryParam("types")
                    @Nullable
                    String types,
            @Parameter(description = "Only of this tenant; absent = of all.") @QueryParam("namespace") @Nullable
                    String namespace,
            @Parameter(description = "Only what comes after this id.") @QueryParam("after") @Nullable String after,
            @Parameter(description = "Like after; goes before it.") @HeaderParam("Last-Event-ID") @Nullable
                    String lastEventId,
            @Context HttpServerResponse response)
            throws BrokerUnavailableException, InterruptedException {
        JournalFilter filter = JournalFilter.types(typesOf(types));
        if (namespace != null && !namespace.isBlank()) {
            filter = filter.and(labels -> labels.namespace().equals(namespace));
        }
        LiveStream.Begin begin = LiveStream.Begin.of(lastEventId, after, tail, config.produceTimeout());
        LiveStream stream =
                new LiveStream(tail, filter, begin.from(), config.stream().heartbeat(), SsePump.Outlet::entry);
        return SsePump.open(stream::run, config.stream(), response);
    }

    private static Set<String> typesOf(@Nullable String types) {
        return types == null
                ? Set.of()
                : Arrays.stream(types.split(",", -1))
                        .map(String::strip)
                        .filter(type -> !type.isEmpty())
                        .collect(Collectors.toUnmodifiableSet());
    }
}
