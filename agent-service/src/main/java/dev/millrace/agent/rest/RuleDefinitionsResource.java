package dev.millrace.agent.rest;

import dev.millrace.agent.files.RuleBook;
import dev.millrace.api.RuleView;
import dev.millrace.schemas.Json;
import dev.millrace.schemas.JsonObject;
import dev.millrace.schemas.MalformedEventException;
import dev.millrace.schemas.Problem;
import io.smallrye.common.annotation.RunOnVirtualThread;
import jakarta.enterprise.inject.Instance;
import jakarta.inject.Inject;
import jakarta.ws.rs.Consumes;
import jakarta.ws.rs.DELETE;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.PUT;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.PathParam;
import jakarta.ws.rs.Produces;
import jakarta.ws.rs.core.MediaType;
import jakarta.ws.rs.core.Response;
import jakarta.ws.rs.core.UriInfo;
import java.util.List;

/** What the gateway asks about rules, and has changed of them. Internal, like {@link QueryResource}. */
@Path("/internal/rules")
@Produces(MediaType.APPLICATION_JSON)
@RunOnVirtualThread
public class RuleDefinitionsResource {

    private final Instance<RuleBook> book;

    @Inject
    public RuleDefinitionsResource(Instance<RuleBook> book) {
        this.book = book;
    }

    /** Those that are in force, by priority. */
    @GET
    public Response all() {
        return Answers.of(
                200,
                new RuleView.All(book.isUnsatisfied() ? List.of() : book.get().all()));
    }

    /** One of them. */
    @GET
    @Path("/{id}")
    public Response one(@PathParam("id") String id, UriInfo uri) {
        return book.isUnsatisfied()
                ? unknown(id, uri)
                : book.get().find(id).map(view -> Answers.ok(view)).orElseGet(() -> unknown(id, uri));
    }

    /** Defines one, or defines it anew. */
    @PUT
    @Path("/{id}")
    @Consumes(MediaType.APPLICATION_JSON)
    public Response put(@PathParam("id") String id, byte[] body, UriInfo uri) throws InterruptedException {
        JsonObject fields;
        try {
            fields = Json.readObject(body);
        } catch (MalformedEventException e) {
            return Answers.problem(Problem.of(400, "bad_json", "Not JSON", String.valueOf(e.getMessage())), uri);
        }
        return book.isUnsatisfied() ? notHere(uri) : response(book.get().put(id, fields), id, uri);
    }

    /** Takes a definition back. */
    @DELETE
    @Path("/{id}")
    public Response remove(@PathParam("id") String id, UriInfo uri) throws InterruptedException {
        return book.isUnsatisfied() ? notHere(uri) : response(book.get().remove(id), id, uri);
    }

    private Response response(RuleBook.Outcome outcome, String id, UriInfo uri) {
        return switch (outcome) {
            case RuleBook.Done done -> Answers.of(done.isNew() ? 201 : 200, done.view());
            case RuleBook.Refused refused ->
                Answers.problem(
                        Problem.of(
                                422,
                                "invalid_rule",
                                "The rule is no good",
                                refused.problem() + ". Nothing was changed."),
                        uri);
            case RuleBook.Unknown ignored ->
                book.get()
                        .find(id)
                        .map(view -> Answers.problem(
                                Problem.of(
                                        409,
                                        "not_a_definition",
                                        "Not a definition",
                                        "The rule " + id + " is "
                                                + (view.source().equals("file") ? "one of a file" : "built in")
                                                + ", and can only be covered: PUT one with enabled: false."),
                                uri))
                        .orElseGet(() -> unknown(id, uri));
            case RuleBook.NotStored ignored ->
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

    private static Response unknown(String id, UriInfo uri) {
        return Answers.problem(
                Problem.of(
                        404,
                        "unknown_rule",
                        "Unknown rule",
                        "There is no rule " + id + "; GET /v1/rules lists those that there are."),
                uri);
    }

    private static Response notHere(UriInfo uri) {
        return Answers.problem(
                Problem.of(503, "not_here", "Not here", "In this process there is no task machine, and so no rule."),
                uri);
    }
}
