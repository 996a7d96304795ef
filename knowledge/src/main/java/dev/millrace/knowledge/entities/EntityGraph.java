package dev.millrace.knowledge.entities;

import dev.millrace.api.KnowledgeView;
import dev.millrace.knowledge.index.EntityIndex;
import dev.millrace.knowledge.index.KnowledgeIndex;
import dev.millrace.knowledge.index.StoredMentions;
import dev.millrace.knowledge.kafka.KnowledgeKeys;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * What has to do with what, in one namespace: entities, the texts that mention them, documents and their chunks. Worked
 * out from the index with each question. For any thread.
 */
public final class EntityGraph {

    /** The farthest that can be looked. */
    public static final int MAX_DEPTH = 3;
    /** The most nodes of an answer. */
    public static final int MAX_NODES = 200;

    private static final String ENTITY = "entity";
    private static final String SOURCE = "source";
    private static final String DOCUMENT = "document";
    private static final String CHUNK = "chunk";
    private static final int MAX_LABEL = 80;

    private final KnowledgeIndex index;
    private final EntityIndex entities;

    public EntityGraph(KnowledgeIndex index) {
        this.index = index;
        this.entities = new EntityIndex(index);
    }

    /**
     * What is near a node.
     *
     * @param from a node's id, as {@link KnowledgeView.Node} has it
     * @param depth how many edges away, 1 to {@value #MAX_DEPTH}
     * @param limit at most so many nodes, 1 to {@value #MAX_NODES}
     * @return empty if there is no such node in the namespace
     */
    public Optional<KnowledgeView.Graph> around(String namespace, String from, int depth, int limit) {
        return new Walk(namespace, limit).from(from, depth);
    }

    private final class Walk {
        private final String namespace;
        private final int limit;
        private final Map<String, KnowledgeView.Node> nodes = new LinkedHashMap<>();
        private final Map<String, Integer> distances = new LinkedHashMap<>();
        private final Set<KnowledgeView.Edge> edges = new LinkedHashSet<>();
        private final Deque<String> next = new ArrayDeque<>();
        private boolean complete = true;

        Walk(String namespace, int limit) {
            this.namespace = namespace;
            this.limit = limit;
        }

        Optional<KnowledgeView.Graph> from(String from, int depth) {
            reach(from, 0);
            while (!next.isEmpty()) {
                String node = next.remove();
                int distance = distances.getOrDefault(node, 0);
                if (distance < depth) {
                    for (KnowledgeView.Edge edge : edgesOf(node)) {
                        String other = edge.from().equals(node) ? edge.to() : edge.from();
                        if (reach(other, distance + 1)) {
                            edges.add(edge);
                        }
                    }
                }
            }
            return nodes.isEmpty()
                    ? Optional.empty()
                    : Optional.of(new KnowledgeView.Graph(
                            from, new ArrayList<>(nodes.values()), new ArrayList<>(edges), complete));
        }

        /** Whether it is there, and among what is shown. */
        private boolean reach(String id, int distance) {
            if (nodes.containsKey(id)) {
                return true;
            }
            KnowledgeView.Node node = node(id);
            if (node == null) {
                return false;
            }
            if (nodes.size() >= limit) {
                complete = false;
                return false;
            }
            nodes.put(id, node);
            distances.put(id, distance);
            next.add(id);
            return true;
        }

        private KnowledgeView.@Nullable Node node(String id) {
            String value = id.substring(id.indexOf(':') + 1);
            return switch (kind(id)) {
                case ENTITY ->
                    entities.find(namespace, value)
                            .map(entity -> new KnowledgeView.Node(id, ENTITY, entity.name(), entity.type()))
                            .orElse(null);
                case SOURCE ->
                    entities.mentions(KnowledgeKeys.mentions(namespace, value))
                            .map(text -> new KnowledgeView.Node(id, SOURCE, text.excerpt(), text.sourceType()))
                            .orElse(null);
                case DOCUMENT ->
                    document(value)
                            .map(document -> new KnowledgeView.Node(id, DOCUMENT, document.title(), null))
                            .orElse(null);
                case CHUNK ->
                    chunk(value)
                            .map(chunk -> new KnowledgeView.Node(
                                    id,
                                    CHUNK,
                                    cut(chunk.text()),
                                    chunk.section().isEmpty()
                                            ? null
                                            : chunk.section().getLast()))
                            .orElse(null);
                default -> null;
            };
        }

        private List<KnowledgeView.Edge> edgesOf(String id) {
            String value = id.substring(id.indexOf(':') + 1);
            return switch (kind(id)) {
                case ENTITY -> ofEntity(value);
                case SOURCE ->
                    entities.mentions(KnowledgeKeys.mentions(namespace, value))
                            .map(text -> text.mentions().stream()
                                    .map(mention -> mentions(id, mention.entityId()))
                                    .toList())
                            .orElse(List.of());
                case DOCUMENT -> ofDocument(id, value);
                case CHUNK -> ofChunk(id, value);
                default -> List.of();
            };
        }

        private List<KnowledgeView.Edge> ofEntity(String entityId) {
            List<KnowledgeView.Edge> found = new ArrayList<>();
            List<StoredMentions> texts = entities.mentioning(namespace, entityId, limit + 1);
            for (StoredMentions text : texts) {
                found.add(mentions(nodeOf(text), entityId));
            }
            List<StoredMentions> relating = entities.relating(namespace, entityId, limit + 1);
            complete = complete && texts.size() <= limit && relating.size() <= limit;
            for (StoredMentions text : relating) {
                for (StoredMentions.Relation relation : text.relations()) {
                    if (relation.from().equals(entityId) || relation.to().equals(entityId)) {
                        found.add(new KnowledgeView.Edge(
                                "RELATED_TO",
                                ENTITY + ':' + relation.from(),
                                ENTITY + ':' + relation.to(),
                                relation.label(),
                                relation.similarity()));
                    }
                }
            }
            return found;
        }

        /** The text's own node, or that of the document or chunk that it is. */
        private String nodeOf(StoredMentions text) {
            String known = text.sourceType() + ':' + text.sourceId();
            boolean ours =
                    text.sourceType().equals(DOCUMENT) || text.sourceType().equals(CHUNK);
            return ours && node(known) != null ? known : SOURCE + ':' + text.id();
        }

        private KnowledgeView.Edge mentions(String source, String entityId) {
            return new KnowledgeView.Edge("MENTIONS", source, ENTITY + ':' + entityId, null, null);
        }

        private List<KnowledgeView.Edge> ofDocument(String id, String documentId) {
            List<KnowledgeView.Edge> found = new ArrayList<>(mentionedBy(id, DOCUMENT, documentId));
            int chunks =
                    document(documentId).map(KnowledgeView.Document::chunks).orElse(0);
            for (int number = 0; number < Math.min(chunks, limit); number++) {
                found.add(partOf(documentId, number));
            }
            complete = complete && chunks <= limit;
            return found;
        }

        private List<KnowledgeView.Edge> ofChunk(String id, String chunkId) {
            List<KnowledgeView.Edge> found = new ArrayList<>(mentionedBy(id, CHUNK, chunkId));
            String documentId = chunkId.substring(0, chunkId.lastIndexOf('/'));
            int number = Integer.parseInt(chunkId.substring(documentId.length() + 1));
            if (number > 0) {
                found.add(nextChunk(documentId, number - 1));
            }
            found.add(nextChunk(documentId, number));
            found.add(partOf(documentId, number));
            return found;
        }

        private List<KnowledgeView.Edge> mentionedBy(String id, String sourceType, String sourceId) {
            return entities.ofSource(namespace, sourceType, sourceId).stream()
                    .flatMap(text -> text.mentions().stream())
                    .map(mention -> mentions(id, mention.entityId()))
                    .toList();
        }

        private static KnowledgeView.Edge partOf(String documentId, int number) {
            return new KnowledgeView.Edge(
                    "PART_OF", CHUNK + ':' + documentId + '/' + number, DOCUMENT + ':' + documentId, null, null);
        }

        private static KnowledgeView.Edge nextChunk(String documentId, int number) {
            String prefix = CHUNK + ':' + documentId + '/';
            return new KnowledgeView.Edge("NEXT_CHUNK", prefix + number, prefix + (number + 1), null, null);
        }

        private Optional<KnowledgeView.Document> document(String id) {
            return index.find(KnowledgeKeys.document(namespace, id));
        }

        private Optional<KnowledgeView.Hit> chunk(String id) {
            int slash = id.lastIndexOf('/');
            String number = id.substring(slash + 1);
            if (slash < 1 || !number.matches("[0-9]{1,6}")) {
                return Optional.empty();
            }
            String documentId = id.substring(0, slash);
            return document(documentId)
                    .map(KnowledgeView.Document::version)
                    .flatMap(version ->
                            index.chunk(KnowledgeKeys.chunk(namespace, documentId, version, Integer.parseInt(number))));
        }
    }

    private static String kind(String id) {
        int colon = id.indexOf(':');
        return colon < 0 ? "" : id.substring(0, colon);
    }

    private static String cut(String text) {
        String line = text.replaceAll("\\s+", " ").strip();
        if (line.length() <= MAX_LABEL) {
            return line;
        }
        int end = Character.isHighSurrogate(line.charAt(MAX_LABEL - 1)) ? MAX_LABEL - 1 : MAX_LABEL;
        return line.substring(0, end) + '…';
    }
}
