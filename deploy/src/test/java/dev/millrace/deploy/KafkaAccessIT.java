package dev.millrace.deploy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import com.sun.net.httpserver.HttpServer;
import dev.millrace.schemas.Segment;
import dev.millrace.schemas.Topics;
import dev.millrace.testing.HttpApi;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.stream.Collectors;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.acl.AclBinding;
import org.apache.kafka.common.serialization.StringSerializer;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * All services as processes with the keys of the manifests, at a broker with the users, topics and access lists of the
 * manifests: that these are enough, and that each line of them is needed.
 */
class KafkaAccessIT {

    private static final Duration LIMIT = Duration.ofSeconds(60);
    private static final Topics TOPICS = new Topics(Topics.DEFAULT_PREFIX);
    private static final String WORKER = "millrace-words";
    private static final String AGENT = """
            ---
            description: Uses all there is.
            tools: ["*"]
            knowledge: { mode: tool }
            ---
            You use all there is.
            """;

    private static final String SCRIPT = """
            rules:
              - user: 'everything'
                tools: [count_words, memory_write, ingest_document, set_env]
                steps:
                  - calls:
                      - { tool: read_file, arguments: { path: large.txt } }
                      - { tool: set_env, arguments: { key: COLOUR, value: blue } }
                      - { tool: memory_write, arguments: { path: facts/mill.md, content: The mill is at Linton. } }
                      - { tool: count_words, arguments: { text: one two three } }
                      - { tool: ingest_document, arguments: { source: "text://The wheel turns nine times." } }
                  - calls:
                      - { tool: read_result, arguments: { reference: "{{result.read_file.reference}}" } }
                      - { tool: get_env, arguments: { key: COLOUR } }
                      - { tool: search_knowledge, arguments: { query: wheel } }
                  - text: "{{result.count_words}}"
              - text: "Nothing to say."
            """;

    private final Manifests manifests = Manifests.rendered("production");

    @TempDir
    Path folder;

    @Test
    @DisplayName("with the KafkaUsers of the manifests nothing is refused that services need, and each line is needed")
    void shouldNeedAllThatUsersAreAllowedAndNoMore() throws Exception {
        writeFiles();
        String key = Pods.createKey(folder);
        try (SecuredBroker broker = SecuredBroker.start(folder);
                Receiver receiver = Receiver.start();
                Pods pods = new Pods(manifests, broker, folder, more())) {
            // given
            broker.apply(manifests);
            broker.apply(Manifests.parse(Files.readString(Path.of("components", "kafka", "worker.yaml"))));
            broker.admin()
                    .createTopics(List.of(new NewTopic(TOPICS.requests("words"), 1, (short) 1)))
                    .all()
                    .get();
            // first, so that all that publish definitions find some
            try (Worker worker = Worker.start(TOPICS, broker.client(WORKER), WORKER)) {
                manifests.workloads().forEach(workload -> pods.start(workload, 1));
                pods.awaitReady();
                HttpApi api = HttpApi.onPort(pods.port("gateway")).as(key);
                await().atMost(LIMIT)
                        .until(() -> api.get("/v1/tools?agent=all").body().contains("count_words"));

                // when
                doEverything(api, receiver);
                sendGarbage(broker);
                forget(api);

                // then
                await().atMost(LIMIT)
                        .untilAsserted(() -> assertThat(unused(broker.lines())).isEmpty());
                assertThat(Decisions.refused()).isEmpty();
                assertThat(worker.isAlive()).isTrue();
            }
        }
    }

    private void doEverything(HttpApi api, Receiver receiver) {
        String taskId = submit(
                api,
                Map.of(
                        "text", "Do everything.",
                        "agent", "all",
                        "sessionId", "mill",
                        "callbackUrl", receiver.url("/good")));
        // while it runs
        assertThat(api.get("/v1/tasks/" + taskId + "/stream?tokens=stream").body())
                .as("refused: %s", Decisions.refused())
                .contains("TASK_COMPLETED");
        assertThat(api.awaitEnd(taskId, LIMIT).path("response").asText()).isEqualTo("3");
        await().atMost(LIMIT).until(() -> receiver.paths().contains("/good"));
        // and one that cannot be told
        submit(api, Map.of("text", "Hello", "callbackUrl", receiver.url("/refused")));
        await().atMost(LIMIT).until(() -> receiver.paths().contains("/refused"));
        HttpApi.Answer edit = api.put(
                "/v1/memory/default/facts/wheel.md",
                "text/markdown",
                "The wheel is of oak.".getBytes(StandardCharsets.UTF_8));
        assertThat(edit.status()).as(edit.body()).isLessThan(300);
    }

    private static String submit(HttpApi api, Map<String, String> task) {
        HttpApi.Answer accepted = api.post("/v1/tasks", task);
        assertThat(accepted.status()).as(accepted.body()).isEqualTo(202);
        return accepted.json().path("taskId").asText();
    }

    private void sendGarbage(SecuredBroker broker) throws Exception {
        List<String> topics = List.of(
                TOPICS.lane(Segment.EXTERNAL),
                TOPICS.requests(Topics.BUILT_IN_TOOLSET),
                TOPICS.memoryRequests(),
                TOPICS.knowledgeRequests(),
                TOPICS.requests("words"));
        try (KafkaProducer<String, String> producer =
                new KafkaProducer<>(broker.administrator(), new StringSerializer(), new StringSerializer())) {
            for (String topic : topics) {
                producer.send(new ProducerRecord<>(topic, "no event")).get();
            }
        }
    }

    private void forget(HttpApi api) {
        await().atMost(LIMIT)
                .until(() ->
                        api.get("/v1/dead-letters").json().path("deadLetters").size() >= 5);
        JsonNode letter = api.get("/v1/dead-letters").json().path("deadLetters").path(0);
        assertThat(api.post("/v1/dead-letters/" + letter.path("cursor").asText() + "/discard", Map.of())
                        .status())
                .isEqualTo(200);
        HttpApi.Answer forgotten =
                api.post("/v1/forget?wait=20s", Map.of("scope", "namespace", "namespace", "default"));
        assertThat(forgotten.status()).as(forgotten.body()).isEqualTo(200);
    }

    /** Lines without which nothing that was done would have been refused. */
    private static Set<String> unused(List<AclBinding> lines) {
        Set<AclBinding> needed = Decisions.all().stream()
                .filter(Decisions.Decision::allowed)
                .map(decision -> lines.stream().filter(decision::isCoveredBy).toList())
                .filter(covering -> covering.size() == 1)
                .map(List::getFirst)
                .collect(Collectors.toSet());
        return lines.stream()
                .filter(line -> !needed.contains(line))
                .map(KafkaAccessIT::text)
                .collect(Collectors.toCollection(TreeSet::new));
    }

    private static String text(AclBinding line) {
        return line.entry().principal()
                + ' '
                + line.entry().operation()
                + ' '
                + line.pattern().resourceType()
                + ' '
                + line.pattern().name();
    }

    /** Files that the manifests mount. */
    private void writeFiles() throws IOException {
        Path agent = Files.createDirectories(folder.resolve("etc/agents/all"));
        Files.writeString(agent.resolve("AGENT.md"), AGENT);
        Files.writeString(folder.resolve("script.yaml"), SCRIPT);
        Files.writeString(
                Files.createDirectories(folder.resolve("workspace")).resolve("large.txt"), "wheel ".repeat(1000));
    }

    /** What this needs beside the keys of the manifests. */
    private Map<String, Map<String, String>> more() {
        return Map.of(
                "agent",
                        Map.of(
                                "MILLRACE_AGENT_REFLECTION_ENABLED", "true",
                                "MILLRACE_LLM_MODELS_CLERK_PROVIDER", "scripted",
                                "MILLRACE_LLM_MODELS_CLERK_SCRIPT",
                                        folder.resolve("script.yaml").toString(),
                                "MILLRACE_LLM_MODELS_CLERK_KEY", "team",
                                "MILLRACE_LLM_KEYS_TEAM_MAX_REQUESTS", "100"),
                "tool",
                        Map.of(
                                "MILLRACE_TOOLS_MAX_RESULT_SIZE", "1000",
                                "MILLRACE_TOOLS_HTTP_ALLOW", "127.0.0.1",
                                "MILLRACE_TOOLS_WEBHOOK_BUDGET", "1s"));
    }

    /** Is told of tasks; refuses what it does not like. */
    private record Receiver(HttpServer server, ConcurrentLinkedQueue<String> paths) implements AutoCloseable {

        static Receiver start() throws IOException {
            HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
            ConcurrentLinkedQueue<String> paths = new ConcurrentLinkedQueue<>();
            server.createContext("/", exchange -> {
                exchange.getRequestBody().readAllBytes();
                String path = exchange.getRequestURI().getPath();
                paths.add(path);
                exchange.sendResponseHeaders(path.equals("/refused") ? 400 : 204, -1);
                exchange.close();
            });
            server.start();
            return new Receiver(server, paths);
        }

        String url(String path) {
            return "http://127.0.0.1:" + server.getAddress().getPort() + path;
        }

        @Override
        public void close() {
            server.stop(0);
        }
    }
}
