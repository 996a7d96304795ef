package dev.millrace.knowledge.rest;

import dev.millrace.api.KnowledgeView;
import dev.millrace.knowledge.config.KnowledgeRuntime;
import dev.millrace.knowledge.embed.EmbeddingException;
import dev.millrace.knowledge.entities.EntityGraph;
import dev.millrace.knowledge.entities.EntitySearch;
import dev.millrace.knowledge.index.EntityIndex;
import dev.millrace.knowledge.index.IndexQuestion;
import dev.millrace.schemas.Problem;
import jakarta.inject.Inject;
import jakarta.ws.rs.DefaultValue;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.Produces;
import jakarta.ws.rs.QueryParam;
import jakarta.ws.rs.core.MediaType;
import jakarta.ws.rs.core.Response;
import jakarta.ws.rs.core.UriInfo;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** What the gateway asks about entities, and about what has to do with what. */
@Path("/internal/knowledge")
@Produces(MediaType.APPLICATION_JSON)
public class GraphResource {

    private static final int MAX_PAGE = 500;

    private final EntitySearch entities;
    private final EntityGraph graph;
    private final KnowledgeRuntime runtime;

    @Inject
    GraphResource(EntitySearch entities, EntityGraph graph, KnowledgeRuntime runtime) {
        this.entities = entities;
        this.graph = graph;
        this.runtime = runtime;
    }

    /** Entities of a namespace: those that are like {@code q}, or all by id. */
    @GET
    @Path("/entities")
    public Response entities(
            @QueryParam("namespace") String namespace,
            @QueryParam("scope") @Nullable String scope,
            @QueryParam("type") @Nullable String type,
            @QueryParam("q") @Nullable String text,
            @QueryParam("after") @Nullable String after,
            @QueryParam("limit") @DefaultValue("100") int limit,
            UriInfo uri)
            throws InterruptedException {
        if (runtime.notReady().isPresent()) {
            return KnowledgeResource.behind(runtime, uri);
        }
        EntityIndex.Within within = new EntityIndex.Within(namespace, scope == null ? null : List.of(scope));
        String kind = type == null ? null : type.toLowerCase(Locale.ROOT);
        if (text == null || text.isBlank()) {
            int page = Math.clamp(limit, 1, MAX_PAGE);
            List<KnowledgeView.Entity> found = entities.list(within, kind, after, page + 1);
            boolean more = found.size() > page;
            List<KnowledgeView.Entity> shown = more ? found.subList(0, page) : found;
            return KnowledgeResource.ok(
                    new KnowledgeView.Entities(shown, more ? shown.getLast().id() : null));
        }
        try {
            return KnowledgeResource.ok(new KnowledgeView.Entities(
                    entities.find(within, kind, text, Math.clamp(limit, 1, IndexQuestion.MAX_LIMIT)), null));
        } catch (EmbeddingException e) {
            return KnowledgeResource.unavailable("The name has no vector now: " + e.getMessage(), uri);
        }
    }

    /** What is near a node. */
    @GET
    @Path("/graph")
    public Response graph(
            @QueryParam("namespace") String namespace,
            @QueryParam("from") @DefaultValue("") String from,
            @QueryParam("depth") @DefaultValue("1") int depth,
            @QueryParam("limit") @DefaultValue("100") int limit,
            UriInfo uri) {
        if (runtime.notReady().isPresent()) {
            return KnowledgeResource.behind(runtime, uri);
        }
        Optional<KnowledgeView.Graph> found = graph.around(
                namespace,
                from,
                Math.clamp(depth, 1, EntityGraph.MAX_DEPTH),
                Math.clamp(limit, 1, EntityGraph.MAX_NODES));
        return found.isPresent()
                ? KnowledgeResource.ok(found.get())
                : KnowledgeResource.problem(
                        Problem.of(404, "unknown_node", "Unknown node", "There is no node " + from + " here."), uri);
    }
}
