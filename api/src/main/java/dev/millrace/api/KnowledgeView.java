package dev.millrace.api;

import com.fasterxml.jackson.annotation.JsonInclude;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** What is known from documents, over HTTP. */
public final class KnowledgeView {

    private KnowledgeView() {}

    /**
     * Asks for a document to be ingested.
     *
     * @param source an http(s) address, a path in the workspace, or {@code text://} followed by the text itself
     * @param collection within the namespace; {@code null} = default
     * @param title what people call it; {@code null} = its first heading, or its source
     * @param metadata kept with it; {@code null} = nothing
     * @param forceReindex whether it is indexed although nothing about it has changed; {@code null} = false
     * @param chunking how it is cut; {@code null} = as the installation has it
     */
    public record Ingest(
            String source,
            @Nullable String collection,
            @Nullable String title,
            @Nullable Map<String, @Nullable Object> metadata,
            @Nullable Boolean forceReindex,
            @Nullable Chunking chunking) {}

    /**
     * How a document is cut into chunks.
     *
     * @param strategy headings, paragraph, sentence or fixed; {@code null} = as the installation has it
     * @param size of a chunk, in tokens, 16 to 4096; {@code null} = what suits the strategy
     * @param overlap of one chunk and the next, in tokens; {@code null} = what suits the strategy
     */
    @JsonInclude(JsonInclude.Include.NON_NULL)
    public record Chunking(
            @Nullable String strategy,
            @Nullable Long size,
            @Nullable Long overlap) {}

    /**
     * A document is stored to be ingested.
     *
     * @param documentId by which its status can be asked for
     * @param eventId of the RAG_INGEST
     * @param status pending
     */
    public record Accepted(String documentId, String eventId, String namespace, String collection, String status) {}

    /**
     * A document.
     *
     * @param id the same for the same source in the same collection
     * @param source where it is from; of a text its beginning
     * @param status processing, indexed or failed
     * @param hash of its content, SHA-256; {@code null} = it was never read
     * @param version of its chunks, which is what searches see; {@code null} = there is none yet
     * @param chunks how many there are
     * @param model that made the vectors; {@code null} = there are none yet
     * @param error why it failed, for people; {@code null} = it did not
     * @param taskId of the task that asked for it; {@code null} = no task did
     * @param sessionId of the session in which it was asked for; {@code null} = none
     * @param askedAt when it was asked for, RFC 3339
     * @param changedAt when this became so, RFC 3339
     * @param checkedAt when the latest of those orders was given that have been worked on, also if it has changed
     *     nothing, RFC 3339; {@code null} = from an older version
     */
    @JsonInclude(JsonInclude.Include.NON_NULL)
    public record Document(
            String id,
            String namespace,
            String collection,
            String source,
            String title,
            String status,
            @Nullable String hash,
            @Nullable String version,
            int chunks,
            @Nullable String model,
            @Nullable String error,
            @Nullable String taskId,
            @Nullable String sessionId,
            @Nullable Map<String, @Nullable Object> metadata,
            String askedAt,
            String changedAt,
            @Nullable String checkedAt) {

        /** Whether an order that was given at this moment, or a later one, has been worked on. */
        public boolean isCheckedSince(Instant ordered) {
            return checkedAt != null && !Instant.parse(checkedAt).isBefore(ordered);
        }

        /** The same document after an order that has changed nothing. */
        public Document checked(String at) {
            return new Document(
                    id,
                    namespace,
                    collection,
                    source,
                    title,
                    status,
                    hash,
                    version,
                    chunks,
                    model,
                    error,
                    taskId,
                    sessionId,
                    metadata,
                    askedAt,
                    changedAt,
                    at);
        }
    }

    /**
     * Documents, by id.
     *
     * @param next the {@code after} of the next page; {@code null} = there is none
     */
    @JsonInclude(JsonInclude.Include.NON_NULL)
    public record Documents(
            List<Document> documents, @Nullable String next) {}

    /**
     * A chunk that was found.
     *
     * @param chunkId of the chunk
     * @param documentId of its document
     * @param number of the chunk in its document, from 0
     * @param title of its document
     * @param section the headings above it, from the outermost to its own; empty = none
     * @param score how good it is beside the others of this answer
     * @param similarity cosine of its vector and that of the question, -1 to 1; {@code null} = not compared
     * @param next the chunk that follows; {@code null} = it is the last
     */
    @JsonInclude(JsonInclude.Include.NON_NULL)
    public record Hit(
            String chunkId,
            String documentId,
            String collection,
            int number,
            String title,
            String source,
            List<String> section,
            String text,
            double score,
            @Nullable Double similarity,
            @Nullable String next) {}

    /** What was found, the best first. */
    public record Hits(String query, String mode, List<Hit> hits) {}

    /**
     * A person, thing or idea that texts mention.
     *
     * @param scope within which names mean the same: {@code global}, {@code agent:NAME}, {@code thread:ID}, or a name
     *     that whoever asked for it has chosen
     * @param name what it is called, as the first text that mentions it has it
     * @param type what kind of thing it is, such as person; lower case
     * @param description what the latest text says that says something; {@code null} = none did
     * @param aliases what it is called as well, in the order in which texts had them
     * @param mentionCount how many texts mention it, 1 or more
     * @param firstSeenAt when the first of them came, RFC 3339
     * @param changedAt when something about it changed last, RFC 3339
     * @param similarity cosine of its name and what was looked for; {@code null} = not compared
     */
    @JsonInclude(JsonInclude.Include.NON_NULL)
    public record Entity(
            String id,
            String namespace,
            String scope,
            String name,
            String type,
            @Nullable String description,
            List<String> aliases,
            int mentionCount,
            String firstSeenAt,
            String changedAt,
            @Nullable Double similarity) {}

    /**
     * Entities: by id, or the best first if something was looked for.
     *
     * @param next the {@code after} of the next page; {@code null} = there is none
     */
    @JsonInclude(JsonInclude.Include.NON_NULL)
    public record Entities(List<Entity> entities, @Nullable String next) {}

    /**
     * Something in the graph.
     *
     * @param id {@code entity:ID}, {@code source:ID}, {@code document:ID} or {@code chunk:DOCUMENT/NUMBER}
     * @param kind entity, source, document or chunk
     * @param label what people call it
     * @param detail of an entity its type, of a source what kind of thing it is, of a chunk the heading above it;
     *     {@code null} = there is none
     */
    @JsonInclude(JsonInclude.Include.NON_NULL)
    public record Node(
            String id, String kind, String label, @Nullable String detail) {}

    /**
     * What leads from one node to another.
     *
     * @param kind MENTIONS (from a source to an entity), RELATED_TO (between entities), NEXT_CHUNK (to the chunk that
     *     follows) or PART_OF (from a chunk to its document)
     * @param from a node's id
     * @param to a node's id
     * @param label what the text says of the two; {@code null} = nothing
     * @param similarity of two names that are much alike and do not mean the same; {@code null} = it is no such edge
     */
    @JsonInclude(JsonInclude.Include.NON_NULL)
    public record Edge(
            String kind,
            String from,
            String to,
            @Nullable String label,
            @Nullable Double similarity) {}

    /**
     * A part of the graph.
     *
     * @param from the node that was asked for
     * @param nodes the nearest first, that one at the front
     * @param edges between these nodes
     * @param complete whether nothing that is as near is left out
     */
    public record Graph(String from, List<Node> nodes, List<Edge> edges, boolean complete) {}
}
