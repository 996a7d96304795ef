package dev.millrace.agent.rest;

import dev.millrace.agent.schedule.Schedule;
import dev.millrace.agent.schedule.ScheduleBook;
import dev.millrace.schemas.Event;
import dev.millrace.schemas.EventJson;
import dev.millrace.schemas.Json;
import dev.millrace.schemas.JsonObject;
import dev.millrace.schemas.MalformedEventException;
import dev.millrace.schemas.Problem;
import io.smallrye.common.annotation.RunOnVirtualThread;
import jakarta.enterprise.inject.Instance;
import jakarta.inject.Inject;
import jakarta.ws.rs.Consumes;
import jakarta.ws.rs.DELETE;
import jakarta.ws.rs.DefaultValue;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.POST;
import jakarta.ws.rs.PUT;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.PathParam;
import jakarta.ws.rs.Produces;
import jakarta.ws.rs.QueryParam;
import jakarta.ws.rs.core.MediaType;
import jakarta.ws.rs.core.Response;
import jakarta.ws.rs.core.UriInfo;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** What the gateway asks about schedules, and has changed of them. Internal, like {@link QueryResource}. */
@Path("/internal/schedules")
@Produces(MediaType.APPLICATION_JSON)
@RunOnVirtualThread
public class ScheduleDefinitionsResource {

    private static final Instant NEVER = Instant.parse("9999-01-01T00:00:00Z");
    private static final int MAX_NEXT = 100;

    private final Instance<ScheduleBook> book;

    @Inject
    public ScheduleDefinitionsResource(Instance<ScheduleBook> book) {
        this.book = book;
    }

    /** Those of a namespace, by name. */
    @GET
    public Response all(
            @QueryParam("namespace") @DefaultValue(Event.DEFAULT_NAMESPACE) String namespace,
            @QueryParam("next") @DefaultValue("1") int next) {
        List<JsonObject> schedules = book.isUnsatisfied()
                ? List.of()
                : book.get().known().all().stream()
                        .filter(schedule -> schedule.namespace().equals(namespace))
                        .map(schedule -> view(schedule, next))
                        .toList();
        return Answers.ok(Map.of("schedules", schedules));
    }

    /** One of them. */
    @GET
    @Path("/{name}")
    public Response one(
            @PathParam("name") String name,
            @QueryParam("namespace") @DefaultValue(Event.DEFAULT_NAMESPACE) String namespace,
            @QueryParam("next") @DefaultValue("5") int next,
            UriInfo uri) {
        Schedule schedule = find(namespace, name);
        return schedule == null ? unknown(namespace, name, uri) : Answers.ok(view(schedule, next));
    }

    /** The event that it would start a task with now, with this id. */
    @GET
    @Path("/{name}/event")
    public Response event(
            @PathParam("name") String name,
            @QueryParam("namespace") @DefaultValue(Event.DEFAULT_NAMESPACE) String namespace,
            @QueryParam("id") String id,
            UriInfo uri) {
        Schedule schedule = find(namespace, name);
        return schedule == null
                ? unknown(namespace, name, uri)
                : Answers.ok(EventJson.toJson(schedule.firedByHand(id, Instant.now())));
    }

    /** Defines one, or defines it anew. */
    @PUT
    @Path("/{name}")
    @Consumes(MediaType.APPLICATION_JSON)
    public Response put(
            @PathParam("name") String name,
            @QueryParam("namespace") @DefaultValue(Event.DEFAULT_NAMESPACE) String namespace,
            byte[] body,
            UriInfo uri)
            throws InterruptedException {
        JsonObject fields;
        try {
            fields = Json.readObject(body);
        } catch (MalformedEventException e) {
            return Answers.problem(Problem.of(400, "bad_json", "Not JSON", String.valueOf(e.getMessage())), uri);
        }
        return book.isUnsatisfied()
                ? notHere(uri)
                : response(book.get().put(namespace, name, fields), namespace, name, uri);
    }

    /** Takes one back. */
    @DELETE
    @Path("/{name}")
    public Response remove(
            @PathParam("name") String name,
            @QueryParam("namespace") @DefaultValue(Event.DEFAULT_NAMESPACE) String namespace,
            UriInfo uri)
            throws InterruptedException {
        return book.isUnsatisfied() ? notHere(uri) : response(book.get().remove(namespace, name), namespace, name, uri);
    }

    /** Has nothing be due for a while. */
    @POST
    @Path("/{name}/pause")
    public Response pause(
            @PathParam("name") String name,
            @QueryParam("namespace") @DefaultValue(Event.DEFAULT_NAMESPACE) String namespace,
            UriInfo uri)
            throws InterruptedException {
        return paused(namespace, name, true, uri);
    }

    /** Has it go on. */
    @POST
    @Path("/{name}/resume")
    public Response resume(
            @PathParam("name") String name,
            @QueryParam("namespace") @DefaultValue(Event.DEFAULT_NAMESPACE) String namespace,
            UriInfo uri)
            throws InterruptedException {
        return paused(namespace, name, false, uri);
    }

    private Response paused(String namespace, String name, boolean paused, UriInfo uri) throws InterruptedException {
        return book.isUnsatisfied()
                ? notHere(uri)
                : response(book.get().pause(namespace, name, paused), namespace, name, uri);
    }

    private @Nullable Schedule find(String namespace, String name) {
        return book.isUnsatisfied()
                ? null
                : book.get().known().find(namespace, name).orElse(null);
    }

    private static JsonObject view(Schedule schedule, int next) {
        Instant from = schedule.changedAt().isAfter(Instant.now()) ? schedule.changedAt() : Instant.now();
        List<String> moments = schedule.paused()
                ? List.of()
                : schedule.timing().timetable().first(from, NEVER, Math.clamp(next, 0, MAX_NEXT)).stream()
                        .map(Instant::toString)
                        .toList();
        return JsonObject.builder()
                .put("name", schedule.name())
                .put("namespace", schedule.namespace())
                .putAll(schedule.fields())
                .put("changedAt", schedule.changedAt().toString())
                .put("next", moments)
                .build();
    }

    private static Response response(ScheduleBook.Outcome outcome, String namespace, String name, UriInfo uri) {
        return switch (outcome) {
            case ScheduleBook.Done done -> Answers.of(done.isNew() ? 201 : 200, view(done.schedule(), 5));
            case ScheduleBook.Refused refused ->
                Answers.problem(
                        new Problem(
                                422,
                                "invalid_schedule",
                                "The schedule is no good",
                                String.join("; ", refused.problems()) + ". Nothing was changed.",
                                Map.of("problems", refused.problems())),
                        uri);
            case ScheduleBook.Unknown ignored -> unknown(namespace, name, uri);
            case ScheduleBook.NotStored ignored ->
                Answers.problem(
                        Problem.of(
                                503,
                                "broker_unavailable",
                                "Kafka is not available",
                                "The Kafka brokers did not answer in time, so it is not certain whether this was stored."
                                        + " Repeat the request."),
                        uri);
        };
    }

    private static Response unknown(String namespace, String name, UriInfo uri) {
        return Answers.problem(
                Problem.of(
                        404,
                        "unknown_schedule",
                        "Unknown schedule",
                        "There is no schedule " + name + " in the namespace " + namespace
                                + "; GET /v1/schedules lists those that there are."),
                uri);
    }

    private static Response notHere(UriInfo uri) {
        return Answers.problem(
                Problem.of(
                        503, "not_here", "Not here", "In this process there is no task machine, and so no schedule."),
                uri);
    }
}
