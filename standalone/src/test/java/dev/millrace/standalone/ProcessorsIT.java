package dev.millrace.standalone;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import dev.millrace.schemas.Json;
import dev.millrace.schemas.KnownEventType;
import dev.millrace.testing.FreePort;
import dev.millrace.testing.HttpApi;
import dev.millrace.testing.NpmPackages;
import dev.millrace.testing.ServiceProcess;
import dev.millrace.tool.api.EventProcessor;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.jar.JarEntry;
import java.util.jar.JarOutputStream;
import java.util.stream.Stream;
import javax.tools.ToolProvider;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;
import org.junit.jupiter.api.io.TempDir;

/**
 * The approval gates of {@code examples/processors}, in Java and in Python, in front of a whole Millrace, and what an
 * operator does with what has failed there.
 */
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
class ProcessorsIT {

    private static final Duration LIMIT = Duration.ofSeconds(60);
    private static final Path EXAMPLES = Path.of("..", "examples");
    private static final String SCRIPT = """
            model: brittle
            rules:
              - user: 'break'
                fail: {code: bad_request, message: "It broke.", retryable: false}
              - text: "Done."
            """;
    private static final String HELD = "This message requires approval.";

    @TempDir
    static Path folder;

    private static @Nullable ServiceProcess up;
    private static int kafkaPort;
    private static String url;
    private static HttpApi api;

    @BeforeAll
    static void start() throws IOException {
        int port = FreePort.find();
        kafkaPort = FreePort.find();
        url = "http://127.0.0.1:" + port;
        api = HttpApi.onPort(port);
        up = ServiceProcess.standalone(
                        "up",
                        "--port",
                        String.valueOf(port),
                        "--kafka-port",
                        String.valueOf(kafkaPort),
                        "--tools",
                        gateJar().toString(),
                        "--toolsets",
                        "gates:1",
                        "--script",
                        Files.writeString(folder.resolve("script.yaml"), SCRIPT).toString())
                .start(folder);
        up.awaitReady(URI.create(url + "/q/health/ready"));
        await().atMost(LIMIT).until(() -> api.get("/v1/tools").body().contains("\"approval-gate\""));
    }

    @AfterAll
    static void stop() {
        if (up != null) {
            up.close();
        }
    }

    @Test
    @Order(1)
    @DisplayName("F-261, F-285, F-286, F-305: by the command line alone, an operator finds what has failed and what was"
            + " not taken, sends both again with a payload that is right, and sees them end with their chain of causes")
    void shouldLetAnOperatorRepair() {
        // given
        enqueue("f1", "break", "--priority", "850");
        CommandRun failed = awaitItem("f1", "failed");
        assertThat(failed.out()).contains("type: MESSAGE_RECEIVED", "priority: 850", "error: It broke.");
        assertThat(cli("queue", "--status", "failed", "--session", "repair").out())
                .contains("f1")
                .contains("It broke.");
        assertThat(CommandRun.of("queue", "nobody", "--url", url).exitCode()).isNotZero();
        assertThat(CommandRun.of("enqueue", "x.y", "--session", "repair", "--priority", "901", "--url", url)
                        .err())
                .contains("at most 900");

        // when: a task
        String again =
                cli("retry", "f1", "--payload", "{\"text\": \"mend\"}").out().strip();

        // then: it ends well, and what has failed is tried again once
        awaitItem(again, "completed");
        assertThat(cli("retry", "f1", "--payload", "{\"text\": \"mend\"}").out())
                .isEqualTo(again + System.lineSeparator());
        assertThat(CommandRun.of("retry", again, "--url", url).err()).contains("found one that is completed");

        // when: a dead letter, which the task has led to
        enqueue("d1", " ", "--parent", again);
        CommandRun refused = awaitItem("d1", "dead_letter");
        assertThat(refused.out()).contains("reason: no_text");
        assertThat(cli("queue", "--status", "dead_letter", "--session", "repair")
                        .out())
                .contains("d1");
        assertThat(cli("dead-letters", "--reason", "no_text").out()).contains("MESSAGE_RECEIVED");
        String place =
                json(cli("queue", "d1", "--json")).getFirst().path("deadLetter").asText();
        CommandRun redriven = cli("redrive", place, "--payload", "{\"text\": \"hello\"}");

        // then
        assertThat(redriven.out()).isEqualTo("d1" + System.lineSeparator());
        awaitItem("d1", "completed");
        // and its end leads back over it to what failed at first
        assertThat(causes("d1", again, "f1")).startsWith("TASK_COMPLETED").endsWith("d1", again, "f1");
        // and those of a kind: what was taken meanwhile changes nothing
        assertThat(cli("redrive", "--reason", "no_text").out()).isEqualTo("d1" + System.lineSeparator());
        assertThat(CommandRun.of("redrive", "--url", url).exitCode()).isNotZero();
        assertThat(cli("queue", "d1").out()).contains("status: completed");
    }

    @Test
    @Order(2)
    @DisplayName("F-263, F-279, F-282: a gate in Java holds what needs an approval, and shows nobody the original")
    void shouldHoldInJava() throws Exception {
        List<String> shown = new ArrayList<>();
        try (HttpClient http = HttpClient.newHttpClient();
                BufferedReader stream = new BufferedReader(new InputStreamReader(
                        http.send(
                                        HttpRequest.newBuilder(URI.create(url + "/v1/stream"))
                                                .build(),
                                        HttpResponse.BodyHandlers.ofInputStream())
                                .body(),
                        StandardCharsets.UTF_8))) {
            String held = send("a1", secret("a1", Map.of("needsApproval", true)));
            assertThat(overwrittenBy(held)).isEqualTo("overwritten by processor approval-gate");
            String let = send("a2", secret("a2", Map.of()));
            assertThat(api.awaitEnd(let, LIMIT).path("state").asText()).isEqualTo("completed");
            for (String line = stream.readLine();
                    line != null && !line.contains("TASK_COMPLETED");
                    line = stream.readLine()) {
                shown.add(line);
            }
        }
        // then: who listens, and who reads the conversation, hears of the notice and not of what was held
        assertThat(shown).anyMatch(line -> line.contains(HELD)).noneMatch(line -> line.contains("secret a1"));
        assertThat(shown).anyMatch(line -> line.contains("secret a2"));
        String messages = await().atMost(LIMIT)
                .until(
                        () -> api.get("/v1/sessions/desk/messages").body(),
                        found -> found.contains(HELD) && found.contains("secret a2"));
        assertThat(messages).doesNotContain("secret a1");
    }

    @Test
    @Order(3)
    @DisplayName("F-279: the program of examples/listening says what the gate holds")
    void shouldBeHeardByTheExample() throws Exception {
        boolean hasNode = NpmPackages.runs("node", "--version");
        if (!hasNode) {
            System.err.println(
                    "SKIPPED: ProcessorsIT needs Node on the PATH for examples/listening/custom-processor.js");
        }
        Assumptions.assumeTrue(hasNode, "no Node");
        assertThat(ListeningExample.run(folder, "custom-processor.js", url))
                .isEqualTo("Done.\nThis message requires approval.\n");
    }

    /** Last: once it is dead, nothing is let on any more. */
    @Test
    @Order(4)
    @DisplayName("F-263, F-279, F-281: so does one in Python, and when it is dead nothing goes past it")
    void shouldFailClosedWithoutTheGateInPython() throws Exception {
        Optional<String> python = PythonWithKafka.find("ProcessorsIT");
        Assumptions.assumeTrue(python.isPresent(), "python3 or its Kafka client is missing");
        Process gate = startPython(python.orElseThrow());
        try {
            await().atMost(LIMIT).until(() -> api.get("/v1/tools").body().contains("\"review-gate\""));
            String held = send("r1", secret("r1", Map.of("needsReview", true)));
            assertThat(overwrittenBy(held)).isEqualTo("overwritten by processor review-gate");
            String let = send("r2", secret("r2", Map.of()));
            assertThat(api.awaitEnd(let, LIMIT).path("state").asText()).isEqualTo("completed");
        } finally {
            gate.destroyForcibly().onExit().join();
        }

        // when: it is dead, and what nobody looked at goes no further
        JsonNode closed = api.awaitEnd(send("r3", secret("r3", Map.of())), LIMIT);
        assertThat(closed.path("errorCode").asText()).as(closed.toString()).isEqualTo("processor_failed");
        assertThat(closed.path("error").asText()).isEqualTo("processor review-gate: it has not answered in time");
    }

    /** What a command prints that ends well. */
    private static CommandRun cli(String... args) {
        CommandRun run = CommandRun.of(
                Stream.concat(Stream.of(args), Stream.of("--url", url)).toArray(String[]::new));
        assertThat(run.exitCode()).as(run.err()).isZero();
        return run;
    }

    private static void enqueue(String id, String text, String... more) {
        CommandRun put = cli(Stream.concat(
                        Stream.of("enqueue", "MESSAGE_RECEIVED", Json.writeText(Map.of("text", text))),
                        Stream.concat(Stream.of("--session", "repair", "--id", id, "--ttl", "10m"), Stream.of(more)))
                .toArray(String[]::new));
        assertThat(put.out()).isEqualTo(id + System.lineSeparator());
    }

    private static CommandRun awaitItem(String id, String status) {
        return await().atMost(LIMIT)
                .until(() -> cli("queue", id), run -> run.out().contains("status: " + status));
    }

    /** The type of how the first of these tasks has ended, and the ids of what that leads back to. */
    private static List<String> causes(String... tasks) {
        Map<String, JsonNode> events = new HashMap<>();
        String id = "";
        for (String task : tasks) {
            for (JsonNode event : json(cli("events", task, "--json"))) {
                events.put(event.path("id").asText(), event);
                if (task.equals(tasks[0])
                        && event.path("type").asText().equals(KnownEventType.TASK_COMPLETED.wireName())) {
                    id = event.path("id").asText();
                }
            }
        }
        List<String> causes = new ArrayList<>();
        causes.add(events.containsKey(id) ? events.get(id).path("type").asText() : "no end");
        for (JsonNode event = events.get(id); event != null; event = events.get(id)) {
            id = event.path("parentEventId").asText();
            if (events.containsKey(id)) {
                causes.add(id);
            }
        }
        return causes;
    }

    private static List<JsonNode> json(CommandRun run) {
        List<JsonNode> lines = new ArrayList<>();
        for (String line : run.out().lines().toList()) {
            try {
                lines.add(Json.MAPPER.readTree(line));
            } catch (IOException e) {
                throw new AssertionError(line, e);
            }
        }
        return lines;
    }

    private static String send(String id, Map<String, Object> data) {
        HttpApi.Answer sent = api.post(
                "/v1/events",
                Map.of("content-type", "application/cloudevents+json"),
                Json.write(Map.of(
                        "specversion", "1.0",
                        "id", id,
                        "type", "MESSAGE_RECEIVED",
                        "source", "https://desk.example",
                        "sessionid", "desk",
                        "data", data)));
        assertThat(sent.status()).as(sent.body()).isEqualTo(202);
        return id;
    }

    private static Map<String, Object> secret(String id, Map<String, Object> metadata) {
        return Map.of("text", "secret " + id, "metadata", metadata);
    }

    private static String overwrittenBy(String taskId) {
        JsonNode task = api.awaitEnd(taskId, LIMIT);
        assertThat(task.path("state").asText()).as(task.toString()).isEqualTo("cancelled");
        return task.path("error").asText();
    }

    private static Process startPython(String python) throws IOException {
        ProcessBuilder builder = new ProcessBuilder(
                        python,
                        EXAMPLES.resolve("processors/gate.py").toAbsolutePath().toString())
                .redirectErrorStream(true)
                .redirectOutput(folder.resolve("gate.log").toFile());
        builder.environment().putAll(Map.of("KAFKA_BOOTSTRAP_SERVERS", "127.0.0.1:" + kafkaPort));
        return builder.start();
    }

    /** The gate as its author compiles it: against the tool API and nothing else. */
    private static Path gateJar() throws IOException {
        Path classes = Files.createDirectories(folder.resolve("classes"));
        String api = Path.of(Objects.requireNonNull(EventProcessor.class.getProtectionDomain())
                        .getCodeSource()
                        .getLocation()
                        .getPath())
                .toString();
        int result = ToolProvider.getSystemJavaCompiler()
                .run(
                        null,
                        null,
                        null,
                        "-proc:none",
                        "--release",
                        "17",
                        "-cp",
                        api,
                        "-d",
                        classes.toString(),
                        EXAMPLES.resolve("processors/ApprovalGate.java").toString());
        assertThat(result).isZero();
        Path jar = folder.resolve("gate.jar");
        String name = "org/example/gate/ApprovalGate.class";
        try (OutputStream out = Files.newOutputStream(jar);
                JarOutputStream packed = new JarOutputStream(out)) {
            packed.putNextEntry(new JarEntry(name));
            packed.write(Files.readAllBytes(classes.resolve(name)));
        }
        return jar;
    }
}
