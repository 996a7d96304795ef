package dev.millrace.knowledge.entities;

import dev.millrace.api.KnowledgeView;
import dev.millrace.knowledge.embed.Embedder;
import dev.millrace.knowledge.embed.EmbeddingException;
import dev.millrace.knowledge.index.EntityIndex;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Looks for entities, by their names, by words, and by what is like a name. For any thread. */
public final class EntitySearch {

    private final EntityIndex entities;
    private final Embedder embedder;

    public EntitySearch(EntityIndex entities, Embedder embedder) {
        this.entities = entities;
        this.embedder = embedder;
    }

    /**
     * What is found, the best first.
     *
     * @param type of kind; {@code null} = all
     */
    public List<KnowledgeView.Entity> find(EntityIndex.Within within, @Nullable String type, String text, int limit)
            throws EmbeddingException, InterruptedException {
        return entities.search(
                within,
                type,
                new EntityIndex.Likeness(
                        text,
                        embedder.embed(text),
                        embedder.model(),
                        embedder.thresholds().hit()),
                limit);
    }

    /** All of them, by id; see {@link EntityIndex#list}. */
    public List<KnowledgeView.Entity> list(
            EntityIndex.Within within, @Nullable String type, @Nullable String after, int limit) {
        return entities.list(within, type, after, limit);
    }
}
