package dev.millrace.knowledge;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.core.type.TypeReference;
import dev.millrace.api.KnowledgeView;
import dev.millrace.kafka.ClientSettings;
import dev.millrace.knowledge.embed.Embedder;
import dev.millrace.knowledge.embed.EmbeddingException;
import dev.millrace.knowledge.embed.RemoteEmbedder;
import dev.millrace.knowledge.index.IndexQuestion;
import dev.millrace.knowledge.index.IndexQuestion.Mode;
import dev.millrace.knowledge.ingest.Ingest;
import dev.millrace.knowledge.ingest.IngestException;
import dev.millrace.knowledge.ingest.MemoryIngest;
import dev.millrace.knowledge.ingest.Source;
import dev.millrace.knowledge.kafka.MemoryReader;
import dev.millrace.requests.Reply;
import dev.millrace.requests.Request;
import dev.millrace.requests.RequestWorker;
import dev.millrace.requests.WorkerSettings;
import dev.millrace.schemas.Event;
import dev.millrace.schemas.ForgetScope;
import dev.millrace.schemas.Forgotten;
import dev.millrace.schemas.Json;
import dev.millrace.schemas.JsonObject;
import dev.millrace.schemas.KnownEventType;
import dev.millrace.schemas.MemoryDocument;
import dev.millrace.schemas.Payload;
import dev.millrace.schemas.Segment;
import dev.millrace.schemas.Topics;
import dev.millrace.testing.RequiresBroker;
import dev.millrace.testing.TestBroker;
import dev.millrace.testing.TopicReader;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@RequiresBroker
class KnowledgeIT {

    private static final String WHEEL = "# The wheel\n\nThe wheel of the mill at Linton turns at nine revolutions.\n";

    private final TestBroker broker;
    private final Topics topics;
    private final Path folder;
    private final StubEmbeddings server = new StubEmbeddings();
    private final RemoteEmbedder embedder = server.embedder(RemoteEmbedder.Api.OPENAI);
    private final KnowledgeParts parts;

    KnowledgeIT(TestBroker broker, @TempDir Path folder) throws IOException {
        this.broker = broker;
        this.folder = folder;
        this.topics = broker.createTopics();
        this.parts = new KnowledgeParts(broker.bootstrapServers(), topics, folder, embedder);
    }

    @AfterEach
    void close() throws IOException {
        parts.close();
        embedder.close();
        server.close();
    }

    @Test
    @DisplayName(
            "F-295, F-302: a document is fetched, cut, embedded and stored, and found by those of its namespace alone")
    void shouldBeFoundInItsNamespaceAlone() throws Exception {
        // when
        long begun = System.nanoTime();
        KnowledgeView.Document document = take("acme", Source.TEXT + WHEEL, false);
        List<KnowledgeView.Hit> hits = search(parts, "acme", "How fast does the wheel turn?", Mode.HYBRID);
        // then
        assertThat(Duration.ofNanos(System.nanoTime() - begun)).isLessThan(Duration.ofSeconds(2));
        assertThat(document.status()).isEqualTo("indexed");
        assertThat(document.chunks()).isEqualTo(1);
        assertThat(hits).hasSize(1);
        assertThat(hits.getFirst().text()).contains("nine revolutions");
        assertThat(hits.getFirst().section()).containsExactly("The wheel");
        for (Mode mode : Mode.values()) {
            assertThat(search(parts, "other", "How fast does the wheel turn?", mode))
                    .isEmpty();
            assertThat(search(parts, "ACME", "How fast does the wheel turn?", mode))
                    .isEmpty();
        }
        assertThat(parts.index.documents("other", null, null, 10)).isEmpty();
        assertThat(parts.ingest.remove("other", document.id())).isNull();
    }

    @Test
    @DisplayName(
            "F-302: what has not changed is left as it is, unless that is wanted; a new text takes the place of the old")
    void shouldTakeThePlaceOfTheOldText() throws Exception {
        // given
        Path file = folder.resolve("mill.md");
        Files.writeString(file, WHEEL);
        KnowledgeView.Document first = take("acme", "mill.md", false);
        // when
        KnowledgeView.Document same = take("acme", "mill.md", false);
        KnowledgeView.Document forced = take("acme", "mill.md", true);
        Files.writeString(file, "# The sluice\n\nThe sluice is shut at night.\n");
        KnowledgeView.Document changed = take("acme", "mill.md", false);
        // then
        assertThat(same).isEqualTo(first.checked(String.valueOf(same.checkedAt())));
        assertThat(same.checkedAt()).isNotEqualTo(first.checkedAt());
        assertThat(forced.version()).isEqualTo(first.version());
        assertThat(forced.changedAt()).isNotEqualTo(first.changedAt());
        assertThat(changed.id()).isEqualTo(first.id());
        assertThat(search(parts, "acme", "wheel", Mode.TEXT)).isEmpty();
        assertThat(search(parts, "acme", "sluice", Mode.TEXT)).hasSize(1);
        assertThat(parts.index.chunks("acme")).isEqualTo(1);
    }

    @Test
    @DisplayName("F-302: what cannot be taken in has the status failed and says why, and what was there before stays")
    void shouldKeepWhatWasThereWhereTheNewOneFails() throws Exception {
        // given
        Path file = folder.resolve("mill.md");
        Files.writeString(file, WHEEL);
        KnowledgeView.Document before = take("acme", "mill.md", false);
        // when
        Files.write(file, new byte[] {0, 1, 2});
        // then
        assertThatThrownBy(() -> take("acme", "mill.md", false))
                .isInstanceOf(IngestException.class)
                .hasMessageContaining("found binary content");
        KnowledgeView.Document after =
                parts.index.documents("acme", null, null, 10).getFirst();
        assertThat(after.status()).isEqualTo("failed");
        assertThat(after.error()).startsWith("unsupported_format: ");
        assertThat(after.version()).isEqualTo(before.version());
        assertThat(search(parts, "acme", "wheel", Mode.TEXT)).hasSize(1);
    }

    @Test
    @DisplayName("F-294: nothing outside of the workspace, and nothing private on the network, becomes knowledge")
    void shouldFetchOnlyWhatMayBe() {
        for (String source : List.of("../" + folder.getFileName() + "/../../etc/passwd", "/etc/passwd", "nothing.md")) {
            assertThatThrownBy(() -> take("acme", source, false))
                    .as(source)
                    .isInstanceOf(IngestException.class)
                    .hasMessageContaining("expected a file of the workspace");
        }
        assertThatThrownBy(() -> take("acme", server.url() + "/secret.html", false))
                .isInstanceOf(IngestException.class)
                .hasMessageContaining("private, local or reserved");
    }

    @Test
    @DisplayName("F-294: ingest_document answers with what its own order has led to, not with what was there before")
    void shouldAnswerWithWhatItsOrderLedTo() throws Exception {
        // given
        Path file = folder.resolve("mill.md");
        Files.writeString(file, WHEEL);
        try (RequestWorker worker = RequestWorker.start(
                WorkerSettings.of(ClientSettings.at(broker.bootstrapServers()), topics, Topics.KNOWLEDGE_TOOLSET, 2),
                parts.tools,
                parts.notices,
                new SimpleMeterRegistry())) {
            Awaitility.await().atMost(30, TimeUnit.SECONDS).until(worker::isReady);
            // when
            Map<String, Object> first = ingest("call-1");
            Files.writeString(file, "# The sluice\n\nIt is shut.\n\n# The weir\n\nIt leaks.\n");
            Map<String, Object> changed = ingest("call-2");
            Map<String, Object> same = ingest("call-3");
            Files.write(file, new byte[] {0, 1, 2});
            Map<String, Object> broken = ingest("call-4");
            // then
            assertThat(first).containsEntry("title", "The wheel").containsEntry("chunks", 1);
            assertThat(changed).containsEntry("title", "The sluice").containsEntry("chunks", 2);
            assertThat(same).isEqualTo(changed);
            assertThat(broken).containsEntry("status", "failed");
        }
    }

    /** Calls the tool, and plays the task machine, which hands its event on. */
    private Map<String, Object> ingest(String callId) throws Exception {
        Event call = Event.root(callId, KnownEventType.TOOL_CALL_REQUESTED, Instant.now())
                .source("/test")
                .namespace("acme")
                .payload(new Payload.ToolCallRequested(
                        callId,
                        callId,
                        "ingest_document",
                        JsonObject.of(Map.of("source", "mill.md")),
                        null,
                        null,
                        null))
                .build();
        Thread machine = Thread.ofPlatform().start(() -> {
            try (TopicReader reader = broker.read(topics.lane(Segment.BACKGROUND))) {
                broker.produce(
                        topics.knowledgeRequests(),
                        reader.event(event -> callId.equals(event.parentEventId()), TestBroker.LIMIT));
            }
        });
        Reply reply = parts.tools.handle(Request.of(call, 1));
        machine.join();
        return Json.MAPPER.convertValue(((Reply.Completed) reply).result(), new TypeReference<>() {});
    }

    @Test
    @DisplayName("memory_search finds what is remembered, in the index of documents, and nothing else finds it")
    void shouldFindWhatIsRemembered() throws Exception {
        MemoryDocument document = new MemoryDocument(
                "acme",
                "facts/mill.md",
                1,
                "# The mill\n\nThe wheel is oiled on Mondays.\n",
                "",
                10,
                Instant.now().toString(),
                "person",
                "edit-1",
                false);
        byte[] key = MemoryDocument.key("acme", "facts/mill.md").getBytes(StandardCharsets.UTF_8);
        try (MemoryReader reader = new MemoryReader(
                ClientSettings.at(broker.bootstrapServers()), topics, new MemoryIngest(parts.ingest))) {
            // when
            reader.start();
            broker.produce(new ProducerRecord<>(topics.memory(), key, document.toJson()));
            // then
            Awaitility.await()
                    .atMost(30, TimeUnit.SECONDS)
                    .untilAsserted(() -> assertThat(remembered("acme")).contains("facts/mill.md", "oiled on Mondays"));
            assertThat(remembered("other")).doesNotContain("oiled");
            assertThat(search(parts, "acme", "When is the wheel oiled?", Mode.HYBRID))
                    .isEmpty();
            assertThat(parts.index.documents("acme", null, null, 10)).isEmpty();
            // when
            broker.produce(new ProducerRecord<>(topics.memory(), key, null));
            // then
            Awaitility.await()
                    .atMost(30, TimeUnit.SECONDS)
                    .untilAsserted(() -> assertThat(remembered("acme")).doesNotContain("oiled"));
        }
    }

    private String remembered(String namespace) throws Exception {
        Event call = Event.root("call", KnownEventType.TOOL_CALL_REQUESTED, Instant.now())
                .source("/test")
                .namespace(namespace)
                .payload(new Payload.ToolCallRequested(
                        "call",
                        "call",
                        "memory_search",
                        JsonObject.of(Map.of("query", "When is the wheel oiled?")),
                        null,
                        null,
                        null))
                .build();
        return Json.writeText(((Reply.Completed) parts.tools.handle(Request.of(call, 1))).result());
    }

    @Test
    void shouldSayThatThereAreNoVectors() throws Exception {
        // given
        server.answerWith(500);
        // then
        assertThatThrownBy(() -> take("acme", Source.TEXT + WHEEL, false))
                .isInstanceOf(IngestException.class)
                .hasMessageContaining("status 500");
        assertThat(parts.index.documents("acme", null, null, 10))
                .extracting(KnowledgeView.Document::status)
                .containsExactly("failed");
        assertThatThrownBy(() -> search(parts, "acme", "wheel", Mode.HYBRID)).isInstanceOf(EmbeddingException.class);
        assertThat(search(parts, "acme", "wheel", Mode.TEXT)).isEmpty();
    }

    @Test
    @DisplayName("a document that shows a defect says that it failed, and not that somebody is at it for ever")
    void shouldSayThatADefectKeptADocumentOut(@TempDir Path other) throws Exception {
        try (Embedder broken = new BrokenEmbedder();
                KnowledgeParts defective = new KnowledgeParts(broker.bootstrapServers(), topics, other, broken)) {
            // when
            assertThatThrownBy(() -> defective.ingest.take(
                            order("acme", Source.TEXT + WHEEL, false, new Ingest.Asked(null, null, Instant.now()))))
                    .isInstanceOfSatisfying(
                            IngestException.class, e -> assertThat(e.code()).isEqualTo("internal_error"));
            // then
            KnowledgeView.Document document =
                    defective.index.documents("acme", null, null, 10).getFirst();
            assertThat(document.status()).isEqualTo("failed");
            assertThat(document.error()).isEqualTo("internal_error: internal error: StackOverflowError");
        }
    }

    private static final class BrokenEmbedder implements Embedder {
        @Override
        public String model() {
            return "broken";
        }

        @Override
        public Thresholds thresholds() {
            return new Thresholds(0, 0, 0);
        }

        @Override
        public List<float[]> embed(List<String> texts) {
            throw new StackOverflowError();
        }

        @Override
        public void close() {}
    }

    @Test
    void shouldBuildALostIndexAgain(@TempDir Path empty) throws Exception {
        // given
        KnowledgeView.Document gone = take("acme", Source.TEXT + "The weir leaks.", false);
        KnowledgeView.Document document = take("acme", Source.TEXT + WHEEL, false);
        parts.ingest.remove("acme", gone.id());
        // when
        try (KnowledgeParts other = new KnowledgeParts(broker.bootstrapServers(), topics, empty, embedder)) {
            other.follower.upToNow();
            // then
            assertThat(other.index.documents("acme", null, null, 10)).containsExactly(document);
            assertThat(other.index.chunks("acme")).isEqualTo(1);
            assertThat(search(other, "acme", "weir", Mode.TEXT)).isEmpty();
            assertThat(search(other, "acme", "How fast does the wheel turn?", Mode.VECTOR))
                    .hasSize(1);
        }
        // what was committed is gone on with
        take("acme", Source.TEXT + "The race is dry.", false);
        try (KnowledgeParts again = new KnowledgeParts(broker.bootstrapServers(), topics, empty, embedder)) {
            again.follower.upToNow();
            assertThat(again.index.chunks("acme")).isEqualTo(2);
        }
    }

    @Test
    void shouldForgetWhatWasAskedForInATaskASessionAndANamespace() throws Exception {
        // given
        KnowledgeView.Document ofTask = take("acme", "The race is dry.", "task-1", "session-1");
        KnowledgeView.Document ofSession = take("acme", "The weir leaks.", "task-2", "session-2");
        KnowledgeView.Document other = take("acme", "The sluice is shut.", null, null);
        take("beta", "The wheel turns.", "task-1", "session-1");
        parts.forgetting.look();
        // when
        forget(new ForgetScope(ForgetScope.Kind.TASK, "acme", "task-1"));
        // then
        untilThereAre("acme", List.of(ofSession.id(), other.id()));
        assertThat(parts.index.chunkKeys("document/acme/" + ofTask.id())).isEmpty();
        // when
        forget(new ForgetScope(ForgetScope.Kind.SESSION, "acme", "session-2"));
        // then
        untilThereAre("acme", List.of(other.id()));
        // when
        forget(new ForgetScope(ForgetScope.Kind.MEMORY, "acme", null));
        // then
        untilThereAre("acme", List.of());
        assertThat(search(parts, "acme", "sluice", Mode.TEXT)).isEmpty();
        assertThat(parts.index.documents("beta", null, null, 10)).hasSize(1);
    }

    private void untilThereAre(String namespace, List<String> ids) {
        Awaitility.await().atMost(20, TimeUnit.SECONDS).untilAsserted(() -> {
            parts.forgetting.look();
            assertThat(parts.index.documents(namespace, null, null, 10))
                    .extracting(KnowledgeView.Document::id)
                    .containsExactlyInAnyOrderElementsOf(ids);
        });
    }

    private void forget(ForgetScope scope) {
        broker.produce(new ProducerRecord<>(
                topics.forgotten(),
                scope.namespace().getBytes(StandardCharsets.UTF_8),
                new Forgotten(scope, Instant.now().toEpochMilli()).toJson()));
    }

    private KnowledgeView.Document take(String namespace, String source, boolean force)
            throws IngestException, InterruptedException {
        return parts.ingest.take(order(namespace, source, force, new Ingest.Asked(null, null, Instant.now())));
    }

    private KnowledgeView.Document take(
            String namespace, String text, @Nullable String taskId, @Nullable String sessionId)
            throws IngestException, InterruptedException {
        return parts.ingest.take(
                order(namespace, Source.TEXT + text, false, new Ingest.Asked(taskId, sessionId, Instant.now())));
    }

    private static Ingest.Order order(String namespace, String source, boolean force, Ingest.Asked asked) {
        return new Ingest.Order(
                namespace, Ingest.DEFAULT_COLLECTION, new Source(source), null, null, force, null, asked);
    }

    private static List<KnowledgeView.Hit> search(KnowledgeParts of, String namespace, String text, Mode mode)
            throws EmbeddingException, InterruptedException {
        return of.search.hits(new IndexQuestion(namespace, null, text, 5, mode, mode == Mode.VECTOR ? 0.1 : null));
    }
}
