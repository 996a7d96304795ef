package dev.millrace.gateway.rest.tasks;

import dev.millrace.api.Task;
import dev.millrace.gateway.access.Permission;
import dev.millrace.gateway.kafka.BrokerUnavailableException;
import dev.millrace.gateway.kafka.EventTooLargeException;
import dev.millrace.gateway.query.Tasks;
import dev.millrace.gateway.query.Tasks.Found;
import dev.millrace.gateway.rest.access.Needs;
import dev.millrace.gateway.rest.problems.ProblemException;
import dev.millrace.gateway.rest.requests.BodyReader;
import dev.millrace.gateway.rest.tasks.Controls.Target;
import dev.millrace.http.client.QueryUnavailableException;
import dev.millrace.schemas.Event;
import dev.millrace.schemas.Ids;
import dev.millrace.schemas.KnownEventType;
import dev.millrace.schemas.Payload;
import io.smallrye.common.annotation.RunOnVirtualThread;
import jakarta.inject.Inject;
import jakarta.ws.rs.Consumes;
import jakarta.ws.rs.DefaultValue;
import jakarta.ws.rs.POST;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.PathParam;
import jakarta.ws.rs.Produces;
import jakarta.ws.rs.QueryParam;
import jakarta.ws.rs.core.Context;
import jakarta.ws.rs.core.HttpHeaders;
import jakarta.ws.rs.core.MediaType;
import jakarta.ws.rs.core.Response;
import java.io.IOException;
import java.io.InputStream;
import java.util.Optional;
import org.eclipse.microprofile.openapi.annotations.Operation;
import org.eclipse.microprofile.openapi.annotations.media.Content;
import org.eclipse.microprofile.openapi.annotations.media.Schema;
import org.eclipse.microprofile.openapi.annotations.parameters.Parameter;
import org.eclipse.microprofile.openapi.annotations.parameters.RequestBody;
import org.eclipse.microprofile.openapi.annotations.responses.APIResponse;
import org.eclipse.microprofile.openapi.annotations.tags.Tag;
import org.jspecify.annotations.Nullable;

/**
 * Suspending, resuming and cancelling tasks. What a task's state allows is judged here by what the query side knows,
 * which may be some milliseconds old: a refusal saves people a riddle, and the task machine has the last word on
 * everything else.
 */
@Path("/v1/tasks/{taskId}")
@Consumes(MediaType.WILDCARD) // clients that send no body send no, or any, Content-Type
@Produces(MediaType.APPLICATION_JSON)
@RunOnVirtualThread
@Tag(name = "Tasks")
public class TaskControlResource {
    private final Controls controls;
    private final Tasks tasks;

    @Inject
    TaskControlResource(Controls controls, Tasks tasks) {
        this.controls = controls;
        this.tasks = tasks;
    }

    @POST
    @Needs(Permission.WRITE)
    @Path("/suspend")
    @Operation(
            summary = "Suspend a task",
            description = "Only a task that reasons or acts. Results that arrive meanwhile are kept. The header"
                    + " Idempotency-Key is your own id of the request.")
    @RequestBody(content = @Content(schema = @Schema(implementation = Task.Reason.class)))
    @APIResponse(
            responseCode = "202",
            description = "The request is stored.",
            content = @Content(schema = @Schema(implementation = Task.ControlAccepted.class)))
    @APIResponse(responseCode = "400", description = "bad_json, unknown_field, bad_field")
    @APIResponse(responseCode = "404", description = "unknown_task")
    @APIResponse(responseCode = "409", description = "not_suspendable")
    @APIResponse(responseCode = "503", description = "query_unavailable, broker_unavailable")
    public Response suspend(
            @PathParam("taskId") String taskId,
            @QueryParam("namespace") @DefaultValue(Event.DEFAULT_NAMESPACE) String namespace,
            InputStream body,
            @Context HttpHeaders headers)
            throws IOException, QueryUnavailableException, BrokerUnavailableException, EventTooLargeException,
                    InterruptedException {
        Payload payload = new Payload.TaskSuspended(controls.reason(body, headers), null);
        KnownTask task = known(namespace, taskId);
        task.requireSuspendable();
        Event event = controls.event(KnownEventType.TASK_SUSPENDED, task.target(), payload, headers);
        return controls.send(event, null, null);
    }

    @POST
    @Needs(Permission.WRITE)
    @Path("/resume")
    @Operation(
            summary = "Resume a task",
            description =
                    "A suspended task goes on: where it was, with the answer to its question, or with new input. A"
                            + " completed task takes new input and goes on with its history.")
    @RequestBody(content = @Content(schema = @Schema(implementation = Task.NewInput.class)))
    @APIResponse(
            responseCode = "202",
            description = "The request is stored. With ?wait=: the task has not ended in that time, and goes on.",
            content = @Content(schema = @Schema(implementation = Task.ControlAccepted.class)))
    @APIResponse(
            responseCode = "200",
            description = "Only with ?wait=: the task as it has ended, asks a question or needs an approval.",
            content = @Content(schema = @Schema(implementation = Task.AtRest.class)))
    @APIResponse(responseCode = "400", description = "bad_json, unknown_field, bad_field, missing_input, bad_parameter")
    @APIResponse(responseCode = "404", description = "unknown_task")
    @APIResponse(responseCode = "409", description = "not_resumable, answer_open, approval_open")
    @APIResponse(responseCode = "503", description = "query_unavailable, broker_unavailable")
    public Response resume(
            @PathParam("taskId") String taskId,
            @QueryParam("namespace") @DefaultValue(Event.DEFAULT_NAMESPACE) String namespace,
            @Parameter(description = "How long to wait for the end, such as 10s; at most 120 s.")
                    @QueryParam("wait")
                    @Nullable
                    String wait,
            InputStream body,
            @Context HttpHeaders headers)
            throws IOException, QueryUnavailableException, BrokerUnavailableException, EventTooLargeException,
                    InterruptedException {
        String newInput = BodyReader.text(
                "newInput", controls.body(body, headers, Task.NewInput.class).newInput(), Task.Request.MAX_TEXT);
        KnownTask task = known(namespace, taskId);
        task.requireResumable(newInput);
        Event event = controls.event(
                KnownEventType.TASK_RESUMED, task.target(), new Payload.TaskResumed(newInput, null), headers);
        return controls.send(event, wait, null);
    }

    @POST
    @Needs(Permission.WRITE)
    @Path("/cancel")
    @Operation(
            summary = "Cancel a task",
            description =
                    "From any state, also before it has begun: the request overtakes everything else. A task that has"
                            + " ended stays as it is. A task that nobody knows yet is cancelled when it comes; if it is part of a"
                            + " conversation, say which.")
    @RequestBody(content = @Content(schema = @Schema(implementation = Task.CancelRequest.class)))
    @APIResponse(
            responseCode = "202",
            description = "The request is stored. With ?wait=: the task has not ended in that time.",
            content = @Content(schema = @Schema(implementation = Task.ControlAccepted.class)))
    @APIResponse(
            responseCode = "200",
            description = "Only with ?wait=: the task as it has ended.",
            content = @Content(schema = @Schema(implementation = Task.AtRest.class)))
    @APIResponse(responseCode = "400", description = "bad_json, unknown_field, bad_field, bad_parameter")
    @APIResponse(
            responseCode = "503",
            description = "query_unavailable (not if you name the session), broker_unavailable")
    public Response cancel(
            @PathParam("taskId") String taskId,
            @QueryParam("namespace") @DefaultValue(Event.DEFAULT_NAMESPACE) String namespace,
            @Parameter(description = "How long to wait for the end, such as 10s; at most 120 s.")
                    @QueryParam("wait")
                    @Nullable
                    String wait,
            InputStream body,
            @Context HttpHeaders headers)
            throws IOException, QueryUnavailableException, BrokerUnavailableException, EventTooLargeException,
                    InterruptedException {
        Task.CancelRequest request = controls.body(body, headers, Task.CancelRequest.class);
        Payload payload =
                new Payload.TaskCancelRequested(BodyReader.text("reason", request.reason(), Task.Request.MAX_TEXT));
        String session = BodyReader.text("sessionId", request.sessionId(), Ids.MAX_LENGTH);
        if (session != null) {
            Target target = new Target(namespace, taskId, session);
            return controls.send(
                    controls.event(KnownEventType.TASK_CANCEL_REQUESTED, target, payload, headers), wait, null);
        }
        Optional<KnownTask> task = find(namespace, taskId);
        Target target = task.map(KnownTask::target).orElseGet(() -> new Target(namespace, taskId, null));
        Event event = controls.event(KnownEventType.TASK_CANCEL_REQUESTED, target, payload, headers);
        if (task.isEmpty()) {
            return controls.send(
                    event,
                    wait,
                    "No task " + taskId + " is known yet. If its start still waits somewhere, it is cancelled when it"
                            + " comes; if it belongs to a session, cancel it with the field sessionId.");
        }
        if (task.get().hasEnded()) {
            return controls.send(
                    event,
                    null,
                    "Task " + taskId + " has ended already, as " + task.get().state() + ".");
        }
        return controls.send(event, wait, null);
    }

    private KnownTask known(String namespace, String taskId) throws QueryUnavailableException, InterruptedException {
        return find(namespace, taskId).orElseThrow(() -> ProblemException.unknownTask(namespace, taskId));
    }

    private Optional<KnownTask> find(String namespace, String taskId)
            throws QueryUnavailableException, InterruptedException {
        Found found = tasks.task(namespace, taskId, null).orElse(null);
        return found == null ? Optional.empty() : Optional.of(KnownTask.of(namespace, taskId, found));
    }
}
