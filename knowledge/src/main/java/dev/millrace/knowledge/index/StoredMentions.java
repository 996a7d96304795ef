package dev.millrace.knowledge.index;

import com.fasterxml.jackson.annotation.JsonInclude;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * What one text mentions, as the topic has it. All that is known of an entity is in such records: when one of them is
 * forgotten, what the others say can be put together anew.
 *
 * @param id the same for the same source in the same scope
 * @param scope within which names mean the same
 * @param sourceType what kind of thing the text is from
 * @param sourceId of that thing
 * @param excerpt how the text begins
 * @param hash of the text
 * @param taskId of the task that the text is from; {@code null} = of none
 * @param sessionId of the session that it is from; {@code null} = of none
 * @param askedAt when it was to be looked at, RFC 3339
 */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record StoredMentions(
        String id,
        String namespace,
        String scope,
        String sourceType,
        String sourceId,
        String excerpt,
        String hash,
        List<Mention> mentions,
        List<Relation> relations,
        @Nullable String taskId,
        @Nullable String sessionId,
        String askedAt) {

    // written out, since a record on the topic may lack the lists
    public StoredMentions(
            String id,
            String namespace,
            String scope,
            String sourceType,
            String sourceId,
            String excerpt,
            String hash,
            @Nullable List<Mention> mentions,
            @Nullable List<Relation> relations,
            @Nullable String taskId,
            @Nullable String sessionId,
            String askedAt) {
        this.id = id;
        this.namespace = namespace;
        this.scope = scope;
        this.sourceType = sourceType;
        this.sourceId = sourceId;
        this.excerpt = excerpt;
        this.hash = hash;
        this.mentions = mentions == null ? List.of() : List.copyOf(mentions);
        this.relations = relations == null ? List.of() : List.copyOf(relations);
        this.taskId = taskId;
        this.sessionId = sessionId;
        this.askedAt = askedAt;
    }

    /**
     * An entity, as this text has it.
     *
     * @param aliases what this text calls it as well
     */
    @JsonInclude(JsonInclude.Include.NON_NULL)
    public record Mention(
            String entityId,
            String name,
            String type,
            @Nullable String description,
            @Nullable List<String> aliases) {

        /** Its name, and what else it is called. */
        public List<String> names() {
            return aliases == null
                    ? List.of(name)
                    : Stream.concat(Stream.of(name), aliases.stream()).toList();
        }
    }

    /**
     * What two entities have to do with each other.
     *
     * @param from an entity's id
     * @param to an entity's id
     * @param label what the text says; {@code null} = only that they are alike
     * @param similarity of their names, where that is why they are related
     */
    @JsonInclude(JsonInclude.Include.NON_NULL)
    public record Relation(
            String from,
            String to,
            @Nullable String label,
            @Nullable Double similarity) {}
}
