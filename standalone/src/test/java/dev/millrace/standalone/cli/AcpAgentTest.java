package dev.millrace.standalone.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.millrace.schemas.Json;
import dev.millrace.standalone.StubGateway;
import dev.millrace.testing.FreePort;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.PipedInputStream;
import java.io.PipedOutputStream;
import java.io.PrintStream;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What an editor says, good or not, against a gateway that is there or not. */
@Timeout(60)
class AcpAgentTest {

    private static final int FUZZ = Integer.getInteger("millrace.test.acp-fuzz", 1_000);
    private static final long SEED = 20261126;

    private static final String INITIALIZE =
            "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":{\"protocolVersion\":1}}";
    private static final String NEW =
            "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"session/new\",\"params\":{\"cwd\":\"/a\",\"mcpServers\":[]}}";
    private static final String SESSION = """
            {"sessionId": "s1", "namespace": "default", "title": null, "createdAt": 0, "updatedAt": 0,
             "participants": [], "tasks": 0, "sessions": [], "next": null}""";
    private static final String AGENTS = "{\"agents\": [], \"problems\": []}";

    @Test
    @DisplayName("what is no request is refused, with what was expected and what was found")
    void shouldRefuseWhatIsNoGood() throws Exception {
        List<JsonNode> answers = answers(
                "http://127.0.0.1:1",
                NEW,
                "{",
                "",
                "[" + INITIALIZE + "]",
                "{\"jsonrpc\":\"1.0\",\"id\":2,\"method\":\"initialize\"}",
                "{\"jsonrpc\":\"2.0\",\"id\":3}",
                "{\"jsonrpc\":\"2.0\",\"id\":4,\"method\":\"initialize\",\"params\":[]}",
                "{\"jsonrpc\":\"2.0\",\"id\":5,\"method\":\"initialize\",\"params\":{\"protocolVersion\":\"x\"}}",
                "{\"jsonrpc\":\"2.0\",\"method\":\"no/such\"}",
                "{\"jsonrpc\":\"2.0\",\"id\":77,\"result\":{}}",
                INITIALIZE,
                "{\"jsonrpc\":\"2.0\",\"id\":\"a\",\"method\":\"no/such\"}",
                "{\"jsonrpc\":\"2.0\",\"id\":6,\"method\":\"session/new\",\"params\":{\"cwd\":\"a\"}}",
                "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"session/new\",\"params\":{\"cwd\":\"/\",\"mcpServers\":1}}",
                "{\"jsonrpc\":\"2.0\",\"id\":8,\"method\":\"session/prompt\",\"params\":{\"sessionId\":\"s\"}}");

        assertThat(answers.stream()
                        .map(answer -> answer.path("id") + " "
                                + answer.path("error").path("code").asText("none") + " "
                                + answer.path("error").path("message").asText()))
                .satisfiesExactlyInAnyOrder(
                        one -> assertThat(one).startsWith("1 -32600 expected initialize first, found session/new"),
                        one -> assertThat(one).startsWith("null -32700 expected a line of JSON"),
                        one -> assertThat(one).startsWith("null -32600"),
                        one -> assertThat(one).startsWith("2 -32600"),
                        one -> assertThat(one).startsWith("3 -32600 expected a method, a result or an error"),
                        one -> assertThat(one).isEqualTo("4 -32602 params: expected an object, found []"),
                        one -> assertThat(one)
                                .isEqualTo("5 -32602 protocolVersion: expected a whole number, found \"x\""),
                        one -> assertThat(one).isEqualTo("0 none "),
                        one -> assertThat(one).isEqualTo("\"a\" -32601 There is no method no/such here"),
                        one -> assertThat(one).isEqualTo("6 -32602 cwd: expected an absolute path, found \"a\""),
                        one -> assertThat(one).isEqualTo("7 -32602 mcpServers: expected a list, found 1"),
                        one -> assertThat(one)
                                .isEqualTo("8 -32002 sessionId: expected one that was made, loaded or resumed by this"
                                        + " process, found s"));
    }

    @Test
    @DisplayName("a line that is too long is passed over, and what comes after it is read")
    void shouldLimitLines() throws Exception {
        List<JsonNode> answers = answers("http://127.0.0.1:1", "x".repeat(JsonRpcPeer.MAX_LINE + 1), INITIALIZE);

        assertThat(answers).hasSize(2);
        assertThat(answers.get(0).path("error").path("message").asText())
                .startsWith("expected a line of 16777216 bytes at most");
        assertThat(answers.get(1).path("result").path("protocolVersion").asInt())
                .isEqualTo(1);
    }

    @Test
    @DisplayName("a gateway that is not there is said in words, and so is a key that it wants")
    void shouldSayWhyNothingWorks() throws Exception {
        JsonNode nobody = error("http://127.0.0.1:" + FreePort.find());
        assertThat(nobody.path("code").asInt()).isEqualTo(-32603);
        assertThat(nobody.path("message").asText()).contains("Cannot reach Millrace at", "Start it with", "up --port");

        try (StubGateway gateway = new StubGateway()
                .answer("/", 401, "{\"status\": 401, \"code\": \"unauthorized\", \"detail\": \"No key.\"}")) {
            JsonNode stranger = error(gateway.url());
            assertThat(stranger.path("code").asInt()).isEqualTo(-32000);
            assertThat(stranger.path("message").asText()).isEqualTo("No key. Say it with --token or MILLRACE_TOKEN.");
        }
    }

    @Test
    @DisplayName("a prompt whose answer is lost is sent again with the same id, and makes one turn")
    void shouldSendPromptsOnce() throws Exception {
        String end = Json.writeText(Map.of(
                "id",
                "e1",
                "type",
                "TASK_COMPLETED",
                "timestamp",
                1,
                "source",
                "agent",
                "namespace",
                "default",
                "correlationId",
                "c",
                "effectivePriority",
                100,
                "cursor",
                "0:1",
                "payload",
                Map.of("result", Map.of("taskId", "t", "input", "x", "iterations", 1, "response", "Done."))));
        try (StubGateway gateway = new StubGateway()
                                .answer("/v1/agents", 200, AGENTS)
                                .answer("/v1/sessions", 201, SESSION)
                                .answerTheSecondTime("/v1/tasks", "{\"taskId\": \"t\", \"eventId\": \"t\"}")
                                .stream("/v1/tasks/", "id: 0:1\nevent: TASK_COMPLETED\ndata: " + end + "\n\n");
                Editor editor = new Editor(gateway.url())) {
            editor.send(INITIALIZE);
            editor.send(NEW);
            editor.send("{\"jsonrpc\":\"2.0\",\"id\":9,\"method\":\"session/prompt\",\"params\":{\"sessionId\":"
                    + editor.awaitAnswer("1").path("result").path("sessionId")
                    + ",\"prompt\":[{\"type\":\"text\",\"text\":\"go\"}]}}");

            assertThat(editor.awaitAnswer("9").path("result").path("stopReason").asText())
                    .isEqualTo("end_turn");
            List<String> sent = gateway.requests().stream()
                    .filter(request -> request.startsWith("POST /v1/tasks "))
                    .toList();
            assertThat(sent).hasSize(2);
            assertThat(sent.get(1)).isEqualTo(sent.get(0)).contains("\"cwd\":\"/a\"");
            assertThat(editor.others)
                    .singleElement()
                    .satisfies(update -> assertThat(update.path("params")
                                    .path("update")
                                    .path("content")
                                    .path("text")
                                    .asText())
                            .isEqualTo("Done."));
        }
    }

    @Test
    @DisplayName("whatever comes, each request gets one answer, and what comes next is read")
    void shouldTakeAnything() throws Exception {
        List<String> like = List.of(
                INITIALIZE,
                NEW,
                "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"session/load\",\"params\":{\"sessionId\":\"s1\",\"cwd\":\"/\"}}",
                "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"session/list\",\"params\":{\"cursor\":\"x\"}}",
                "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"session/close\",\"params\":{\"sessionId\":\"s1\"}}",
                "{\"jsonrpc\":\"2.0\",\"method\":\"session/cancel\",\"params\":{\"sessionId\":\"s1\"}}",
                "{\"jsonrpc\":\"2.0\",\"method\":\"$/cancel_request\",\"params\":{\"requestId\":1}}",
                "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"outcome\":{\"outcome\":\"selected\"}}}",
                "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"session/set_config_option\",\"params\":"
                        + "{\"sessionId\":\"s1\",\"configId\":\"agent\",\"value\":\"x\"}}",
                "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"session/prompt\",\"params\":{\"sessionId\":\"s1\","
                        + "\"prompt\":[{\"type\":\"text\",\"text\":\"x\"},{\"type\":\"resource_link\",\"name\":\"n\","
                        + "\"uri\":\"file:///n\"},{\"type\":\"resource\",\"resource\":{\"uri\":\"u\",\"text\":\"t\"}}]}}");
        Random random = new Random(SEED);
        Map<String, Integer> expected = new HashMap<>();
        try (StubGateway gateway = new StubGateway()
                        .answer("/v1/agents", 200, AGENTS)
                        .answer("/v1/sessions", 201, SESSION)
                        .answer("/v1/tasks", 200, "{\"tasks\": [], \"next\": null}");
                Editor editor = new Editor(gateway.url())) {
            editor.send(INITIALIZE);
            editor.awaitAnswer("0");
            editor.send(NEW);
            editor.awaitAnswer("1");
            for (int i = 0; i < FUZZ; i++) {
                String line = changed(like.get(random.nextInt(like.size())), "f" + i, random);
                requestId(line).ifPresent(id -> expected.merge(id, 1, Integer::sum));
                editor.send(line);
                String next = "p" + i;
                expected.merge('"' + next + '"', 1, Integer::sum);
                editor.send("{\"jsonrpc\":\"2.0\",\"id\":\"" + next + "\",\"method\":\"no/such\"}");
                editor.awaitAnswer('"' + next + '"');
            }
            Map<String, Integer> found = new HashMap<>();
            for (String id : expected.keySet()) {
                editor.awaitAnswer(id);
            }
            editor.end();
            editor.answers.forEach((id, answers) -> {
                if (id.startsWith("\"f") || id.startsWith("\"p")) {
                    found.put(id, answers.size());
                }
            });
            assertThat(found).as("seed %d", SEED).isEqualTo(expected);
        }
    }

    /** Like this line, with this id if it has one, but not quite. */
    private static String changed(String line, String id, Random random) throws IOException {
        ObjectNode whole = (ObjectNode) Json.MAPPER.readTree(line);
        if (whole.has("method") && whole.has("id")) {
            whole.put("id", id);
        }
        if (random.nextInt(4) == 0) {
            byte[] bytes = Json.write(whole);
            for (int changes = random.nextInt(4); changes >= 0; changes--) {
                byte one = (byte) random.nextInt(256);
                bytes[random.nextInt(bytes.length)] = one == '\n' ? 0 : one;
            }
            return new String(bytes, StandardCharsets.ISO_8859_1);
        }
        ObjectNode object = whole;
        while (object.get("params") instanceof ObjectNode inner && !inner.isEmpty() && random.nextInt(5) > 0) {
            object = inner;
        }
        List<String> names = new ArrayList<>();
        object.fieldNames().forEachRemaining(names::add);
        String name = names.get(random.nextInt(names.size()));
        if (!name.equals("id")) {
            switch (random.nextInt(7)) {
                case 0 -> object.remove(name);
                case 1 -> object.putNull(name);
                case 2 -> object.put(name, random.nextLong());
                case 3 -> object.put(name, "\u0000\u202e\uffff" + random.nextInt());
                case 4 -> object.putArray(name).add(object.deepCopy()).add(1);
                case 5 -> object.set(name, Json.MAPPER.createObjectNode().set("type", object.deepCopy()));
                default -> {
                    // as it was
                }
            }
        }
        return Json.writeText(whole);
    }

    /** The id by which a line has to be answered; empty if it has none of those that were sent. */
    private static Optional<String> requestId(String line) {
        try {
            JsonNode id = Json.MAPPER
                    .readTree(line.getBytes(StandardCharsets.ISO_8859_1))
                    .path("id");
            return id.asText().startsWith("f") ? Optional.of(id.toString()) : Optional.empty();
        } catch (IOException e) {
            return Optional.empty();
        }
    }

    /** Why there is no new session. */
    private static JsonNode error(String url) throws Exception {
        return answers(url, INITIALIZE, NEW).stream()
                .filter(answer -> answer.path("id").asInt() == 1)
                .findFirst()
                .orElseThrow()
                .path("error");
    }

    /** All that is answered to these lines. */
    private static List<JsonNode> answers(String url, String... lines) throws Exception {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        agent(url, out).serve(new ByteArrayInputStream(String.join("\n", lines).getBytes(StandardCharsets.UTF_8)));
        List<JsonNode> answers = new ArrayList<>();
        for (String line : out.toString(StandardCharsets.UTF_8).lines().toList()) {
            answers.add(Json.MAPPER.readTree(line));
        }
        return answers;
    }

    private static AcpAgent agent(String url, OutputStream out) {
        return new AcpAgent(
                new GatewayClient(URI.create(url), "", "default"),
                new AcpAgent.Options(null, null, "1"),
                out,
                new PrintStream(OutputStream.nullOutputStream(), true, StandardCharsets.UTF_8));
    }

    /** The other end, which reads all the time. */
    private static final class Editor implements AutoCloseable {
        private final OutputStream out;
        private final Thread agent;
        private final LinkedBlockingQueue<String> heard = new LinkedBlockingQueue<>();
        final Map<String, List<JsonNode>> answers = new HashMap<>();
        final List<JsonNode> others = new ArrayList<>();

        Editor(String url) throws IOException {
            PipedOutputStream toAgent = new PipedOutputStream();
            InputStream agentReads = new PipedInputStream(toAgent, 1 << 20);
            out = toAgent;
            agent = Thread.ofPlatform().start(() -> {
                try {
                    agent(url, new Lines(heard)).serve(agentReads);
                } catch (InterruptedException e) {
                    throw new AssertionError(e);
                }
            });
        }

        void send(String line) throws IOException {
            out.write((line + "\n").getBytes(StandardCharsets.ISO_8859_1));
            out.flush();
        }

        JsonNode awaitAnswer(String id) throws IOException, InterruptedException {
            while (!answers.containsKey(id)) {
                String next = heard.poll(30, TimeUnit.SECONDS);
                assertThat(next).as("the answer to " + id).isNotNull();
                sort(next);
            }
            return answers.get(id).get(0);
        }

        private void sort(String line) throws IOException {
            JsonNode message = Json.MAPPER.readTree(line);
            if (message.has("method")) {
                others.add(message);
            } else {
                answers.computeIfAbsent(message.path("id").toString(), one -> new ArrayList<>())
                        .add(message);
            }
        }

        @Override
        public void close() throws IOException {
            out.close();
        }

        /** Ends it, and hears the rest. */
        void end() throws IOException, InterruptedException {
            out.close();
            agent.join();
            for (String line = heard.poll(); line != null; line = heard.poll()) {
                sort(line);
            }
        }
    }

    /** Puts each line into a queue; a pipe would want its writers to live on. */
    private static final class Lines extends OutputStream {
        private final LinkedBlockingQueue<String> lines;
        private final ByteArrayOutputStream line = new ByteArrayOutputStream();

        Lines(LinkedBlockingQueue<String> lines) {
            this.lines = lines;
        }

        @Override
        public void write(int one) {
            if (one == '\n') {
                lines.add(line.toString(StandardCharsets.UTF_8));
                line.reset();
            } else {
                line.write(one);
            }
        }
    }
}
