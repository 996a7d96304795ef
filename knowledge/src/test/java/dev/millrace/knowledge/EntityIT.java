package dev.millrace.knowledge;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.api.KnowledgeView;
import dev.millrace.knowledge.embed.RemoteEmbedder;
import dev.millrace.knowledge.entities.EntityExtraction;
import dev.millrace.knowledge.index.EntityIndex.Within;
import dev.millrace.knowledge.ingest.Ingest;
import dev.millrace.knowledge.ingest.Source;
import dev.millrace.llm.remote.Provider;
import dev.millrace.llm.remote.RemoteModel;
import dev.millrace.llm.remote.RemoteSettings;
import dev.millrace.llm.scripted.Script;
import dev.millrace.llm.scripted.ScriptedModel;
import dev.millrace.requests.NoticeHandler.Outcome;
import dev.millrace.requests.Reply;
import dev.millrace.requests.Request;
import dev.millrace.schemas.Event;
import dev.millrace.schemas.ForgetScope;
import dev.millrace.schemas.Forgotten;
import dev.millrace.schemas.Json;
import dev.millrace.schemas.JsonObject;
import dev.millrace.schemas.KnownEventType;
import dev.millrace.schemas.Payload;
import dev.millrace.schemas.Topics;
import dev.millrace.testing.RequiresBroker;
import dev.millrace.testing.StubModelServer;
import dev.millrace.testing.TestBroker;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Entities and the graph, with a model behind OpenAI's API, or the scripted one. */
@RequiresBroker
class EntityIT {

    private static final String ADA = """
            {"entities": [
               {"name": "Ada Lovelace", "type": "Person", "description": "Wrote the first program.", "aliases": []},
               {"name": "Analytical Engine", "type": "machine", "description": "A computer.", "aliases": ["the engine"]}],
             "relations": [{"from": "Ada Lovelace", "to": "the engine", "label": "wrote for"},
                           {"from": "Ada Lovelace", "to": "Nobody", "label": "knows"}]}""";

    private final TestBroker broker;
    private final Topics topics;
    private final StubEmbeddings vectors = new StubEmbeddings();
    private final RemoteEmbedder embedder = vectors.embedder(RemoteEmbedder.Api.OPENAI);
    private final AtomicInteger compared = new AtomicInteger();
    private volatile String finds = "{\"entities\": [], \"relations\": []}";
    private volatile String same = "{\"same\": []}";
    private final StubModelServer model = StubModelServer.start(request -> {
        boolean compares = request.last("system").startsWith("You decide whether");
        compared.addAndGet(compares ? 1 : 0);
        return StubModelServer.Answer.text(compares ? same : finds);
    });
    private final KnowledgeParts parts;

    EntityIT(TestBroker broker, @TempDir Path folder) throws IOException {
        this.broker = broker;
        this.topics = broker.createTopics();
        this.parts = new KnowledgeParts(
                broker.bootstrapServers(),
                topics,
                folder,
                embedder,
                new RemoteModel(new RemoteSettings(
                        Provider.OPENAI,
                        model.baseUrl(),
                        null,
                        "KEY",
                        "stub",
                        RemoteSettings.Timeouts.DEFAULTS,
                        null,
                        null)));
    }

    @AfterEach
    void close() throws IOException {
        parts.close();
        embedder.close();
        vectors.close();
        model.close();
    }

    @Test
    @DisplayName("F-266, F-271, F-297, F-303: what a model finds becomes nodes, MENTIONS and RELATED_TO; the same name"
            + " is the same entity, with its aliases and the number of its mentions; a text counts once")
    void shouldMergeWhatHasTheSameName() throws Exception {
        // when
        finds = ADA;
        take("acme", "m-1", "Ada Lovelace wrote for the engine.", null);
        take("acme", "m-1", "Ada Lovelace wrote for the engine.", null);
        finds = "{\"entities\": [{\"name\": \"ADA LOVELACE\", \"type\": \"person\","
                + " \"description\": \"Was a countess.\", \"aliases\": [\"Lady Lovelace\"]}]}";
        take("acme", "m-2", "ADA LOVELACE, Lady Lovelace, was a countess.", null);
        finds = "```json\n{\"entities\": [{\"name\": \"Lady Lovelace\", \"type\": \"person\"}]}\n```";
        take("acme", "m-3", "Lady Lovelace came.", null);
        // then
        KnowledgeView.Entity ada = only("acme", "Ada Lovelace");
        assertThat(ada.name()).isEqualTo("Ada Lovelace");
        assertThat(ada.type()).isEqualTo("person");
        assertThat(ada.aliases()).containsExactly("Lady Lovelace");
        assertThat(ada.mentionCount()).isEqualTo(3);
        assertThat(ada.description()).isEqualTo("Was a countess.");
        assertThat(ada.scope()).isEqualTo(EntityExtraction.GLOBAL);
        assertThat(compared).hasValue(0);
        KnowledgeView.Graph around =
                parts.graph.around("acme", "entity:" + ada.id(), 1, 100).orElseThrow();
        assertThat(around.complete()).isTrue();
        assertThat(around.edges().stream()
                        .collect(Collectors.groupingBy(KnowledgeView.Edge::kind, Collectors.counting())))
                .isEqualTo(Map.of("MENTIONS", 3L, "RELATED_TO", 1L));
        assertThat(around.nodes()).extracting(KnowledgeView.Node::label).contains("Ada Lovelace", "Analytical Engine");
        assertThat(around.edges()).extracting(KnowledgeView.Edge::label).contains("wrote for");
        assertThat(parts.graph.around("other", "entity:" + ada.id(), 1, 100)).isEmpty();
        // what was asked for: JSON of a schema, of the default model
        assertThat(model.requests().getFirst().body()).containsKey("response_format");
    }

    @Test
    @DisplayName("F-303: of names that are alike a model is asked: the same are merged, others are new and RELATED_TO")
    void shouldAskAboutNamesThatAreAlike() throws Exception {
        // given
        finds = "{\"entities\": [{\"name\": \"Ada Lovelace\", \"type\": \"person\"}]}";
        take("acme", "m-1", "one", null);
        // when
        finds = "{\"entities\": [{\"name\": \"Ada Byron Lovelace\", \"type\": \"person\"}]}";
        same = "{\"same\": [1]}";
        take("acme", "m-2", "two", null);
        finds = "{\"entities\": [{\"name\": \"Eve Ada Lovelace\", \"type\": \"person\"}]}";
        same = "{\"same\": [7]}";
        take("acme", "m-3", "three", null);
        // then
        assertThat(compared).hasValue(2);
        assertThat(parts.entities.list(new Within("acme", null), null, null, 10))
                .extracting(KnowledgeView.Entity::name)
                .containsExactlyInAnyOrder("Ada Lovelace", "Eve Ada Lovelace");
        KnowledgeView.Entity ada = only("acme", "Ada Lovelace");
        assertThat(ada.aliases()).containsExactly("Ada Byron Lovelace");
        assertThat(ada.mentionCount()).isEqualTo(2);
        KnowledgeView.Entity eve = only("acme", "Eve Ada Lovelace");
        assertThat(parts.graph
                        .around("acme", "entity:" + eve.id(), 1, 100)
                        .orElseThrow()
                        .edges())
                .anySatisfy(edge -> {
                    assertThat(edge.kind()).isEqualTo("RELATED_TO");
                    assertThat(edge.to()).isEqualTo("entity:" + ada.id());
                    assertThat(edge.similarity()).isBetween(0.7, 0.95);
                });
    }

    @Test
    @DisplayName("F-303: names at least as similar as the upper threshold are one entity, and no model is asked, unless"
            + " their numbers differ, or their types")
    void shouldMergeNamesThatAreNearlyTheSame() throws Exception {
        // given
        finds = found("Lovelace Ada", "person");
        take("acme", "m-1", "one", null);
        // when
        finds = found("Ada, Lovelace", "person");
        take("acme", "m-2", "two", null);
        // then
        assertThat(compared).hasValue(0);
        KnowledgeView.Entity ada = only("acme", "Lovelace Ada");
        assertThat(ada.aliases()).containsExactly("Ada, Lovelace");
        assertThat(ada.mentionCount()).isEqualTo(2);
        // when
        finds = found("Of Ada Lovelace", "ship");
        take("acme", "m-3", "three", null);
        finds = found("Ada Lovelace of", "person");
        take("acme", "m-4", "four", null);
        // then
        assertThat(compared).hasValue(2);
        assertThat(names("acme", "ship")).containsExactly("Of Ada Lovelace");
        assertThat(names("acme", "person")).containsExactlyInAnyOrder("Lovelace Ada", "Ada Lovelace of");
    }

    @Test
    @DisplayName("F-303: of several that are as similar as that, it is the one with the same numbers; a model is asked"
            + " where there is none, about the nearest")
    void shouldTellApartWhatHasOtherNumbers() throws Exception {
        // given
        finds = found("Linton room 2 floor 4", "room");
        take("acme", "m-1", "one", null);
        // when
        finds = found("Linton room 4 floor 2", "room");
        take("acme", "m-2", "two", null);
        // then
        assertThat(compared).hasValue(1);
        KnowledgeView.Entity other = only("acme", "Linton room 4 floor 2");
        assertThat(names("acme", "room")).containsExactlyInAnyOrder("Linton room 2 floor 4", "Linton room 4 floor 2");
        assertThat(parts.graph
                        .around("acme", "entity:" + other.id(), 1, 100)
                        .orElseThrow()
                        .edges())
                .anySatisfy(edge -> assertThat(edge.similarity()).isEqualTo(1.0));
        // when
        finds = found("Room 4 floor 2 Linton", "room");
        take("acme", "m-3", "three", null);
        // then
        assertThat(compared).hasValue(1);
        assertThat(only("acme", "Linton room 4 floor 2").aliases()).containsExactly("Room 4 floor 2 Linton");
        assertThat(only("acme", "Linton room 2 floor 4").mentionCount()).isEqualTo(1);
    }

    @Test
    @DisplayName("F-303: all doubts about a text are one question, each about the nearest of several")
    void shouldAskOnceAboutAllDoubtsOfAText() throws Exception {
        // given
        finds = "{\"entities\": [{\"name\": \"Ada Lovelace\", \"type\": \"person\"},"
                + " {\"name\": \"Ada Lovelace of Ockham\", \"type\": \"person\"},"
                + " {\"name\": \"Charles Babbage\", \"type\": \"person\"}]}";
        take("acme", "m-1", "one", null);
        // when
        finds = "{\"entities\": [{\"name\": \"Ada Lovelace Ockham\", \"type\": \"person\"},"
                + " {\"name\": \"Charles Babbage Esquire\", \"type\": \"person\"}]}";
        same = "{\"same\": [2]}";
        take("acme", "m-2", "two", null);
        // then
        assertThat(compared).hasValue(1);
        assertThat(model.requests().getLast().last("user"))
                .isEqualTo("1. Ada Lovelace Ockham (person) | Ada Lovelace of Ockham (person)\n"
                        + "2. Charles Babbage Esquire (person) | Charles Babbage (person)");
        assertThat(names("acme", "person"))
                .containsExactlyInAnyOrder(
                        "Ada Lovelace", "Ada Lovelace of Ockham", "Ada Lovelace Ockham", "Charles Babbage");
        assertThat(only("acme", "Charles Babbage").aliases()).containsExactly("Charles Babbage Esquire");
    }

    @Test
    @DisplayName(
            "F-303: conversations, agents and tenants have entities of their own; a task sees its own and the global"
                    + " ones")
    void shouldKeepScopesApart() throws Exception {
        // when
        finds = "{\"entities\": [{\"name\": \"Linton\", \"type\": \"place\"}]}";
        take("acme", "m-1", "one", null);
        take("acme", "m-1", "one", "agent:miller");
        take("acme", "m-1", "one", "thread:s-1");
        take("acme", "m-1", "one", "thread:s-2");
        take("other", "m-1", "one", null);
        // then
        assertThat(parts.entities.list(new Within("acme", null), null, null, 10))
                .extracting(KnowledgeView.Entity::scope)
                .containsExactlyInAnyOrder("global", "agent:miller", "thread:s-1", "thread:s-2");
        assertThat(parts.entities.list(new Within("nobody", null), null, null, 10))
                .isEmpty();
        assertThat(asked("acme", "s-1", "miller", null)).contains("Linton").doesNotContain("bad_arguments");
        assertThat(count(asked("acme", "s-1", "miller", null))).isEqualTo(3);
        assertThat(count(asked("acme", "s-3", "clerk", null))).isEqualTo(1);
        assertThat(count(asked("acme", "s-1", "miller", "thread:s-1"))).isEqualTo(1);
        assertThat(asked("acme", "s-1", "miller", "thread:s-2")).contains("expected one of this task");
        assertThat(count(asked("nobody", "s-1", "miller", null))).isZero();
    }

    @Test
    void shouldForgetWhatOnlyAForgottenTextSaid() throws Exception {
        // given
        finds = "{\"entities\": [{\"name\": \"Ada Lovelace\", \"type\": \"person\", \"description\": \"Is ill.\"},"
                + " {\"name\": \"Ashley\", \"type\": \"place\"}],"
                + " \"relations\": [{\"from\": \"Ada Lovelace\", \"to\": \"Ashley\", \"label\": \"lives in\"}]}";
        parts.notices.handle(event("acme", "m-1", "one", null, "task-1"));
        finds = "{\"entities\": [{\"name\": \"Lovelace\", \"type\": \"person\","
                + " \"aliases\": [\"Ada Lovelace\"]}]}";
        parts.notices.handle(event("acme", "m-2", "two", null, "task-2"));
        assertThat(only("acme", "Ada Lovelace").mentionCount()).isEqualTo(2);
        // when
        forget(new ForgetScope(ForgetScope.Kind.TASK, "acme", "task-1"));
        // then
        Awaitility.await().atMost(20, TimeUnit.SECONDS).untilAsserted(() -> {
            parts.forgetting.look();
            assertThat(parts.entities.list(new Within("acme", null), null, null, 10))
                    .hasSize(1)
                    .first()
                    .satisfies(left -> {
                        assertThat(left.name()).isEqualTo("Lovelace");
                        assertThat(left.description()).isNull();
                        assertThat(left.mentionCount()).isEqualTo(1);
                        assertThat(parts.graph
                                        .around("acme", "entity:" + left.id(), 2, 100)
                                        .orElseThrow()
                                        .nodes())
                                .hasSize(2);
                    });
        });
        // what comes late is not taken
        Event late = event("acme", "m-1", "one", null, "task-1");
        assertThat(parts.notices.handle(late)).isInstanceOf(Outcome.Done.class);
    }

    @Test
    @DisplayName("what was said in a session or a namespace that is forgotten is known no more, of others it is; what"
            + " comes late is not taken")
    void shouldForgetWhatWasSaidInASessionAndANamespace() throws Exception {
        // given
        finds = ADA;
        Event ofSession = inSession(event("acme", "m-1", "one", null, null), "s-1");
        parts.notices.handle(ofSession);
        finds = found("Ada Lovelace", "person");
        parts.notices.handle(inSession(event("acme", "m-2", "two", null, null), "s-2"));
        finds = found("Linton", "place");
        Event ofNone = event("acme", "m-3", "three", null, null);
        parts.notices.handle(ofNone);
        parts.notices.handle(inSession(event("beta", "m-4", "four", null, null), "s-1"));
        assertThat(names("acme", null)).containsExactlyInAnyOrder("Ada Lovelace", "Analytical Engine", "Linton");
        // when
        forget(new ForgetScope(ForgetScope.Kind.SESSION, "acme", "s-1"));
        // then
        untilThereAre("acme", "Ada Lovelace", "Linton");
        KnowledgeView.Entity ada = only("acme", "Ada Lovelace");
        assertThat(ada.mentionCount()).isEqualTo(1);
        assertThat(ada.description()).isNull();
        assertThat(parts.graph
                        .around("acme", "entity:" + ada.id(), 2, 100)
                        .orElseThrow()
                        .nodes())
                .hasSize(2);
        parts.notices.handle(ofSession);
        assertThat(names("acme", null)).containsExactlyInAnyOrder("Ada Lovelace", "Linton");
        // when
        forget(new ForgetScope(ForgetScope.Kind.NAMESPACE, "acme", null));
        // then
        untilThereAre("acme");
        parts.notices.handle(ofNone);
        assertThat(names("acme", null)).isEmpty();
        assertThat(names("beta", null)).containsExactly("Linton");
        // when
        forget(new ForgetScope(ForgetScope.Kind.MEMORY, "beta", null));
        // then
        untilThereAre("beta");
    }

    @Test
    void shouldGiveUpOnAnswersThatAreNoEntities() throws Exception {
        // when
        finds = "I would rather not.";
        Outcome outcome = parts.notices.handle(event("acme", "m-1", "one", null, null));
        // then
        assertThat(outcome)
                .isEqualTo(new Outcome.GivenUp(
                        "bad_response", "expected a JSON object with entities of the model, found twice none"));
        assertThat(model.requests()).hasSize(2);
        assertThat(parts.notices.handle(event("acme", "m-1", "one", "thread", null)))
                .isInstanceOfSatisfying(
                        Outcome.GivenUp.class, given -> assertThat(given.code()).isEqualTo("no_thread"));
    }

    @Test
    @DisplayName("F-302, F-295: chunks of a document follow each other in the graph (NEXT_CHUNK), and a lost index is"
            + " built again with the whole graph")
    void shouldLeadFromChunkToChunk(@TempDir Path empty) throws Exception {
        // given
        finds = ADA;
        KnowledgeView.Document document = parts.ingest.take(new Ingest.Order(
                "acme",
                Ingest.DEFAULT_COLLECTION,
                new Source(Source.TEXT + "# One\n\nFirst.\n\n# Two\n\nSecond.\n\n# Three\n\nThird.\n"),
                null,
                null,
                false,
                null,
                new Ingest.Asked(null, null, Instant.now())));
        String second = "chunk:" + document.id() + "/1";
        parts.extraction.take(
                event("acme", "x", "one", null, null),
                new Payload.EntityExtract("one", "chunk", document.id() + "/1", null));
        // when
        KnowledgeView.Graph before = parts.graph.around("acme", second, 1, 100).orElseThrow();
        try (KnowledgeParts other = new KnowledgeParts(broker.bootstrapServers(), topics, empty, embedder)) {
            other.follower.upToNow();
            assertThat(other.graph.around("acme", second, 1, 100)).contains(before);
        }
        // then
        assertThat(before.edges().stream()
                        .map(edge -> edge.kind()
                                + ' '
                                + edge.from().replace(document.id(), "D")
                                + ' '
                                + edge.to().replace(document.id(), "D").replaceAll("entity:.*", "E")))
                .containsExactlyInAnyOrder(
                        "NEXT_CHUNK chunk:D/0 chunk:D/1",
                        "NEXT_CHUNK chunk:D/1 chunk:D/2",
                        "PART_OF chunk:D/1 document:D",
                        "MENTIONS chunk:D/1 E",
                        "MENTIONS chunk:D/1 E");
        assertThat(parts.graph.around("acme", second, 3, 3).orElseThrow())
                .satisfies(cut -> assertThat(cut.nodes()).hasSize(3))
                .satisfies(cut -> assertThat(cut.complete()).isFalse());
        for (String nothing : List.of("chunk:" + document.id() + "/3", "chunk:x", "entity:x", "x", "", "chunk:/1")) {
            assertThat(parts.graph.around("acme", nothing, 1, 10)).as(nothing).isEmpty();
        }
    }

    @Test
    @DisplayName("F-297: a script drives the extraction, without network")
    void shouldBeDrivenByAScript(@TempDir Path other) throws Exception {
        ScriptedModel scripted = new ScriptedModel(Script.parse("test", """
                rules:
                  - system: '^You find entities in a text'
                    user: '(?<name>[A-Z]\\w+) mills'
                    text: '{"entities": [{"name": "{{user.name}}", "type": "person"}]}'
                """));
        try (KnowledgeParts driven = new KnowledgeParts(broker.bootstrapServers(), topics, other, embedder, scripted)) {
            driven.notices.handle(event("acme", "m-1", "Berta mills at night.", null, null));
            assertThat(driven.entities.list(new Within("acme", null), "person", null, 10))
                    .extracting(KnowledgeView.Entity::name)
                    .containsExactly("Berta");
        }
    }

    private void take(String namespace, String sourceId, String text, @Nullable String scope) throws Exception {
        assertThat(parts.notices.handle(event(namespace, sourceId, text, scope, null)))
                .isInstanceOf(Outcome.Done.class);
    }

    private static Event event(
            String namespace, String sourceId, String text, @Nullable String scope, @Nullable String taskId) {
        Event event = Event.root("e-" + sourceId + scope, KnownEventType.ENTITY_EXTRACT, Instant.now())
                .source("/test")
                .namespace(namespace)
                .payload(new Payload.EntityExtract(text, "message", sourceId, scope))
                .build();
        return taskId == null ? event : event.withTaskId(taskId);
    }

    private static Event inSession(Event event, String sessionId) {
        return Event.root(event.id(), KnownEventType.ENTITY_EXTRACT, event.timestamp())
                .source("/test")
                .namespace(event.namespace())
                .sessionId(sessionId)
                .payload(event.payload())
                .build();
    }

    private static String found(String name, String type) {
        return "{\"entities\": [{\"name\": \"" + name + "\", \"type\": \"" + type + "\"}]}";
    }

    private List<String> names(String namespace, @Nullable String type) throws Exception {
        return parts.entities.list(new Within(namespace, null), type, null, 10).stream()
                .map(KnowledgeView.Entity::name)
                .toList();
    }

    private void forget(ForgetScope scope) {
        broker.produce(new ProducerRecord<>(
                topics.forgotten(),
                scope.namespace().getBytes(StandardCharsets.UTF_8),
                new Forgotten(scope, Instant.now().toEpochMilli()).toJson()));
    }

    private void untilThereAre(String namespace, String... names) {
        Awaitility.await().atMost(20, TimeUnit.SECONDS).untilAsserted(() -> {
            parts.forgetting.look();
            assertThat(names(namespace, null)).containsExactlyInAnyOrder(names);
        });
    }

    private KnowledgeView.Entity only(String namespace, String name) throws Exception {
        return parts.entities.find(new Within(namespace, null), null, name, 10).getFirst();
    }

    private String asked(String namespace, String sessionId, String agent, @Nullable String collection)
            throws Exception {
        Map<String, @Nullable Object> arguments = new HashMap<>();
        arguments.put("query", "Linton");
        arguments.put("collection", collection);
        Event call = Event.root("call", KnownEventType.TOOL_CALL_REQUESTED, Instant.now())
                .source("/test")
                .namespace(namespace)
                .sessionId(sessionId)
                .payload(new Payload.ToolCallRequested(
                        "call", "call", "search_entities", JsonObject.of(arguments), agent, null, null))
                .build();
        return switch (parts.tools.handle(Request.of(call, 1))) {
            case Reply.Completed completed -> Json.writeText(completed.result());
            case Reply reply -> String.valueOf(reply);
        };
    }

    private static long count(String answer) {
        return answer.split("\"mentionCount\"", -1).length - 1L;
    }
}
