package dev.millrace.gateway.rest.system;

import dev.millrace.api.SystemView;
import dev.millrace.api.Task;
import dev.millrace.gateway.access.Permission;
import dev.millrace.gateway.kafka.BrokerUnavailableException;
import dev.millrace.gateway.kafka.EventTooLargeException;
import dev.millrace.gateway.kafka.JournalTail;
import dev.millrace.gateway.rest.access.Needs;
import dev.millrace.gateway.rest.tasks.Controls;
import dev.millrace.gateway.rest.tasks.TaskIntake;
import dev.millrace.http.client.AgentClient;
import dev.millrace.http.client.QueryUnavailableException;
import dev.millrace.schemas.Event;
import dev.millrace.schemas.Ids;
import dev.millrace.schemas.Json;
import dev.millrace.schemas.KnownEventType;
import dev.millrace.schemas.Payload;
import dev.millrace.telemetry.config.ProcessReport;
import io.smallrye.common.annotation.RunOnVirtualThread;
import jakarta.inject.Inject;
import jakarta.ws.rs.Consumes;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.POST;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.Produces;
import jakarta.ws.rs.core.Context;
import jakarta.ws.rs.core.HttpHeaders;
import jakarta.ws.rs.core.MediaType;
import jakarta.ws.rs.core.Response;
import java.io.IOException;
import java.io.InputStream;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.eclipse.microprofile.openapi.annotations.Operation;
import org.eclipse.microprofile.openapi.annotations.media.Content;
import org.eclipse.microprofile.openapi.annotations.media.Schema;
import org.eclipse.microprofile.openapi.annotations.parameters.RequestBody;
import org.eclipse.microprofile.openapi.annotations.responses.APIResponse;
import org.eclipse.microprofile.openapi.annotations.tags.Tag;

/** The installation as a whole: how it is, draining it, and the end of that. */
@Path("/v1/system")
@Consumes(MediaType.WILDCARD) // clients that send no body send no, or any, Content-Type
@Produces(MediaType.APPLICATION_JSON)
@RunOnVirtualThread
@Tag(name = "System", description = "The installation as a whole.")
public class SystemResource {
    private final Controls controls;
    private final TaskIntake intake;
    private final JournalTail tail;
    private final AgentClient agentService;
    private final ProcessReport itself;

    @Inject
    SystemResource(
            Controls controls, TaskIntake intake, JournalTail tail, AgentClient agentService, ProcessReport itself) {
        this.itself = itself;
        this.controls = controls;
        this.intake = intake;
        this.tail = tail;
        this.agentService = agentService;
    }

    @GET
    @Needs(value = Permission.READ, in = Needs.Scope.ANYWHERE)
    @Operation(
            summary = "The installation as it is now",
            description =
                    "Lanes with what waits in them, toolsets with who works on them, whether tasks are admitted and, if"
                            + " not, why, and whether services are ready. Lanes are at most a second old.")
    @APIResponse(responseCode = "200", content = @Content(schema = @Schema(implementation = SystemView.class)))
    @APIResponse(responseCode = "503", description = "query_unavailable")
    public Response system() throws QueryUnavailableException, InterruptedException {
        SystemView view = agentService.get(AgentClient.path("system"), Map.of()).as(SystemView.class);
        return Response.ok(Json.writeText(view.with(services(view.services())))).build();
    }

    /** This process, and what answered; once if that is the same one. */
    private List<SystemView.Service> services(List<SystemView.Service> answered) {
        ProcessReport.State own = itself.now();
        return Stream.concat(
                        Stream.of(new SystemView.Service(
                                own.name(),
                                own.instance(),
                                own.version(),
                                own.ready(),
                                own.reasons(),
                                own.startedMs())),
                        answered.stream().filter(other -> !own.instance().equals(other.instance())))
                .toList();
    }

    @POST
    @Needs(value = Permission.ADMIN, in = Needs.Scope.EVERYWHERE)
    @Path("/drain")
    @Operation(
            summary = "Admit no more tasks",
            description = "Tasks that run go on; new ones are taken and wait until POST /v1/system/resume.")
    @RequestBody(content = @Content(schema = @Schema(implementation = Task.Reason.class)))
    @APIResponse(
            responseCode = "202",
            description = "The request is stored.",
            content = @Content(schema = @Schema(implementation = Task.BroadcastAccepted.class)))
    @APIResponse(responseCode = "400", description = "bad_json, unknown_field, bad_field")
    @APIResponse(responseCode = "503", description = "broker_unavailable")
    public Response drain(InputStream body, @Context HttpHeaders headers)
            throws IOException, BrokerUnavailableException, EventTooLargeException, InterruptedException {
        String reason = controls.reason(body, headers);
        return broadcast(controls.event(
                KnownEventType.SYSTEM_SHUTTING_DOWN, null, new Payload.SystemShuttingDown(null, reason), headers));
    }

    @POST
    @Needs(value = Permission.ADMIN, in = Needs.Scope.EVERYWHERE)
    @Path("/resume")
    @Operation(summary = "Admit tasks again", description = "The end of a drain. Without one it changes nothing.")
    @RequestBody(description = "None, or an empty object.")
    @APIResponse(
            responseCode = "202",
            description = "The request is stored.",
            content = @Content(schema = @Schema(implementation = Task.BroadcastAccepted.class)))
    @APIResponse(responseCode = "400", description = "bad_json, unknown_field")
    @APIResponse(responseCode = "503", description = "broker_unavailable")
    public Response resume(InputStream body, @Context HttpHeaders headers)
            throws IOException, BrokerUnavailableException, EventTooLargeException, InterruptedException {
        controls.body(body, headers, Nothing.class);
        return broadcast(
                controls.event(KnownEventType.SYSTEM_STARTED, null, new Payload.SystemStarted(null, null), headers));
    }

    /** An object without fields. */
    private record Nothing() {}

    private Response broadcast(Event event) throws BrokerUnavailableException, EventTooLargeException {
        Event placed = onFirstPartition(event);
        intake.accept(List.of(placed));
        return Response.accepted(Json.writeText(new Task.BroadcastAccepted(placed.id(), "accepted")))
                .build();
    }

    /**
     * The event with an id that puts it on the first partition. From there the task machine tells all others, so that a
     * drain and its end come in the same order everywhere, whatever ids they were given. Equal events give equal ids.
     */
    private Event onFirstPartition(Event event) {
        Event placed = event;
        for (int ordinal = 0; tail.partitionOf(placed.sessionKey()) != 0; ordinal++) {
            placed = Event.root(Ids.derived(event.id(), event.type(), ordinal), event.type(), event.timestamp())
                    .source(event.source())
                    .traceparent(event.traceparent())
                    .tracestate(event.tracestate())
                    .payload(event.fields())
                    .extensions(event.extensions())
                    .build();
        }
        return placed;
    }
}
