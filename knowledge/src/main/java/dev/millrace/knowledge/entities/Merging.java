package dev.millrace.knowledge.entities;

import dev.millrace.knowledge.index.EntityIndex;
import dev.millrace.knowledge.index.StoredMentions;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** What the texts that mention an entity say of it together: a fact of the texts alone, in their order. */
final class Merging {

    private static final int MAX_ALIASES = 100;

    private Merging() {}

    /** An entity without its vector. */
    record Merged(String name, String type, @Nullable String description, List<String> aliases, String firstSeenAt) {}

    /**
     * What is known.
     *
     * @param texts that mention it, the oldest first; at least one
     */
    static Merged of(String entityId, List<StoredMentions> texts) {
        List<StoredMentions.Mention> mentions = new ArrayList<>();
        for (StoredMentions text : texts) {
            text.mentions().stream()
                    .filter(mention -> mention.entityId().equals(entityId))
                    .forEach(mentions::add);
        }
        StoredMentions.Mention first = mentions.getFirst();
        Map<String, String> names = new LinkedHashMap<>();
        String description = null;
        for (StoredMentions.Mention mention : mentions) {
            mention.names().forEach(name -> names.putIfAbsent(EntityIndex.normalized(name), name));
            description = mention.description() == null ? description : mention.description();
        }
        names.remove(EntityIndex.normalized(first.name()));
        return new Merged(
                first.name(),
                first.type(),
                description,
                names.values().stream().limit(MAX_ALIASES).toList(),
                texts.getFirst().askedAt());
    }
}
