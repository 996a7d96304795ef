package dev.millrace.standalone;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.millrace.testing.FreePort;
import dev.millrace.testing.HttpApi;
import dev.millrace.testing.ServiceProcess;
import dev.millrace.testing.StubModelServer;
import dev.millrace.testing.StubModelServer.Answer;
import dev.millrace.testing.StubModelServer.ToolCall;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.Semaphore;
import java.util.stream.IntStream;
import java.util.stream.StreamSupport;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What grows, and what models reply, up to where no record and no prompt would take it. One Millrace for all. */
class GrowthIT {

    private static final Duration LIMIT = Duration.ofSeconds(60);
    /** Long before the 15 minutes after which a task stops waiting for a reply. */
    private static final Duration AT_ONCE = Duration.ofSeconds(20);

    private static final int DOCUMENTS = 5_000;

    @TempDir
    private static Path folder;

    private static final List<StubModelServer.Request> ASKED = new CopyOnWriteArrayList<>();
    private static final HttpClient HTTP =
            HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();

    private static int port;
    private static StubModelServer model;
    private static ServiceProcess up;

    @BeforeAll
    @SuppressWarnings("NullAway.Init")
    static void start() {
        model = StubModelServer.start(GrowthIT::answer);
        port = FreePort.find();
        up = ServiceProcess.standalone(
                        "up", "--port", String.valueOf(port), "--kafka-port", String.valueOf(FreePort.find()))
                .env("OPENAI_BASE_URL", model.baseUrl().toString())
                .env("OPENAI_API_KEY", "sk-test")
                .env("MILLRACE_MODEL", "test-model-1")
                .env("MILLRACE_AGENT_REFLECTION_ENABLED", "true")
                .start(folder)
                .awaitReady(URI.create("http://127.0.0.1:" + port + "/q/health/ready"));
    }

    @AfterAll
    static void stop() {
        up.close();
        model.close();
    }

    @AfterEach
    void shouldBeAlive() {
        assertThat(api().get("/q/health/live").body()).contains("\"UP\"").doesNotContain("\"DOWN\"");
        assertThat(api().status("/q/health/ready")).isEqualTo(200);
    }

    @Test
    @DisplayName(
            "C2: with 5000 documents in a namespace, memory_list, a first prompt, a reflection and the list over HTTP all"
                    + " answer, and none of them grows with it")
    void shouldRememberFiveThousandDocuments() throws Exception {
        write();
        HttpApi api = api();
        Awaitility.await().atMost(LIMIT).until(() -> extent(api) == DOCUMENTS);
        assertThat(paths(api)).hasSize(DOCUMENTS).doesNotHaveDuplicates();

        String taskId = api.submit("list your memory");
        assertThat(api.awaitEnd(taskId, LIMIT).path("response").asText()).isEqualTo("listed");
        Awaitility.await()
                .atMost(LIMIT)
                .until(() -> api.events(taskId).stream()
                        .anyMatch(event -> event.path("type").asText().equals("REFLECTION_COMPLETE")));

        StubModelServer.Request first = asked("list your memory").getFirst();
        String index = String.valueOf(first.messages().get(1).get("content"));
        assertThat(index).startsWith("[Available memory]").contains("more documents; memory_list shows them");
        assertThat(first.text()).hasSizeLessThan(100_000);
        String listed = asked("list your memory").getLast().last("tool");
        assertThat(listed).contains("\"more\":", "\"cursor\":").hasSizeLessThan(60_000);
        StubModelServer.Request reflection = asked("[Reflection]").stream()
                .filter(request -> request.text().contains("list your memory"))
                .findFirst()
                .orElseThrow();
        assertThat(reflection.text()).hasSizeLessThan(400_000).contains("memory_list");
    }

    @ParameterizedTest
    @ValueSource(strings = {"number 1e400", "number 1e-400", "whole number", "nested"})
    @DisplayName("F-301, H8: arguments that no event can have are told back to the model, which goes on at once")
    void shouldTellTheModelOfArgumentsThatNoEventCanHave(String odd) {
        String taskId = api().submit("odd arguments: " + odd);

        JsonNode task = api().awaitEnd(taskId, AT_ONCE);

        assertThat(task.path("response").asText()).as("%s", task).isEqualTo("corrected");
        assertThat(asked("odd arguments: " + odd).getLast().last("tool"))
                .contains("INVALID JSON ARGUMENTS: expected a JSON object, found: one with ");
    }

    @ParameterizedTest
    @CsvSource({"long text, bad_response", "many calls, bad_response"})
    @DisplayName("H8: a reply that no event can tell fails its call at once, and is counted")
    void shouldFailAReplyThatNoEventCanTell(String odd, String code) {
        String taskId = api().submit("odd reply: " + odd);

        JsonNode task = api().awaitEnd(taskId, AT_ONCE);

        assertThat(task.path("state").asText()).as("%s", task).isEqualTo("failed");
        assertThat(task.path("errorCode").asText()).as("%s", task).isEqualTo(code);
        JsonNode failed = api().events(taskId).stream()
                .filter(event -> event.path("type").asText().equals("MODEL_CALL_FAILED"))
                .findFirst()
                .orElseThrow()
                .path("payload");
        assertThat(failed.path("code").asText()).isEqualTo(code);
        assertThat(failed.path("usage").path("inputTokens").asLong()).isEqualTo(10);
        assertThat(failed.path("usage").path("outputTokens").asLong()).isEqualTo(5);
    }

    @Test
    @DisplayName(
            "H8: half of a surrogate pair, ids that are not unique and names of any length are taken as they can be")
    void shouldTakeOddTexts() {
        JsonNode text = api().awaitEnd(api().submit("odd text"), AT_ONCE);
        JsonNode calls = api().awaitEnd(api().submit("odd calls"), AT_ONCE);

        assertThat(text.path("response").asText()).as("%s", text).isEqualTo("a\uFFFDb");
        assertThat(calls.path("response").asText()).as("%s", calls).isEqualTo("corrected");
    }

    @Test
    @DisplayName("a message that ends a list's line within a character is shown, and stops nothing")
    void shouldShowALongMessageOfEmoji() {
        String taskId = api().submit("odd text " + "😀".repeat(1_000));

        JsonNode task = api().awaitEnd(taskId, AT_ONCE);
        assertThat(task.path("state").asText()).as("%s", task).isEqualTo("completed");
    }

    private static Answer answer(StubModelServer.Request request) {
        ASKED.add(request);
        String said = request.last("user");
        boolean done = request.messages().stream().anyMatch(message -> "tool".equals(message.get("role")));
        if (said.startsWith("[Reflection]")) {
            return Answer.text("Nothing worth remembering.");
        }
        if (done) {
            return Answer.text(said.startsWith("list") ? "listed" : "corrected");
        }
        return switch (said.startsWith("odd text") ? "odd text" : said) {
            case "list your memory" -> Answer.toolCalls(new ToolCall("c1", "memory_list", "{\"limit\":1000}"));
            case "odd arguments: number 1e400" -> calling("{\"n\":1e400}");
            case "odd arguments: number 1e-400" -> calling("{\"n\":[1e-400]}");
            case "odd arguments: whole number" -> calling("{\"n\":1" + "0".repeat(309) + "}");
            case "odd arguments: nested" -> calling("{\"n\":" + "[".repeat(120) + "]".repeat(120) + "}");
            case "odd reply: long text" -> Answer.text("x".repeat(1_000_001));
            case "odd reply: many calls" ->
                Answer.toolCalls(IntStream.range(0, 1_500)
                        .mapToObj(i -> new ToolCall("c" + i, "current_time", "{}"))
                        .toArray(ToolCall[]::new));
            case "odd text" ->
                Answer.events(
                        "{\"id\":\"1\",\"object\":\"chat.completion.chunk\",\"created\":1,\"model\":\"m\",\"choices\":"
                                + "[{\"index\":0,\"delta\":{\"role\":\"assistant\",\"content\":\"a\\ud83db\"},"
                                + "\"finish_reason\":null}]}",
                        "{\"id\":\"1\",\"object\":\"chat.completion.chunk\",\"created\":1,\"model\":\"m\",\"choices\":"
                                + "[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}],\"usage\":{"
                                + "\"prompt_tokens\":2147483647,\"completion_tokens\":5}}",
                        "[DONE]");
            case "odd calls" ->
                Answer.toolCalls(
                        new ToolCall("same", "current_time", "{}"),
                        new ToolCall("same", "current_time", "{}"),
                        new ToolCall("i".repeat(2_000), "n".repeat(200_000), "{}"));
            default -> Answer.text("hello");
        };
    }

    private static Answer calling(String arguments) {
        return Answer.toolCalls(new ToolCall("c1", "current_time", arguments));
    }

    private static List<StubModelServer.Request> asked(String text) {
        return ASKED.stream()
                .filter(request -> request.last("user").startsWith(text))
                .toList();
    }

    private static void write() throws InterruptedException, ExecutionException {
        Semaphore places = new Semaphore(64);
        List<Future<Integer>> written = new ArrayList<>();
        try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
            for (int i = 0; i < DOCUMENTS; i++) {
                String path = String.format(Locale.ROOT, "/v1/memory/default/facts/note-%04d.md?wait=0s", i);
                String content = "# Note " + i + "\n> Summary: " + "what it says ".repeat(25) + "\n" + "x".repeat(300);
                written.add(threads.submit(() -> {
                    places.acquire();
                    try {
                        return put(path, content);
                    } finally {
                        places.release();
                    }
                }));
            }
        }
        for (Future<Integer> status : written) {
            assertThat(status.get()).isBetween(200, 202);
        }
    }

    private static int put(String path, String content) throws IOException, InterruptedException {
        return HTTP.send(
                        HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + path))
                                .timeout(LIMIT)
                                .header("Content-Type", "text/markdown")
                                .PUT(BodyPublishers.ofString(content))
                                .build(),
                        BodyHandlers.ofString())
                .statusCode();
    }

    private static long extent(HttpApi api) {
        return StreamSupport.stream(
                        api.get("/v1/memory").json().path("namespaces").spliterator(), false)
                .filter(namespace -> namespace.path("namespace").asText().equals("default"))
                .mapToLong(namespace -> namespace.path("documents").asLong())
                .sum();
    }

    private static List<String> paths(HttpApi api) {
        List<String> paths = new ArrayList<>();
        String cursor = "";
        while (cursor != null) {
            JsonNode page = api.get("/v1/memory/default?limit=1000&cursor=" + cursor.replace("/", "%2F"))
                    .json();
            page.path("documents")
                    .forEach(document -> paths.add(document.path("path").asText()));
            cursor = page.hasNonNull("next") ? page.path("next").asText() : null;
        }
        return paths;
    }

    private static HttpApi api() {
        return HttpApi.onPort(port);
    }
}
