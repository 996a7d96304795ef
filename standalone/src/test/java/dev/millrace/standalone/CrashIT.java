package dev.millrace.standalone;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What is promised when everything dies at once: broker, machine, thinker and tools are one process here. */
class CrashIT {

    private static final int TASKS = 50;
    private static final Duration LIMIT = Duration.ofMinutes(2);

    @TempDir
    Path folder;

    @Test
    @DisplayName(
            "kill -9 in the middle of 50 tasks: all complete, no event twice, at most one model call repeated per task")
    void shouldFinishEverythingAfterAKill() throws IOException {
        Path calls = folder.resolve("calls.log");
        Path script = folder.resolve("slow.yaml");
        Files.writeString(script, """
                latencyMs: 400
                callLog: %s
                rules:
                  - steps:
                      - calls:
                          - tool: list_files
                            arguments: { path: "." }
                      - text: "Found: {{result.list_files}}"
                """.formatted(calls.toAbsolutePath()));
        int port = FreePort.find();
        int kafkaPort = FreePort.find();
        List<String> taskIds = new ArrayList<>();

        // given: 50 tasks, about half of them done
        try (ServiceProcess up = up(port, kafkaPort, script)) {
            HttpApi api = HttpApi.onPort(port);
            for (int i = 0; i < TASKS; i++) {
                taskIds.add(api.submit("task " + i));
            }
            Awaitility.await().atMost(LIMIT).until(() -> countCalls(calls) >= TASKS);

            // when
            up.kill();
        }
        Map<String, Long> before = callsById(calls);

        // then
        try (ServiceProcess up = up(port, kafkaPort, script)) {
            HttpApi api = HttpApi.onPort(port);
            for (String taskId : taskIds) {
                assertThat(api.awaitEnd(taskId, LIMIT).path("state").asText()).isEqualTo("completed");
                assertThat(api.events(taskId))
                        .extracting(event -> event.path("id").asText())
                        .doesNotHaveDuplicates();
            }
            assertThat(up.isAlive()).isTrue();
            assertThat(before).as("calls before the kill").isNotEmpty();
            Map<String, Long> perTask = callsById(calls).entrySet().stream()
                    .collect(Collectors.groupingBy(
                            call -> call.getKey().substring(0, call.getKey().indexOf('/')),
                            Collectors.summingLong(call -> call.getValue() - 1)));
            assertThat(perTask.values())
                    .as("repeated calls per task")
                    .allSatisfy(repeated -> assertThat(repeated).isLessThanOrEqualTo(1));
            assertThat(callsById(calls)).as("two calls per task").hasSize(2 * TASKS);
        }
    }

    private ServiceProcess up(int port, int kafkaPort, Path script) {
        return ServiceProcess.standalone(
                        "up",
                        "--port",
                        String.valueOf(port),
                        "--kafka-port",
                        String.valueOf(kafkaPort),
                        "--script",
                        script.toString())
                .env("MILLRACE_LLM_MAX_CONCURRENT_CALLS", "8")
                .start(folder)
                .awaitReady(URI.create("http://127.0.0.1:" + port + "/q/health/ready"));
    }

    private static int countCalls(Path log) throws IOException {
        return Files.exists(log) ? Files.readAllLines(log).size() : 0;
    }

    /** How often each call was made. */
    private static Map<String, Long> callsById(Path log) throws IOException {
        return Files.readAllLines(log).stream()
                .map(line -> line.substring(line.indexOf(' ') + 1))
                .collect(Collectors.groupingBy(callId -> callId, Collectors.counting()));
    }
}
