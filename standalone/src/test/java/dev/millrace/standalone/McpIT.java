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
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tasks that use tools of a real MCP server. Skipped where there is no Node or no network, and says so. */
class McpIT {

    private static final Duration LIMIT = Duration.ofSeconds(60);
    private static final String SCRIPT = """
        rules:
          - user: 'sum'
            steps:
              - calls: [{ tool: everything__get-sum, arguments: { a: 40, b: 2 } }]
              - text: "{{result}}"
          - user: 'mistake'
            steps:
              - calls: [{ tool: everything__get-sum, arguments: { a: forty } }]
              - text: "{{result}}"
          - user: 'patience'
            steps:
              - calls: [{ tool: everything__trigger-long-running-operation, arguments: { duration: 50, steps: 50 } }]
              - calls: [{ tool: everything__echo, arguments: { message: "I am back" } }]
              - text: "{{results}}"
          - text: "{{tools}}"
        """;

    @TempDir
    Path folder;

    @Test
    @DisplayName(
            "F-170: a task calls tools of an MCP server; killed in a call it gives a tool error, and the next works")
    void shouldUseAnMcpServer() throws IOException {
        Optional<Path> installed = NpmPackages.install("McpIT", "@modelcontextprotocol/server-everything@2026.8.31");
        Assumptions.assumeTrue(installed.isPresent(), "Node or the package is missing");
        Path server =
                installed.orElseThrow().resolve("node_modules/@modelcontextprotocol/server-everything/dist/index.js");
        Files.writeString(folder.resolve("script.yaml"), SCRIPT);
        Files.writeString(
                folder.resolve("mcp.json"),
                "{\"mcpServers\":{\"everything\":{\"command\":\"node\",\"args\":[\"" + server
                        + "\",\"${MODE:-stdio}\"]}," + "\"broken\":{\"command\":\"no-such-program\"}}}");
        int port = FreePort.find();
        try (ServiceProcess up = ServiceProcess.standalone(
                        "up",
                        "--port",
                        String.valueOf(port),
                        "--kafka-port",
                        "0",
                        "--script",
                        "script.yaml",
                        "--mcp",
                        "mcp.json")
                .jvm("-Dquarkus.log.category.\"dev.millrace.tools.mcp\".level=INFO")
                .start(folder)) {
            up.awaitReady(URI.create("http://127.0.0.1:" + port + "/q/health/ready"));
            HttpApi api = HttpApi.onPort(port);
            await().atMost(LIMIT)
                    .pollInterval(Duration.ofMillis(500))
                    .until(() -> answer(api, api.submit("Which tools?")).contains("everything__get-sum"));

            // when, then: an ordinary call, and one with wrong arguments, which do not reach the server
            assertThat(answer(api, api.submit("What is the sum?"))).contains("The sum of 40 and 2 is 42.");
            assertThat(answer(api, api.submit("Make a mistake."))).contains("VALIDATION ERROR");

            // when: the server is killed while it works
            String taskId = api.submit("Have patience.");
            await().atMost(LIMIT).until(() -> types(api, taskId).contains("REASON_DONE"));
            // one that is being started is left alone: the call waits for it, and two failed starts would refuse it
            AtomicInteger kills = new AtomicInteger();
            await().atMost(LIMIT)
                    .pollDelay(Duration.ofSeconds(1))
                    .pollInterval(Duration.ofSeconds(1))
                    .until(() -> {
                        // the call may not have reached the server yet, which is then started again for it
                        boolean lost = types(api, taskId).contains("TOOL_CALL_FAILED");
                        if (!lost && connections(up) > kills.get()) {
                            killServer(up);
                            kills.incrementAndGet();
                        }
                        return lost;
                    });

            // then
            assertThat(answer(api, taskId)).contains("was lost during the call").contains("Echo: I am back");
        }
    }

    /** How often the server has been started with success. */
    private static int connections(ServiceProcess up) {
        return up.output().split("An MCP server is connected", -1).length - 1;
    }

    private static void killServer(ServiceProcess up) {
        ProcessHandle.allProcesses()
                .filter(process -> process.parent().map(ProcessHandle::pid).equals(Optional.of(up.pid())))
                .filter(process -> process.info().commandLine().orElse("").contains("server-everything"))
                .forEach(ProcessHandle::destroyForcibly);
    }

    private static String answer(HttpApi api, String taskId) {
        JsonNode task = api.awaitEnd(taskId, LIMIT);
        assertThat(task.path("state").asText()).as(task.toString()).isEqualTo("completed");
        return task.path("response").asText();
    }

    private static List<String> types(HttpApi api, String taskId) {
        return api.events(taskId).stream()
                .map(event -> event.path("type").asText())
                .toList();
    }
}
