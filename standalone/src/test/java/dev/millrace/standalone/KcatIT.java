package dev.millrace.standalone;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.millrace.testing.FreePort;
import dev.millrace.testing.HttpApi;
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
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A stranger with kcat. Skipped where kcat is not installed, and says so; {@code AgentRuntimeIT} sends the same records with
 * a Java producer everywhere.
 */
class KcatIT {

    private static final Duration LIMIT = Duration.ofSeconds(40);

    private static final String SCRIPT = """
            rules:
              - user: 'weather in (?<city>\\w+)'
                steps:
                  - calls: [{ tool: weather, arguments: { city: "{{user.city}}" } }]
                  - text: "The sky: {{result.weather.sky}}"
              - text: hello
            """;

    @TempDir
    Path folder;

    /** Where it is; a test without it is skipped, and says so. */
    static String find() {
        String kcat = Stream.of(System.getenv("PATH").split(":", -1))
                .map(place -> Path.of(place, "kcat"))
                .filter(Files::isExecutable)
                .map(Path::toString)
                .findFirst()
                .orElse("");
        if (kcat.isEmpty()) {
            System.err.println("SKIPPED: tests with kcat need it on the PATH (Debian: apt-get install kcat)");
        }
        Assumptions.assumeFalse(kcat.isEmpty(), "kcat is not installed");
        return kcat;
    }

    @Test
    @DisplayName(
            "an id, a type and a text, without a key and with a wrong key: both tasks complete; and a tool by hand")
    void shouldServeKcat() throws IOException, InterruptedException {
        String kcat = find();
        int port = FreePort.find();
        int kafkaPort = FreePort.find();
        try (ServiceProcess up = ServiceProcess.standalone(
                        "up",
                        "--port",
                        String.valueOf(port),
                        "--kafka-port",
                        String.valueOf(kafkaPort),
                        "--script",
                        Files.writeString(folder.resolve("script.yaml"), SCRIPT).toString())
                .env("MILLRACE_TOPICS_TOOLSETS", "weather")
                .start(folder)) {
            up.awaitReady(URI.create("http://127.0.0.1:" + port + "/q/health/ready"));
            HttpApi api = HttpApi.onPort(port);

            // one after the other, so that each start of kcat picks a partition of its own
            for (int i = 0; i < 4; i++) {
                produce(kcat, kafkaPort, "no-key-" + i, List.of());
                produce(kcat, kafkaPort, "wrong-key-" + i, List.of("-k", "anything-" + i));
            }

            for (int i = 0; i < 4; i++) {
                awaitCompleted(api, "no-key-" + i);
                awaitCompleted(api, "wrong-key-" + i);
            }

            shouldDoWhatTheDocumentSays(api, kafkaPort);
        }
    }

    /** A task and a tool by hand, as the first part of docs/events.md has them. */
    private void shouldDoWhatTheDocumentSays(HttpApi api, int kafkaPort) throws IOException, InterruptedException {
        String page = Files.readString(Path.of("..", "docs", "events.md"));
        List<Walkthrough.Block> blocks = Walkthrough.blocks(
                page.substring(page.indexOf("## To begin with"), page.indexOf("## What an event is")));
        assertThat(blocks).hasSize(4);
        try (Walkthrough walk = new Walkthrough(folder, Map.of()).with("localhost:9092", "127.0.0.1:" + kafkaPort)) {
            walk.follow(blocks.get(0));
            // what takes a person a moment: the agents have heard of the tool
            await().atMost(LIMIT).until(() -> api.get("/v1/tools").body().contains("\"weather\""));
            walk.follow(blocks.get(1));
            walk.follow(blocks.get(2));
            assertThat(api.awaitEnd("my-task", LIMIT).path("response").asText()).isEqualTo("The sky: rain");
            walk.follow(blocks.get(3));
        }
    }

    private static void awaitCompleted(HttpApi api, String taskId) {
        assertThat(api.awaitEnd(taskId, LIMIT).path("state").asText()).isEqualTo("completed");
    }

    private void produce(String kcat, int kafkaPort, String id, List<String> more)
            throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(List.of(
                kcat,
                "-P",
                "-b",
                "127.0.0.1:" + kafkaPort,
                "-t",
                "millrace.events.external",
                "-H",
                "ce_id=" + id,
                "-H",
                "ce_type=MESSAGE_RECEIVED"));
        command.addAll(more);
        Path input = folder.resolve(id + ".json");
        Files.writeString(input, "{\"text\":\"hello from kcat\"}\n", StandardCharsets.UTF_8);
        Process process = new ProcessBuilder(command)
                .redirectInput(input.toFile())
                .redirectErrorStream(true)
                .redirectOutput(folder.resolve("kcat.log").toFile())
                .start();
        assertThat(process.waitFor(20, TimeUnit.SECONDS)).isTrue();
        assertThat(process.exitValue())
                .as(Files.readString(folder.resolve("kcat.log")))
                .isZero();
    }
}
