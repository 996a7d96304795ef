package dev.millrace.knowledge.rest;

import dev.millrace.api.KnowledgeView;
import dev.millrace.knowledge.config.KnowledgeRuntime;
import dev.millrace.knowledge.embed.EmbeddingException;
import dev.millrace.knowledge.index.IndexQuestion;
import dev.millrace.knowledge.index.KnowledgeIndex;
import dev.millrace.knowledge.index.Search;
import dev.millrace.knowledge.ingest.Fetcher;
import dev.millrace.knowledge.ingest.Ingest;
import dev.millrace.knowledge.ingest.IngestException;
import dev.millrace.knowledge.ingest.Source;
import dev.millrace.knowledge.kafka.KnowledgeKeys;
import dev.millrace.schemas.Json;
import dev.millrace.schemas.Problem;
import jakarta.inject.Inject;
import jakarta.ws.rs.Consumes;
import jakarta.ws.rs.DELETE;
import jakarta.ws.rs.DefaultValue;
import jakarta.ws.rs.GET;
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
import java.util.Locale;
import java.util.Optional;
import org.apache.kafka.common.KafkaException;
import org.jspecify.annotations.Nullable;

/** What the gateway asks about knowledge, and has changed of it. It is asked within one namespace each time. */
@Path("/internal/knowledge")
@Produces(MediaType.APPLICATION_JSON)
public class KnowledgeResource {

    private static final int MAX_PAGE = 500;

    private final KnowledgeIndex index;
    private final Search search;
    private final Ingest ingest;
    private final KnowledgeRuntime runtime;

    @Inject
    KnowledgeResource(KnowledgeIndex index, Search search, Ingest ingest, KnowledgeRuntime runtime) {
        this.index = index;
        this.search = search;
        this.ingest = ingest;
        this.runtime = runtime;
    }

    /** Documents of a namespace, by id. */
    @GET
    @Path("/documents")
    public Response documents(
            @QueryParam("namespace") String namespace,
            @QueryParam("collection") @Nullable String collection,
            @QueryParam("after") @Nullable String after,
            @QueryParam("limit") @DefaultValue("100") int limit,
            UriInfo uri) {
        if (isBehind()) {
            return behind(uri);
        }
        int page = Math.clamp(limit, 1, MAX_PAGE);
        List<KnowledgeView.Document> found = index.documents(namespace, collection, after, page + 1);
        boolean more = found.size() > page;
        List<KnowledgeView.Document> shown = more ? found.subList(0, page) : found;
        return ok(new KnowledgeView.Documents(shown, more ? shown.getLast().id() : null));
    }

    /** One of them. */
    @GET
    @Path("/documents/{id}")
    public Response document(@QueryParam("namespace") String namespace, @PathParam("id") String id, UriInfo uri) {
        if (isBehind()) {
            return behind(uri);
        }
        Optional<KnowledgeView.Document> found = index.find(KnowledgeKeys.document(namespace, id));
        return found.isPresent() ? ok(found.get()) : unknown(id, uri);
    }

    /** Takes one in that is sent along, and answers once searches see it. */
    @PUT
    @Path("/uploads/{name}")
    @Consumes(MediaType.WILDCARD)
    public Response upload(
            @QueryParam("namespace") String namespace,
            @QueryParam("collection") @DefaultValue(Ingest.DEFAULT_COLLECTION) String collection,
            @QueryParam("title") @Nullable String title,
            @QueryParam("force") @DefaultValue("false") boolean force,
            @QueryParam("type") @Nullable String contentType,
            @PathParam("name") String name,
            byte[] body,
            UriInfo uri)
            throws InterruptedException {
        if (isBehind()) {
            return behind(uri);
        }
        try {
            return ok(ingest.take(
                    new Ingest.Order(
                            namespace,
                            collection,
                            new Source(Source.UPLOAD + name),
                            title,
                            null,
                            force,
                            null,
                            new Ingest.Asked(null, null, Instant.now())),
                    new Fetcher.Fetched(name, contentType, body)));
        } catch (IngestException e) {
            return problem(
                    Problem.of(422, e.code(), "The document cannot be taken in", String.valueOf(e.getMessage())), uri);
        } catch (KafkaException e) {
            return unavailable("The Kafka brokers do not take it now: " + e.getMessage(), uri);
        }
    }

    /** Takes a document away. */
    @DELETE
    @Path("/documents/{id}")
    public Response remove(@QueryParam("namespace") String namespace, @PathParam("id") String id, UriInfo uri)
            throws InterruptedException {
        if (isBehind()) {
            return behind(uri);
        }
        try {
            KnowledgeView.Document before = ingest.remove(namespace, id);
            return before == null ? unknown(id, uri) : ok(before);
        } catch (KafkaException e) {
            return unavailable("The Kafka brokers do not take it now: " + e.getMessage(), uri);
        }
    }

    /** Looks for passages. */
    @GET
    @Path("/search")
    public Response search(
            @QueryParam("namespace") String namespace,
            @QueryParam("collection") @Nullable String collection,
            @QueryParam("q") @DefaultValue("") String text,
            @QueryParam("limit") @DefaultValue("5") int limit,
            @QueryParam("mode") @DefaultValue("hybrid") String mode,
            @QueryParam("threshold") @Nullable Double threshold,
            UriInfo uri)
            throws InterruptedException {
        if (isBehind()) {
            return behind(uri);
        }
        IndexQuestion question;
        try {
            question = new IndexQuestion(namespace, collection, text, limit, mode(mode), threshold);
        } catch (IllegalArgumentException e) {
            return problem(
                    Problem.of(400, "bad_parameter", "A parameter cannot be read", String.valueOf(e.getMessage())),
                    uri);
        }
        try {
            return ok(new KnowledgeView.Hits(text, question.mode().wireName(), search.hits(question)));
        } catch (EmbeddingException e) {
            return unavailable("The question has no vector now: " + e.getMessage(), uri);
        }
    }

    private static IndexQuestion.Mode mode(String name) {
        for (IndexQuestion.Mode mode : IndexQuestion.Mode.values()) {
            if (mode.wireName().equals(name.toLowerCase(Locale.ROOT))) {
                return mode;
            }
        }
        throw new IllegalArgumentException("mode: expected hybrid, text or vector, found " + name);
    }

    private boolean isBehind() {
        return runtime.notReady().isPresent();
    }

    private Response behind(UriInfo uri) {
        return behind(runtime, uri);
    }

    static Response behind(KnowledgeRuntime runtime, UriInfo uri) {
        return unavailable(
                "The knowledge service waits for " + runtime.notReady().orElse("itself"), uri);
    }

    static Response unavailable(String detail, UriInfo uri) {
        return problem(Problem.of(503, "knowledge_unavailable", "Knowledge is not available", detail), uri);
    }

    private static Response unknown(String id, UriInfo uri) {
        return problem(
                Problem.of(404, "unknown_document", "Unknown document", "There is no document " + id + " here."), uri);
    }

    static Response ok(Object json) {
        return Response.ok(Json.write(json), MediaType.APPLICATION_JSON_TYPE).build();
    }

    static Response problem(Problem problem, UriInfo uri) {
        return Response.status(problem.status())
                .type(Problem.MEDIA_TYPE)
                .entity(Json.write(problem.toJson(uri.getRequestUri().getPath())))
                .build();
    }
}
