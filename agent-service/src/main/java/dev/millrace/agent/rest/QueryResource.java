package dev.millrace.agent.rest;

import dev.millrace.agent.projection.ApprovalQuery;
import dev.millrace.agent.projection.ChainPage;
import dev.millrace.agent.projection.EventPage;
import dev.millrace.agent.projection.ProjectionNotReadyException;
import dev.millrace.agent.projection.QueueQuery;
import dev.millrace.agent.projection.TaskProjection;
import dev.millrace.agent.projection.TaskQuery;
import dev.millrace.agent.projection.UsageQuery;
import dev.millrace.api.Task;
import dev.millrace.schemas.Event;
import dev.millrace.schemas.EventJson;
import dev.millrace.schemas.JournalCursor;
import dev.millrace.schemas.JournalEntry;
import dev.millrace.schemas.Problem;
import io.smallrye.common.annotation.RunOnVirtualThread;
import jakarta.inject.Inject;
import jakarta.ws.rs.BeanParam;
import jakarta.ws.rs.DefaultValue;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.PathParam;
import jakarta.ws.rs.Produces;
import jakarta.ws.rs.QueryParam;
import jakarta.ws.rs.core.MediaType;
import jakarta.ws.rs.core.Response;
import jakarta.ws.rs.core.UriInfo;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.jboss.resteasy.reactive.server.ServerExceptionMapper;
import org.jspecify.annotations.Nullable;

/**
 * What the gateway asks about tasks. Internal: no client outside may depend on it. Ids and cursors are taken as they
 * are; an id that nobody has is a 404, a parameter that cannot be read a 400, and 503 means "ask again soon".
 */
@Path("/internal")
@Produces(MediaType.APPLICATION_JSON)
@RunOnVirtualThread
public class QueryResource {

    /** How long an answer waits for the place in the journal that the caller has already seen. */
    public static final Duration CATCH_UP = Duration.ofSeconds(2);

    /** A page of what happened to a task. */
    private record Events(
            List<?> events, @Nullable String next, @Nullable String upTo) {}

    /** A page of what led to an event. */
    private record Chain(List<?> chain, @Nullable String next) {}

    private final TaskProjection projection;
    private final TaskNotes notes;

    private final Clock clock = Clock.systemUTC();

    @Inject
    public QueryResource(TaskProjection projection, TaskNotes notes) {
        this.projection = projection;
        this.notes = notes;
    }

    /** Tasks, newest first. */
    @GET
    @Path("/tasks")
    public Response tasks(
            @QueryParam("namespace") @DefaultValue(Event.DEFAULT_NAMESPACE) String namespace,
            @QueryParam("state") @Nullable String state,
            @QueryParam("sessionId") @Nullable String sessionId,
            @QueryParam("waitingFor") @Nullable String waitingFor,
            @QueryParam("limit") @DefaultValue("50") String limit,
            @QueryParam("before") @Nullable String before,
            @BeanParam TraitParameters traits) {
        Task.Page page = projection.tasks(new TaskQuery(
                namespace,
                blankToNull(state),
                blankToNull(sessionId),
                blankToNull(waitingFor),
                limit(limit),
                blankToNull(before),
                traits.traits()));
        return Answers.ok(new Task.Page(notes.noted(page.tasks()), page.next()));
    }

    /** How many tasks there are in each state. */
    @GET
    @Path("/task-counts")
    public Response counts(
            @QueryParam("namespace") @DefaultValue(Event.DEFAULT_NAMESPACE) String namespace,
            @QueryParam("sessionId") @Nullable String sessionId,
            @QueryParam("waitingFor") @Nullable String waitingFor,
            @BeanParam TraitParameters traits) {
        return Answers.ok(projection.counts(new TaskQuery(
                namespace,
                null,
                blankToNull(sessionId),
                blankToNull(waitingFor),
                TaskQuery.MAX_LIMIT,
                null,
                traits.traits())));
    }

    /** One task; with {@code at}, a cursor, as it is at that place of the journal or later. */
    @GET
    @Path("/tasks/{taskId}")
    public Response task(
            @PathParam("taskId") String taskId,
            @QueryParam("namespace") @DefaultValue(Event.DEFAULT_NAMESPACE) String namespace,
            @QueryParam("at") @Nullable String at)
            throws InterruptedException {
        awaitPlace(at);
        return projection
                .task(namespace, taskId)
                .map(notes::noted)
                .map(Answers::ok)
                .orElseThrow(() -> new UnknownIdException("unknown_task", "task", taskId, namespace));
    }

    /**
     * What happened to a task, with {@code at}, a cursor, up to that place of the journal at least; see
     * {@link EventPage} for {@code next} and {@code upTo}.
     */
    @GET
    @Path("/tasks/{taskId}/events")
    public Response events(
            @PathParam("taskId") String taskId,
            @QueryParam("namespace") @DefaultValue(Event.DEFAULT_NAMESPACE) String namespace,
            @QueryParam("after") @Nullable String after,
            @QueryParam("at") @Nullable String at,
            @QueryParam("limit") @DefaultValue("500") String limit,
            @QueryParam("maxBytes") @Nullable String maxBytes)
            throws InterruptedException {
        awaitPlace(at);
        EventPage page = projection
                .events(namespace, taskId, cursor("after", after), limit(limit), maxBytes(maxBytes))
                .orElseThrow(() -> new UnknownIdException("unknown_task", "task", taskId, namespace));
        return Answers.ok(new Events(
                page.events().stream().map(JournalEntry::toJson).toList(),
                page.next() == null ? null : page.next().toString(),
                page.upTo() == null ? null : page.upTo().toString()));
    }

    /** How a task moved from state to state. */
    @GET
    @Path("/tasks/{taskId}/history")
    public Response history(
            @PathParam("taskId") String taskId,
            @QueryParam("namespace") @DefaultValue(Event.DEFAULT_NAMESPACE) String namespace,
            @QueryParam("after") @Nullable String after,
            @QueryParam("limit") @DefaultValue("500") String limit) {
        return projection
                .history(namespace, taskId, cursor("after", after), limit(limit))
                .map(Answers::ok)
                .orElseThrow(() -> new UnknownIdException("unknown_task", "task", taskId, namespace));
    }

    /** What was accepted, the newest first. */
    @GET
    @Path("/queue")
    public Response queue(
            @QueryParam("namespace") @DefaultValue(Event.DEFAULT_NAMESPACE) String namespace,
            @QueryParam("status") @Nullable String status,
            @QueryParam("sessionId") @Nullable String sessionId,
            @QueryParam("order") @Nullable String order,
            @QueryParam("limit") @DefaultValue("50") String limit,
            @QueryParam("before") @Nullable String before) {
        return Answers.ok(projection.queue(new QueueQuery(
                namespace,
                blankToNull(status),
                blankToNull(sessionId),
                QueueQuery.Order.of(blankToNull(order)),
                limit(limit),
                blankToNull(before))));
    }

    /** How far an event is; its id is a parameter, since it may have slashes. */
    @GET
    @Path("/queue/item")
    public Response queueItem(
            @QueryParam("eventId") @DefaultValue("") String eventId,
            @QueryParam("namespace") @DefaultValue(Event.DEFAULT_NAMESPACE) String namespace) {
        return projection
                .queueItem(namespace, eventId)
                .map(Answers::ok)
                .orElseThrow(() -> new UnknownIdException("unknown_event", "event", eventId, namespace));
    }

    /** An event that was accepted, whole. */
    @GET
    @Path("/queue/event")
    public Response queueEvent(
            @QueryParam("eventId") @DefaultValue("") String eventId,
            @QueryParam("namespace") @DefaultValue(Event.DEFAULT_NAMESPACE) String namespace) {
        return projection
                .accepted(namespace, eventId)
                .map(EventJson::toJson)
                .map(Answers::ok)
                .orElseThrow(() -> new UnknownIdException("unknown_event", "event", eventId, namespace));
    }

    /** Sessions, the one in which something happened last first. */
    @GET
    @Path("/sessions")
    public Response sessions(
            @QueryParam("namespace") @DefaultValue(Event.DEFAULT_NAMESPACE) String namespace,
            @QueryParam("limit") @DefaultValue("50") String limit,
            @QueryParam("before") @Nullable String before) {
        return Answers.ok(projection.sessions(namespace, limit(limit), blankToNull(before)));
    }

    /** The namespaces in which there are tasks or sessions, by name. */
    @GET
    @Path("/namespaces")
    public Response namespaces() {
        return Answers.ok(projection.namespaces());
    }

    /** One session; its id is a parameter, since it may have slashes. */
    @GET
    @Path("/session")
    public Response session(
            @QueryParam("sessionId") @DefaultValue("") String sessionId,
            @QueryParam("namespace") @DefaultValue(Event.DEFAULT_NAMESPACE) String namespace) {
        return projection
                .session(namespace, sessionId)
                .map(Answers::ok)
                .orElseThrow(() -> new UnknownIdException("unknown_session", "session", sessionId, namespace));
    }

    /** What was said in a session; {@code from} and {@code to} are Unix milliseconds. */
    @GET
    @Path("/session/messages")
    public Response messages(
            @QueryParam("sessionId") @DefaultValue("") String sessionId,
            @QueryParam("namespace") @DefaultValue(Event.DEFAULT_NAMESPACE) String namespace,
            @QueryParam("from") @Nullable String from,
            @QueryParam("to") @Nullable String to,
            @QueryParam("limit") @DefaultValue("50") String limit,
            @QueryParam("before") @Nullable String before) {
        TaskProjection.Span span = new TaskProjection.Span(
                moment("from", from, TaskProjection.Span.ALWAYS.from()),
                moment("to", to, TaskProjection.Span.ALWAYS.to()));
        return projection
                .messages(namespace, sessionId, span, limit(limit), cursor("before", before))
                .map(Answers::ok)
                .orElseThrow(() -> new UnknownIdException("unknown_session", "session", sessionId, namespace));
    }

    /** Tool calls that wait for a decision, the one that has waited longest first. */
    @GET
    @Path("/approvals")
    public Response approvals(
            @QueryParam("namespace") @DefaultValue(Event.DEFAULT_NAMESPACE) String namespace,
            @QueryParam("taskId") @Nullable String taskId,
            @QueryParam("sessionId") @Nullable String sessionId,
            @QueryParam("toolName") @Nullable String toolName,
            @QueryParam("limit") @DefaultValue("50") String limit,
            @QueryParam("after") @Nullable String after) {
        return Answers.ok(projection.approvals(new ApprovalQuery(
                namespace,
                blankToNull(taskId),
                blankToNull(sessionId),
                blankToNull(toolName),
                limit(limit),
                blankToNull(after))));
    }

    /** A tool call that waits, or waited, for a decision; its id is a parameter, since it has slashes. */
    @GET
    @Path("/approval")
    public Response approval(
            @QueryParam("callId") @DefaultValue("") String callId,
            @QueryParam("namespace") @DefaultValue(Event.DEFAULT_NAMESPACE) String namespace) {
        return projection
                .approval(namespace, callId)
                .map(Answers::ok)
                .orElseThrow(() -> new UnknownIdException("unknown_approval", "approval", callId, namespace));
    }

    /** What model calls have used; see {@link UsageParameters} for how it is asked for. */
    @GET
    @Path("/usage")
    public Response usage(
            @QueryParam("namespace") @DefaultValue(Event.DEFAULT_NAMESPACE) String namespace,
            @QueryParam("sessionId") @Nullable String sessionId,
            @QueryParam("taskId") @Nullable String taskId,
            @QueryParam("agent") @Nullable String agent,
            @QueryParam("model") @Nullable String model,
            @QueryParam("from") @Nullable String from,
            @QueryParam("to") @Nullable String to,
            @QueryParam("groupBy") @Nullable String groupBy) {
        UsageQuery query = new UsageQuery(
                new UsageQuery.Filter(
                        namespace.equals(UsageParameters.ALL) ? null : namespace,
                        blankToNull(sessionId),
                        blankToNull(taskId),
                        blankToNull(agent),
                        blankToNull(model)),
                UsageParameters.moment("from", blankToNull(from)),
                UsageParameters.moment("to", blankToNull(to)),
                UsageParameters.groupBy(blankToNull(groupBy)));
        return Answers.ok(UsageParameters.Shown.of(projection.usage(query, clock.millis())));
    }

    /** An event and what led to it. */
    @GET
    @Path("/events/{eventId}/chain")
    public Response chain(
            @PathParam("eventId") String eventId,
            @QueryParam("namespace") @DefaultValue(Event.DEFAULT_NAMESPACE) String namespace,
            @QueryParam("limit") @DefaultValue("500") String limit) {
        ChainPage page = projection
                .chain(namespace, eventId, limit(limit))
                .orElseThrow(() -> new UnknownIdException("unknown_event", "event", eventId, namespace));
        return Answers.ok(
                new Chain(page.chain().stream().map(JournalEntry::toJson).toList(), page.next()));
    }

    @ServerExceptionMapper
    Response notReady(ProjectionNotReadyException e, UriInfo uri) {
        return Answers.problem(
                Problem.of(
                        503,
                        "projection_not_ready",
                        "The projection is not ready",
                        "The projection of the journal is starting or catching up; ask again soon."),
                uri);
    }

    @ServerExceptionMapper
    Response notCaughtUp(NotCaughtUpException e, UriInfo uri) {
        return Answers.problem(
                Problem.of(
                        503,
                        "projection_behind",
                        "The projection is behind",
                        "The projection has not yet come to the place that was asked for; ask again soon."),
                uri);
    }

    @ServerExceptionMapper
    Response unknown(UnknownIdException e, UriInfo uri) {
        return Answers.problem(Problem.of(404, e.code, "Unknown " + e.kind, String.valueOf(e.getMessage())), uri);
    }

    @ServerExceptionMapper
    Response bad(IllegalArgumentException e, UriInfo uri) {
        return Answers.problem(
                Problem.of(400, "bad_parameter", "A parameter cannot be read", String.valueOf(e.getMessage())), uri);
    }

    private void awaitPlace(@Nullable String at) throws InterruptedException {
        JournalCursor place = cursor("at", at);
        if (place != null && !projection.await(place, CATCH_UP)) {
            throw new NotCaughtUpException();
        }
    }

    private static @Nullable String blankToNull(@Nullable String text) {
        return text == null || text.isBlank() ? null : text;
    }

    private static int limit(String text) {
        int limit;
        try {
            limit = Integer.parseInt(text);
        } catch (NumberFormatException e) {
            throw new IllegalArgumentException("limit: expected a whole number, found \"" + text + "\"", e);
        }
        if (limit < 1 || limit > TaskQuery.MAX_LIMIT) {
            throw new IllegalArgumentException("limit: expected 1 to " + TaskQuery.MAX_LIMIT + ", found " + limit);
        }
        return limit;
    }

    private static long moment(String name, @Nullable String text, long otherwise) {
        try {
            return text == null ? otherwise : Long.parseLong(text);
        } catch (NumberFormatException e) {
            throw new IllegalArgumentException(name + ": expected Unix milliseconds, found \"" + text + "\"", e);
        }
    }

    private static int maxBytes(@Nullable String text) {
        try {
            return text == null ? Integer.MAX_VALUE : Math.max(1, Integer.parseInt(text));
        } catch (NumberFormatException e) {
            throw new IllegalArgumentException("maxBytes: expected a whole number, found \"" + text + "\"", e);
        }
    }

    private static @Nullable JournalCursor cursor(String name, @Nullable String text) {
        return Optional.ofNullable(blankToNull(text))
                .map(value -> JournalCursor.parse(value)
                        .orElseThrow(() -> new IllegalArgumentException(
                                name + ": expected <partition>:<offset>, found \"" + value + "\"")))
                .orElse(null);
    }

    /** The projection is further behind than a reader should wait. */
    static final class NotCaughtUpException extends RuntimeException {
        private static final long serialVersionUID = 1L;
    }

    /** Nobody has this id. */
    static final class UnknownIdException extends RuntimeException {
        private static final long serialVersionUID = 1L;
        private final String code;
        private final String kind;

        UnknownIdException(String code, String kind, String id, String namespace) {
            super("There is no " + kind + " " + id + " in the namespace " + namespace + ".");
            this.code = code;
            this.kind = kind;
        }
    }
}
