package dev.millrace.standalone;

import static org.assertj.core.api.Assertions.assertThat;

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
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Tool calls that others have made to take for ever. */
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class TrapsIT {

    private static final int CORES = 2;
    private static final Duration SOON = Duration.ofSeconds(1);
    private static final Duration LIMIT = Duration.ofSeconds(40);

    private static final String SCRIPT = """
            rules:
              - user: 'trap'
                steps:
                  - calls:
                      - { tool: list_files, arguments: { pattern: "*a*a*a*a*a*a*a*a*a*a*a*a*b" } }
                      - { tool: grep_files, arguments: { pattern: "(.*)(.*)(.*)(.*)(.*)(.*)(.*)(.*)(.*)(.*)b" } }
                  - text: "out of the trap"
              - user: 'time'
                steps:
                  - calls: [{ tool: current_time }]
                  - text: "the time is known"
            """;

    @TempDir
    Path folder;

    @Test
    @DisplayName("twice as many catastrophic patterns as there are cores hold up nothing else")
    void shouldServeEverybodyElse() throws IOException {
        // given
        Path workspace = Files.createDirectories(folder.resolve("workspace"));
        Files.writeString(workspace.resolve("a".repeat(200)), "a".repeat(5_000) + "!");
        Files.writeString(folder.resolve("script.yaml"), SCRIPT);
        int port = FreePort.find();
        try (ServiceProcess up = ServiceProcess.standalone(
                        "up", "--port", String.valueOf(port), "--kafka-port", "0", "--script", "script.yaml")
                .jvm("-XX:ActiveProcessorCount=" + CORES)
                .env("MILLRACE_TOOLS_MAX_CONCURRENT", "16")
                .start(folder)) {
            up.awaitReady(URI.create("http://127.0.0.1:" + port + "/q/health/ready"));
            HttpApi api = HttpApi.onPort(port);
            api.awaitEnd(api.submit("What time is it?"), LIMIT);
            // when: two traps in each
            List<String> traps = new ArrayList<>();
            for (int i = 0; i < CORES; i++) {
                traps.add(api.submit("A trap, please."));
            }
            // then
            int late = 0;
            for (int i = 0; i < 20; i++) {
                long start = System.nanoTime();
                assertThat(api.get("/v1/tasks").status()).isEqualTo(200);
                late += System.nanoTime() - start > SOON.toNanos() ? 1 : 0;
            }
            // the machine may stop for a moment
            assertThat(late).isLessThanOrEqualTo(1);
            assertThat(api.awaitEnd(api.submit("What time is it?"), LIMIT)
                            .path("response")
                            .asText())
                    .isEqualTo("the time is known");
            for (String trap : traps) {
                assertThat(api.awaitEnd(trap, LIMIT).path("response").asText()).isEqualTo("out of the trap");
            }
            assertThat(api.status("/q/health/live")).isEqualTo(200);
        }
    }
}
