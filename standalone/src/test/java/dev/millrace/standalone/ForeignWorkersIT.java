package dev.millrace.standalone;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import dev.millrace.testing.FreePort;
import dev.millrace.testing.HttpApi;
import dev.millrace.testing.NpmPackages;
import dev.millrace.testing.ServiceProcess;
import java.io.IOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The programs of {@code examples/}, where everybody has to log in: workers in Node and Python share a toolset with an
 * ordinary consumer group. Skipped
 * where one of the two or its Kafka client is missing, and says so.
 */
class ForeignWorkersIT {

    private static final Duration LIMIT = Duration.ofSeconds(90);
    private static final Path EXAMPLES = Path.of("..", "examples");

    private final List<Program> programs = new ArrayList<>();
    private int kafkaPort;

    @TempDir
    Path folder;

    @AfterEach
    void end() {
        programs.forEach(Program::kill);
    }

    @Test
    @DisplayName(
            "workers in Node and Python serve one toolset; one is killed in the middle, the other finishes the job")
    void shouldBeServedByStrangers() throws IOException, InterruptedException {
        Optional<Path> node = NpmPackages.install("ForeignWorkersIT", "kafkajs@2.2.4");
        Optional<String> python = PythonWithKafka.find("ForeignWorkersIT");
        Assumptions.assumeTrue(node.isPresent() && python.isPresent(), "an interpreter or its Kafka client is missing");
        Path scripts = prepareNode(node.orElseThrow());
        int port = FreePort.find();
        kafkaPort = FreePort.find();
        try (ServiceProcess up = ServiceProcess.standalone(
                        "up",
                        "--token",
                        "--port",
                        String.valueOf(port),
                        "--kafka-port",
                        String.valueOf(kafkaPort),
                        "--toolsets",
                        "words:2",
                        "--script",
                        EXAMPLES.resolve("words.yaml").toAbsolutePath().toString())
                .start(folder)) {
            up.awaitReady(URI.create("http://127.0.0.1:" + port + "/q/health/ready"));
            HttpApi api = HttpApi.onPort(port)
                    .as(Files.readString(folder.resolve("data/token")).strip());
            Program inNode = start("node", "node", scripts.resolve("worker.js").toString());
            Program inPython = start(
                    "python",
                    python.orElseThrow(),
                    EXAMPLES.resolve("python/worker.py").toAbsolutePath().toString());

            // both have one of the two partitions
            inNode.awaitLine("\\[1\\]|\\[0\\]");
            inPython.awaitLine("ready \\[[01]\\]");
            await().atMost(LIMIT).until(() -> answer(api, api.submit("Hello")).contains("count_words"));

            // when: enough work for both
            List<String> answers =
                    Stream.iterate(0, i -> i + 1)
                            .limit(8)
                            .map(i -> api.submit("count these four words"))
                            .toList()
                            .stream()
                            .map(taskId -> answer(api, taskId))
                            .toList();

            // then
            assertThat(answers)
                    .allMatch(answer -> answer.startsWith("That is 4 words, says "))
                    .anyMatch(answer -> answer.contains("says node"))
                    .anyMatch(answer -> answer.contains("says python"));

            // when: whoever has it is killed in the middle
            String taskId = api.submit("take 6000 ms to count these");
            Program busy = await().atMost(LIMIT)
                    .until(
                            () -> Stream.of(inNode, inPython)
                                    .filter(worker -> worker.output().contains("begun " + taskId))
                                    .findFirst(),
                            Optional::isPresent)
                    .orElseThrow();
            busy.kill();

            // then
            assertThat(answer(api, taskId))
                    .isEqualTo("That is 6 words, says " + (busy.equals(inNode) ? "python." : "node."));
            assertThat(api.events(taskId).stream()
                            .map(event -> event.path("type").asText())
                            .filter("TOOL_CALL_COMPLETED"::equals))
                    .hasSize(1);

            // and: whoever is left answers those who ask without HTTP
            Program askInNode =
                    start("ask-node", "node", scripts.resolve("ask.js").toString(), "count me");
            Program askInPython = start(
                    "ask-python",
                    python.orElseThrow(),
                    EXAMPLES.resolve("python/ask.py").toAbsolutePath().toString(),
                    "count me too");
            assertThat(askInNode.awaitEnd()).as(askInNode.output()).isZero();
            assertThat(askInPython.awaitEnd()).as(askInPython.output()).isZero();
            assertThat(askInNode.output()).contains("That is 2 words, says ");
            assertThat(askInPython.output()).contains("That is 3 words, says ");
        }
    }

    private static String answer(HttpApi api, String taskId) {
        JsonNode task = api.awaitEnd(taskId, LIMIT);
        assertThat(task.path("state").asText()).as(task.toString()).isEqualTo("completed");
        return task.path("response").asText();
    }

    /** Node looks for packages beside the program. */
    private Path prepareNode(Path installed) throws IOException {
        Path scripts = Files.createDirectory(folder.resolve("node"));
        for (String name : List.of("package.json", "connection.js", "worker.js", "ask.js")) {
            Files.copy(EXAMPLES.resolve("node").resolve(name), scripts.resolve(name));
        }
        Files.createSymbolicLink(scripts.resolve("node_modules"), installed.resolve("node_modules"));
        return scripts;
    }

    private Program start(String name, String... command) throws IOException {
        Path log = folder.resolve(name + ".log");
        ProcessBuilder builder = new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(ProcessBuilder.Redirect.appendTo(log.toFile()));
        builder.environment()
                .putAll(Map.of(
                        "KAFKA_BOOTSTRAP_SERVERS",
                        "127.0.0.1:" + kafkaPort,
                        "KAFKA_SECURITY_PROTOCOL",
                        "SASL_PLAINTEXT",
                        "KAFKA_SASL_MECHANISM",
                        "PLAIN",
                        "KAFKA_SASL_USERNAME",
                        "owner",
                        "KAFKA_SASL_PASSWORD",
                        Files.readString(folder.resolve("data/kafka-password")),
                        "WORKER_NAME",
                        name));
        Program program = new Program(builder.start(), log);
        programs.add(program);
        return program;
    }

    private record Program(Process process, Path log) {

        String output() {
            try {
                return Files.readString(log, StandardCharsets.UTF_8);
            } catch (IOException e) {
                return "";
            }
        }

        void awaitLine(String pattern) {
            await().atMost(LIMIT)
                    .until(
                            this::output,
                            output -> output.lines()
                                    .anyMatch(
                                            line -> line.startsWith("ready") && line.matches(".*(" + pattern + ").*")));
        }

        int awaitEnd() throws InterruptedException {
            assertThat(process.waitFor(LIMIT.toSeconds(), TimeUnit.SECONDS))
                    .as(output())
                    .isTrue();
            return process.exitValue();
        }

        void kill() {
            process.destroyForcibly().onExit().join();
        }
    }
}
