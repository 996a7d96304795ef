package dev.millrace.standalone;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import dev.millrace.schemas.Json;
import dev.millrace.schemas.Segment;
import dev.millrace.schemas.Topics;
import dev.millrace.testing.FreePort;
import dev.millrace.testing.HttpApi;
import dev.millrace.testing.ServiceProcess;
import dev.millrace.testing.StubModelServer;
import dev.millrace.testing.StubModelServer.Answer;
import dev.millrace.testing.StubModelServer.ToolCall;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.time.Duration;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.StringSerializer;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * What happens elsewhere reaches an agent, in the right session, and what the agent says reaches whoever listens: from
 * end to end, with a model that is asked over the wire and counts how often. Each test has a session of its own.
 */
class EnvironmentEventsIT {

    private static final Duration LIMIT = Duration.ofSeconds(60);
    private static final Topics TOPICS = new Topics(Topics.DEFAULT_PREFIX);
    private static final String SECRET = "what GitHub and we know";

    private static final Pattern STREAMS =
            Pattern.compile("^millrace_gateway_streams(?:\\{[^}]*})? ([0-9.]+)$", Pattern.MULTILINE);

    private static final String RULES = """
            rules:
              orders:
                on: order.placed
                priority: 60
                agent:
                  prompt: "Deliver {{payload.item}} to {{payload.customer | somebody}}."
              rows:
                on: io.debezium.connector.postgresql.DataChangeEvent
                priority: 60
                agent:
                  prompt: "Look at row {{payload.payload.after.id}}: {{payload.payload.after.name}}."
              pushes:
                on: webhook.received
                priority: 60
                filter:
                  payload.source: github
                agent:
                  prompt: "Review what {{payload.body.pusher.name}} pushed to {{payload.body.ref}}."
              files:
                on: file.changed
                priority: 60
                agent:
                  prompt: "The file {{payload.path}} was {{payload.change}}."
              broken:
                on: order.broken
                priority: 60
                agent:
                  prompt: "{{payload.not.there}}"
            """;

    @TempDir
    static Path folder;

    private static final int PORT = FreePort.find();
    private static final int KAFKA_PORT = FreePort.find();
    private static StubModelServer model;

    @SuppressWarnings("NullAway.Init")
    private static ServiceProcess up;

    private final HttpApi api = HttpApi.onPort(PORT);

    @BeforeAll
    static void start() throws IOException {
        model = StubModelServer.start(EnvironmentEventsIT::answer);
        Files.createDirectories(folder.resolve("inbox"));
        Files.createDirectories(folder.resolve("rules"));
        Files.writeString(folder.resolve("rules/shop.yaml"), RULES);
        agent("boss", "tools: []\nsubAgents: [helper]");
        agent("helper", "tools: []");
        up = up();
    }

    private static ServiceProcess up() {
        return ServiceProcess.standalone(
                        "up", "--port", String.valueOf(PORT), "--kafka-port", String.valueOf(KAFKA_PORT))
                .env("OPENAI_BASE_URL", model.baseUrl().toString())
                .env("OPENAI_API_KEY", "none")
                .env(
                        "MILLRACE_GATEWAY_WATCH_INBOX_FOLDER",
                        folder.resolve("inbox").toString())
                .env("MILLRACE_GATEWAY_WATCH_INBOX_SESSION", "inbox")
                .env("MILLRACE_GATEWAY_WEBHOOKS_GITHUB_SCHEME", "github")
                .env("MILLRACE_GATEWAY_WEBHOOKS_GITHUB_SECRETS", SECRET)
                .env("MILLRACE_GATEWAY_WEBHOOKS_GITHUB_SESSION", "{{body.repository.name}}")
                .start(folder)
                .awaitReady(URI.create("http://127.0.0.1:" + PORT + "/q/health/ready"));
    }

    @AfterAll
    static void stop() {
        up.close();
        model.close();
    }

    @Test
    @DisplayName("what somebody asks is an event, is answered once, and the page that listens is told all of it")
    void shouldAnswerAQuery() {
        String session = made("asks");
        try (Page page = new Page(session)) {
            HttpApi.Answer accepted = api.post("/sessions/" + session + "/prompt", Map.of("content", "ping of asks"));

            assertThat(accepted.status()).as(accepted.body()).isEqualTo(200);
            JsonNode end = page.await("query.completed");
            assertThat(end.path("response").asText()).isEqualTo("pong to ping of asks");
            assertThat(page.types())
                    .startsWith("server.connected")
                    .contains("MESSAGE_RECEIVED", "stream.text", "query.completed");
        }
        assertThat(asked("ping of asks")).isEqualTo(1);
    }

    @Test
    @DisplayName("work in the background ends elsewhere: an agent of its session is shown it, and tells the user")
    void shouldWakeTheSessionOfWorkElsewhere() throws Exception {
        String session = made("elsewhere");
        try (Page page = new Page(session)) {
            ProducerRecord<String, String> record = new ProducerRecord<>(
                    TOPICS.lane(Segment.EXTERNAL),
                    session,
                    Json.writeText(Map.of("taskId", "job-1", "result", "42 files of elsewhere")));
            Map.of("ce_id", "job-1", "ce_type", "background_task.completed", "ce_sessionid", session)
                    .forEach((name, value) -> record.headers().add(name, value.getBytes(StandardCharsets.UTF_8)));
            send(record);

            JsonNode end = page.await("query.completed");
            assertThat(end.path("response").asText()).isEqualTo("I was shown: 42 files of elsewhere");
        }
        StubModelServer.Request request = only("42 files of elsewhere");
        assertThat(request.messages())
                .extracting(message -> String.valueOf(message.get("role")))
                .as("prompt, call and result, and what to do")
                .containsSubsequence("user", "assistant", "tool", "user");
    }

    @Test
    @DisplayName("an errand in the background ends: the agent that gave it is told, and tells the user")
    void shouldTellOfAnErrand() {
        String session = made("errand");
        try (Page page = new Page(session)) {
            assertThat(api.post(
                                    "/v1/tasks",
                                    Map.of("text", "have it counted", "taskType", "boss", "sessionId", session))
                            .status())
                    .isEqualTo(202);

            JsonNode end = page.await("query.completed");
            assertThat(end.path("response").asText()).isEqualTo("The helper has counted: 7");
            assertThat(page.types()).contains("background_task.completed");
        }
    }

    @Test
    @DisplayName("a push to a repository makes an agent act in the session of that name, once, and watch shows it")
    void shouldActOnAPush() throws Exception {
        String session = made("kites");
        await("pages of other tests are gone").atMost(LIMIT).until(() -> streams() == 0);
        CompletableFuture<CommandRun> watching = CompletableFuture.supplyAsync(
                () -> CommandRun.of("watch", session, "--until-idle", "--url", "http://127.0.0.1:" + PORT));
        await("somebody watches").atMost(LIMIT).until(() -> streams() == 1);
        byte[] body = Json.write(Map.of(
                "ref", "refs/heads/main", "pusher", Map.of("name", "ada"), "repository", Map.of("name", session)));
        Map<String, String> headers = Map.of(
                "Content-Type",
                "application/json",
                "X-GitHub-Event",
                "push",
                "X-GitHub-Delivery",
                "d-1",
                "X-Hub-Signature-256",
                "sha256=" + signature(body));

        assertThat(api.post("/v1/webhooks/github", headers, body).status()).isBetween(200, 202);
        assertThat(api.post("/v1/webhooks/github", headers, body).status())
                .as("delivered again")
                .isBetween(200, 202);

        CommandRun watched = watching.get(LIMIT.toSeconds(), TimeUnit.SECONDS);
        assertThat(watched.exitCode()).as(watched.err()).isZero();
        assertThat(watched.out()).contains("pong to Review what ada pushed to refs/heads/main.");
        assertThat(asked("Review what ada pushed")).isEqualTo(1);
    }

    @Test
    @DisplayName("a change of a row as Debezium writes it, with a key of its own, reaches the rule")
    void shouldTakeWhatDebeziumWrites() throws Exception {
        String session = made("rows");
        try (Page page = new Page(session)) {
            String value = Json.writeText(Map.of(
                    "id", "name:shop;lsn:29274832;txId:565",
                    "source", "/debezium/postgresql/shop",
                    "specversion", "1.0",
                    "type", "io.debezium.connector.postgresql.DataChangeEvent",
                    "time", "2026-11-23T12:00:00.000Z",
                    "datacontenttype", "application/json",
                    "sessionid", session,
                    "iodebeziumop", "c",
                    "iodebeziumtable", "kites",
                    "data",
                            Map.of(
                                    "schema",
                                    Map.of(),
                                    "payload",
                                    Map.of("after", Map.of("id", 7, "name", "red kite")))));
            ProducerRecord<String, String> record =
                    new ProducerRecord<>(TOPICS.lane(Segment.EXTERNAL), "{\"id\":7}", value);
            record.headers().add("content-type", "application/cloudevents+json".getBytes(StandardCharsets.UTF_8));
            send(record);

            page.await("query.completed");
        }
        assertThat(only("Look at row 7").text())
                .contains("Look at row 7: red kite.")
                .contains("iodebeziumtable");
    }

    @Test
    @DisplayName("an event as Knative sends it, over HTTP, reaches the rule")
    void shouldTakeWhatKnativeSends() {
        String session = made("knative");
        try (Page page = new Page(session)) {
            HttpApi.Answer taken = api.post(
                    "/v1/events",
                    Map.of(
                            "Content-Type", "application/json",
                            "ce-specversion", "1.0",
                            "ce-id", "e1b0-1",
                            "ce-source", "/apis/v1/namespaces/default/pingsources/orders",
                            "ce-type", "order.placed",
                            "ce-time", "2026-11-23T12:00:00.000Z",
                            "ce-subject", "order/4711",
                            "ce-knativearrivaltime", "2026-11-23T12:00:00.001Z",
                            "ce-sessionid", session,
                            "traceparent", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"),
                    Json.write(Map.of("item", "a blue kite", "customer", "Bo")));

            assertThat(taken.status()).as(taken.body()).isEqualTo(202);
            page.await("query.completed");
        }
        assertThat(only("Deliver a blue kite").text()).contains("knativearrivaltime");
    }

    @Test
    @DisplayName("a file that is put into a watched folder makes an agent act in the session of the watch, once")
    void shouldActOnAFile() throws IOException {
        String session = made("inbox");
        try (Page page = new Page(session)) {
            Files.writeString(folder.resolve("inbox/order-7.txt"), "a green kite");

            JsonNode end = page.await("query.completed");
            assertThat(end.path("response").asText()).isEqualTo("pong to The file order-7.txt was created.");
        }
        assertThat(asked("The file order-7.txt")).isEqualTo(1);
    }

    @Test
    @DisplayName("an event that somebody sends with kcat reaches the rule")
    void shouldTakeWhatKcatSends() throws IOException, InterruptedException {
        String kcat = KcatIT.find();
        String session = made("cats");
        Path input = Files.writeString(
                folder.resolve("kcat.json"), "{\"item\": \"a kite for cats\", \"customer\": \"Cy\"}\n");
        try (Page page = new Page(session)) {
            Process process = new ProcessBuilder(
                            kcat,
                            "-P",
                            "-b",
                            "127.0.0.1:" + KAFKA_PORT,
                            "-t",
                            TOPICS.lane(Segment.EXTERNAL),
                            "-k",
                            session,
                            "-H",
                            "ce_id=order-7",
                            "-H",
                            "ce_source=/shop",
                            "-H",
                            "ce_type=order.placed",
                            "-H",
                            "ce_sessionid=" + session)
                    .redirectInput(input.toFile())
                    .redirectErrorStream(true)
                    .redirectOutput(folder.resolve("kcat.log").toFile())
                    .start();
            assertThat(process.waitFor(20, TimeUnit.SECONDS)).isTrue();
            assertThat(process.exitValue())
                    .as(Files.readString(folder.resolve("kcat.log")))
                    .isZero();

            page.await("query.completed");
        }
        assertThat(only("Deliver a kite for cats").text()).contains("to Cy.");
    }

    @Test
    @DisplayName("the second prompt of a session knows the first, over kill -9")
    void shouldKnowWhatWasSaidBeforeAKill() {
        Map<String, String> first = Map.of("text", "there are 17 kites", "sessionId", "memory");
        assertThat(api.post("/v1/tasks?wait=30s", first).json().path("state").asText())
                .isEqualTo("completed");

        up.kill();
        up = up();
        Map<String, String> second = Map.of("text", "how many kites", "sessionId", "memory");
        assertThat(api.post("/v1/tasks?wait=30s", second).json().path("state").asText())
                .isEqualTo("completed");

        assertThat(only("how many kites").messages())
                .extracting(message -> String.valueOf(message.get("content")))
                .containsSubsequence("there are 17 kites", "pong to there are 17 kites", "how many kites");
    }

    @Test
    @DisplayName("a rule that does not fit and an event without a session are noted, and the next event is taken")
    void shouldGoOn() {
        String session = made("goes-on");
        try (Page page = new Page(session)) {
            emit("order.broken", session, Map.of("item", "nothing"));
            emit("order.placed", "", Map.of("item", "a lost kite"));
            emit("order.placed", session, Map.of("item", "the next kite"));

            page.await("query.completed");
        }
        assertThat(only("Deliver the next kite").text()).contains("to somebody.");
        assertThat(asked("a lost kite")).isZero();
        assertThat(up.output()).contains("A rule's template does not fit the event");
        assertThat(api.get("/q/health").status()).isEqualTo(200);
    }

    private static void agent(String name, String keys) throws IOException {
        Files.writeString(
                Files.createDirectories(folder.resolve("agents").resolve(name)).resolve("AGENT.md"),
                "---\ndescription: The " + name + ".\n" + keys + "\n---\nYou are the " + name + ".\n");
    }

    /** A session that is there; its id. */
    private String made(String id) {
        HttpApi.Answer made = api.post("/v1/sessions", Map.of("sessionId", id, "title", id));
        assertThat(made.status()).as(made.body()).isEqualTo(201);
        await().atMost(LIMIT).until(() -> api.status("/v1/sessions/" + id) == 200);
        return id;
    }

    private static void send(ProducerRecord<String, String> record) throws Exception {
        try (KafkaProducer<String, String> producer = new KafkaProducer<>(
                Map.of("bootstrap.servers", "127.0.0.1:" + KAFKA_PORT),
                new StringSerializer(),
                new StringSerializer())) {
            producer.send(record).get();
        }
    }

    private void emit(String type, String session, Map<String, Object> data) {
        Map<String, String> headers = new HashMap<>(Map.of(
                "Content-Type",
                "application/json",
                "ce-specversion",
                "1.0",
                "ce-id",
                type + '-' + session,
                "ce-source",
                "/test",
                "ce-type",
                type));
        if (!session.isEmpty()) {
            headers.put("ce-sessionid", session);
        }
        HttpApi.Answer taken = api.post("/v1/events", headers, Json.write(data));
        assertThat(taken.status()).as(taken.body()).isEqualTo(202);
    }

    /** How many streams the gateway tells somebody of. */
    private int streams() {
        Matcher gauge = STREAMS.matcher(api.get("/q/metrics").body());
        // the first stream makes the gauge
        return gauge.find() ? (int) Double.parseDouble(gauge.group(1)) : 0;
    }

    private static long asked(String words) {
        return model.requests().stream()
                .filter(request -> request.text().contains(words))
                .count();
    }

    /** The only request in which these words stand. */
    private static StubModelServer.Request only(String words) {
        List<StubModelServer.Request> with = model.requests().stream()
                .filter(request -> request.text().contains(words))
                .toList();
        assertThat(with).as("requests to the model with \"" + words + '"').hasSize(1);
        return with.getFirst();
    }

    private static String signature(byte[] body) throws GeneralSecurityException {
        Mac mac = Mac.getInstance("HmacSHA256");
        mac.init(new SecretKeySpec(SECRET.getBytes(StandardCharsets.UTF_8), "HmacSHA256"));
        return HexFormat.of().formatHex(mac.doFinal(body));
    }

    private static Answer answer(StubModelServer.Request request) {
        String system = request.last("system");
        String said = request.last("user");
        String shown = request.last("tool");
        if (system.contains("You are the helper.")) {
            return Answer.text("7");
        } else if (system.contains("You are the boss.")) {
            if (said.startsWith("Background task")) {
                return Answer.text("The helper has counted: 7");
            }
            return shown.isEmpty()
                    ? Answer.toolCalls(
                            new ToolCall(
                                    "c1",
                                    "delegate_task",
                                    "{\"description\":\"count\",\"prompt\":\"count them\",\"subagent_type\":\"helper\",\"background\":true}"))
                    : Answer.text("It is being counted.");
        } else if (shown.contains("42 files of elsewhere")) {
            return Answer.text("I was shown: 42 files of elsewhere");
        }
        return Answer.text("pong to " + said);
    }

    /** A page that listens to a session, as docs/streaming.md has it for an EventSource. */
    private static final class Page implements AutoCloseable {

        private final HttpClient http = HttpClient.newHttpClient();
        private final List<JsonNode> messages = new CopyOnWriteArrayList<>();
        private volatile boolean closed;

        Page(String session) {
            HttpRequest request = HttpRequest.newBuilder(
                            URI.create("http://127.0.0.1:" + PORT + "/events?sessionId=" + session))
                    .build();
            Thread.ofVirtual().start(() -> {
                try (Stream<String> lines =
                        http.send(request, BodyHandlers.ofLines()).body()) {
                    lines.filter(line -> line.startsWith("data:")).forEach(line -> messages.add(json(line)));
                } catch (IOException | InterruptedException | UncheckedIOException e) {
                    // the page was closed; what it had not heard by then the test finds missing
                    closed = true;
                }
            });
            await("server.connected");
        }

        private static JsonNode json(String line) {
            return new HttpApi.Answer(200, line.substring("data:".length())).json();
        }

        List<String> types() {
            return messages.stream()
                    .map(message -> message.path("type").asText())
                    .toList();
        }

        /** The first message of this type. */
        JsonNode await(String type) {
            org.awaitility.Awaitility.await(type).atMost(LIMIT).until(() -> types().contains(type) || closed);
            assertThat(types()).contains(type);
            return messages.get(types().indexOf(type));
        }

        @Override
        public void close() {
            http.shutdownNow();
        }
    }
}
