package dev.millrace.gateway.rest.streams;

import dev.millrace.api.Entry;
import dev.millrace.api.Notice;
import dev.millrace.gateway.access.Permission;
import dev.millrace.gateway.config.GatewayConfig;
import dev.millrace.gateway.kafka.BrokerUnavailableException;
import dev.millrace.gateway.kafka.EventStreams;
import dev.millrace.gateway.kafka.JournalFilter;
import dev.millrace.gateway.kafka.JournalFilter.Labels;
import dev.millrace.gateway.kafka.Places;
import dev.millrace.gateway.rest.access.Needs;
import dev.millrace.gateway.rest.problems.ProblemException;
import dev.millrace.schemas.Notification;
import io.smallrye.common.annotation.Blocking;
import io.smallrye.common.annotation.RunOnVirtualThread;
import io.smallrye.mutiny.Multi;
import io.vertx.core.http.HttpServerRequest;
import jakarta.inject.Inject;
import jakarta.ws.rs.BeanParam;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.Produces;
import jakarta.ws.rs.QueryParam;
import jakarta.ws.rs.core.Context;
import jakarta.ws.rs.core.MediaType;
import jakarta.ws.rs.sse.OutboundSseEvent;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.Set;
import java.util.stream.Collectors;
import org.eclipse.microprofile.openapi.annotations.Operation;
import org.eclipse.microprofile.openapi.annotations.media.Content;
import org.eclipse.microprofile.openapi.annotations.media.Schema;
import org.eclipse.microprofile.openapi.annotations.parameters.Parameter;
import org.eclipse.microprofile.openapi.annotations.responses.APIResponse;
import org.eclipse.microprofile.openapi.annotations.tags.Tag;
import org.jspecify.annotations.Nullable;

/** Events as they happen: all, and what owners of tasks should hear of. */
@Path("/v1")
@Blocking // else a Multi counts as non-blocking, and the next annotation as a mistake
@RunOnVirtualThread
@Tag(name = "Streams", description = "Events as they happen (server-sent events).")
public class StreamsResource {
    private final EventStreams streams;
    private final OpenStreams open;
    private final GatewayConfig config;

    @Inject
    StreamsResource(EventStreams streams, OpenStreams open, GatewayConfig config) {
        this.streams = streams;
        this.open = open;
        this.config = config;
    }

    @GET
    @Needs(Permission.READ)
    @Path("/stream")
    @Produces(MediaType.SERVER_SENT_EVENTS)
    @Operation(
            summary = "All events as they happen",
            description = "Begins now and does not end. id: goes into Last-Event-ID and ?after= of this route, at any"
                    + " instance. tokens= adds live text, as on the stream of a task.")
    @APIResponse(
            responseCode = "200",
            content =
                    @Content(mediaType = MediaType.SERVER_SENT_EVENTS, schema = @Schema(implementation = Entry.class)))
    @APIResponse(responseCode = "400", description = "bad_parameter")
    @APIResponse(responseCode = "429", description = "too_many_streams: of this client")
    @APIResponse(responseCode = "503", description = "broker_unavailable, too_many_streams")
    public Multi<OutboundSseEvent> everything(
            @Parameter(description = "Only these types, separated by commas.", example = "TASK_COMPLETED,TASK_FAILED")
                    @QueryParam("types")
                    @Nullable
                    String types,
            @Parameter(description = LiveTextView.TOKENS) @QueryParam("tokens") @Nullable String tokens,
            @Parameter(description = "Only of this tenant; absent = of all.") @QueryParam("namespace") @Nullable
                    String namespace,
            @BeanParam SeenParameters seen,
            @Context HttpServerRequest request)
            throws BrokerUnavailableException, InterruptedException {
        LiveTextView live = LiveTextView.of(tokens, types);
        JournalFilter filter = live.filter().and(JournalFilter.only(namespace, Labels::namespace));
        return stream(
                filter,
                live,
                EventStream.begin(seen, streams.partitions(), live.wanted(), streams, config.produceTimeout()),
                request);
    }

    @GET
    @Needs(Permission.READ)
    @Path("/notifications")
    @Produces(MediaType.SERVER_SENT_EVENTS)
    @Operation(
            summary = "What the owners of tasks should hear of",
            description =
                    "Tasks that completed, failed or were cancelled, say something (notify), ask something (question)"
                            + " or need an approval (approval_needed). Begins now and does not end. event: is the type, data: a"
                            + " Notification, id: goes into Last-Event-ID and ?after= of this route, at any instance.")
    @APIResponse(
            responseCode = "200",
            content =
                    @Content(mediaType = MediaType.SERVER_SENT_EVENTS, schema = @Schema(implementation = Notice.class)))
    @APIResponse(responseCode = "400", description = "bad_parameter")
    @APIResponse(responseCode = "429", description = "too_many_streams: of this client")
    @APIResponse(responseCode = "503", description = "broker_unavailable, too_many_streams")
    public Multi<OutboundSseEvent> notifications(
            @Parameter(description = "Only these types, separated by commas.", example = "question,approval_needed")
                    @QueryParam("types")
                    @Nullable
                    String types,
            @Parameter(description = "Only of this task.") @QueryParam("taskId") @Nullable String taskId,
            @Parameter(description = "Only of this conversation.") @QueryParam("sessionId") @Nullable String sessionId,
            @Parameter(description = "Only of this tenant; absent = of all.") @QueryParam("namespace") @Nullable
                    String namespace,
            @BeanParam SeenParameters seen,
            @Context HttpServerRequest request)
            throws BrokerUnavailableException, InterruptedException {
        Set<Notification.Kind> kinds = kindsOf(types);
        JournalFilter filter = JournalFilter.types(
                kinds.stream().map(kind -> kind.saidBy().wireName()).collect(Collectors.toSet()));
        filter = filter.and(JournalFilter.only(taskId, Labels::taskId))
                .and(JournalFilter.only(sessionId, Labels::sessionId))
                .and(JournalFilter.only(namespace, Labels::namespace));
        EventStream.View view = heard -> Notification.of(heard.event())
                .filter(one -> kinds.contains(one.kind()))
                .map(one -> new EventStream.Shown(one.kind().wireName(), one.toJson()));
        Places from = EventStream.begin(seen, streams.partitions(), false, streams, config.produceTimeout());
        return stream(filter, view, from, request);
    }

    private static Set<Notification.Kind> kindsOf(@Nullable String types) {
        EnumSet<Notification.Kind> kinds = EnumSet.noneOf(Notification.Kind.class);
        for (String type : types == null ? new String[0] : types.split(",", -1)) {
            if (!type.isBlank()) {
                kinds.add(Notification.Kind.ofWireName(type.strip())
                        .orElseThrow(() -> ProblemException.badParameter("types", "some of " + all(), type.strip())));
            }
        }
        return kinds.isEmpty() ? EnumSet.allOf(Notification.Kind.class) : kinds;
    }

    private static String all() {
        return Arrays.stream(Notification.Kind.values())
                .map(Notification.Kind::wireName)
                .collect(Collectors.joining(", "));
    }

    private Multi<OutboundSseEvent> stream(
            JournalFilter filter, EventStream.View view, Places from, HttpServerRequest request) {
        EventStream stream = new EventStream(streams, filter, view);
        return open.open(outlet -> stream.run(from, Set.of(), outlet), request);
    }
}
