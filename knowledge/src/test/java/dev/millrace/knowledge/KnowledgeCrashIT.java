package dev.millrace.knowledge;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.millrace.api.KnowledgeView;
import dev.millrace.kafka.ClientSettings;
import dev.millrace.kafka.TopicLog;
import dev.millrace.knowledge.embed.RemoteEmbedder;
import dev.millrace.knowledge.index.KnowledgeIndex;
import dev.millrace.knowledge.ingest.Source;
import dev.millrace.knowledge.kafka.KnowledgeKeys;
import dev.millrace.schemas.Event;
import dev.millrace.schemas.KnownEventType;
import dev.millrace.schemas.Payload;
import dev.millrace.schemas.Topics;
import dev.millrace.testing.FreePort;
import dev.millrace.testing.HttpApi;
import dev.millrace.testing.RequiresBroker;
import dev.millrace.testing.ServiceProcess;
import dev.millrace.testing.TestBroker;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The service as it is built, with its own model of vectors, killed again and again while it takes documents in. */
@RequiresBroker
class KnowledgeCrashIT {

    /** Ten chunks each; 10 000 chunks with {@code -Dmillrace.knowledge.crash.documents=1000}. */
    private static final int DOCUMENTS = Integer.getInteger("millrace.knowledge.crash.documents", 40);

    private static final int CHUNKS_EACH = 10;
    /** More of them with {@code -Dmillrace.knowledge.crash.kills=8}. */
    private static final int KILLS = Integer.getInteger("millrace.knowledge.crash.kills", 3);

    /** Until it is killed: in the middle of what comes next, which takes about so long. */
    private static final int LATEST_MS = 300;

    private static final Duration LIMIT = Duration.ofMinutes(10);

    private final int port = FreePort.find();
    private final TestBroker broker;

    KnowledgeCrashIT(TestBroker broker) {
        this.broker = broker;
    }

    @Test
    @DisplayName(
            "F-264, F-266, F-295: kill -9 at any moment of an ingest leaves nothing missing and nothing twice, on the topic"
                    + " and in the index of the killed instance")
    void shouldTakeInEachDocumentOnceOverKills(@TempDir Path folder) throws Exception {
        LocalModel.require();
        Topics topics = broker.createTopics();
        long seed = System.nanoTime();
        Random random = new Random(seed);
        Path state = Files.createDirectory(folder.resolve("service"));
        long begun = System.nanoTime();
        // for those who look on, and ask for no vectors
        try (StubEmbeddings unused = new StubEmbeddings();
                RemoteEmbedder embedder = unused.embedder(RemoteEmbedder.Api.OLLAMA);
                KnowledgeParts watching = parts(topics, Files.createDirectory(folder.resolve("watching")), embedder)) {
            // given
            for (int i = 0; i < DOCUMENTS; i++) {
                broker.produce(topics.knowledgeRequests(), ingest(i));
            }
            // when
            for (int kill = 0; kill < KILLS; kill++) {
                int goal = DOCUMENTS * kill / KILLS;
                try (ServiceProcess service = start(topics, state, folder)) {
                    // the first one dies with the first document
                    await(service, () -> begun(watching) > goal);
                    Thread.sleep(random.nextInt(LATEST_MS));
                    service.kill();
                }
                Path killed = copy(state.resolve("index"), folder.resolve("killed-" + kill));
                try (KnowledgeParts restarted = parts(topics, killed, embedder)) {
                    String offset = restarted.index.committed().getOrDefault("offset", "none");
                    restarted.follower.upToNow();
                    watching.follower.upToNow();
                    int indexed = indexed(watching.index).size();
                    assertWhole(restarted.index, indexed, seed);
                    System.out.printf(
                            Locale.ROOT,
                            "KILLS %d: with %d of %d documents, its index on disk at offset %s%n",
                            kill + 1,
                            indexed,
                            DOCUMENTS,
                            offset);
                }
            }
            try (ServiceProcess service = start(topics, state, folder)) {
                // what it says itself, and so with what its own index has
                await(service, () -> indexed(service, HttpApi.onPort(port)) >= DOCUMENTS);
                service.stop(Duration.ofSeconds(30));
            }
            // then
            watching.follower.upToNow();
            assertWhole(watching.index, DOCUMENTS, seed);
            try (KnowledgeIndex own = new KnowledgeIndex(state.resolve("index"))) {
                assertWhole(own, DOCUMENTS, seed);
            }
            assertThat(chunksOnTheTopic(topics).values())
                    .as("chunks of each document that the topic holds, seed %d", seed)
                    .hasSize(DOCUMENTS)
                    .allMatch(chunks -> chunks == CHUNKS_EACH);
            System.out.printf(
                    Locale.ROOT,
                    "KILLS %d of %d chunks: nothing missing, nothing twice, %d s%n",
                    KILLS,
                    DOCUMENTS * CHUNKS_EACH,
                    Duration.ofNanos(System.nanoTime() - begun).toSeconds());
        }
    }

    /** So many documents are known with all of their chunks, once each, and searches see no others. */
    private static void assertWhole(KnowledgeIndex index, int documents, long seed) {
        List<String> indexed = indexed(index);
        assertThat(indexed).as("documents, seed %d", seed).hasSize(documents);
        assertThat(index.chunks("acme"))
                .as("chunks that searches see, seed %d", seed)
                .isEqualTo(documents * CHUNKS_EACH);
        assertThat(indexed)
                .as("documents with other chunks than their own, seed %d", seed)
                .filteredOn(id ->
                        index.chunkKeys(KnowledgeKeys.document("acme", id)).size() != CHUNKS_EACH)
                .isEmpty();
    }

    private static void await(ServiceProcess service, Callable<Boolean> condition) {
        Awaitility.await()
                .atMost(LIMIT)
                .pollInterval(Duration.ofMillis(5))
                .failFast("the service has ended", () -> !service.isAlive())
                .until(condition);
    }

    private KnowledgeParts parts(Topics topics, Path folder, RemoteEmbedder embedder) throws IOException {
        return new KnowledgeParts(broker.bootstrapServers(), topics, folder, embedder);
    }

    private ServiceProcess start(Topics topics, Path state, Path folder) throws IOException {
        return ServiceProcess.service("knowledge")
                .env("KAFKA_BOOTSTRAP_SERVERS", broker.bootstrapServers())
                .env("MILLRACE_TOPICS_PREFIX", topics.prefix())
                .env("MILLRACE_TOPICS_PARTITIONS", Integer.toString(TestBroker.DEFAULT_PARTITIONS))
                .env("QUARKUS_HTTP_HOST", "127.0.0.1")
                .env("QUARKUS_HTTP_PORT", Integer.toString(port))
                .env("MILLRACE_KNOWLEDGE_STATE_DIR", state.toString())
                .start(folder);
    }

    /** A folder with the index of a process that is dead, as it lies there. */
    private static Path copy(Path index, Path to) throws IOException {
        Path copied = Files.createDirectories(to.resolve("index"));
        if (Files.isDirectory(index)) {
            try (Stream<Path> files = Files.list(index)) {
                for (Path file : files.toList()) {
                    Files.copy(file, copied.resolve(file.getFileName()));
                }
            }
        }
        return to;
    }

    private static Event ingest(int number) {
        String text = IntStream.range(0, CHUNKS_EACH)
                .mapToObj(section -> "# Section " + section + "\n\nDocument " + number + " says " + section + ".\n")
                .collect(Collectors.joining("\n"));
        return Event.root("ingest-" + number, KnownEventType.RAG_INGEST, Instant.now())
                .source("/test")
                .namespace("acme")
                .payload(new Payload.RagIngest(Source.TEXT + text, null, null, null, null, null))
                .build();
    }

    private static int begun(KnowledgeParts watching) {
        return watching.index.documents("acme", null, null, DOCUMENTS + 1).size();
    }

    /** How many documents the service says are indexed. */
    private static int indexed(ServiceProcess process, HttpApi service) {
        if (new HttpApi(process.management("/q/health/ready")).status("") != 200) {
            return 0;
        }
        int indexed = 0;
        String after = "";
        do {
            JsonNode page = service.get("/internal/knowledge/documents?namespace=acme&limit=500&after=" + after)
                    .json();
            indexed += Collections.frequency(page.path("documents").findValuesAsText("status"), "indexed");
            after = page.path("next").asText();
        } while (!after.isEmpty());
        return indexed;
    }

    private static List<String> indexed(KnowledgeIndex index) {
        return index.documents("acme", null, null, DOCUMENTS + 1).stream()
                .filter(document -> document.status().equals("indexed"))
                .map(KnowledgeView.Document::id)
                .toList();
    }

    /** By document, how many keys of chunks have a value, among the committed records. */
    private Map<String, Integer> chunksOnTheTopic(Topics topics) {
        Map<String, Boolean> there = new HashMap<>();
        try (TopicLog log = new TopicLog(ClientSettings.at(broker.bootstrapServers()), topics.knowledge(), "test")) {
            log.readAll(Duration.ofSeconds(60), taken -> {
                String key = new String(taken.key(), StandardCharsets.UTF_8);
                if (key.startsWith("chunk/")) {
                    there.put(key, taken.value() != null);
                }
            });
        }
        Map<String, Integer> chunks = new HashMap<>();
        there.forEach((key, present) -> {
            if (present) {
                chunks.merge(List.of(key.split("/", -1)).get(2), 1, Integer::sum);
            }
        });
        return chunks;
    }
}
