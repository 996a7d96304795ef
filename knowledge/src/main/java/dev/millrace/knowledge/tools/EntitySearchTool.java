package dev.millrace.knowledge.tools;

import dev.millrace.api.KnowledgeView;
import dev.millrace.knowledge.embed.EmbeddingException;
import dev.millrace.knowledge.entities.EntityExtraction;
import dev.millrace.knowledge.entities.EntityGraph;
import dev.millrace.knowledge.entities.EntitySearch;
import dev.millrace.knowledge.index.EntityIndex;
import dev.millrace.knowledge.tools.KnowledgeArguments.BadArgumentException;
import dev.millrace.requests.Request;
import dev.millrace.schemas.Event;
import dev.millrace.schemas.JsonObject;
import dev.millrace.schemas.Payload;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Answers {@code search_entities}: what a task may know of entities, and what they are related to. */
public final class EntitySearchTool {

    private static final int MAX_RELATED = 20;

    private final EntitySearch search;
    private final EntityGraph graph;

    public EntitySearchTool(EntitySearch search, EntityGraph graph) {
        this.search = search;
        this.graph = graph;
    }

    JsonObject answer(Request request) throws BadArgumentException, EmbeddingException, InterruptedException {
        String namespace = request.event().namespace();
        String text = KnowledgeArguments.required(request, "query", 2_000);
        String type = KnowledgeArguments.text(request, "type", 60);
        String collection = KnowledgeArguments.text(request, "collection", 200);
        List<JsonObject> entities = new ArrayList<>();
        for (KnowledgeView.Entity entity : search.find(
                new EntityIndex.Within(namespace, scopes(request.event(), collection)),
                type == null ? null : type.toLowerCase(Locale.ROOT),
                text,
                KnowledgeArguments.limit(request, KnowledgeTools.DEFAULT_LIMIT))) {
            entities.add(told(entity));
        }
        return KnowledgeTools.found("entities", entities, "Nothing that was mentioned here is like that.");
    }

    /** What all know, and what is known of the task's conversation and by its agent, but of no others. */
    private static List<String> scopes(Event event, @Nullable String collection) throws BadArgumentException {
        List<String> own = new ArrayList<>(List.of(EntityExtraction.GLOBAL));
        String thread = event.sessionId() == null ? event.taskId() : event.sessionId();
        if (thread != null) {
            own.add(EntityExtraction.THREAD + ':' + thread);
        }
        if (event.payload() instanceof Payload.ToolCallRequested call && call.taskType() != null) {
            own.add(EntityExtraction.AGENT + ':' + call.taskType());
        }
        if (collection == null) {
            return own;
        }
        boolean anothers = collection.startsWith(EntityExtraction.THREAD + ':')
                || collection.startsWith(EntityExtraction.AGENT + ':');
        if (anothers && !own.contains(collection)) {
            throw new BadArgumentException("collection: expected one of this task, found " + collection);
        }
        return List.of(collection);
    }

    private JsonObject told(KnowledgeView.Entity entity) {
        List<String> related = related(entity);
        return JsonObject.builder()
                .put("id", entity.id())
                .put("name", entity.name())
                .put("type", entity.type())
                .putIfPresent("description", entity.description())
                .putIfPresent("aliases", entity.aliases().isEmpty() ? null : entity.aliases())
                .put("mentionCount", entity.mentionCount())
                .putIfPresent("related", related.isEmpty() ? null : related)
                .build();
    }

    private List<String> related(KnowledgeView.Entity entity) {
        KnowledgeView.Graph around = graph.around(entity.namespace(), "entity:" + entity.id(), 1, EntityGraph.MAX_NODES)
                .orElse(null);
        if (around == null) {
            return List.of();
        }
        Map<String, String> names = new LinkedHashMap<>();
        around.nodes().forEach(node -> names.put(node.id(), node.label()));
        return around.edges().stream()
                .filter(edge -> edge.kind().equals("RELATED_TO"))
                .map(edge -> names.get(edge.from()) + " — "
                        + Objects.requireNonNullElse(edge.label(), "is like, but is not") + " — "
                        + names.get(edge.to()))
                .distinct()
                .limit(MAX_RELATED)
                .toList();
    }
}
