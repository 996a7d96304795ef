package dev.millrace.standalone;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import dev.millrace.schemas.JsonObject;
import dev.millrace.schemas.ToolDefinition;
import dev.millrace.schemas.Topics;
import dev.millrace.testing.FreePort;
import dev.millrace.testing.HttpApi;
import dev.millrace.testing.ServiceProcess;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.common.serialization.StringSerializer;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Several data folders in one working folder: everything of a Millrace is in its own. */
class DataFoldersIT {

    private static final Duration LIMIT = Duration.ofSeconds(60);
    private static final String SCRIPT = """
            rules:
              - user: 'look up order'
                steps:
                  - calls: [{ tool: find_order, arguments: { orderId: "1" } }]
                  - text: "found"
              - text: "done"
            """;

    @TempDir
    Path temp;

    /** One that runs. */
    private record Running(ServiceProcess process, int port, int kafkaPort) implements AutoCloseable {

        HttpApi api() {
            return HttpApi.onPort(port);
        }

        void awaitReady() {
            process.awaitReady(URI.create("http://127.0.0.1:" + port + "/q/health/ready"));
        }

        @Override
        public void close() {
            process.close();
        }
    }

    @Test
    @DisplayName("two beside each other in one folder, and then the first again, each with its own tasks;"
            + " who asks for a task hears that nobody serves its toolset")
    void shouldKeepEverythingInItsOwnDataFolder() throws Exception {
        Files.writeString(temp.resolve("script.yaml"), SCRIPT);
        String ofA;
        JsonNode before;
        try (Running a = start("A", "--toolsets", "orders:2");
                Running b = start("B")) {
            // when: beside each other
            a.awaitReady();
            b.awaitReady();
            ofA = a.api().submit("a question for A");
            String ofB = b.api().submit("a question for B");
            a.api().awaitEnd(ofA, LIMIT);
            b.api().awaitEnd(ofB, LIMIT);

            // then
            assertThat(tasks(a)).containsExactly(ofA);
            assertThat(tasks(b)).containsExactly(ofB);
            shouldSayThatNobodyServes(a);
            shouldRefuseAFolderInUse(a);
            before = a.api().get("/v1/tasks/" + ofA).json();
            assertThat(a.process().stop(LIMIT)).isEqualTo(143);
            assertThat(b.process().stop(LIMIT)).isEqualTo(143);
        }

        // when: A, B, A
        try (Running again = start("A")) {
            again.awaitReady();

            // then
            assertThat(tasks(again)).hasSize(2).contains(ofA);
            JsonNode after = again.api().get("/v1/tasks/" + ofA).json();
            assertThat(after).isEqualTo(before);
            assertThat(after.path("inputText").asText()).isEqualTo("a question for A");
            assertThat(again.process().output()).doesNotContain("OffsetOutOfRange", "is built from the beginning");
        }
        try (Stream<Path> made = Files.list(temp)) {
            assertThat(made.map(path -> path.getFileName().toString()))
                    .containsExactlyInAnyOrder("A", "B", "workspace", "script.yaml", "standalone-up.log", "elsewhere");
        }
    }

    private void shouldRefuseAFolderInUse(Running a) throws IOException {
        Path elsewhere = Files.createDirectories(temp.resolve("elsewhere"));
        try (ServiceProcess second = ServiceProcess.standalone(
                        "up",
                        "--port",
                        Integer.toString(a.port()),
                        "--kafka-port",
                        Integer.toString(a.kafkaPort()),
                        "--data",
                        temp.resolve("A").toString())
                .start(elsewhere)) {
            assertThat(second.awaitEnd(LIMIT)).isEqualTo(1);
            assertThat(second.output())
                    .hasLineCount(1)
                    .contains("in use by another running broker (process "
                            + a.process().pid() + ", Kafka port " + a.kafkaPort() + ")");
        }
    }

    private static void shouldSayThatNobodyServes(Running a) throws Exception {
        // given: a tool of a toolset that has a topic and no worker
        ToolDefinition tool = new ToolDefinition(
                "find_order",
                "finds an order",
                JsonObject.of(Map.of("type", "object")),
                "orders",
                60_000,
                ToolDefinition.SideEffects.READ_ONLY);
        try (KafkaProducer<String, byte[]> producer = new KafkaProducer<>(
                Map.of("bootstrap.servers", "127.0.0.1:" + a.kafkaPort()),
                new StringSerializer(),
                new ByteArraySerializer())) {
            producer.send(new ProducerRecord<>(
                            new Topics(Topics.DEFAULT_PREFIX).definitions(),
                            ToolDefinition.key(tool.name()),
                            tool.toJson()))
                    .get();
        }
        await().atMost(LIMIT).until(() -> a.api().get("/v1/tools").body().contains("find_order"));

        // when
        String taskId = a.api().submit("look up order 1");

        // then
        await().atMost(LIMIT).untilAsserted(() -> {
            JsonNode task = a.api().get("/v1/tasks/" + taskId).json();
            assertThat(task.path("waitingFor").path("kind").asText())
                    .as(task.toString())
                    .isEqualTo("tools");
            assertThat(task.path("note").asText()).isEqualTo("no worker serves toolset orders");
            assertThat(task.path("unserved")).extracting(JsonNode::asText).containsExactly("orders");
            assertThat(a.api()
                            .get("/v1/tasks?waitingFor=tools")
                            .json()
                            .at("/tasks/0/note")
                            .asText())
                    .isEqualTo("no worker serves toolset orders");
            assertThat(a.api().get("/q/metrics").body().lines())
                    .anyMatch(line -> line.matches("millrace_requests_backlog\\{.*toolset=\"orders\".*} [1-9].*"))
                    .anyMatch(line -> line.matches("millrace_requests_workers\\{.*toolset=\"orders\".*} 0.0"))
                    .anyMatch(line -> line.matches("millrace_requests_workers\\{.*toolset=\"tool\".*} [1-9].*"))
                    .anyMatch(line -> line.matches("millrace_requests_workers\\{.*toolset=\"memory\".*} [1-9].*"));
        });
        a.api().post("/v1/tasks/" + taskId + "/cancel", Map.of());
        assertThat(a.api().awaitEnd(taskId, LIMIT).has("note")).isFalse();
    }

    private Running start(String data, String... more) throws IOException {
        int port = FreePort.find();
        int kafkaPort = FreePort.find();
        List<String> args = new ArrayList<>(List.of(
                "up",
                "--port",
                Integer.toString(port),
                "--kafka-port",
                Integer.toString(kafkaPort),
                "--data",
                data,
                "--workspace",
                "workspace",
                "--script",
                "script.yaml"));
        args.addAll(List.of(more));
        return new Running(
                ServiceProcess.standalone(args.toArray(String[]::new)).start(temp), port, kafkaPort);
    }

    private static List<String> tasks(Running running) {
        JsonNode tasks = running.api().get("/v1/tasks").json().path("tasks");
        return StreamSupport.stream(tasks.spliterator(), false)
                .map(task -> task.path("taskId").asText())
                .toList();
    }
}
