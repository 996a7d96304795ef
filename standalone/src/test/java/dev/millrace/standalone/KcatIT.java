package dev.millrace.standalone;

import static org.assertj.core.api.Assertions.assertThat;

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

    @TempDir
    Path folder;

    @Test
    @DisplayName("an id, a type and a text, without a key and with a wrong key: both tasks complete")
    void shouldServeKcat() throws IOException, InterruptedException {
        String kcat = Stream.of(System.getenv("PATH").split(":", -1))
                .map(place -> Path.of(place, "kcat"))
                .filter(Files::isExecutable)
                .map(Path::toString)
                .findFirst()
                .orElse("");
        if (kcat.isEmpty()) {
            System.err.println("SKIPPED: KcatIT needs kcat on the PATH (Debian: apt-get install kcat)");
        }
        Assumptions.assumeFalse(kcat.isEmpty(), "kcat is not installed");
        int port = FreePort.find();
        int kafkaPort = FreePort.find();
        try (ServiceProcess up = ServiceProcess.standalone(
                        "up", "--port", String.valueOf(port), "--kafka-port", String.valueOf(kafkaPort))
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
