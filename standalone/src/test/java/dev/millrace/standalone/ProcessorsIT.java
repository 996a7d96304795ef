package dev.millrace.standalone;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import dev.millrace.schemas.Json;
import dev.millrace.schemas.MalformedEventException;
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
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.jar.JarEntry;
import java.util.jar.JarOutputStream;
import java.util.stream.Stream;
import javax.tools.ToolProvider;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The approval gates of {@code examples/processors}, in Java and in Python, in front of a whole Millrace. */
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
    Path folder;

    @Test
    @DisplayName("F-277 to F-282: gates in Java and Python hold what needs an approval, show nobody the original, and"
            + " one that is dead fails closed")
    void shouldHoldWhatNeedsAnApproval() throws Exception {
        Optional<String> python = Stream.of(System.getenv("PATH").split(java.io.File.pathSeparator, -1))
                .map(place -> Path.of(place, "python3"))
                .filter(Files::isExecutable)
                .map(Path::toString)
                .filter(found -> NpmPackages.runs(found, "-c", "import confluent_kafka"))
                .findFirst();
        Assumptions.assumeTrue(python.isPresent(), "python3 or its Kafka client is missing");
        int port = FreePort.find();
        int kafkaPort = FreePort.find();
        try (ServiceProcess up = ServiceProcess.standalone(
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
                .start(folder)) {
            up.awaitReady(URI.create("http://127.0.0.1:" + port + "/q/health/ready"));
            HttpApi api = HttpApi.onPort(port);
            await().atMost(LIMIT).until(() -> api.get("/v1/tools").body().contains("\"approval-gate\""));

            shouldLetAnOperatorRepair(api, "http://127.0.0.1:" + port);
            shouldHoldInJava(api, port);
            shouldBeHeardByTheExample("http://127.0.0.1:" + port);

            Process gate = startPython(python.orElseThrow(), kafkaPort);
            try {
                await().atMost(LIMIT).until(() -> api.get("/v1/tools").body().contains("\"review-gate\""));
                String held = send(api, "r1", secret("r1", Map.of("needsReview", true)));
                assertThat(overwrittenBy(api, held)).isEqualTo("overwritten by processor review-gate");
                String let = send(api, "r2", secret("r2", Map.of()));
                assertThat(api.awaitEnd(let, LIMIT).path("state").asText()).isEqualTo("completed");
            } finally {
                gate.destroyForcibly().onExit().join();
            }

            // when: it is dead, and what nobody looked at goes no further
            JsonNode closed = api.awaitEnd(send(api, "r3", secret("r3", Map.of())), LIMIT);
            assertThat(closed.path("errorCode").asText()).as(closed.toString()).isEqualTo("processor_failed");
            assertThat(closed.path("error").asText()).isEqualTo("processor review-gate: it has not answered in time");
        }
    }

    /** By the command line alone: what has failed, what was not taken, and both again with a payload that is right. */
    private static void shouldLetAnOperatorRepair(HttpApi api, String url) throws MalformedEventException {
        String failed = send(api, "f1", Map.of("text", "break"));
        String refused = send(api, "d1", Map.of("text", " "));
        assertThat(api.awaitEnd(failed, LIMIT).path("state").asText()).isEqualTo("failed");
        assertThat(sent(api, "p1", "/v1/sessions/desk/queue", 850).status()).isEqualTo(202);

        // when: a task
        CommandRun queue = await().atMost(LIMIT)
                .until(
                        () -> CommandRun.of("queue", "--status", "failed", "--url", url),
                        found -> found.out().contains(failed));
        assertThat(queue.out()).as(queue.err()).contains("MESSAGE_RECEIVED").contains("It broke.");
        CommandRun retried = CommandRun.of("retry", failed, "--payload", "{\"text\": \"mend\"}", "--url", url);
        CommandRun twice = CommandRun.of("retry", failed, "--payload", "{\"text\": \"mend\"}", "--url", url);

        // then: it ends well, and its chain leads back to the one that failed
        String again = retried.out().strip();
        assertThat(retried.exitCode()).as(retried.err()).isZero();
        assertThat(twice.out()).isEqualTo(retried.out());
        assertThat(api.awaitEnd(again, LIMIT).path("state").asText()).isEqualTo("completed");
        assertThat(api.get("/v1/events/" + again + "/chain").json().path("chain"))
                .extracting(event -> event.path("id").asText())
                .containsExactly(failed, again);
        assertThat(CommandRun.of("retry", again, "--url", url).err()).contains("found one that is completed");

        // when: a dead letter
        CommandRun letters = await().atMost(LIMIT)
                .until(
                        () -> CommandRun.of("queue", "--status", "dead_letter", "--json", "--url", url),
                        found -> found.out().contains(refused));
        Map<String, @Nullable Object> letter =
                Json.readObject(letters.out().strip().getBytes(StandardCharsets.UTF_8));
        assertThat(letter).containsEntry("id", refused).containsEntry("status", "dead_letter");
        assertThat(api.get("/v1/queue/" + refused).json().path("reason").asText())
                .isEqualTo("no_text");
        CommandRun redriven = CommandRun.of(
                "redrive",
                String.valueOf(letter.get("deadLetter")),
                "--payload",
                "{\"text\": \"hello\"}",
                "--url",
                url);

        // then
        assertThat(redriven.out()).as(redriven.err()).isEqualTo(refused + System.lineSeparator());
        assertThat(api.awaitEnd(refused, LIMIT).path("state").asText()).isEqualTo("completed");
        await().atMost(LIMIT)
                .untilAsserted(() -> assertThat(api.get("/v1/queue/" + refused)
                                .json()
                                .path("status")
                                .asText())
                        .isEqualTo("completed"));
        // and those of a kind: what was taken meanwhile changes nothing
        assertThat(CommandRun.of("redrive", "--reason", "no_text", "--url", url).out())
                .isEqualTo(refused + System.lineSeparator());
        assertThat(CommandRun.of("redrive", "--url", url).exitCode()).isNotZero();
        // and in the words of the queue, where higher goes first
        assertThat(api.awaitEnd("p1", LIMIT).path("priority").asInt()).isEqualTo(150);
        assertThat(api.get("/v1/queue/p1").json().path("priority").asInt()).isEqualTo(850);
        assertThat(sent(api, "p2", "/v1/sessions/desk/queue", 901).status()).isEqualTo(400);
    }

    private static HttpApi.Answer sent(HttpApi api, String id, String path, int priority) {
        return api.post(
                path,
                Map.of(
                        "id",
                        id,
                        "type",
                        "MESSAGE_RECEIVED",
                        "priority",
                        priority,
                        "ttl",
                        60_000,
                        "payload",
                        Map.of("text", "hello")));
    }

    private static void shouldHoldInJava(HttpApi api, int port) throws IOException, InterruptedException {
        List<String> shown = new ArrayList<>();
        try (HttpClient http = HttpClient.newHttpClient();
                BufferedReader stream = new BufferedReader(new InputStreamReader(
                        http.send(
                                        HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + "/v1/stream"))
                                                .build(),
                                        HttpResponse.BodyHandlers.ofInputStream())
                                .body(),
                        StandardCharsets.UTF_8))) {
            String held = send(api, "a1", secret("a1", Map.of("needsApproval", true)));
            assertThat(overwrittenBy(api, held)).isEqualTo("overwritten by processor approval-gate");
            String let = send(api, "a2", secret("a2", Map.of()));
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

    /** The program of {@code examples/listening} that says what the gate holds. */
    private void shouldBeHeardByTheExample(String url) throws Exception {
        if (!NpmPackages.runs("node", "--version")) {
            System.err.println(
                    "SKIPPED: ProcessorsIT needs Node on the PATH for examples/listening/custom-processor.js");
            return;
        }
        assertThat(ListeningExample.run(folder, "custom-processor.js", url))
                .isEqualTo("Done.\nThis message requires approval.\n");
    }

    private static String send(HttpApi api, String id, Map<String, Object> data) {
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

    private static String overwrittenBy(HttpApi api, String taskId) {
        JsonNode task = api.awaitEnd(taskId, LIMIT);
        assertThat(task.path("state").asText()).as(task.toString()).isEqualTo("cancelled");
        return task.path("error").asText();
    }

    private Process startPython(String python, int kafkaPort) throws IOException {
        ProcessBuilder builder = new ProcessBuilder(
                        python,
                        EXAMPLES.resolve("processors/gate.py").toAbsolutePath().toString())
                .redirectErrorStream(true)
                .redirectOutput(folder.resolve("gate.log").toFile());
        builder.environment().putAll(Map.of("KAFKA_BOOTSTRAP_SERVERS", "127.0.0.1:" + kafkaPort));
        return builder.start();
    }

    /** The gate as its author compiles it: against the tool API and nothing else. */
    private Path gateJar() throws IOException {
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
