package dev.millrace.standalone;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.millrace.testing.FreePort;
import dev.millrace.testing.HttpApi;
import dev.millrace.testing.ServiceProcess;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Memory and reflection from outside, with everything killed in between. */
class RememberingIT {

    private static final Duration LIMIT = Duration.ofSeconds(60);

    @TempDir
    Path folder;

    @Test
    @DisplayName(
            "F-181: told a name, everything is killed in the middle of the reflection: rounds 3 to 5 follow, rounds 1 and"
                    + " 2 are not called again, and the next task knows the name; a failing model in reflection changes no task")
    void shouldRememberAcrossAKill() throws IOException {
        Path calls = folder.resolve("calls.log");
        Path script = folder.resolve("script.yaml");
        Files.writeString(script, """
                callLog: %s
                rules:
                  - user: '(?s)^\\[Reflection\\].*I hate reflections'
                    fail: { code: auth_failed, message: not today }
                  - user: '(?s)^\\[Reflection\\].*I wait for ever'
                    text: Too late.
                    latencyMs: 3600000
                  - user: '(?s)^\\[Reflection\\].*My name is Ada'
                    steps:
                      - calls: [ { tool: memory_append, arguments: { path: facts/memory.md, entry: "- one" } } ]
                      - calls: [ { tool: memory_append, arguments: { path: facts/memory.md, entry: "- two" } } ]
                      - calls: [ { tool: memory_append, arguments: { path: facts/memory.md, entry: "- three" } } ]
                        latencyMs: 4000
                      - calls: [ { tool: memory_append, arguments: { path: episodes/2026-11.md, entry: "- four" } } ]
                      - text: The user is Ada.
                  - user: '^\\[Reflection\\]'
                    text: Nothing worth remembering.
                  - user: 'My name is (?<name>\\w+)'
                    steps:
                      - calls: [ { tool: memory_write, arguments: { path: facts/user.md, content: "> Summary: {{user.name}}" } } ]
                      - text: Hello {{user.name}}.
                  - user: 'Who am I'
                    steps:
                      - calls: [ { tool: memory_read, arguments: { path: facts/user.md } } ]
                      - text: "{{result.memory_read}}"
                  - steps:
                      - calls: [ { tool: memory_list } ]
                      - text: "{{result}}"
                """.formatted(calls.toAbsolutePath()));
        int port = FreePort.find();
        int kafkaPort = FreePort.find();
        String told;
        try (ServiceProcess up = up(port, kafkaPort, script)) {
            HttpApi api = HttpApi.onPort(port);

            // a model that fails in reflection
            String hated = api.submit("I hate reflections");
            assertThat(api.awaitEnd(hated, LIMIT).path("state").asText()).isEqualTo("completed");
            Awaitility.await().atMost(LIMIT).until(() -> reflectionRounds(calls).size() == 1);

            // one that says nothing for an hour: the answer, and the conversation, do not wait for it
            Awaitility.await().atMost(LIMIT).until(() -> types(api, hated).contains("REFLECTION_FAILED"));
            String hung = api.submit("I wait for ever");
            assertThat(api.awaitEnd(hung, LIMIT).path("state").asText()).isEqualTo("completed");
            Awaitility.await().atMost(LIMIT).until(() -> reflectionRounds(calls).size() == 2);

            told = api.submit("My name is Ada");
            assertThat(api.awaitEnd(told, LIMIT).path("response").asText()).isEqualTo("Hello Ada.");
            assertThat(types(api, hated))
                    .contains("REFLECTION_REQUESTED", "TASK_COMPLETED")
                    .doesNotContain("REFLECTION_COMPLETE", "TASK_FAILED");
            assertThat(types(api, hung))
                    .endsWith("TASK_COMPLETED", "REFLECTION_REQUESTED")
                    .doesNotContain("REFLECTION_COMPLETE", "REFLECTION_FAILED");

            // in the middle of round 3
            Awaitility.await().atMost(LIMIT).until(() -> reflectionRounds(calls).size() == 5);
            up.kill();
        }

        try (ServiceProcess up = up(port, kafkaPort, script)) {
            HttpApi api = HttpApi.onPort(port);
            Awaitility.await().atMost(LIMIT).until(() -> types(api, told).contains("REFLECTION_COMPLETE"));
            JsonNode complete = api.events(told).stream()
                    .filter(event -> event.path("type").asText().equals("REFLECTION_COMPLETE"))
                    .findFirst()
                    .orElseThrow()
                    .path("payload");
            assertThat(complete.path("factsWritten").asInt()).isEqualTo(3);
            assertThat(complete.path("hasEpisode").asBoolean()).isTrue();
            assertThat(complete.path("toolCallsCount").asInt()).isEqualTo(4);
            assertThat(complete.path("assessment").asText()).isEqualTo("The user is Ada.");
            assertThat(reflectionRounds(calls).values())
                    .as(
                            "the one that failed; the one that hangs, and again; rounds 1 and 2 once, 3 once more, 4 and 5 once")
                    .containsExactlyInAnyOrder(1L, 2L, 1L, 1L, 2L, 1L, 1L);

            String asked = api.submit("Who am I?");
            assertThat(api.awaitEnd(asked, LIMIT).path("response").asText()).contains("> Summary: Ada");
            assertThat(up.isAlive()).isTrue();
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
                .env("MILLRACE_AGENT_REFLECTION_ENABLED", "true")
                .start(folder)
                .awaitReady(URI.create("http://127.0.0.1:" + port + "/q/health/ready"));
    }

    private static List<String> types(HttpApi api, String taskId) {
        return api.events(taskId).stream()
                .map(event -> event.path("type").asText())
                .toList();
    }

    /** How often each call of a reflection was made. */
    private static Map<String, Long> reflectionRounds(Path log) throws IOException {
        if (!Files.exists(log)) {
            return Map.of();
        }
        return Files.readAllLines(log).stream()
                .map(line -> line.substring(line.indexOf(' ') + 1))
                .filter(callId -> callId.startsWith("reflection/"))
                .collect(Collectors.groupingBy(Function.identity(), TreeMap::new, Collectors.counting()));
    }
}
