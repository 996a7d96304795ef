package dev.millrace.knowledge.tools;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.millrace.api.KnowledgeView;
import dev.millrace.knowledge.embed.EmbeddingException;
import dev.millrace.knowledge.index.IndexQuestion;
import dev.millrace.knowledge.index.KnowledgeIndex;
import dev.millrace.knowledge.index.Search;
import dev.millrace.knowledge.ingest.Ingest;
import dev.millrace.knowledge.ingest.Source;
import dev.millrace.knowledge.kafka.KnowledgeKeys;
import dev.millrace.knowledge.kafka.KnowledgeWriter;
import dev.millrace.knowledge.tools.KnowledgeArguments.BadArgumentException;
import dev.millrace.requests.Reply;
import dev.millrace.requests.Request;
import dev.millrace.requests.RequestHandler;
import dev.millrace.schemas.Event;
import dev.millrace.schemas.Ids;
import dev.millrace.schemas.Json;
import dev.millrace.schemas.JsonObject;
import dev.millrace.schemas.KnownEventType;
import dev.millrace.schemas.Payload;
import dev.millrace.schemas.ToolDefinition;
import dev.millrace.schemas.ToolDefinition.SideEffects;
import dev.millrace.schemas.Topics;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** The tools of knowledge. They see the namespace of the task that calls them, and no other. */
public final class KnowledgeTools implements RequestHandler {

    /** Name of the tool that looks for something. */
    public static final String SEARCH = "search_knowledge";
    /** Name of the tool that takes a document in. */
    public static final String INGEST = "ingest_document";

    /** Name of the tool that looks for something in memory. */
    public static final String MEMORY = "memory_search";
    /** Name of the tool that looks for entities. */
    public static final String ENTITIES = "search_entities";

    /** The hits of a search that says no limit. */
    public static final int DEFAULT_LIMIT = 5;

    private static final int MAX_SOURCE = 100_000;
    private static final Duration LOOK_AGAIN = Duration.ofMillis(50);
    /** A document that takes longer is told to be under way. */
    private static final Duration PATIENCE = Duration.ofSeconds(20);

    private final Search search;
    private final KnowledgeIndex index;
    private final KnowledgeWriter writer;
    private final EntitySearchTool entities;
    private final Clock clock;

    public KnowledgeTools(
            Search search, KnowledgeIndex index, KnowledgeWriter writer, EntitySearchTool entities, Clock clock) {
        this.entities = entities;
        this.search = search;
        this.index = index;
        this.writer = writer;
        this.clock = clock;
    }

    /** The tools as models see them. */
    public static List<ToolDefinition> definitions() {
        return List.of(
                tool(
                        SEARCH,
                        "Looks in the documents that are known here for passages that answer a question, the best"
                                + " first. Say in the answer which of them it rests on, by their numbers in brackets,"
                                + " such as [1], and what they are called.",
                        SideEffects.READ_ONLY,
                        """
                        {"query": {"type": "string", "minLength": 1, "maxLength": 2000,
                                   "description": "What is wanted, as a question or as the words that would stand there."},
                         "collection": {"type": "string", "minLength": 1, "maxLength": 200,
                                        "description": "Look in this collection alone. Absent = in all."},
                         "limit": {"type": "integer", "minimum": 1, "maximum": 50,
                                   "description": "At most so many passages. Absent = 5."}}""",
                        "query"),
                tool(
                        MEMORY,
                        "Looks in what was remembered for passages that have to do with something, by words and by"
                                + " meaning, the best first. memory_read reads the whole of a file.",
                        SideEffects.READ_ONLY,
                        """
                        {"query": {"type": "string", "minLength": 1, "maxLength": 2000,
                                   "description": "What is wanted, as a question or as the words that would stand there."},
                         "limit": {"type": "integer", "minimum": 1, "maximum": 50,
                                   "description": "At most so many passages. Absent = 5."}}""",
                        "query"),
                tool(
                        ENTITIES,
                        "Looks for people, organisations, places and things that messages and texts here have"
                                + " mentioned: what they are called, what is known of them, how often they were"
                                + " mentioned, and what they are related to.",
                        SideEffects.READ_ONLY,
                        """
                        {"query": {"type": "string", "minLength": 1, "maxLength": 2000,
                                   "description": "A name, or words for what it is."},
                         "type": {"type": "string", "minLength": 1, "maxLength": 60,
                                  "description": "Only those of this kind, such as person. Absent = all."},
                         "collection": {"type": "string", "minLength": 1, "maxLength": 200,
                                        "description": "Look in this collection alone. Absent = in what is known of this conversation, by this agent and by all."},
                         "limit": {"type": "integer", "minimum": 1, "maximum": 50,
                                   "description": "At most so many. Absent = 5."}}""",
                        "query"),
                tool(
                        INGEST,
                        "Takes a document into what is known here, so that search_knowledge finds it. One that is known"
                                + " already and has not changed is left as it is.",
                        SideEffects.IDEMPOTENT,
                        """
                        {"source": {"type": "string", "minLength": 1, "maxLength": 100000,
                                    "description": "An http or https URL, the path of a file of the workspace, or text:// followed by the text itself."},
                         "collection": {"type": "string", "minLength": 1, "maxLength": 200,
                                        "description": "The collection that it goes into. Absent = default."},
                         "title": {"type": "string", "minLength": 1, "maxLength": 300,
                                   "description": "What people call it. Absent = its first heading."},
                         "forceReindex": {"type": "boolean",
                                          "description": "Take it in again although it has not changed. Absent = false."}}""",
                        "source"));
    }

    private static ToolDefinition tool(
            String name, String description, SideEffects sideEffects, String properties, String required) {
        try {
            ObjectNode parameters = Json.MAPPER.createObjectNode().put("type", "object");
            parameters.set("properties", Json.MAPPER.readTree(properties));
            parameters.putArray("required").add(required);
            parameters.put("additionalProperties", false);
            return new ToolDefinition(
                    name,
                    description,
                    Json.MAPPER.convertValue(parameters, new TypeReference<>() {}),
                    Topics.KNOWLEDGE_TOOLSET,
                    ToolDefinition.DEFAULT_TIMEOUT_MS,
                    sideEffects);
        } catch (JsonProcessingException e) {
            throw new AssertionError(name, e);
        }
    }

    @Override
    public Reply handle(Request request) throws InterruptedException {
        long begun = System.nanoTime();
        try {
            Object result =
                    switch (request.toolName()) {
                        case SEARCH -> search(request);
                        case MEMORY -> remembered(request);
                        case ENTITIES -> entities.answer(request);
                        case INGEST -> ingest(request);
                        default -> throw new BadArgumentException("there is no tool " + request.toolName() + " here");
                    };
            return new Reply.Completed(result, millisSince(begun));
        } catch (BadArgumentException e) {
            return new Reply.Failed("bad_arguments", String.valueOf(e.getMessage()), millisSince(begun));
        } catch (EmbeddingException e) {
            return new Reply.Failed("embedding_failed", String.valueOf(e.getMessage()), millisSince(begun));
        }
    }

    private JsonObject search(Request request) throws BadArgumentException, EmbeddingException, InterruptedException {
        IndexQuestion question;
        try {
            question = new IndexQuestion(
                    request.event().namespace(),
                    KnowledgeArguments.text(request, "collection", 200),
                    KnowledgeArguments.required(request, "query", 2_000),
                    KnowledgeArguments.limit(request, DEFAULT_LIMIT),
                    IndexQuestion.Mode.HYBRID,
                    null);
        } catch (IllegalArgumentException e) {
            throw new BadArgumentException(String.valueOf(e.getMessage()));
        }
        List<JsonObject> passages = new ArrayList<>();
        for (KnowledgeView.Hit hit : search.hits(question)) {
            passages.add(JsonObject.builder()
                    .put("cite", "[" + (passages.size() + 1) + "] " + hit.title())
                    .put("source", hit.source())
                    .putIfPresent("section", section(hit))
                    .put("text", hit.text())
                    .put("chunkId", hit.chunkId())
                    .build());
        }
        return found("passages", passages, "Nothing that is known here is about that.");
    }

    private JsonObject remembered(Request request)
            throws BadArgumentException, EmbeddingException, InterruptedException {
        List<JsonObject> passages = new ArrayList<>();
        for (KnowledgeView.Hit hit : search.hits(new IndexQuestion(
                request.event().namespace(),
                KnowledgeIndex.MEMORY,
                KnowledgeArguments.required(request, "query", 2_000),
                KnowledgeArguments.limit(request, DEFAULT_LIMIT),
                IndexQuestion.Mode.HYBRID,
                null))) {
            passages.add(JsonObject.builder()
                    .put("path", hit.title())
                    .putIfPresent("section", section(hit))
                    .put("text", hit.text())
                    .build());
        }
        return found("passages", passages, "Nothing that is remembered has to do with that.");
    }

    /** Where in its document it stands; {@code null} = under no heading. */
    private static @Nullable String section(KnowledgeView.Hit hit) {
        return hit.section().isEmpty() ? null : String.join(" > ", hit.section());
    }

    /** What was found, under this name, or the note that it is nothing. */
    static JsonObject found(String name, List<JsonObject> found, String nothing) {
        return JsonObject.builder()
                .put(name, found)
                .putIfPresent("note", found.isEmpty() ? nothing : null)
                .build();
    }

    private JsonObject ingest(Request request) throws BadArgumentException, InterruptedException {
        Event asked = request.event();
        Source source = new Source(KnowledgeArguments.required(request, "source", MAX_SOURCE));
        String collection = Optional.ofNullable(KnowledgeArguments.text(request, "collection", 200))
                .orElse(Ingest.DEFAULT_COLLECTION);
        String documentId = source.documentId(collection);
        // as precise as an event on its way
        Instant now = clock.instant().truncatedTo(ChronoUnit.MILLIS);
        // the same call gives the same event, which is taken once
        writer.lane(asked.derive(
                        Ids.derived(request.callId(), KnownEventType.RAG_INGEST, 0), KnownEventType.RAG_INGEST, now)
                .source("knowledge")
                .priority(null)
                .payload(new Payload.RagIngest(
                        source.text(),
                        collection,
                        KnowledgeArguments.text(request, "title", 300),
                        null,
                        request.params().get("forceReindex") instanceof Boolean force ? force : null,
                        null))
                .build());
        KnowledgeView.Document document = await(asked.namespace(), documentId, now);
        JsonObject.Builder result = JsonObject.builder()
                .put("documentId", documentId)
                .put("collection", collection)
                .put("status", document == null ? "pending" : document.status());
        if (document != null) {
            result.put("title", document.title())
                    .put("chunks", document.chunks())
                    .putIfPresent("error", document.error());
        }
        return result.build();
    }

    /** The document once it is done with; {@code null} = that takes longer. */
    private KnowledgeView.@Nullable Document await(String namespace, String documentId, Instant since)
            throws InterruptedException {
        long end = System.nanoTime() + PATIENCE.toNanos();
        while (System.nanoTime() < end) {
            Optional<KnowledgeView.Document> found = index.find(KnowledgeKeys.document(namespace, documentId))
                    .filter(document -> document.isCheckedSince(since));
            if (found.isPresent()) {
                return found.get();
            }
            Thread.sleep(LOOK_AGAIN);
        }
        return null;
    }

    private static long millisSince(long begun) {
        return (System.nanoTime() - begun) / 1_000_000;
    }
}
