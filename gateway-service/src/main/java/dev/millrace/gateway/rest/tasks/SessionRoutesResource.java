package dev.millrace.gateway.rest.tasks;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.databind.JsonNode;
import dev.millrace.api.Session;
import dev.millrace.api.Task;
import dev.millrace.gateway.access.Permission;
import dev.millrace.gateway.config.GatewayConfig;
import dev.millrace.gateway.kafka.BrokerUnavailableException;
import dev.millrace.gateway.kafka.EventTooLargeException;
import dev.millrace.gateway.rest.access.Needs;
import dev.millrace.gateway.rest.problems.ProblemException;
import dev.millrace.gateway.rest.requests.Bodies;
import dev.millrace.gateway.rest.requests.BodyReader;
import dev.millrace.gateway.rest.requests.Parameters;
import dev.millrace.gateway.rest.tasks.SessionControls.Name;
import dev.millrace.http.client.QueryUnavailableException;
import dev.millrace.schemas.Event;
import dev.millrace.schemas.Ids;
import dev.millrace.schemas.Json;
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
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.eclipse.microprofile.openapi.annotations.Operation;
import org.eclipse.microprofile.openapi.annotations.tags.Tag;
import org.jspecify.annotations.Nullable;

/**
 * Sessions for clients that were written for agent servers with plain routes: bare lists and objects, errors as
 * {@code {"error": …}}. The same as {@link SessionsResource} does, which has more.
 */
@Path("/sessions")
@Produces(MediaType.APPLICATION_JSON)
@RunOnVirtualThread
@Tag(name = "Plain session routes", description = "Sessions in the form of plain agent servers.")
public class SessionRoutesResource {

    private static final int MAX_SESSIONS = 500;
    private static final int OK = 200;
    private static final int CREATED = 201;
    private static final int BAD_REQUEST = 400;
    private static final int NOT_FOUND = 404;
    private static final int UNAVAILABLE = 503;

    /** A session; times in Unix milliseconds. */
    private record PlainSession(String id, @Nullable String title, long createdAt, long updatedAt) {}

    /** What was said in one. */
    private record PlainMessage(String id, String role, String content, long timestamp) {}

    /** What was stopped; {@code stoppedBackgroundTasks}: {@code null} = none. */
    private record Interrupted(
            boolean success,
            boolean interrupted,

            @JsonInclude(JsonInclude.Include.NON_NULL) @Nullable
            Integer stoppedBackgroundTasks) {}

    /** That something was said. */
    private record Prompted(boolean success, String sessionId, String message) {}

    private final SessionControls sessions;
    private final TaskIntake intake;
    private final GatewayConfig config;

    @Inject
    SessionRoutesResource(SessionControls sessions, TaskIntake intake, GatewayConfig config) {
        this.sessions = sessions;
        this.intake = intake;
        this.config = config;
    }

    @GET
    @Needs(Permission.READ)
    @Operation(summary = "List sessions", description = "The one in which something happened last comes first.")
    public Response list(
            @QueryParam("namespace") @DefaultValue(Event.DEFAULT_NAMESPACE) String namespace,
            @QueryParam("limit") @DefaultValue("100") String limit)
            throws QueryUnavailableException, InterruptedException {
        return sessions.enabled()
                ? answer(
                        OK,
                        sessions
                                .list(namespace, Parameters.number("limit", limit, MAX_SESSIONS), null)
                                .sessions()
                                .stream()
                                .map(SessionRoutesResource::plain)
                                .toList())
                : unsupported();
    }

    @POST
    @Needs(Permission.WRITE)
    @Operation(summary = "Make a session", description = "The body may have a title.")
    public Response create(
            InputStream body,
            @QueryParam("namespace") @DefaultValue(Event.DEFAULT_NAMESPACE) String namespace,
            @Context HttpHeaders headers)
            throws IOException, BrokerUnavailableException, EventTooLargeException, InterruptedException {
        if (!sessions.enabled()) {
            return unsupported();
        }
        JsonNode said = read(body, headers).path("title");
        String title = BodyReader.text("title", said.isTextual() ? said.textValue() : null, Session.Request.MAX_TITLE);
        try {
            return answer(CREATED, plain(sessions.create(new Name(namespace, Ids.random()), title, List.of())));
        } catch (IllegalArgumentException e) {
            throw ProblemException.unreadable(e);
        }
    }

    @GET
    @Needs(Permission.READ)
    @Path("/{sessionId}")
    @Operation(summary = "One session")
    public Response session(
            @PathParam("sessionId") String sessionId,
            @QueryParam("namespace") @DefaultValue(Event.DEFAULT_NAMESPACE) String namespace)
            throws QueryUnavailableException, InterruptedException {
        if (!sessions.enabled()) {
            return unsupported();
        }
        Optional<Session> found = sessions.find(new Name(namespace, sessionId));
        return found.isPresent() ? answer(OK, plain(found.get())) : unknown();
    }

    @DELETE
    @Needs(Permission.ADMIN)
    @Path("/{sessionId}")
    @Operation(summary = "Delete a session", description = "The same as forgetting it.")
    public Response delete(
            @PathParam("sessionId") String sessionId,
            @QueryParam("namespace") @DefaultValue(Event.DEFAULT_NAMESPACE) String namespace)
            throws QueryUnavailableException, BrokerUnavailableException, EventTooLargeException, InterruptedException {
        if (!sessions.enabled()) {
            return unsupported();
        }
        Name name = new Name(namespace, sessionId);
        if (sessions.find(name).isEmpty()) {
            return unknown();
        }
        sessions.forget(name);
        return answer(OK, Map.of("success", true));
    }

    @GET
    @Needs(Permission.READ)
    @Path("/{sessionId}/messages")
    @Operation(
            summary = "What was said in a session",
            description =
                    "startTime and endTime are RFC 3339 or Unix milliseconds; of more messages than limit, the newest.")
    public Response messages(
            @PathParam("sessionId") String sessionId,
            @QueryParam("namespace") @DefaultValue(Event.DEFAULT_NAMESPACE) String namespace,
            @QueryParam("limit") @DefaultValue("100") String limit,
            @QueryParam("startTime") @Nullable String startTime,
            @QueryParam("endTime") @Nullable String endTime)
            throws QueryUnavailableException, InterruptedException {
        if (!sessions.enabled()) {
            return unsupported();
        }
        Optional<Session.Messages> said = sessions.messages(
                new Name(namespace, sessionId), SessionsResource.wanted(limit, startTime, endTime, null));
        return said.isEmpty()
                ? unknown()
                : answer(
                        OK,
                        said.get().messages().stream()
                                .map(SessionRoutesResource::plain)
                                .toList());
    }

    @POST
    @Needs(Permission.WRITE)
    @Path("/{sessionId}/interrupt")
    @Operation(summary = "Stop what is going on in a session")
    public Response interrupt(
            @PathParam("sessionId") String sessionId,
            @QueryParam("namespace") @DefaultValue(Event.DEFAULT_NAMESPACE) String namespace)
            throws QueryUnavailableException, BrokerUnavailableException, EventTooLargeException, InterruptedException {
        if (!sessions.enabled()) {
            return unsupported();
        }
        Name name = new Name(namespace, sessionId);
        if (sessions.find(name).isEmpty()) {
            return unknown();
        }
        SessionControls.Interruption stopped = sessions.interrupt(name);
        return answer(
                OK,
                new Interrupted(
                        true, !stopped.taskIds().isEmpty(), stopped.children() > 0 ? stopped.children() : null));
    }

    @POST
    @Needs(Permission.WRITE)
    @Path("/{sessionId}/prompt")
    @Consumes(MediaType.APPLICATION_JSON)
    @Operation(
            summary = "Say something in a session",
            description = "Sends an event, and answers as soon as it is stored; the body has the content.")
    public Response prompt(
            @PathParam("sessionId") String sessionId,
            InputStream body,
            @QueryParam("namespace") @DefaultValue(Event.DEFAULT_NAMESPACE) String namespace,
            @Context HttpHeaders headers)
            throws IOException, QueryUnavailableException, BrokerUnavailableException, EventTooLargeException,
                    InterruptedException {
        if (!sessions.enabled()) {
            return unsupported();
        }
        JsonNode said = read(body, headers).path("content");
        String content = said.isTextual() ? said.textValue() : "";
        if (content.isBlank()) {
            return answer(BAD_REQUEST, Map.of("error", SessionControls.CONTENT_REQUIRED));
        }
        if (content.length() > Task.Request.MAX_TEXT) {
            return answer(
                    BAD_REQUEST,
                    Map.of(
                            "error",
                            "content: expected at most " + Task.Request.MAX_TEXT + " characters, found "
                                    + content.length()));
        }
        Name name = new Name(namespace, sessionId);
        if (!sessions.takesPrompts(name)) {
            return unknown();
        }
        sessions.prompt(name, content, headers);
        return answer(OK, new Prompted(true, sessionId, SessionControls.STARTED));
    }

    /** An object, an empty one if there is no body. */
    private JsonNode read(InputStream body, HttpHeaders headers) throws IOException, InterruptedException {
        try (Bodies.Body read = intake.read(body, config.maxBodySize().asLongValue())) {
            if (read.bytes().length == 0) {
                return Json.MAPPER.createObjectNode();
            }
            BodyReader.requireJson(headers);
            return BodyReader.object(read.bytes());
        }
    }

    private static PlainSession plain(Session session) {
        return new PlainSession(session.sessionId(), session.title(), session.createdAt(), session.updatedAt());
    }

    private static PlainMessage plain(Session.Message message) {
        return new PlainMessage(message.id(), message.role(), message.content(), message.timestamp());
    }

    private static Response unsupported() {
        return answer(UNAVAILABLE, Map.of("error", SessionControls.UNSUPPORTED));
    }

    private static Response unknown() {
        return answer(NOT_FOUND, Map.of("error", "Session not found"));
    }

    private static Response answer(int status, Object json) {
        return Response.status(status).entity(Json.writeText(json)).build();
    }
}
