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
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
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

            assertReplayAndFork(api, task.path("taskId").asText(), model);
        }
    }

    /** A replay asks nobody; a fork is shown what its origin was shown, with another result, and asks once. */
    private static void assertReplayAndFork(HttpApi api, String taskId, StubModelServer model) {
        JsonNode replay = api.get("/v1/tasks/" + taskId + "/replay").json();
        assertThat(replay.path("equal").asBoolean()).as("%s", replay).isTrue();
        assertThat(replay.path("events").asInt()).isEqualTo(api.events(taskId).size());
        assertThat(replay.at("/steps/0/fromState").asText()).isEqualTo("absent");
        assertThat(replay.path("steps")
                        .path(replay.path("length").asInt() - 1)
                        .path("toState")
                        .asText())
                .isEqualTo("completed");
        assertThat(model.calls()).isEqualTo(3);

        String read = api.events(taskId).stream()
                .filter(event -> event.path("type").asText().equals("TOOL_CALL_COMPLETED"))
                .reduce((one, other) -> other)
                .orElseThrow()
                .path("id")
                .asText();
        Map<String, Object> wanted =
                Map.of("fromEvent", read, "result", Map.of("content", "A windmill, of all things"), "id", "the-fork");
        for (int times = 0; times < 2; times++) {
            HttpApi.Answer forked = api.post("/v1/tasks/" + taskId + "/fork", wanted);
            assertThat(forked.status()).as(forked.body()).isEqualTo(202);
        }
        JsonNode fork = api.awaitEnd("the-fork", Duration.ofSeconds(40));
        assertThat(fork.path("response").asText()).contains("A windmill, of all things");
        assertThat(fork.at("/forkedFrom/taskId").asText()).isEqualTo(taskId);
        assertThat(model.calls()).isEqualTo(4);
        assertThat(withoutLast(model.requests().get(3)))
                .isEqualTo(withoutLast(model.requests().get(2)));
        assertThat(api.get("/v1/tasks?forkedFrom=" + taskId)
                        .json()
                        .at("/tasks/0/taskId")
                        .asText())
                .isEqualTo("the-fork");
        assertThat(api.get("/v1/tasks/the-fork/replay").json().path("equal").asBoolean())
                .isTrue();
        assertThat(model.calls()).isEqualTo(4);
        HttpApi.Answer nowhere = api.post("/v1/tasks/" + taskId + "/fork", Map.of("fromEvent", "nobody's"));
        assertThat(nowhere.status()).isEqualTo(422);
        assertThat(nowhere.body()).contains("unknown_event");
    }

    private static List<Map<String, @Nullable Object>> withoutLast(StubModelServer.Request request) {
        return request.messages().subList(0, request.messages().size() - 1);
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
