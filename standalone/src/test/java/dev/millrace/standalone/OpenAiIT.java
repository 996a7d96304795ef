package dev.millrace.standalone;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.millrace.testing.FreePort;
import dev.millrace.testing.HttpApi;
import dev.millrace.testing.ServiceProcess;
import dev.millrace.testing.StubModelServer;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The main job with a model behind a real HTTP endpoint, chosen by the usual environment variables. */
class OpenAiIT {

    @TempDir
    Path folder;

    @Test
    @DisplayName("OPENAI_BASE_URL, OPENAI_API_KEY and MILLRACE_MODEL select that endpoint; tool calls run over HTTP")
    void shouldAskTheEndpointThatTheEnvironmentNames() {
        int port = FreePort.find();
        try (StubModelServer model = StubModelServer.start(OpenAiIT::answer);
                ServiceProcess up = ServiceProcess.standalone(
                                "up", "--port", String.valueOf(port), "--kafka-port", String.valueOf(FreePort.find()))
                        .env("OPENAI_BASE_URL", model.baseUrl().toString())
                        .env("OPENAI_API_KEY", "sk-test-secret")
                        .env("MILLRACE_MODEL", "test-model-1")
                        .start(folder)) {
            up.awaitReady(URI.create("http://127.0.0.1:" + port + "/q/health/ready"));
            HttpApi api = HttpApi.onPort(port);

            JsonNode task = api.awaitEnd(
                    api.submit("Which files are in the workspace, and what does notes.txt say?"),
                    Duration.ofSeconds(40));

            assertThat(task.path("state").asText()).isEqualTo("completed");
            assertThat(task.path("response").asText()).contains("notes.txt").contains("A mill race");
            assertThat(model.calls()).isEqualTo(3);
            assertThat(model.requests())
                    .allSatisfy(request -> assertThat(request.body()).containsEntry("model", "test-model-1"));
            up.awaitOutput("test-model-1", Duration.ofSeconds(5));
            assertThat(up.output()).doesNotContain("sk-test-secret");
        }
    }

    /** Lists, then reads, then answers with what it was given: as a model would that can use tools. */
    private static StubModelServer.Answer answer(StubModelServer.Request request) {
        long results = request.messages().stream()
                .filter(message -> "tool".equals(message.get("role")))
                .count();
        return switch ((int) results) {
            case 0 ->
                StubModelServer.Answer.toolCalls(
                        new StubModelServer.ToolCall("call_1", "list_files", "{\"path\":\".\"}"));
            case 1 ->
                StubModelServer.Answer.toolCalls(
                        new StubModelServer.ToolCall("call_2", "read_file", "{\"path\":\"notes.txt\"}"));
            default -> StubModelServer.Answer.text("notes.txt is there. It says: " + request.last("tool"));
        };
    }
}
