package dev.millrace.tools.mcp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.millrace.schemas.JsonObject;
import dev.millrace.schemas.ToolDefinition;
import dev.millrace.tool.api.ToolContext;
import dev.millrace.tool.api.ToolException;
import dev.millrace.tools.CallContext;
import dev.millrace.tools.CallableTool;
import dev.millrace.tools.ToolRegistry;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What a client has to bear with, with a server that does it on purpose. */
@Tag("slow")
class StubMcpServerTest {

    private static final Duration LIMIT = Duration.ofSeconds(20);
    private static final ToolContext CONTEXT = new CallContext("task-1", "session-1", "acme", "task-1/1/0");

    private final Semaphore changes = new Semaphore(0);
    private @Nullable McpTools tools;

    @TempDir
    Path folder;

    @AfterEach
    void close() {
        if (tools != null) {
            tools.close();
        }
    }

    @Test
    @DisplayName("F-170: <server>__<tool>, [server], all pages, annotations as side effects")
    void shouldShowTheToolsOfTheServer() throws Exception {
        // when
        McpTools started = start("stub");
        List<ToolDefinition> definitions = new ToolRegistry(List.of(), List.of(started)).definitions();
        // then
        assertThat(definitions)
                .extracting(ToolDefinition::name)
                .containsExactly(
                        "stub__die",
                        "stub__grow",
                        "stub__meta",
                        "stub__no",
                        "stub__refuse",
                        "stub__shrink",
                        "stub__slow");
        ToolDefinition meta = definitions.get(2);
        assertThat(meta.description()).isEqualTo("[stub] does meta");
        assertThat(meta.sideEffects()).isEqualTo(ToolDefinition.SideEffects.READ_ONLY);
        assertThat(meta.timeoutMs()).isEqualTo(30_000);
        assertThat(definitions.getFirst().sideEffects()).isEqualTo(ToolDefinition.SideEffects.DESTRUCTIVE);
        assertThat(definitions.getLast().sideEffects()).isEqualTo(ToolDefinition.SideEffects.IDEMPOTENT);
    }

    @Test
    void shouldHandTheIdempotencyKeyOn() throws Exception {
        // given
        McpTools started = start("stub");
        // when
        Object result = tool(started, "stub__meta").call(JsonObject.of(Map.of()), CONTEXT);
        // then
        assertThat(String.valueOf(result))
                .contains("\"dev.millrace/idempotencyKey\":\"task-1/1/0\"")
                .contains("\"dev.millrace/taskId\":\"task-1\"")
                .contains("\"dev.millrace/namespace\":\"acme\"")
                .contains("\"progressToken\"");
    }

    @Test
    void shouldPassOnThatTheToolOrTheServerSaysNo() throws Exception {
        // given
        McpTools started = start("stub");
        // then
        assertThatThrownBy(() -> tool(started, "stub__no").call(JsonObject.of(Map.of()), CONTEXT))
                .isInstanceOf(ToolException.class)
                .hasMessage("I would rather not")
                .extracting(e -> ((ToolException) e).code())
                .isEqualTo("mcp_tool_error");
        assertThatThrownBy(() -> tool(started, "stub__refuse").call(JsonObject.of(Map.of()), CONTEXT))
                .isInstanceOf(ToolException.class)
                .hasMessageContaining("these arguments are an insult")
                .extracting(e -> ((ToolException) e).code())
                .isEqualTo("mcp_refused");
    }

    @Test
    void shouldTellTheServerThatNobodyWaitsAnyMore() throws Exception {
        // given
        McpTools started = start("stub");
        CompletableFuture<String> outcome = new CompletableFuture<>();
        Thread caller = Thread.ofVirtual().start(() -> {
            try {
                outcome.complete(String.valueOf(tool(started, "stub__slow").call(JsonObject.of(Map.of()), CONTEXT)));
            } catch (InterruptedException e) {
                outcome.complete("interrupted");
            } catch (ToolException e) {
                outcome.complete(e.code());
            }
        });
        awaitDiary("\"name\":\"slow\"");
        // when
        caller.interrupt();
        // then
        assertThat(outcome.get(20, TimeUnit.SECONDS)).isEqualTo("interrupted");
        awaitDiary("notifications/cancelled");
        String requestId = diary().lines()
                .filter(line -> line.contains("\"name\":\"slow\""))
                .map(line -> line.replaceAll(".*\"id\":(\"[^\"]*\"|\\d+).*", "$1"))
                .findFirst()
                .orElseThrow();
        assertThat(diary()).contains("\"requestId\":" + requestId);
    }

    @Test
    void shouldFailTheCallWhenTheServerDiesAndServeTheNext() throws Exception {
        // given
        McpTools started = start("stub");
        // when, then
        assertThatThrownBy(() -> tool(started, "stub__die").call(JsonObject.of(Map.of()), CONTEXT))
                .isInstanceOf(ToolException.class)
                .hasMessageContaining("was lost during the call: it ended with exit code 7")
                .extracting(e -> ((ToolException) e).code())
                .isEqualTo("mcp_unavailable");
        assertThat(String.valueOf(tool(started, "stub__meta").call(JsonObject.of(Map.of()), CONTEXT)))
                .contains("idempotencyKey");
        assertThat(diary().lines().filter("started"::equals)).hasSize(2);
    }

    @Test
    void shouldFollowChangesOfTheList() throws Exception {
        // given
        McpTools started = start("stub");
        changes.drainPermits();
        // when
        tool(started, "stub__grow").call(JsonObject.of(Map.of()), CONTEXT);
        assertThat(changes.tryAcquire(20, TimeUnit.SECONDS)).isTrue();
        boolean there = started.find("stub__grown").isPresent();
        changes.drainPermits();
        tool(started, "stub__shrink").call(JsonObject.of(Map.of()), CONTEXT);
        assertThat(changes.tryAcquire(20, TimeUnit.SECONDS)).isTrue();
        // then
        assertThat(there).isTrue();
        assertThat(started.find("stub__grown")).isEmpty();
        assertThat(started.mayGet("stub__grown")).isFalse();
    }

    @Test
    @DisplayName("F-170: a server that fails to start or to list is skipped, and the others work")
    void shouldSkipWhatDoesNotStartOrList() throws Exception {
        // given
        McpServer.Stdio broken = StubMcpServer.described("broken", folder.resolve("broken"), "dies-at-once");
        McpServer.Stdio mute = StubMcpServer.described("mute", folder.resolve("mute"), "does-not-list");
        McpServer.Stdio missing =
                new McpServer.Stdio("missing", List.of("no-such-program"), Map.of(), null, McpServer.Terms.NONE);
        McpServer.Stdio good = StubMcpServer.described("good", folder.resolve("diary"));
        // when
        McpTools started = start(List.of(broken, mute, missing, good));
        // then
        assertThat(started.tools())
                .allMatch(tool -> tool.definition().name().startsWith("good__"))
                .isNotEmpty();
        assertThat(started.mayGet("broken__x")).isTrue();
        assertThat(started.mayGet("mute__x")).isTrue();
        assertThat(started.mayGet("nobody__x")).isFalse();
        assertThat(started.await("missing__x")).isEmpty();
    }

    @Test
    void shouldEndServersWithItself() throws Exception {
        // given
        McpTools started = start("stub");
        List<ProcessHandle> servers = ProcessHandle.current().descendants().toList();
        // when
        started.close();
        // then
        assertThat(servers).isNotEmpty().noneMatch(ProcessHandle::isAlive);
        assertThat(diary()).endsWith("ended\n");
    }

    private McpTools start(String name) throws Exception {
        return start(List.of(StubMcpServer.described(name, folder.resolve("diary"))));
    }

    private McpTools start(List<McpServer> servers) throws Exception {
        McpTools started = new McpTools(
                new McpConfiguration(servers, Map.of()), Duration.ofSeconds(30), Duration.ofSeconds(15), "1");
        tools = started;
        started.onChange(changes::release);
        started.start();
        assertThat(changes.tryAcquire(LIMIT.toSeconds(), TimeUnit.SECONDS))
                .as("tools in time")
                .isTrue();
        return started;
    }

    private static CallableTool tool(McpTools tools, String name) {
        return tools.find(name).orElseThrow();
    }

    private void awaitDiary(String text) throws Exception {
        long end = System.nanoTime() + LIMIT.toNanos();
        while (!diary().contains(text)) {
            assertThat(System.nanoTime()).as("in time: " + text).isLessThan(end);
            TimeUnit.MILLISECONDS.sleep(20);
        }
    }

    private String diary() throws IOException {
        Path diary = folder.resolve("diary");
        return Files.exists(diary) ? Files.readString(diary) : "";
    }
}
