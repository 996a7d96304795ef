package dev.millrace.standalone;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.millrace.schemas.Json;
import dev.millrace.testing.FreePort;
import dev.millrace.testing.HttpApi;
import dev.millrace.testing.ServiceProcess;
import dev.millrace.testing.StubModelServer;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Issue 6, item 5: people read and write what agents remember, over HTTP, through the one writer. One Millrace for all. */
class MemoryApiIT {

    private static final Duration LIMIT = Duration.ofSeconds(60);
    private static final String FACTS = "/facts/user.md";

    @TempDir
    private static Path folder;

    private static final HttpClient HTTP = HttpClient.newBuilder()
            .version(HttpClient.Version.HTTP_1_1)
            .connectTimeout(Duration.ofSeconds(5))
            .build();

    private static int port;
    private static StubModelServer model;
    private static ServiceProcess up;

    @BeforeAll
    @SuppressWarnings("NullAway.Init")
    static void start() {
        model = StubModelServer.start(MemoryApiIT::answer);
        port = FreePort.find();
        up = ServiceProcess.standalone(
                        "up", "--port", String.valueOf(port), "--kafka-port", String.valueOf(FreePort.find()))
                .env("OPENAI_BASE_URL", model.baseUrl().toString())
                .env("OPENAI_API_KEY", "sk-test")
                .env("MILLRACE_MODEL", "test-model-1")
                .start(folder)
                .awaitReady(URI.create("http://127.0.0.1:" + port + "/q/health/ready"));
    }

    @AfterAll
    static void stop() {
        up.close();
        model.close();
    }

    /** Reads what it may know about the user, and says it. */
    private static StubModelServer.Answer answer(StubModelServer.Request request) {
        if (request.last("user").startsWith("[Reflection]")) {
            return StubModelServer.Answer.text("Nothing worth remembering.");
        }
        boolean read = request.messages().stream().anyMatch(message -> "tool".equals(message.get("role")));
        return read
                ? StubModelServer.Answer.text(request.last("tool"))
                : StubModelServer.Answer.toolCalls(
                        new StubModelServer.ToolCall("call_1", "memory_read", "{\"path\":\"facts/user.md\"}"));
    }

    @Test
    @DisplayName(
            "F-078: what a person writes the next task knows: in its index, in each of its calls, and with memory_read")
    void shouldBeKnownToTheNextTask() {
        HttpApi api = HttpApi.onPort(port);
        HttpResponse<String> written = put("/v1/memory/default" + FACTS, "# Ada\n> Summary: Ada, an engineer\n");
        assertThat(written.statusCode()).as(written.body()).isEqualTo(201);

        JsonNode task = api.awaitEnd(api.submit("Who am I?"), LIMIT);

        assertThat(task.path("response").asText()).contains("# Ada");
        List<Map<String, @Nullable Object>> first = model.requests().getFirst().messages();
        assertThat(Json.writeText(first)).contains("[Available memory]", "- facts/user.md (34B): Ada, an engineer");
        assertThat(model.requests().get(1).messages().subList(0, first.size())).isEqualTo(first);
    }

    @Test
    @DisplayName(
            "of people that write one version at once exactly one wins; a task that was quicker is not overwritten either")
    void shouldLoseNothing() {
        String document = "/v1/memory/race" + FACTS;
        String tag = etag(put(document, "# one", "If-None-Match", "*"));
        assertThat(put(document, "# two", "If-None-Match", "*").statusCode()).isEqualTo(412);

        List<Integer> statuses = IntStream.range(0, 8)
                .mapToObj(i ->
                        CompletableFuture.supplyAsync(() -> put(document + "?by=p" + i, "# by " + i, "If-Match", tag)
                                .statusCode()))
                .toList()
                .stream()
                .map(CompletableFuture::join)
                .sorted()
                .toList();

        assertThat(statuses).containsExactly(200, 412, 412, 412, 412, 412, 412, 412);
        HttpResponse<String> now = get(document);
        JsonNode versions = json(get(document + "/versions")).path("versions");
        assertThat(versions).hasSize(2);
        assertThat(now.body())
                .isEqualTo("# by " + versions.get(0).path("updatedBy").asText().replace("person p", ""));
        assertThat(versions.get(0).path("etag").asText()).isEqualTo(etag(now));

        HttpResponse<String> stale = put(document, "# late", "If-Match", tag);
        assertThat(stale.statusCode()).isEqualTo(412);
        assertThat(json(stale).path("code").asText()).isEqualTo("precondition_failed");
        assertThat(json(stale).path("etag").asText()).isEqualTo(etag(now));
        assertThat(put(document, "# weak", "If-Match", "W/" + etag(now)).statusCode())
                .isEqualTo(412);
    }

    @Test
    @DisplayName("a document is read, written, taken away and brought back; each is a version with its author")
    void shouldKeepHistory() {
        String document = "/v1/memory/ada@example.org" + FACTS;
        HttpResponse<String> first = put(document + "?by=ada", "# One\n> Summary: first\n");
        assertThat(first.statusCode()).isEqualTo(201);
        HttpResponse<String> second =
                put(document, "# Zwei\r\nGröße\n", "If-Match", etag(first), "Idempotency-Key", "k1");
        HttpResponse<String> again =
                put(document, "# Zwei\r\nGröße\n", "If-Match", etag(first), "Idempotency-Key", "k1");
        assertThat(second.statusCode()).isEqualTo(200);
        assertThat(again.statusCode()).as("the same key is the same edit").isEqualTo(200);
        assertThat(etag(again)).isEqualTo(etag(second));

        HttpResponse<String> read = get(document);
        assertThat(read.body()).isEqualTo("# Zwei\r\nGröße\n");
        assertThat(read.headers().firstValue("Content-Type")).hasValue("text/markdown;charset=UTF-8");
        assertThat(get(document, "If-None-Match", "\"x\", W/" + etag(read)).statusCode())
                .isEqualTo(304);
        assertThat(get(document, "If-Match", "\"x\"").statusCode()).isEqualTo(412);

        JsonNode listed = json(get("/v1/memory/ada@example.org"));
        assertThat(listed.path("documents")).hasSize(1);
        assertThat(listed.path("documents").get(0).path("size").asInt()).isEqualTo(16);

        assertThat(delete(document, "If-Match", etag(first)).statusCode()).isEqualTo(412);
        assertThat(delete(document + "?by=bob", "If-Match", etag(read)).statusCode())
                .isEqualTo(204);
        assertThat(get(document).statusCode()).isEqualTo(404);
        assertThat(delete(document).statusCode()).isEqualTo(404);
        assertThat(json(get("/v1/memory/ada@example.org")).path("documents")).isEmpty();
        assertThat(versions(document)).containsExactly("3 person bob, gone", "2 person", "1 person ada");

        assertThat(get(document + "/versions/1").body()).isEqualTo("# One\n> Summary: first\n");
        assertThat(get(document + "/versions/3").statusCode()).isEqualTo(404);
        HttpResponse<String> restored = send(request(document + "/versions/1/restore?by=eve", "If-None-Match", "*")
                .POST(BodyPublishers.noBody()));
        assertThat(restored.statusCode()).as(restored.body()).isEqualTo(201);
        assertThat(json(restored).path("summary").asText()).isEqualTo("first");
        assertThat(get(document).body()).isEqualTo("# One\n> Summary: first\n");
        assertThat(versions(document))
                .containsExactly("4 person eve", "3 person bob, gone", "2 person", "1 person ada");
        assertThat(send(request(document + "/versions/9/restore").POST(BodyPublishers.noBody()))
                        .statusCode())
                .isEqualTo(404);
        assertThat(json(get("/v1/memory")).path("namespaces").findValuesAsText("namespace"))
                .contains("ada@example.org");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "..%2F..%2Fetc%2Fpasswd",
                "facts%2F..%2Fx.md",
                "facts/a..b.md",
                "facts/.hidden.md",
                "facts/a/b.md",
                "facts/user.txt",
                "facts/us%00er.md",
                "facts/us%0Aer.md",
                "facts/%E2%80%AEuser.md",
                "facts/user.md@1",
                "facts%5C..%5Cx.md",
                "%2Ffacts/user.md",
                "C:%5Cx.md",
                "episodes/2026-13.md",
                "other/user.md"
            })
    void shouldRefuseHostilePaths(String path) {
        for (HttpRequest.Builder request : List.of(
                request("/v1/memory/default/" + path).GET(),
                request("/v1/memory/default/" + path).DELETE(),
                request("/v1/memory/default/" + path)
                        .header("Content-Type", "text/markdown")
                        .PUT(BodyPublishers.ofString("x")),
                request("/v1/memory/default/" + path + "/versions").GET())) {
            HttpResponse<String> refused = send(request);
            assertThat(refused.statusCode()).as(path + ": " + refused.body()).isIn(400, 404, 405);
            if (refused.statusCode() == 400) {
                assertThat(refused.body()).contains("episodes/YYYY-MM.md");
            }
        }
        assertThat(get("/v1/memory/default").body()).doesNotContain("passwd", "hidden", "user.txt");
    }

    @Test
    void shouldRefuseWhatIsTooLargeOrNoText() {
        String namespace = "/v1/memory/limits";
        assertThat(put(namespace + FACTS, "x".repeat(15 * 1024)).statusCode()).isEqualTo(201);
        assertThat(put(namespace + FACTS, "x".repeat(15 * 1024 + 1)).statusCode())
                .isEqualTo(413);
        assertThat(put(namespace + "/episodes/2026-11.md", "\u0001".repeat(100 * 1024))
                        .statusCode())
                .isEqualTo(201);
        assertThat(put(namespace + "/episodes/2026-11.md", "x".repeat(100 * 1024 + 1))
                        .statusCode())
                .isEqualTo(413);
        HttpResponse<String> bytes = send(request(namespace + FACTS)
                .header("Content-Type", "text/markdown")
                .PUT(BodyPublishers.ofByteArray(new byte[] {(byte) 0xC3, 0x28})));
        assertThat(bytes.statusCode()).isEqualTo(400);
        assertThat(json(bytes).path("code").asText()).isEqualTo("bad_text");
        assertThat(send(request(namespace + FACTS)
                                .header("Content-Type", "application/json")
                                .PUT(BodyPublishers.ofString("{}")))
                        .statusCode())
                .isEqualTo(415);
        assertThat(send(request(namespace + FACTS).PUT(BodyPublishers.ofString("no type")))
                        .statusCode())
                .isEqualTo(200);
        assertThat(put(namespace + FACTS, "x", "If-Match", "nonsense").statusCode())
                .isEqualTo(400);
        assertThat(put(namespace + FACTS + "?by=%1B%5B2J", "x").statusCode()).isEqualTo(400);
        assertThat(get(namespace + "%2Fx").statusCode()).isIn(400, 404);
    }

    @Test
    @DisplayName("the command line does the same: out as files and in again, back one version, away")
    void shouldServeTheCommandLine() throws IOException {
        put("/v1/memory/cli" + FACTS, "# One\n> Summary: first\n");
        Path files = folder.resolve("exported");

        assertThat(memory("export", files.toString()).out()).isEqualTo("cli/facts/user.md\n");
        Path file = files.resolve("cli/facts/user.md");
        assertThat(file).hasContent("# One\n> Summary: first\n");
        Files.writeString(file, "# Größe\n");
        assertThat(CommandRun.of("memory", "import", files.toString(), "--by", "ada", "--url", base())
                        .out())
                .isEqualTo("changed: cli/facts/user.md\n");
        assertThat(memory("show", "facts/user.md").out()).isEqualTo("# Größe\n");
        assertThat(memory("history", "facts/user.md").out()).contains("person ada");
        assertThat(memory("show", "facts/user.md", "--at", "1").out()).startsWith("# One");
        assertThat(memory("undo", "facts/user.md").out()).contains("as in version 1 again; that is version 3");
        assertThat(memory("list").out()).containsPattern("facts/user.md +23 +3 .* first");
        assertThat(memory("remove", "facts/user.md").exitCode()).isZero();
        assertThat(memory("show", "facts/user.md").err()).contains("no document facts/user.md");
    }

    private static CommandRun memory(String... arguments) {
        return CommandRun.of(
                Stream.of(Stream.of("memory"), Stream.of(arguments), Stream.of("--namespace", "cli", "--url", base()))
                        .flatMap(part -> part)
                        .toArray(String[]::new));
    }

    private static String base() {
        return "http://127.0.0.1:" + port;
    }

    private static List<String> versions(String document) {
        Stream<JsonNode> versions = StreamSupport.stream(
                json(get(document + "/versions")).path("versions").spliterator(), false);
        return versions.map(version -> version.path("version").asText()
                        + ' '
                        + version.path("updatedBy").asText()
                        + (version.path("deleted").asBoolean() ? ", gone" : ""))
                .toList();
    }

    private static HttpResponse<String> get(String path, String... headers) {
        return send(request(path, headers).GET());
    }

    private static HttpResponse<String> delete(String path, String... headers) {
        return send(request(path, headers).DELETE());
    }

    private static HttpResponse<String> put(String path, String content, String... headers) {
        return send(
                request(path, headers).header("Content-Type", "text/markdown").PUT(BodyPublishers.ofString(content)));
    }

    private static HttpRequest.Builder request(String path, String... headers) {
        HttpRequest.Builder request =
                HttpRequest.newBuilder(URI.create(base() + path)).timeout(LIMIT);
        return headers.length == 0 ? request : request.headers(headers);
    }

    private static HttpResponse<String> send(HttpRequest.Builder request) {
        try {
            return HTTP.send(request.build(), BodyHandlers.ofString());
        } catch (IOException e) {
            throw new AssertionError(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new AssertionError(e);
        }
    }

    private static String etag(HttpResponse<String> response) {
        return response.headers().firstValue("ETag").orElseThrow(() -> new AssertionError(response.body()));
    }

    private static JsonNode json(HttpResponse<String> response) {
        try {
            return Json.MAPPER.readTree(response.body());
        } catch (IOException e) {
            throw new AssertionError(response.body(), e);
        }
    }
}
