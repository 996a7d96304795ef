package dev.millrace.knowledge;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.api.KnowledgeView;
import dev.millrace.kafka.TopicLog;
import dev.millrace.knowledge.embed.RemoteEmbedder;
import dev.millrace.knowledge.ingest.Source;
import dev.millrace.schemas.Event;
import dev.millrace.schemas.KnownEventType;
import dev.millrace.schemas.Payload;
import dev.millrace.schemas.Topics;
import dev.millrace.testing.RequiresBroker;
import dev.millrace.testing.ServiceProcess;
import dev.millrace.testing.TestBroker;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@RequiresBroker
class KnowledgeCrashIT {

    /** Ten chunks each; 10 000 chunks with {@code -Dmillrace.knowledge.crash.documents=1000}. */
    private static final int DOCUMENTS = Integer.getInteger("millrace.knowledge.crash.documents", 40);

    private static final int CHUNKS_EACH = 10;
    /** More of them with {@code -Dmillrace.knowledge.crash.kills=8}. */
    private static final int KILLS = Integer.getInteger("millrace.knowledge.crash.kills", 3);

    private final TestBroker broker;

    KnowledgeCrashIT(TestBroker broker) {
        this.broker = broker;
    }

    @Test
    @DisplayName("F-264, F-295: kill -9 at any moment of an ingest leaves nothing missing and nothing twice")
    void shouldTakeInEachDocumentOnceOverKills(@TempDir Path folder) throws Exception {
        Topics topics = broker.createTopics();
        long seed = System.nanoTime();
        Random random = new Random(seed);
        Path state = Files.createDirectory(folder.resolve("worker"));
        try (StubEmbeddings server = new StubEmbeddings();
                RemoteEmbedder embedder = server.embedder(RemoteEmbedder.Api.OLLAMA);
                KnowledgeParts watching = new KnowledgeParts(
                        broker.bootstrapServers(),
                        topics,
                        Files.createDirectory(folder.resolve("watching")),
                        embedder)) {
            // given
            for (int i = 0; i < DOCUMENTS; i++) {
                broker.produce(topics.knowledgeRequests(), ingest(i));
            }
            // when
            for (int kill = 1; kill <= KILLS; kill++) {
                int goal = DOCUMENTS * kill / (KILLS + 2);
                try (ServiceProcess process = start(topics, state, server, folder)) {
                    Awaitility.await()
                            .atMost(120, TimeUnit.SECONDS)
                            .pollInterval(Duration.ofMillis(5))
                            .until(() -> indexed(watching) >= goal);
                    // somewhere in what comes next: a fetch, vectors, the middle of a transaction
                    Thread.sleep(random.nextInt(60));
                    process.kill();
                    System.out.printf(
                            Locale.ROOT, "KILLS %d: after %d of %d documents%n", kill, indexed(watching), DOCUMENTS);
                }
            }
            try (ServiceProcess process = start(topics, state, server, folder)) {
                Awaitility.await().atMost(300, TimeUnit.SECONDS).until(() -> indexed(watching) >= DOCUMENTS);
                assertThat(process.isAlive()).isTrue();
            }
            // then
            watching.follower.upToNow();
            assertThat(watching.index.chunks("acme"))
                    .as("chunks that searches see, seed %d", seed)
                    .isEqualTo(DOCUMENTS * CHUNKS_EACH);
            assertThat(chunksOnTheTopic(topics).values())
                    .as("chunks of each document that the topic holds, seed %d", seed)
                    .hasSize(DOCUMENTS)
                    .allMatch(chunks -> chunks == CHUNKS_EACH);
        }
    }

    private ServiceProcess start(Topics topics, Path state, StubEmbeddings server, Path folder) {
        return ServiceProcess.mainClass(
                        IngestingProcess.class,
                        broker.bootstrapServers(),
                        topics.prefix(),
                        state.toString(),
                        server.url().toString())
                .start(folder);
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

    private static long indexed(KnowledgeParts watching) {
        return watching.index.documents("acme", null, null, DOCUMENTS + 1).stream()
                .map(KnowledgeView.Document::status)
                .filter("indexed"::equals)
                .count();
    }

    /** By document, how many keys of chunks have a value, among the committed records. */
    private Map<String, Integer> chunksOnTheTopic(Topics topics) {
        Map<String, Boolean> there = new HashMap<>();
        try (TopicLog log =
                new TopicLog(Map.of("bootstrap.servers", broker.bootstrapServers()), topics.knowledge(), "test")) {
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
