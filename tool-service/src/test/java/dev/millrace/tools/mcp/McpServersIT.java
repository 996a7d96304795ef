package dev.millrace.tools.mcp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.millrace.schemas.JsonObject;
import dev.millrace.testing.NpmPackages;
import dev.millrace.tool.api.ToolContext;
import dev.millrace.tool.api.ToolException;
import dev.millrace.tools.CallContext;
import dev.millrace.tools.CallableTool;
import java.io.IOException;
import java.net.ServerSocket;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.assertj.core.api.InstanceOfAssertFactories;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Real servers from npm. Skipped where there is no Node or no network, and says so. */
class McpServersIT {

    private static final Duration LIMIT = Duration.ofSeconds(40);
    private static final ToolContext CONTEXT = new CallContext("task-1", "session-1", "default", "task-1/1/0");

    private final List<AutoCloseable> open = new ArrayList<>();
    private Path modules = Path.of("node_modules");

    @TempDir
    Path folder;

    @BeforeEach
    void install() {
        Optional<Path> installed = NpmPackages.install(
                "McpServersIT",
                "@modelcontextprotocol/server-everything@2026.8.31",
                "@modelcontextprotocol/server-filesystem@2026.8.31");
        Assumptions.assumeTrue(installed.isPresent(), "Node or the packages are missing");
        modules = installed.orElseThrow().resolve("node_modules");
    }

    @AfterEach
    void close() throws Exception {
        for (AutoCloseable each : open.reversed()) {
            each.close();
        }
    }

    @Test
    @DisplayName("F-170: server-everything over stdio lists and is called")
    void shouldSpeakWithEverythingOverStdio() throws Exception {
        shouldSpeakWith(start(everything()));
    }

    @Test
    @DisplayName("F-170: server-everything over streamable HTTP lists and is called")
    void shouldSpeakWithEverythingOverHttp() throws Exception {
        int port = freePort();
        open.add(everythingOnPort(port));
        shouldSpeakWith(start(httpOn(port)));
    }

    private static void shouldSpeakWith(McpTools tools) throws Exception {
        assertThat(call(tools, "echo", Map.of("message", "hello"))).isEqualTo("Echo: hello");
        assertThat(call(tools, "get-sum", Map.of("a", 2, "b", 40))).isEqualTo("The sum of 2 and 40 is 42.");
        assertThat(call(tools, "get-structured-content", Map.of("location", "Chicago")))
                .asInstanceOf(InstanceOfAssertFactories.MAP)
                .containsKeys("temperature", "conditions", "humidity");
        assertThat(call(tools, "get-tiny-image", Map.of()))
                .asInstanceOf(InstanceOfAssertFactories.LIST)
                .anySatisfy(part -> assertThat(part)
                        .asInstanceOf(InstanceOfAssertFactories.MAP)
                        .containsEntry("type", "image")
                        .containsEntry("mimeType", "image/png")
                        .doesNotContainKey("data"));
        assertThat(call(tools, "get-resource-reference", Map.of("resourceType", "Text", "resourceId", 1)))
                .asInstanceOf(InstanceOfAssertFactories.LIST)
                .anySatisfy(part -> assertThat(part)
                        .asInstanceOf(InstanceOfAssertFactories.MAP)
                        .containsEntry("type", "resource")
                        .containsKeys("uri", "text"));
        assertThat(call(tools, "get-resource-links", Map.of("count", 2)))
                .asInstanceOf(InstanceOfAssertFactories.LIST)
                .hasSize(3);
        assertThat(call(tools, "trigger-long-running-operation", Map.of("duration", 1, "steps", 4)))
                .isEqualTo("Long running operation completed. Duration: 1 seconds, Steps: 4.");
        assertThatThrownBy(() -> call(tools, "get-sum", Map.of("a", "two")))
                .isInstanceOf(ToolException.class)
                .extracting(e -> ((ToolException) e).code())
                .isIn("mcp_tool_error", "mcp_refused");
    }

    @Test
    void shouldKeepOurSecretsFromServers() throws Exception {
        McpTools tools = start(everything());
        // when
        String environment = String.valueOf(call(tools, "get-env", Map.of()));
        // then
        assertThat(environment).contains("\"PATH\"").contains("\"GIVEN\": \"to it\"");
        assertThat(System.getenv().keySet().stream()
                        .filter(name -> name.startsWith("MAVEN") || name.startsWith("JAVA") || name.contains("KEY")))
                .noneMatch(name -> environment.contains('"' + name + '"'));
    }

    @Test
    @DisplayName("a server killed in the middle of a call: a tool error, and the next call works (stdio)")
    void shouldSurviveTheDeathOfAProcess() throws Exception {
        McpTools tools = start(everything());
        CompletableFuture<String> outcome = callInTheBackground(tools);
        // when
        awaitChild("server-everything").destroyForcibly();
        // then
        assertThat(outcome.get(20, TimeUnit.SECONDS)).startsWith("mcp_unavailable");
        assertThat(call(tools, "echo", Map.of("message", "again"))).isEqualTo("Echo: again");
    }

    @Test
    @DisplayName("a server killed in the middle of a call: a tool error, and the next call works (HTTP)")
    void shouldSurviveTheDeathOfAnHttpServer() throws Exception {
        int port = freePort();
        Served first = everythingOnPort(port);
        open.add(first);
        McpTools tools = start(httpOn(port));
        CompletableFuture<String> outcome = callInTheBackground(tools);
        TimeUnit.MILLISECONDS.sleep(500);
        // when
        first.close();
        assertThat(outcome.get(20, TimeUnit.SECONDS)).startsWith("mcp_unavailable");
        open.add(everythingOnPort(port));
        // then
        assertThat(call(tools, "echo", Map.of("message", "again"))).isEqualTo("Echo: again");
    }

    @Test
    void shouldNoticeThatAnHttpServerWasRestartedBetweenCalls() throws Exception {
        int port = freePort();
        Served first = everythingOnPort(port);
        open.add(first);
        McpTools tools = start(httpOn(port));
        call(tools, "echo", Map.of("message", "once"));
        // when
        first.close();
        open.add(everythingOnPort(port));
        // then
        assertThat(call(tools, "echo", Map.of("message", "again"))).isEqualTo("Echo: again");
    }

    @Test
    void shouldSpeakWithFilesystem() throws Exception {
        Path shared = Files.createDirectory(folder.resolve("shared"));
        Files.writeString(shared.resolve("note.txt"), "remember the milk");
        McpTools tools = start(new McpServer.Stdio(
                "files",
                List.of(
                        "node",
                        modules.resolve("@modelcontextprotocol/server-filesystem/dist/index.js")
                                .toString(),
                        shared.toRealPath().toString()),
                Map.of(),
                null,
                McpServer.Terms.NONE));
        // when
        Object text = tools.find("files__read_text_file")
                .orElseThrow()
                .call(
                        JsonObject.of(Map.of(
                                "path", shared.toRealPath().resolve("note.txt").toString())),
                        CONTEXT);
        // then
        assertThat(text).isEqualTo("remember the milk");
        assertThatThrownBy(() -> tools.find("files__read_text_file")
                        .orElseThrow()
                        .call(
                                JsonObject.of(
                                        Map.of("path", folder.resolve("secret").toString())),
                                CONTEXT))
                .isInstanceOf(ToolException.class)
                .hasMessageContaining("outside allowed directories");
    }

    private static CompletableFuture<String> callInTheBackground(McpTools tools) {
        CompletableFuture<String> outcome = new CompletableFuture<>();
        Thread.ofVirtual().start(() -> {
            try {
                outcome.complete(String.valueOf(
                        call(tools, "trigger-long-running-operation", Map.of("duration", 30, "steps", 60))));
            } catch (ToolException e) {
                outcome.complete(e.code() + ' ' + e.getMessage());
            } catch (InterruptedException e) {
                outcome.complete("interrupted");
            }
        });
        return outcome;
    }

    private static ProcessHandle awaitChild(String part) throws InterruptedException {
        long end = System.nanoTime() + LIMIT.toNanos();
        while (System.nanoTime() < end) {
            Optional<ProcessHandle> found = ProcessHandle.current()
                    .descendants()
                    .filter(process -> process.info().commandLine().orElse("").contains(part))
                    .findFirst();
            if (found.isPresent()) {
                // so that the call is with the server
                TimeUnit.MILLISECONDS.sleep(500);
                return found.get();
            }
            TimeUnit.MILLISECONDS.sleep(50);
        }
        throw new AssertionError("no process with " + part);
    }

    private static Object call(McpTools tools, String name, Map<String, Object> arguments)
            throws ToolException, InterruptedException {
        CallableTool tool = tools.find("everything__" + name).orElseThrow();
        return Objects.requireNonNull(tool.call(JsonObject.of(arguments), CONTEXT));
    }

    private McpTools start(McpServer server) throws InterruptedException {
        McpTools tools = new McpTools(
                new McpConfiguration(List.of(server), Map.of()), Duration.ofSeconds(30), Duration.ofSeconds(30), "1");
        open.add(tools);
        tools.start();
        assertThat(tools.await(server.name() + "__any")).isEmpty();
        assertThat(tools.tools()).isNotEmpty();
        return tools;
    }

    private McpServer everything() {
        return new McpServer.Stdio(
                "everything", List.of("node", main(), "stdio"), Map.of("GIVEN", "to it"), null, McpServer.Terms.NONE);
    }

    private static McpServer httpOn(int port) {
        return new McpServer.Http(
                "everything",
                URI.create("http://127.0.0.1:" + port + "/mcp"),
                Map.of("X-Asked-By", "a test"),
                McpServer.Terms.NONE);
    }

    private String main() {
        return modules.resolve("@modelcontextprotocol/server-everything/dist/index.js")
                .toString();
    }

    private record Served(Process process) implements AutoCloseable {
        @Override
        public void close() {
            process.destroyForcibly().onExit().join();
        }
    }

    private Served everythingOnPort(int port) throws IOException, InterruptedException {
        ProcessBuilder builder = new ProcessBuilder("node", main(), "streamableHttp").redirectErrorStream(true);
        builder.environment().put("PORT", String.valueOf(port));
        Path log = Files.createTempFile(folder, "everything", ".log");
        Process process = builder.redirectOutput(log.toFile()).start();
        long end = System.nanoTime() + LIMIT.toNanos();
        while (!Files.readString(log).contains("listening on port")) {
            assertThat(System.nanoTime())
                    .as("server in time, it said " + Files.readString(log))
                    .isLessThan(end);
            TimeUnit.MILLISECONDS.sleep(50);
        }
        return new Served(process);
    }

    private static int freePort() throws IOException {
        try (ServerSocket socket = new ServerSocket(0)) {
            return socket.getLocalPort();
        }
    }
}
