package dev.millrace.standalone;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import dev.millrace.schemas.Json;
import dev.millrace.testing.FreePort;
import dev.millrace.testing.HttpApi;
import dev.millrace.testing.NpmPackages;
import dev.millrace.testing.ServiceProcess;
import dev.millrace.testing.StubModelServer;
import dev.millrace.testing.StubModelServer.Answer;
import dev.millrace.testing.StubModelServer.ToolCall;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Issue 5 item 9: any client of OpenAI's API talks to an agent as if it were a model. */
class OpenAiClientIT {

    private static final Duration LIMIT = Duration.ofSeconds(60);
    /** Far longer than pieces are gathered for. */
    private static final Duration BREATH = Duration.ofMillis(700);

    private static final String PIXEL =
            "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

    @TempDir
    static Path folder;

    private static final int PORT = FreePort.find();
    private static final HttpApi API = HttpApi.onPort(PORT);
    private static StubModelServer model;
    private static @Nullable ServiceProcess up;

    @BeforeAll
    static void start() {
        model = StubModelServer.start(OpenAiClientIT::answer);
        up = ServiceProcess.standalone("up", "--port", String.valueOf(PORT), "--kafka-port", "0")
                .env("OPENAI_BASE_URL", model.baseUrl().toString())
                .start(folder)
                .awaitReady(URI.create("http://127.0.0.1:" + PORT + "/q/health/ready"));
    }

    @AfterAll
    static void stop() {
        if (up != null) {
            up.close();
        }
        model.close();
    }

    @Test
    @DisplayName("the unmodified openai npm package runs a chat, a stream, a conversation and a question")
    void shouldServeTheNpmPackage() throws Exception {
        Optional<Path> installed = NpmPackages.install("OpenAiClientIT", "openai@6.49.0");
        Assumptions.assumeTrue(installed.isPresent(), "Node or the package is missing");
        Path script = installed
                .orElseThrow()
                .resolve("chat-" + ProcessHandle.current().pid() + ".mjs");
        Files.writeString(script, """
                import OpenAI from 'openai'
                const client = new OpenAI({ baseURL: process.argv[2], apiKey: 'none' })
                const ask = (messages, more = {}) =>
                  client.chat.completions.create({ model: 'general', messages, ...more })
                const found = {}
                found.models = (await client.models.list()).data.map(model => model.id)
                found.model = (await client.models.retrieve('general')).id
                found.chat = await ask([{ role: 'user', content: 'hello' }])

                const stream = await ask([{ role: 'user', content: 'use a tool' }],
                  { stream: true, stream_options: { include_usage: true }, user: 'u1' })
                found.pieces = []
                for await (const piece of stream) found.pieces.push(piece)

                const slowly = await ask([{ role: 'user', content: 'piece by piece' }], { stream: true })
                found.slowly = []
                for await (const piece of slowly) {
                  const content = piece.choices[0]?.delta?.content
                  if (content) found.slowly.push(content)
                }

                const messages = [
                  { role: 'system', content: 'Be brief.' },
                  { role: 'user', content: [{ type: 'text', text: 'remember 42' },
                    { type: 'image_url', image_url: { url: 'data:image/png;base64,PIXEL' } }] }]
                const first = await ask(messages, { user: 'u2' })
                messages.push(first.choices[0].message, { role: 'user', content: 'which number?' })
                found.second = (await ask(messages, { user: 'u2' })).choices[0].message.content

                const asking = [{ role: 'user', content: 'ask me' }]
                const question = (await ask(asking, { user: 'u3' })).choices[0].message
                asking.push(question, { role: 'user', content: 'blue' })
                found.question = question.content
                found.answered = (await ask(asking, { user: 'u3' })).choices[0].message.content

                const failure = async attempt => {
                  try { return await attempt() } catch (e) {
                    return { name: e.constructor.name, status: e.status, code: e.code, param: e.param } }
                }
                found.unknown = await failure(() => client.chat.completions.create(
                  { model: 'nobody', messages: [{ role: 'user', content: 'hello' }] }))
                found.tools = await failure(() => ask([{ role: 'user', content: 'hello' }],
                  { tools: [{ type: 'function', function: { name: 'f' } }] }))
                found.failed = await failure(() => ask([{ role: 'user', content: 'break' }]))
                console.log(JSON.stringify(found))
                """.replace("PIXEL", PIXEL));

        // when
        JsonNode found = run(script);

        // then
        assertThat(found.path("models").toString()).contains("general", "explore");
        assertThat(found.path("model").asText()).isEqualTo("general");
        JsonNode chat = found.path("chat");
        assertThat(chat.path("object").asText()).isEqualTo("chat.completion");
        assertThat(chat.path("choices").path(0).path("message").path("content").asText())
                .isEqualTo("You said: hello");
        assertThat(chat.path("choices").path(0).path("finish_reason").asText()).isEqualTo("stop");
        assertThat(chat.path("usage").path("total_tokens").asInt()).isEqualTo(15);

        StringBuilder text = new StringBuilder();
        JsonNode pieces = found.path("pieces");
        pieces.forEach(piece -> text.append(
                piece.path("choices").path(0).path("delta").path("content").asText("")));
        assertThat(text).hasToString("The tool says so.");
        assertThat(found.path("slowly"))
                .as("what the model says comes while it says it")
                .extracting(JsonNode::asText)
                .containsExactly("One ", "two ", "three.");
        assertThat(pieces.path(0)
                        .path("choices")
                        .path(0)
                        .path("delta")
                        .path("role")
                        .asText())
                .isEqualTo("assistant");
        assertThat(pieces.path(pieces.size() - 1)
                        .path("usage")
                        .path("total_tokens")
                        .asInt())
                .as("two calls")
                .isEqualTo(30);

        assertThat(found.path("second").asText())
                .as("it was shown the whole conversation")
                .isEqualTo("42 and an image");
        assertThat(found.path("question").asText()).isEqualTo("Which colour?");
        assertThat(found.path("answered").asText()).isEqualTo("You said: blue");

        assertThat(found.path("unknown").path("name").asText()).isEqualTo("NotFoundError");
        assertThat(found.path("unknown").path("code").asText()).isEqualTo("model_not_found");
        assertThat(found.path("tools").path("code").asText()).isEqualTo("unsupported_parameter");
        assertThat(found.path("tools").path("param").asText()).isEqualTo("tools");
        assertThat(found.path("failed").path("name").asText()).isEqualTo("BadRequestError");
        assertThat(found.path("failed").path("code").asText()).isEqualTo("content_filter");
        assertThat(model.requests().stream()
                        .filter(request -> request.last("user").equals("break")))
                .as("it was told not to repeat what failed")
                .hasSize(1);
    }

    @Test
    @DisplayName("a client that goes takes its task with it, streaming or not")
    void shouldCancelTheTaskOfAClientThatIsGone() throws Exception {
        for (boolean stream : List.of(false, true)) {
            String session = "gone-" + stream;
            byte[] body = Json.write(Map.of(
                    "model",
                    "general",
                    "stream",
                    stream,
                    "user",
                    session,
                    "messages",
                    List.of(Map.of("role", "user", "content", "slow " + stream))));
            try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), PORT)) {
                socket.getOutputStream()
                        .write(
                                ("POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                                                + "Content-Length: " + body.length + "\r\n\r\n")
                                        .getBytes(StandardCharsets.US_ASCII));
                socket.getOutputStream().write(body);
                await().atMost(LIMIT)
                        .until(() -> model.requests().stream()
                                .anyMatch(request -> request.last("user").equals("slow " + stream)));
            }
            await().atMost(LIMIT).until(() -> "cancelled".equals(state(session)));
        }
    }

    @Test
    @DisplayName("what a request asks for and cannot have is refused by name")
    void shouldRefuseWhatCannotBeHad() throws IOException {
        List<Map<String, Object>> hello = List.of(Map.of("role", "user", "content", "hello"));
        refused(Map.of("messages", hello), "model");
        refused(Map.of("model", "general"), "messages");
        refused(Map.of("model", "general", "messages", List.of()), "messages");
        refused(Map.of("model", "general", "messages", hello, "n", 2), "n");
        refused(Map.of("model", "general", "messages", hello, "stream_options", Map.of()), "stream_options");
        refused(
                Map.of("model", "general", "messages", hello, "response_format", Map.of("type", "json_object")),
                "response_format");
        refused(message(Map.of("role", "assistant", "content", "hello")), "messages[0].role");
        refused(message(Map.of("role", "user", "content", " ")), "messages[0].content");
        refused(message(Map.of("role", "user", "content", "x".repeat(100_001))), "messages[0].content");
        refused(
                message(Map.of(
                        "role",
                        "user",
                        "content",
                        List.of(Map.of("type", "image_url", "image_url", Map.of("url", "https://example.org/a.png"))))),
                "messages[0].content[0].image_url.url");
        HttpApi.Answer large =
                API.post("/v1/chat/completions", Map.of("model", "general", "messages", "x".repeat(3_000_000)));
        assertThat(large.status()).isEqualTo(413);
        assertThat(large.json().path("error").path("code").asText()).isEqualTo("body_too_large");
        assertThat(API.post(
                                "/v1/chat/completions",
                                Map.of("Content-Type", "application/json"),
                                "no".getBytes(StandardCharsets.UTF_8))
                        .json()
                        .path("error")
                        .path("code")
                        .asText())
                .isEqualTo("bad_json");
    }

    private static Map<String, Object> message(Map<String, Object> message) {
        return Map.of("model", "general", "messages", List.of(message));
    }

    private static void refused(Map<String, Object> request, String param) {
        HttpApi.Answer answer = API.post("/v1/chat/completions", request);
        assertThat(answer.status()).as(answer.body()).isEqualTo(400);
        JsonNode error = answer.json().path("error");
        assertThat(error.path("param").asText()).isEqualTo(param);
        assertThat(error.path("type").asText()).isEqualTo("invalid_request_error");
        assertThat(error.path("message").asText()).startsWith(param + ": expected ");
    }

    private static String state(String session) {
        return API.get("/v1/tasks?sessionId=" + session)
                .json()
                .path("tasks")
                .path(0)
                .path("state")
                .asText();
    }

    private static String piece(String text) {
        return chunk(Map.of("index", 0, "delta", Map.of("role", "assistant", "content", text)));
    }

    private static String chunk(Map<String, Object> choice) {
        return Json.writeText(Map.of(
                "id",
                "chatcmpl-1",
                "object",
                "chat.completion.chunk",
                "created",
                1,
                "model",
                "stub-model",
                "choices",
                List.of(choice)));
    }

    private static Answer answer(StubModelServer.Request request) {
        String said = request.last("user");
        boolean first = request.messages().stream().noneMatch(message -> "tool".equals(message.get("role")));
        if (said.startsWith("slow")) {
            return Answer.text("nobody hears this").after(LIMIT);
        }
        return switch (said) {
            case "use a tool" -> first ? call("current_time", "{}") : Answer.text("The tool says so.");
            case "ask me" ->
                first ? call("ask_user", "{\"question\":\"Which colour?\"}") : Answer.text("You said: blue");
            case "which number?" ->
                Answer.text((request.text().contains("remember 42")
                                        && request.text().contains("Be brief.")
                                ? "42"
                                : "?")
                        + (request.text().contains(PIXEL) ? " and an image" : ""));
            case "piece by piece" ->
                Answer.events(
                                piece("One "),
                                piece("two "),
                                piece("three."),
                                chunk(Map.of("index", 0, "delta", Map.of(), "finish_reason", "stop")),
                                "[DONE]")
                        .pausingBefore(1, BREATH)
                        .pausingBefore(2, BREATH);
            case "break" -> Answer.message("content_filter", Map.of("role", "assistant", "content", ""));
            default -> Answer.text("You said: " + said);
        };
    }

    private static Answer call(String tool, String arguments) {
        return Answer.toolCalls(new ToolCall("call_1", tool, arguments));
    }

    private static JsonNode run(Path script) throws IOException, InterruptedException {
        Path out = folder.resolve("out.json");
        Path err = folder.resolve("err.txt");
        Process node = new ProcessBuilder("node", script.toString(), "http://127.0.0.1:" + PORT + "/v1")
                .redirectOutput(out.toFile())
                .redirectError(err.toFile())
                .start();
        try {
            assertThat(node.waitFor(LIMIT.toSeconds(), TimeUnit.SECONDS))
                    .as("it ends")
                    .isTrue();
            assertThat(node.exitValue()).as(Files.readString(err)).isZero();
            return Json.MAPPER.readTree(Files.readString(out));
        } finally {
            node.destroyForcibly();
            Files.deleteIfExists(script);
        }
    }
}
