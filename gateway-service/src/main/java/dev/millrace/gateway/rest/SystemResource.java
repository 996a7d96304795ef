package dev.millrace.gateway.rest;

import dev.millrace.gateway.kafka.BrokerUnavailableException;
import dev.millrace.gateway.kafka.EventTooLargeException;
import dev.millrace.gateway.kafka.JournalTail;
import dev.millrace.schemas.Event;
import dev.millrace.schemas.Json;
import dev.millrace.schemas.KnownEventType;
import io.smallrye.common.annotation.RunOnVirtualThread;
import jakarta.inject.Inject;
import jakarta.ws.rs.Consumes;
import jakarta.ws.rs.POST;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.Produces;
import jakarta.ws.rs.core.Context;
import jakarta.ws.rs.core.HttpHeaders;
import jakarta.ws.rs.core.MediaType;
import jakarta.ws.rs.core.Response;
import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.ToIntFunction;
import org.eclipse.microprofile.openapi.annotations.Operation;
import org.eclipse.microprofile.openapi.annotations.media.Content;
import org.eclipse.microprofile.openapi.annotations.media.Schema;
import org.eclipse.microprofile.openapi.annotations.parameters.RequestBody;
import org.eclipse.microprofile.openapi.annotations.responses.APIResponse;
import org.eclipse.microprofile.openapi.annotations.tags.Tag;

/** Draining the whole installation, and the end of that. */
@Path("/v1/system")
@Consumes(MediaType.WILDCARD) // clients that send no body send no, or any, Content-Type
@Produces(MediaType.APPLICATION_JSON)
@RunOnVirtualThread
@Tag(name = "System", description = "The installation as a whole.")
public class SystemResource {
    private final Controls controls;
    private final TaskIntake intake;
    private final JournalTail tail;

    @Inject
    SystemResource(Controls controls, TaskIntake intake, JournalTail tail) {
        this.controls = controls;
        this.intake = intake;
        this.tail = tail;
    }

    @POST
    @Path("/drain")
    @Operation(
            summary = "Admit no more tasks",
            description = "Tasks that run go on; new ones are taken and wait until POST /v1/system/resume.")
    @RequestBody(content = @Content(schema = @Schema(implementation = ApiShapes.Reason.class)))
    @APIResponse(
            responseCode = "202",
            description = "The request is stored, once for each partition.",
            content = @Content(schema = @Schema(implementation = ApiShapes.BroadcastAccepted.class)))
    @APIResponse(responseCode = "400", description = "bad_json, bad_field")
    @APIResponse(responseCode = "503", description = "broker_unavailable")
    public Response drain(InputStream body, @Context HttpHeaders headers)
            throws IOException, BrokerUnavailableException, EventTooLargeException {
        String reason = controls.fields(body).text("reason", TaskSubmission.MAX_TEXT);
        return broadcast(
                controls.event(KnownEventType.SYSTEM_SHUTTING_DOWN, null, Controls.payload("reason", reason), headers));
    }

    @POST
    @Path("/resume")
    @Operation(summary = "Admit tasks again", description = "The end of a drain. Without one it changes nothing.")
    @APIResponse(
            responseCode = "202",
            description = "The request is stored, once for each partition.",
            content = @Content(schema = @Schema(implementation = ApiShapes.BroadcastAccepted.class)))
    @APIResponse(responseCode = "503", description = "broker_unavailable")
    public Response resume(@Context HttpHeaders headers) throws BrokerUnavailableException, EventTooLargeException {
        return broadcast(controls.event(KnownEventType.SYSTEM_STARTED, null, new LinkedHashMap<>(), headers));
    }

    private Response broadcast(Event event) throws BrokerUnavailableException, EventTooLargeException {
        List<Event> events = onEachPartition(event, tail.partitions(), tail::partitionOf);
        intake.accept(events);
        Map<String, Object> json = new LinkedHashMap<>();
        json.put("eventId", event.id());
        json.put("status", "accepted");
        json.put("events", events.stream().map(Event::id).toList());
        return Response.accepted(Json.writeText(json)).build();
    }

    /**
     * The event itself and copies with ids of their own, one for each partition: an event without a session lies where its
     * id puts it, so an id is derived that puts it there. Equal events give equal ids.
     */
    static List<Event> onEachPartition(Event event, int partitions, ToIntFunction<String> partitionOf) {
        List<Event> events = new ArrayList<>();
        events.add(event);
        BitSet reached = new BitSet(partitions);
        reached.set(partitionOf.applyAsInt(event.sessionKey()));
        for (int ordinal = 0; reached.cardinality() < partitions; ordinal++) {
            Event copy = event.derive(event.type(), ordinal, event.timestamp())
                    .payload(event.payload())
                    .build();
            int partition = partitionOf.applyAsInt(copy.sessionKey());
            if (!reached.get(partition)) {
                reached.set(partition);
                events.add(copy);
            }
        }
        return events;
    }
}
