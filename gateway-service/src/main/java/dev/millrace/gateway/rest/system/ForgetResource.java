package dev.millrace.gateway.rest.system;

import dev.millrace.api.ForgetReport;
import dev.millrace.api.Task;
import dev.millrace.gateway.access.Permission;
import dev.millrace.gateway.kafka.BrokerUnavailableException;
import dev.millrace.gateway.kafka.EventTooLargeException;
import dev.millrace.gateway.kafka.ForgottenTopic;
import dev.millrace.gateway.kafka.TopicRetention;
import dev.millrace.gateway.query.Tasks;
import dev.millrace.gateway.rest.access.Needs;
import dev.millrace.gateway.rest.problems.ProblemException;
import dev.millrace.gateway.rest.requests.BodyReader;
import dev.millrace.gateway.rest.tasks.Controls;
import dev.millrace.gateway.rest.tasks.TaskHistory;
import dev.millrace.gateway.rest.tasks.TaskIntake;
import dev.millrace.http.client.QueryUnavailableException;
import dev.millrace.schemas.Event;
import dev.millrace.schemas.ForgetScope;
import dev.millrace.schemas.ForgetScope.Kind;
import dev.millrace.schemas.Json;
import dev.millrace.schemas.KnownEventType;
import dev.millrace.schemas.Payload;
import dev.millrace.schemas.Problem;
import io.smallrye.common.annotation.RunOnVirtualThread;
import jakarta.inject.Inject;
import jakarta.ws.rs.Consumes;
import jakarta.ws.rs.DefaultValue;
import jakarta.ws.rs.GET;
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
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.eclipse.microprofile.openapi.annotations.Operation;
import org.eclipse.microprofile.openapi.annotations.media.Content;
import org.eclipse.microprofile.openapi.annotations.media.Schema;
import org.eclipse.microprofile.openapi.annotations.parameters.Parameter;
import org.eclipse.microprofile.openapi.annotations.parameters.RequestBody;
import org.eclipse.microprofile.openapi.annotations.responses.APIResponse;
import org.eclipse.microprofile.openapi.annotations.tags.Tag;
import org.jspecify.annotations.Nullable;

/** Forgetting: what is removed at once, and what stays where until when. */
@Path("/v1/forget")
@Consumes(MediaType.APPLICATION_JSON)
@Produces(MediaType.APPLICATION_JSON)
@RunOnVirtualThread
@Tag(name = "Forgetting", description = "Removes tasks, sessions, and what a namespace remembers.")
public class ForgetResource {
    private static final int MAX_ID = 256;
    private static final int MAX_REASON = 1_000;
    private static final long LOOK_AGAIN_MS = 100;

    private static final List<ForgetReport.Elsewhere> ELSEWHERE = List.of(
            new ForgetReport.Elsewhere(
                    "The folders of agent-service and reflection-service (state-dir)",
                    "Deleted there too; RocksDB gives the bytes free when it compacts its files, at no fixed time."),
            new ForgetReport.Elsewhere(
                    "GET /v1/usage",
                    "Counts of tokens and money, by the ids of sessions and tasks, as long as the sums are kept."),
            new ForgetReport.Elsewhere(
                    "Every reader of the topics themselves", "Reads the topics above, as long as these hold it."),
            new ForgetReport.Elsewhere(
                    "Other gateways",
                    "The texts of tasks that they took themselves, for ten minutes; streams of theirs and dead letters show"
                            + " nothing of it a moment later than this one's."),
            new ForgetReport.Elsewhere(
                    "Language models, MCP servers, HTTP tools, the workspace, receivers of callbacks, telemetry",
                    "What was sent or written there is kept by them, under their own terms."));

    private final Controls controls;
    private final TaskIntake intake;
    private final Tasks tasks;
    private final TopicRetention retention;
    private final ForgottenTopic forgotten;

    @Inject
    ForgetResource(
            Controls controls, TaskIntake intake, Tasks tasks, TopicRetention retention, ForgottenTopic forgotten) {
        this.forgotten = forgotten;
        this.controls = controls;
        this.intake = intake;
        this.tasks = tasks;
        this.retention = retention;
    }

    @POST
    @Needs(value = Permission.ADMIN, in = Needs.Scope.BODY)
    @Operation(
            summary = "Forget a task, a session, the memory of a namespace, or all of it",
            description =
                    "Tasks that run are cancelled first. Rows, transcripts, documents with all their versions, variables"
                            + " and reflections under way are removed, and no route shows them any more. The answer says which"
                            + " topics still hold something of it until when, as their settings are. Goes on after a crash.")
    @RequestBody(required = true, content = @Content(schema = @Schema(implementation = ForgetReport.Request.class)))
    @APIResponse(
            responseCode = "202",
            description = "The request is stored. With ?wait=: it is not done in that time, and goes on.",
            content = @Content(schema = @Schema(implementation = ForgetReport.class)))
    @APIResponse(
            responseCode = "200",
            description = "Only with ?wait=: it is done.",
            content = @Content(schema = @Schema(implementation = ForgetReport.class)))
    @APIResponse(responseCode = "400", description = "bad_json, unknown_field, bad_field, bad_parameter")
    @APIResponse(responseCode = "503", description = "broker_unavailable, query_unavailable")
    public Response forget(
            @Parameter(description = "How long to wait until it is done, such as 10s; at most 120 s.")
                    @QueryParam("wait")
                    @Nullable
                    String wait,
            InputStream body,
            @Context HttpHeaders headers)
            throws IOException, BrokerUnavailableException, EventTooLargeException, QueryUnavailableException,
                    InterruptedException {
        Duration patience = controls.patience(wait);
        Event event = event(controls.body(body, headers, ForgetReport.Request.class), headers);
        intake.accept(List.of(event));
        ForgetScope.of(event).ifPresent(tasks::forget);
        ForgetProgress progress = await(event, patience);
        return answer(progress, progress.completed() ? 200 : 202);
    }

    @GET
    @Needs(Permission.ADMIN)
    @Path("/{forgetId}")
    @Operation(summary = "How far a request to forget is", description = "And what stays where until when.")
    @APIResponse(responseCode = "200", content = @Content(schema = @Schema(implementation = ForgetReport.class)))
    @APIResponse(responseCode = "404", description = "unknown_request")
    @APIResponse(responseCode = "503", description = "broker_unavailable, query_unavailable")
    public Response progress(
            @PathParam("forgetId") String forgetId,
            @QueryParam("namespace") @DefaultValue(Event.DEFAULT_NAMESPACE) String namespace)
            throws BrokerUnavailableException, QueryUnavailableException, InterruptedException {
        return answer(
                find(namespace, forgetId)
                        .orElseThrow(() -> new ProblemException(Problem.of(
                                404,
                                "unknown_request",
                                "Unknown request",
                                "There is no request to forget " + forgetId + " in the namespace " + namespace + "."))),
                200);
    }

    private Event event(ForgetReport.Request request, HttpHeaders headers)
            throws QueryUnavailableException, InterruptedException {
        Kind kind = Kind.of(request.scope())
                .orElseThrow(() ->
                        ProblemException.badField("scope", "task, session, memory or namespace", request.scope()));
        String namespace = BodyReader.text("namespace", request.namespace(), MAX_ID);
        String taskId = BodyReader.text("taskId", request.taskId(), MAX_ID);
        String sessionId = BodyReader.text("sessionId", request.sessionId(), MAX_ID);
        requireFor("taskId", taskId, kind == Kind.TASK);
        requireFor("sessionId", sessionId, kind == Kind.SESSION);
        if (namespace == null && (kind == Kind.MEMORY || kind == Kind.NAMESPACE)) {
            throw ProblemException.badField("namespace", "the name of the namespace that is to be forgotten", null);
        }
        String tenant = controls.namespace(namespace);
        String reason = BodyReader.text("reason", request.reason(), MAX_REASON);
        String home = taskId == null ? sessionId : sessionOf(tenant, taskId);
        return controls.event(
                KnownEventType.FORGET_REQUESTED,
                new Controls.Target(tenant, taskId, home),
                new Payload.ForgetRequested(kind.wireName(), taskId, sessionId, null, reason),
                headers);
    }

    private static void requireFor(String field, @Nullable String id, boolean wanted) {
        if (wanted != (id != null)) {
            throw ProblemException.badField(field, wanted ? "an id" : "none with this scope", id);
        }
    }

    /** With its session the request lands where the task is; a task that nobody knows may be in none. */
    private @Nullable String sessionOf(String namespace, String taskId)
            throws QueryUnavailableException, InterruptedException {
        return switch (tasks.task(namespace, taskId, null).orElse(null)) {
            case Tasks.Found.Known known -> known.answer().as(Task.class).sessionId();
            case Tasks.Found.Accepted accepted -> accepted.event().sessionId();
            case null -> null;
        };
    }

    private ForgetProgress await(Event request, Duration patience)
            throws QueryUnavailableException, InterruptedException {
        ForgetProgress progress = ForgetProgress.begun(request);
        long end = System.nanoTime() + patience.toNanos();
        while (!progress.completed() && end - System.nanoTime() > 0) {
            TimeUnit.MILLISECONDS.sleep(LOOK_AGAIN_MS);
            progress = find(request.namespace(), request.id()).orElse(progress);
        }
        return progress;
    }

    private Optional<ForgetProgress> find(String namespace, String forgetId)
            throws QueryUnavailableException, InterruptedException {
        if (tasks.page("events", namespace, forgetId, new Tasks.PageQuery(null, null, 1, 1))
                .isEmpty()) {
            return Optional.empty();
        }
        List<Event> events = new ArrayList<>();
        new TaskHistory(tasks, namespace, forgetId)
                .<RuntimeException>readOn(() -> {}, entry -> events.add(entry.event()));
        return ForgetProgress.of(forgetId, events);
    }

    private Response answer(ForgetProgress progress, int status)
            throws BrokerUnavailableException, InterruptedException {
        Event request = progress.request();
        if (progress.completed()) {
            // who hears that it is done is not told any more what was forgotten, by no stream and no dead letter
            forgotten.readUpToNow();
        }
        // what is not done yet may be written anew until it is
        Instant since = progress.completed() ? progress.lastAt() : Instant.now();
        ForgetReport report = new ForgetReport(
                request.id(),
                request.namespace(),
                String.valueOf(request.text("scope")),
                request.text("taskId"),
                request.text("sessionId"),
                request.timestamp().toString(),
                progress.completed(),
                progress.removed(),
                retention.since(since),
                ELSEWHERE);
        return Response.status(status).entity(Json.writeText(report)).build();
    }
}
