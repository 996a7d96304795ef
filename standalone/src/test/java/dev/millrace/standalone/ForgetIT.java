package dev.millrace.standalone;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import dev.millrace.testing.FreePort;
import dev.millrace.testing.HttpApi;
import dev.millrace.testing.ServiceProcess;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Collectors;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Privacy: after forgetting, nobody is told what was forgotten, and the report says where it still lies. */
class ForgetIT {

    private static final Duration LIMIT = Duration.ofSeconds(60);
    private static final String NAME = "Lovelace";

    private static final String SCRIPT = """
            rules:
              - user: '^\\[Reflection\\]'
                steps:
                  - calls: [ { tool: memory_append, arguments: { path: episodes/2026-11.md, entry: "- met Lovelace" } } ]
                  - text: It was Lovelace.
              - user: 'wait'
                text: too late
                latencyMs: 3600000
              - user: 'I am Ada'
                steps:
                  - calls:
                      - { tool: memory_write, arguments: { path: facts/user.md, content: "> Summary: Ada Lovelace" } }
                      - { tool: set_env, arguments: { key: WHO, value: Lovelace } }
                  - text: Hello Ada Lovelace.
              - user: 'who am I'
                steps:
                  - calls:
                      - { tool: memory_list, arguments: {} }
                      - { tool: memory_read, arguments: { path: facts/user.md } }
                      - { tool: task_list, arguments: {} }
                  - text: "{{result.memory_list | otherwise 'none'}} {{result.memory_read | otherwise 'none'}} {{result.task_list | otherwise 'none'}}"
            """;

    @TempDir
    Path folder;

    private final int port = FreePort.find();
    private final int kafkaPort = FreePort.find();
    private final HttpApi api = HttpApi.onPort(port);

    @Test
    @DisplayName("a namespace is forgotten, over a kill: no route, no tool and no store knows the name, and"
            + " the report says which topics still hold it, by their own settings")
    void shouldForget() throws Exception {
        Files.writeString(folder.resolve("script.yaml"), SCRIPT);
        String forgetId;
        String told;
        String waiting;
        try (ServiceProcess up = up()) {
            // given: a task that has ended and was reflected on, and one that is at work
            told = submit("I am Ada Lovelace", "ada");
            await().atMost(LIMIT).until(() -> types(told).contains("REFLECTION_COMPLETE"));
            waiting = submit("wait, says Lovelace", "ada");
            await().atMost(LIMIT).until(() -> types(waiting).contains("MODEL_CALL_REQUESTED"));
            assertThat(answerTo("who am I")).contains(NAME);

            // when
            HttpApi.Answer accepted = api.post("/v1/forget", Map.of("scope", "namespace", "namespace", "people"));
            assertThat(accepted.status()).as(accepted.body()).isEqualTo(202);
            forgetId = accepted.json().path("forgetId").asText();
            up.kill();
        }

        // then
        try (ServiceProcess up = up()) {
            await().atMost(LIMIT).until(() -> report(forgetId).path("completed").asBoolean());
            JsonNode report = report(forgetId);
            assertThat(report.path("removed").path("tasks").asInt()).isEqualTo(3);
            assertThat(report.path("removed").path("cancelled").asInt()).isEqualTo(1);
            assertThat(report.path("removed").path("documents").asInt()).isEqualTo(2);
            assertRemains(report);

            for (String path : List.of(
                    "/v1/tasks/" + told,
                    "/v1/tasks/" + told + "/events",
                    "/v1/tasks/" + waiting,
                    "/v1/events/" + told + "/chain")) {
                assertThat(api.get(path + "?namespace=people").status())
                        .as(path)
                        .isEqualTo(404);
            }
            assertThat(api.get("/v1/tasks?namespace=people").body()).doesNotContain(NAME, told);
            assertThat(liveValues()).isNotEmpty().noneMatch(value -> value.contains(NAME));

            // and a new conversation begins with nothing
            assertThat(answerTo("who am I")).doesNotContain(NAME);
            assertThat(CommandRun.of("forget", "session", "ada", "--yes", "--url", "http://127.0.0.1:" + port)
                            .out())
                    .contains("millrace.journal", "segment.ms");
            assertThat(up.isAlive()).isTrue();
        }
    }

    /** The topics that a person would ask about, each with a time that its settings make. */
    private static void assertRemains(JsonNode report) {
        Map<String, JsonNode> remains = new HashMap<>();
        report.path("remains").forEach(topic -> remains.put(topic.path("topic").asText(), topic));
        assertThat(remains)
                .containsKeys(
                        "millrace.journal",
                        "millrace.events.external",
                        "millrace.events.background",
                        "millrace.requests.reflection",
                        "millrace.tokens",
                        "millrace.content",
                        "millrace.variables",
                        "millrace.dead-letters",
                        "millrace.memory",
                        "millrace.agent-rows-changelog",
                        "millrace.reflection-rows-changelog")
                .doesNotContainKeys("millrace.definitions", "millrace.rates");
        Instant asked = Instant.parse(report.path("requestedAt").asText());
        remains.forEach((topic, said) -> assertThat(said.path("until").isNull())
                .as(topic + ": " + said.path("why").asText())
                .isFalse());
        assertThat(until(remains, "millrace.journal"))
                .isBetween(asked.plus(Duration.ofDays(30)), asked.plus(Duration.ofDays(32)));
        assertThat(until(remains, "millrace.events.external"))
                .isBetween(asked.plus(Duration.ofDays(7)), asked.plus(Duration.ofDays(9)));
        assertThat(until(remains, "millrace.memory"))
                .isBetween(asked.plus(Duration.ofDays(1)), asked.plus(Duration.ofDays(2)));
        assertThat(until(remains, "millrace.agent-rows-changelog"))
                .isBetween(asked.plus(Duration.ofDays(1)), asked.plus(Duration.ofDays(2)));
    }

    private static Instant until(Map<String, JsonNode> remains, String topic) {
        return Instant.parse(
                Objects.requireNonNull(remains.get(topic), topic).path("until").asText());
    }

    private JsonNode report(String forgetId) {
        return api.get("/v1/forget/" + forgetId + "?namespace=people").json();
    }

    private String submit(String text, String session) {
        return api.post("/v1/tasks", Map.of("text", text, "namespace", "people", "sessionId", session))
                .json()
                .path("taskId")
                .asText();
    }

    private String answerTo(String text) {
        return api.post("/v1/tasks?wait=30s", Map.of("text", text, "namespace", "people", "sessionId", "ask"))
                .json()
                .path("response")
                .asText();
    }

    private List<String> types(String taskId) {
        List<String> types = new ArrayList<>();
        api.get("/v1/tasks/" + taskId + "/events?namespace=people")
                .json()
                .path("events")
                .forEach(event -> types.add(event.path("type").asText()));
        return types;
    }

    /** What the stores hold, and the memory topic: the newest value of each key, as whoever restores them gets it. */
    private List<String> liveValues() {
        Map<String, String> values = new HashMap<>();
        Map<String, Object> config =
                Map.of("bootstrap.servers", "127.0.0.1:" + kafkaPort, "isolation.level", "read_committed");
        try (KafkaConsumer<String, byte[]> consumer =
                new KafkaConsumer<>(config, new StringDeserializer(), new ByteArrayDeserializer())) {
            Set<TopicPartition> partitions = consumer.listTopics().entrySet().stream()
                    .filter(topic -> topic.getKey().endsWith("-changelog")
                            || topic.getKey().equals("millrace.memory"))
                    .flatMap(topic -> topic.getValue().stream())
                    .map(info -> new TopicPartition(info.topic(), info.partition()))
                    .collect(Collectors.toSet());
            consumer.assign(partitions);
            consumer.seekToBeginning(partitions);
            Map<TopicPartition, Long> ends = consumer.endOffsets(partitions);
            long deadline = System.nanoTime() + LIMIT.toNanos();
            while (ends.entrySet().stream().anyMatch(end -> consumer.position(end.getKey()) < end.getValue())) {
                assertThat(System.nanoTime() - deadline).isNegative();
                for (ConsumerRecord<String, byte[]> read : consumer.poll(Duration.ofMillis(200))) {
                    String key = read.topic() + '/' + read.key();
                    if (read.value() == null) {
                        values.remove(key);
                    } else {
                        values.put(key, key + '=' + new String(read.value(), StandardCharsets.UTF_8));
                    }
                }
            }
        }
        return List.copyOf(values.values());
    }

    private ServiceProcess up() {
        return ServiceProcess.standalone(
                        "up",
                        "--port",
                        String.valueOf(port),
                        "--kafka-port",
                        String.valueOf(kafkaPort),
                        "--script",
                        folder.resolve("script.yaml").toString())
                .env("MILLRACE_AGENT_REFLECTION_ENABLED", "true")
                .start(folder)
                .awaitReady(URI.create("http://127.0.0.1:" + port + "/q/health/ready"));
    }
}
