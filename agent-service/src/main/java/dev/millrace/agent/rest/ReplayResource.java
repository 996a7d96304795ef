package dev.millrace.agent.rest;

import dev.millrace.agent.core.TranscriptEntry;
import dev.millrace.agent.projection.EventPage;
import dev.millrace.agent.projection.ProjectionNotReadyException;
import dev.millrace.agent.projection.TaskProjection;
import dev.millrace.agent.topology.TaskForks;
import dev.millrace.agent.topology.TaskForks.ImpossibleForkException;
import dev.millrace.agent.topology.TaskReplay;
import dev.millrace.agent.topology.TaskReplay.Played;
import dev.millrace.api.Fork;
import dev.millrace.api.Replay;
import dev.millrace.api.Session;
import dev.millrace.api.Task;
import dev.millrace.schemas.Event;
import dev.millrace.schemas.JournalCursor;
import dev.millrace.schemas.JournalEntry;
import dev.millrace.schemas.Json;
import dev.millrace.schemas.JsonObject;
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
import jakarta.ws.rs.core.MediaType;
import jakarta.ws.rs.core.Response;
import jakarta.ws.rs.core.UriInfo;
import java.io.IOException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jboss.resteasy.reactive.server.ServerExceptionMapper;

/** Tasks, played again from their logs, and what starts a fork of one. Internal, like {@link QueryResource}. */
@Path("/internal")
@Produces(MediaType.APPLICATION_JSON)
@RunOnVirtualThread
public class ReplayResource {

    /** The longest log that is played. The limits of a task keep it far below that. */
    static final int MAX_EVENTS = 20_000;

    /** As much as is read for it, in bytes of JSON: a log is held in memory as a whole. */
    static final long MAX_BYTES = 64L * 1024 * 1024;

    private static final int PAGE = 500;
    private static final int MAX_STEPS = 1_000;
    /** So much of what a session said before a task began is shown to its forks. */
    private static final int MAX_MESSAGES = 200;

    /** How a fork starts. */
    private record Start(int priority, JsonObject payload) {}

    private final TaskProjection projection;
    private final TaskReplay replay;

    @Inject
    public ReplayResource(TaskProjection projection, TaskReplay replay) {
        this.projection = projection;
        this.replay = replay;
    }

    /** Steps of the task, played again. */
    @GET
    @Path("/tasks/{taskId}/replay")
    public Response replay(
            @PathParam("taskId") String taskId,
            @QueryParam("namespace") @DefaultValue(Event.DEFAULT_NAMESPACE) String namespace,
            @QueryParam("after") @DefaultValue("0") int after,
            @QueryParam("limit") @DefaultValue("500") int limit)
            throws LogException {
        Played played = play(namespace, taskId);
        int from = Math.clamp(after, 0, played.steps().size());
        int to = Math.min(played.steps().size(), from + Math.clamp(limit, 1, MAX_STEPS));
        return Answers.ok(new Replay(
                taskId,
                namespace,
                played.equal(),
                played.log().size(),
                played.steps().size(),
                played.steps().subList(from, to),
                to == played.steps().size() ? null : Integer.toString(to)));
    }

    /** What starts a fork: the payload of MESSAGE_RECEIVED, and the priority of the origin. */
    @POST
    @Path("/tasks/{taskId}/fork")
    @Consumes(MediaType.APPLICATION_JSON)
    public Response fork(
            @PathParam("taskId") String taskId,
            @QueryParam("namespace") @DefaultValue(Event.DEFAULT_NAMESPACE) String namespace,
            byte[] body)
            throws LogException, ImpossibleForkException, IOException {
        Fork wanted = Json.MAPPER.readValue(body, Fork.class);
        Played played = play(namespace, taskId);
        Task task = projection
                .task(namespace, taskId)
                .map(Task.Details::task)
                .orElseThrow(() -> unknown(namespace, taskId));
        Payload.MessageReceived start = TaskForks.of(played, taskId, wanted, said(task));
        return Answers.ok(new Start(
                task.priority(),
                Event.root(taskId, KnownEventType.MESSAGE_RECEIVED, Instant.EPOCH)
                        .payload(start)
                        .build()
                        .fields()));
    }

    /** What the session had said when the task came. */
    private List<TranscriptEntry> said(Task task) {
        if (task.sessionId() == null) {
            return List.of();
        }
        JournalCursor first = Optional.ofNullable(task.firstCursor())
                .flatMap(JournalCursor::parse)
                .orElse(null);
        return projection
                .messages(task.namespace(), task.sessionId(), TaskProjection.Span.ALWAYS, MAX_MESSAGES, first)
                .map(Session.Messages::messages)
                .orElse(List.of())
                .stream()
                .<TranscriptEntry>map(message -> message.role().equals("assistant")
                        ? new TranscriptEntry.AssistantTurn(message.content(), List.of())
                        : new TranscriptEntry.UserText(message.content()))
                .toList();
    }

    private Played play(String namespace, String taskId) throws LogException {
        return replay.play(taskId, log(namespace, taskId))
                .orElseThrow(() -> new LogException(Problem.of(
                        409,
                        "log_incomplete",
                        "The log of the task is not complete",
                        "Expected the event that started the task " + taskId
                                + ", found that the journal does not have it any more.")));
    }

    private List<JournalEntry> log(String namespace, String taskId) throws LogException {
        List<JournalEntry> log = new ArrayList<>();
        JournalCursor after = null;
        long bytes = 0;
        do {
            JournalCursor place = after;
            EventPage page =
                    projection.events(namespace, taskId, place, PAGE).orElseThrow(() -> unknown(namespace, taskId));
            log.addAll(page.events());
            bytes += page.events().stream()
                    .mapToLong(entry -> Json.write(entry.event().fields()).length)
                    .sum();
            if (log.size() > MAX_EVENTS || bytes > MAX_BYTES) {
                throw new LogException(new Problem(
                        422,
                        "log_too_long",
                        "The log of the task is too long",
                        "Expected at most " + MAX_EVENTS + " events and " + MAX_BYTES
                                + " bytes of payloads, found more.",
                        Map.of("limitEvents", MAX_EVENTS, "limitBytes", MAX_BYTES)));
            }
            after = page.next();
        } while (after != null);
        return log;
    }

    private static LogException unknown(String namespace, String taskId) {
        return new LogException(Problem.of(
                404,
                "unknown_task",
                "Unknown task",
                "There is no task " + taskId + " in the namespace " + namespace + "."));
    }

    /** There is nothing to play. */
    static final class LogException extends Exception {
        private static final long serialVersionUID = 1L;
        private final transient Problem problem;

        LogException(Problem problem) {
            super(problem.detail());
            this.problem = problem;
        }
    }

    @ServerExceptionMapper
    Response noLog(LogException e, UriInfo uri) {
        return Answers.problem(e.problem, uri);
    }

    @ServerExceptionMapper
    Response impossible(ImpossibleForkException e, UriInfo uri) {
        String detail = String.valueOf(e.getMessage());
        return Answers.problem(
                switch (e.code()) {
                    case "unknown_event" -> Problem.of(422, "unknown_event", "Unknown event", detail);
                    case "not_a_result" ->
                        Problem.of(409, "not_a_result", "The event is not what came of a tool call", detail);
                    default -> Problem.of(409, "fork_impossible", "The task cannot be forked there", detail);
                },
                uri);
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
}
