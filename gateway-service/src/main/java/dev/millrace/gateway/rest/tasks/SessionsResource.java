package dev.millrace.gateway.rest.tasks;

import dev.millrace.api.Session;
import dev.millrace.api.Task;
import dev.millrace.gateway.access.Permission;
import dev.millrace.gateway.kafka.BrokerUnavailableException;
import dev.millrace.gateway.kafka.EventTooLargeException;
import dev.millrace.gateway.rest.access.Needs;
import dev.millrace.gateway.rest.problems.ProblemException;
import dev.millrace.gateway.rest.requests.BodyReader;
import dev.millrace.gateway.rest.requests.Parameters;
import dev.millrace.gateway.rest.tasks.SessionControls.Name;
import dev.millrace.http.client.QueryUnavailableException;
import dev.millrace.schemas.Event;
import dev.millrace.schemas.Ids;
import dev.millrace.schemas.Json;
import dev.millrace.schemas.Problem;
import io.smallrye.common.annotation.RunOnVirtualThread;
import jakarta.inject.Inject;
import jakarta.ws.rs.Consumes;
import jakarta.ws.rs.DELETE;
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
import java.net.URI;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.time.DateTimeException;
import java.time.OffsetDateTime;
import java.util.List;
import java.util.Map;
import org.eclipse.microprofile.openapi.annotations.Operation;
import org.eclipse.microprofile.openapi.annotations.enums.SchemaType;
import org.eclipse.microprofile.openapi.annotations.media.Content;
import org.eclipse.microprofile.openapi.annotations.media.Schema;
import org.eclipse.microprofile.openapi.annotations.parameters.Parameter;
import org.eclipse.microprofile.openapi.annotations.parameters.RequestBody;
import org.eclipse.microprofile.openapi.annotations.responses.APIResponse;
import org.eclipse.microprofile.openapi.annotations.tags.Tag;
import org.jspecify.annotations.Nullable;

/** Conversations: lists, makes and deletes them, tells what was said, and stops what is going on. */
@Path("/v1/sessions")
@Produces(MediaType.APPLICATION_JSON)
@RunOnVirtualThread
@Tag(name = "Sessions", description = "Conversations of several tasks.")
public class SessionsResource {

    private static final int MAX_SESSIONS = 200;
    private static final int MAX_MESSAGES = 500;

    private final SessionControls sessions;
    private final Controls controls;
    private final TaskIntake intake;

    @Inject
    SessionsResource(SessionControls sessions, Controls controls, TaskIntake intake) {
        this.intake = intake;
        this.sessions = sessions;
        this.controls = controls;
    }

    @GET
    @Needs(Permission.READ)
    @Operation(summary = "List sessions", description = "The one in which something happened last comes first.")
    @APIResponse(responseCode = "200", content = @Content(schema = @Schema(implementation = Session.Page.class)))
    @APIResponse(responseCode = "400", description = "bad_parameter")
    @APIResponse(responseCode = "503", description = "query_unavailable, sessions_disabled")
    public Response list(
            @QueryParam("namespace") @DefaultValue(Event.DEFAULT_NAMESPACE) String namespace,
            @Parameter(description = "1 to 200", schema = @Schema(type = SchemaType.INTEGER, defaultValue = "50"))
                    @QueryParam("limit")
                    @DefaultValue("50")
                    String limit,
            @Parameter(description = "What next said on the page before.") @QueryParam("cursor") @Nullable
                    String cursor)
            throws QueryUnavailableException, InterruptedException {
        requireEnabled();
        return ok(sessions.list(namespace, Parameters.number("limit", limit, MAX_SESSIONS), cursor));
    }

    @POST
    @Needs(value = Permission.WRITE, in = Needs.Scope.BODY)
    @Consumes(MediaType.APPLICATION_JSON)
    @Operation(
            summary = "Make a session",
            description = "A session is also made by the first task that names it; this gives it a title before.")
    @RequestBody(required = true, content = @Content(schema = @Schema(implementation = Session.Request.class)))
    @APIResponse(responseCode = "201", content = @Content(schema = @Schema(implementation = Session.class)))
    @APIResponse(responseCode = "400", description = "bad_json, unknown_field, bad_field")
    @APIResponse(responseCode = "409", description = "session_exists")
    @APIResponse(responseCode = "422", description = "unknown_agent")
    @APIResponse(responseCode = "503", description = "broker_unavailable, query_unavailable, sessions_disabled")
    public Response create(InputStream body, @Context HttpHeaders headers)
            throws IOException, QueryUnavailableException, BrokerUnavailableException, EventTooLargeException,
                    InterruptedException {
        requireEnabled();
        Session.Request request = controls.body(body, headers, Session.Request.class);
        String title = BodyReader.text("title", request.title(), Session.Request.MAX_TITLE);
        String wanted = BodyReader.text("sessionId", request.sessionId(), Ids.MAX_LENGTH);
        String namespace = BodyReader.text("namespace", request.namespace(), Ids.MAX_LENGTH);
        Name name = new Name(controls.namespace(namespace), wanted == null ? Ids.random() : wanted);
        if (wanted != null && sessions.find(name).isPresent()) {
            throw new ProblemException(new Problem(
                    409,
                    "session_exists",
                    "The session exists",
                    "There is a session " + wanted + " in the namespace " + name.namespace() + " already.",
                    Map.of("sessionId", wanted)));
        }
        List<String> participants = TaskSubmission.participants(request.participants());
        for (String one : participants) {
            intake.requireAgent(one.equals(Session.PEOPLE) ? null : one, name.namespace());
        }
        try {
            Session made = sessions.create(name, title, participants);
            return Response.created(URI.create(path(made.sessionId())))
                    .entity(Json.writeText(made))
                    .build();
        } catch (IllegalArgumentException e) {
            throw ProblemException.unreadable(e);
        }
    }

    @GET
    @Needs(Permission.READ)
    @Path("/{sessionId}")
    @Operation(summary = "One session")
    @APIResponse(responseCode = "200", content = @Content(schema = @Schema(implementation = Session.class)))
    @APIResponse(responseCode = "404", description = "unknown_session")
    @APIResponse(responseCode = "503", description = "query_unavailable, sessions_disabled")
    public Response session(
            @PathParam("sessionId") String sessionId,
            @QueryParam("namespace") @DefaultValue(Event.DEFAULT_NAMESPACE) String namespace)
            throws QueryUnavailableException, InterruptedException {
        requireEnabled();
        return ok(require(new Name(namespace, sessionId)));
    }

    @DELETE
    @Needs(Permission.ADMIN)
    @Path("/{sessionId}")
    @Operation(
            summary = "Delete a session",
            description =
                    "The same as forgetting it: what runs is cancelled, and everything of it is removed for good.")
    @APIResponse(
            responseCode = "202",
            description = "The request is stored.",
            content = @Content(schema = @Schema(implementation = Session.Deleted.class)))
    @APIResponse(responseCode = "404", description = "unknown_session")
    @APIResponse(responseCode = "503", description = "broker_unavailable, query_unavailable, sessions_disabled")
    public Response delete(
            @PathParam("sessionId") String sessionId,
            @QueryParam("namespace") @DefaultValue(Event.DEFAULT_NAMESPACE) String namespace)
            throws QueryUnavailableException, BrokerUnavailableException, EventTooLargeException, InterruptedException {
        requireEnabled();
        Name name = new Name(namespace, sessionId);
        require(name);
        return Response.accepted(Json.writeText(new Session.Deleted(sessionId, sessions.forget(name), "accepted")))
                .build();
    }

    @GET
    @Needs(Permission.READ)
    @Path("/{sessionId}/messages")
    @Operation(
            summary = "What was said in a session",
            description =
                    "What people said, and what agents answered or asked; no tool calls. The newest that are wanted,"
                            + " the oldest of them first.")
    @APIResponse(responseCode = "200", content = @Content(schema = @Schema(implementation = Session.Messages.class)))
    @APIResponse(responseCode = "400", description = "bad_parameter")
    @APIResponse(responseCode = "404", description = "unknown_session")
    @APIResponse(responseCode = "503", description = "query_unavailable, sessions_disabled")
    public Response messages(
            @PathParam("sessionId") String sessionId,
            @QueryParam("namespace") @DefaultValue(Event.DEFAULT_NAMESPACE) String namespace,
            @Parameter(description = "1 to 500", schema = @Schema(type = SchemaType.INTEGER, defaultValue = "50"))
                    @QueryParam("limit")
                    @DefaultValue("50")
                    String limit,
            @Parameter(description = "Nothing before this moment: RFC 3339, or Unix milliseconds.")
                    @QueryParam("startTime")
                    @Nullable
                    String startTime,
            @Parameter(description = "Nothing after this moment: RFC 3339, or Unix milliseconds.")
                    @QueryParam("endTime")
                    @Nullable
                    String endTime,
            @Parameter(description = "Only older ones than on the page that said this is next.")
                    @QueryParam("before")
                    @Nullable
                    String before)
            throws QueryUnavailableException, InterruptedException {
        requireEnabled();
        Name name = new Name(namespace, sessionId);
        return ok(sessions.messages(name, wanted(limit, startTime, endTime, before))
                .orElseThrow(() -> unknown(name)));
    }

    @POST
    @Path("/{sessionId}/prompt")
    @Needs(Permission.WRITE)
    @Consumes(MediaType.APPLICATION_JSON)
    @Operation(
            summary = "Say something in a session",
            description = "Sends an event, and answers as soon as it is stored. POST /v1/tasks with a sessionId can do"
                    + " more: wait for the answer, show images, choose an agent.")
    @RequestBody(required = true, content = @Content(schema = @Schema(implementation = Session.Prompt.class)))
    @APIResponse(responseCode = "200", content = @Content(schema = @Schema(implementation = Session.Prompted.class)))
    @APIResponse(responseCode = "400", description = "missing_content, bad_json, unknown_field, bad_field")
    @APIResponse(responseCode = "404", description = "unknown_session")
    @APIResponse(responseCode = "503", description = "broker_unavailable, query_unavailable, sessions_disabled")
    public Response prompt(
            @PathParam("sessionId") String sessionId,
            InputStream body,
            @QueryParam("namespace") @DefaultValue(Event.DEFAULT_NAMESPACE) String namespace,
            @Context HttpHeaders headers)
            throws IOException, QueryUnavailableException, BrokerUnavailableException, EventTooLargeException,
                    InterruptedException {
        requireEnabled();
        String said = controls.body(body, headers, Session.Prompt.class).content();
        if (said == null || said.isBlank()) {
            throw new ProblemException(new Problem(
                    400,
                    "missing_content",
                    SessionControls.CONTENT_REQUIRED,
                    "content: expected a text that is not blank, found " + (said == null ? "none" : "a blank one"),
                    Map.of("error", SessionControls.CONTENT_REQUIRED)));
        }
        String content = String.valueOf(BodyReader.text("content", said, Task.Request.MAX_TEXT));
        Name name = new Name(namespace, sessionId);
        if (!sessions.takesPrompts(name)) {
            throw unknown(name);
        }
        Event event = sessions.prompt(name, content, headers);
        return ok(new Session.Prompted(true, sessionId, SessionControls.STARTED, event.id()));
    }

    static SessionControls.Wanted wanted(
            String limit, @Nullable String startTime, @Nullable String endTime, @Nullable String before) {
        return new SessionControls.Wanted(
                Parameters.number("limit", limit, MAX_MESSAGES),
                moment("startTime", startTime),
                moment("endTime", endTime),
                before);
    }

    @POST
    @Needs(Permission.WRITE)
    @Path("/{sessionId}/interrupt")
    @Operation(
            summary = "Stop what is going on in a session",
            description = "Cancels its tasks that have begun, with their sub-tasks. Tasks that wait for their turn come"
                    + " afterwards.")
    @APIResponse(
            responseCode = "202",
            description = "The requests to cancel are stored.",
            content = @Content(schema = @Schema(implementation = Session.Interrupted.class)))
    @APIResponse(responseCode = "404", description = "unknown_session")
    @APIResponse(responseCode = "503", description = "broker_unavailable, query_unavailable, sessions_disabled")
    public Response interrupt(
            @PathParam("sessionId") String sessionId,
            @QueryParam("namespace") @DefaultValue(Event.DEFAULT_NAMESPACE) String namespace)
            throws QueryUnavailableException, BrokerUnavailableException, EventTooLargeException, InterruptedException {
        requireEnabled();
        Name name = new Name(namespace, sessionId);
        require(name);
        SessionControls.Interruption stopped = sessions.interrupt(name);
        return Response.accepted(Json.writeText(
                        new Session.Interrupted(sessionId, !stopped.taskIds().isEmpty(), stopped.taskIds())))
                .build();
    }

    private void requireEnabled() {
        if (!sessions.enabled()) {
            throw new ProblemException(new Problem(
                    503,
                    "sessions_disabled",
                    "There are no sessions here",
                    "millrace.gateway.sessions.enabled is false.",
                    Map.of("error", SessionControls.UNSUPPORTED)));
        }
    }

    private Session require(Name name) throws QueryUnavailableException, InterruptedException {
        return sessions.find(name).orElseThrow(() -> unknown(name));
    }

    private static ProblemException unknown(Name name) {
        return new ProblemException(Problem.of(
                404,
                "unknown_session",
                "Unknown session",
                "There is no session " + name.sessionId() + " in the namespace " + name.namespace() + "."));
    }

    private static @Nullable String moment(String name, @Nullable String text) {
        if (text == null || text.isBlank()) {
            return null;
        }
        String said = text.strip();
        if (said.matches("[0-9]{1,15}")) {
            return said;
        }
        try {
            return Long.toString(OffsetDateTime.parse(said).toInstant().toEpochMilli());
        } catch (DateTimeException | ArithmeticException e) {
            throw ProblemException.badParameter(
                    name, "a time such as 2027-01-15T08:00:00Z, or Unix milliseconds", said);
        }
    }

    private static String path(String sessionId) {
        return "/v1/sessions/"
                + URLEncoder.encode(sessionId, StandardCharsets.UTF_8).replace("+", "%20");
    }

    private static Response ok(Object json) {
        return Response.ok(Json.writeText(json)).build();
    }
}
