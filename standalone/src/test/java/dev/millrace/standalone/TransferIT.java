package dev.millrace.standalone;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import dev.millrace.schemas.EventCodec;
import dev.millrace.schemas.Ids;
import dev.millrace.schemas.Json;
import dev.millrace.schemas.JsonObject;
import dev.millrace.schemas.ToolDefinition;
import dev.millrace.schemas.Topics;
import dev.millrace.testing.FreePort;
import dev.millrace.testing.HttpApi;
import dev.millrace.testing.ServiceProcess;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;
import java.util.zip.GZIPInputStream;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.common.serialization.StringSerializer;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Everything that an installation knows, by way of a file to another one with other partitions. */
class TransferIT {

    private static final Duration LIMIT = Duration.ofSeconds(90);
    private static final Topics TOPICS = new Topics(Topics.DEFAULT_PREFIX);
    private static final int PARTITIONS = 5;
    private static final String SECRET_NAME = "Lovelace";
    private static final String LARGE = "0123456789abcdef".repeat(20_000);

    private static final String SCRIPT = """
            rules:
              - user: 'wheel'
                steps:
                  - calls: [{ tool: ask_user, arguments: { question: "Which wheel?" } }]
                  - text: "You chose {{result.ask_user}}"
              - user: 'note'
                steps:
                  - calls: [{ tool: write_file, arguments: { path: "note.txt", content: "from the model" } }]
                  - text: "Written."
              - user: 'order'
                steps:
                  - calls: [{ tool: find_order, arguments: { orderId: "1" } }]
                  - text: "It is {{result.find_order.state}}."
              - user: 'large'
                steps:
                  - calls: [{ tool: read_file, arguments: { path: large.txt } }]
                  - text: "Reference {{result.read_file.reference}}."
              - user: 'read on in (?<where>\\S+)'
                steps:
                  - calls: [{ tool: read_result, arguments: { reference: "{{user.where}}", offset: 300000, length: 1000 } }]
                  - text: "{{result.read_result}}"
              - user: 'slow'
                text: "At last."
                latencyMs: 15000
              - text: "You said {{user}}"
            """;

    @TempDir
    Path temp;

    private int port;
    private int kafkaPort;

    private HttpApi api() {
        return HttpApi.onPort(port);
    }

    @Test
    @DisplayName(
            "killed at work, exported, imported with other partitions: what was done is known, what waited goes on,"
                    + " what was accepted is done, and what was forgotten stays so")
    void shouldMoveEverything() throws Exception {
        prepare();
        List<String> done = new ArrayList<>();
        List<String> accepted = new ArrayList<>();
        String question;
        String approval;
        String order;
        String slow;
        String reference;
        String once;
        List<String> said;
        Path archive = temp.resolve("all.gz");
        try (ServiceProcess up = up("A", Map.of())) {
            // given: tasks of sessions, and tasks that wait for a person, a worker and a model
            defineOrders();
            for (int i = 0; i < 24; i++) {
                done.add(submit("message " + i, "session-" + i % 8));
            }
            done.forEach(task -> api().awaitEnd(task, LIMIT));
            question = submit("Oil the wheel", "garage");
            approval = submit("write a note", "desk", "careful");
            order = submit("look up the order", "shop");
            await().atMost(LIMIT).until(() -> waitsFor(question).equals("answer"));
            await().atMost(LIMIT).until(() -> waitsFor(approval).equals("approval"));
            await().atMost(LIMIT).until(() -> waitsFor(order).equals("tools"));
            String large = submit("read the large file", "books");
            reference = api().awaitEnd(large, LIMIT).path("response").asText().replaceAll("^Reference |[.]$", "");
            said = said("session-3");
            assertThat(said).hasSize(6);
            once = submitOnce();
            api().awaitEnd(once, LIMIT);
            // and what is configured and remembered
            assertThat(put("/v1/schedules/report", "application/json", "{\"cron\":\"0 0 1 1 *\",\"text\":\"Report.\"}"))
                    .isBetween(200, 201);
            assertThat(put("/v1/memory/default/facts/user.md", "text/markdown", "> Summary: likes tea\\n"))
                    .isBetween(200, 201);
            // and what is forgotten
            String told = submit("I am " + SECRET_NAME, "secret");
            api().awaitEnd(told, LIMIT);
            String forget = api().post("/v1/forget", Map.of("scope", "session", "sessionId", "secret"))
                    .json()
                    .path("forgetId")
                    .asText();
            await().atMost(LIMIT)
                    .until(() -> api().get("/v1/forget/" + forget)
                            .json()
                            .path("completed")
                            .asBoolean());
            slow = submit("something slow", "lake");
            await().atMost(LIMIT).until(() -> state(slow).equals("reasoning"));

            // when: killed with what it has accepted and not read
            for (int i = 0; i < 40; i++) {
                accepted.add(submit("accepted " + i, "accepted-" + i % 8));
            }
            up.kill();
        }
        CommandRun export = CommandRun.of("export", "--data", data("A"), "--json", archive.toString());
        assertThat(export.exitCode()).as(export.err()).isZero();
        JsonNode counts = Json.MAPPER.readTree(export.out()).path("topics");
        assertThat(counts.path("journal").asInt()).isGreaterThan(100);
        assertThat(counts.path("agent-rows-changelog").asInt()).isGreaterThan(100);
        assertThat(counts.path("requests.orders").asInt()).isEqualTo(1);
        assertThat(texts(archive))
                .anyMatch(text -> text.contains("message 3"))
                .noneMatch(text -> text.contains(SECRET_NAME));

        // then: neither is ever half, or over another one
        shouldRefuse("export", "--data", data("A"), archive.toString(), "expected no such file yet");
        shouldRefuse(
                "import",
                "--data",
                data("A"),
                archive.toString(),
                "expected no installation with the prefix millrace.");
        shouldRefuse("export", "--data", data("nowhere"), "x.gz", "expected the data folder of an up, found none");
        shouldRefuse("import", "--data", data("C"), data("no.gz"), "expected a file or a folder, found none: ");
        assertThat(Path.of(data("C"))).doesNotExist();
        Path half = temp.resolve("half.gz");
        byte[] whole = Files.readAllBytes(archive);
        Files.write(half, Arrays.copyOf(whole, whole.length / 2));
        shouldRefuse("import", "--data", data("C"), half.toString(), "It is not whole");
        CommandRun imported = CommandRun.of(
                "import", "--data", data("B"), "--partitions", Integer.toString(PARTITIONS), archive.toString());
        assertThat(imported.exitCode()).as(imported.err()).isZero();
        assertThat(imported.err()).contains("MILLRACE_TOPICS_PARTITIONS=5 ./millrace up --data ");
        Files.copy(Path.of(data("A"), "reply-secret"), Path.of(data("B"), "reply-secret"));

        try (ServiceProcess up = up("B", Map.of("MILLRACE_TOPICS_PARTITIONS", Integer.toString(PARTITIONS)))) {
            shouldKnowWhatWasDone(done, said);
            shouldGoOn(question, approval, order, reference);
            assertThat(api().awaitEnd(slow, LIMIT).path("response").asText()).isEqualTo("At last.");
            for (int i = 0; i < accepted.size(); i++) {
                assertThat(api().awaitEnd(accepted.get(i), LIMIT)
                                .path("response")
                                .asText())
                        .isEqualTo("You said accepted " + i);
            }
            assertThat(submitOnce()).isEqualTo(once);
            shouldTakeNewWork();
            assertThat(StreamSupport.stream(
                                    api().get("/v1/tasks?limit=200")
                                            .json()
                                            .path("tasks")
                                            .spliterator(),
                                    false)
                            .filter(task -> task.path("inputText").asText().equals("only once")))
                    .hasSize(1);
            assertThat(api().events(once))
                    .filteredOn(event -> event.path("type").asText().equals("TASK_COMPLETED"))
                    .hasSize(1);
            assertThat(up.output()).doesNotContain("ERROR");
            CommandRun running = CommandRun.of(
                    "export",
                    "--bootstrap-server",
                    "127.0.0.1:" + kafkaPort,
                    temp.resolve("y.gz").toString());
            assertThat(running.exitCode()).isEqualTo(1);
            assertThat(running.err())
                    .contains("expected all services and workers to be stopped, found members in the groups ")
                    .contains("millrace.agent", "millrace.reflection", "millrace-tools");
        }
    }

    private void shouldKnowWhatWasDone(List<String> done, List<String> said) {
        await().atMost(LIMIT)
                .untilAsserted(() -> assertThat(StreamSupport.stream(
                                        api().get("/v1/tasks?limit=200")
                                                .json()
                                                .path("tasks")
                                                .spliterator(),
                                        false)
                                .map(task -> task.path("taskId").asText()))
                        .containsAll(done));
        for (int i = 0; i < done.size(); i++) {
            JsonNode task = api().get("/v1/tasks/" + done.get(i)).json();
            assertThat(task.path("state").asText()).isEqualTo("completed");
            assertThat(task.path("response").asText()).isEqualTo("You said message " + i);
            assertThat(api().events(done.get(i)).getLast().path("type").asText())
                    .isEqualTo("TASK_COMPLETED");
        }
        assertThat(said("session-3")).isEqualTo(said);
        assertThat(api().get("/v1/schedules/report").json().path("cron").asText())
                .isEqualTo("0 0 1 1 *");
        assertThat(api().get("/v1/memory/default/facts/user.md").body()).contains("likes tea");
        assertThat(api().get("/v1/sessions/secret").status()).isEqualTo(404);
        assertThat(api().get("/v1/tasks?limit=200").body()).doesNotContain(SECRET_NAME);
    }

    private void shouldGoOn(String question, String approval, String order, String reference) throws Exception {
        CommandRun resume = CommandRun.of("resume", question, "--input", "Elsa", "--url", "http://127.0.0.1:" + port);
        assertThat(resume.exitCode()).as(resume.err()).isZero();
        assertThat(api().awaitEnd(question, LIMIT).path("response").asText()).isEqualTo("You chose Elsa");
        String call = api().get("/v1/tasks/" + approval)
                .json()
                .at("/waitingFor/callIds/0")
                .asText();
        CommandRun approve = CommandRun.of("approve", call, "--url", "http://127.0.0.1:" + port);
        assertThat(approve.exitCode()).as(approve.err()).isZero();
        assertThat(api().awaitEnd(approval, LIMIT).path("response").asText()).isEqualTo("Written.");
        serveTheOrder();
        assertThat(api().awaitEnd(order, LIMIT).path("response").asText()).isEqualTo("It is shipped.");
        String more = submit("read on in " + reference, "books");
        assertThat(api().awaitEnd(more, LIMIT).path("response").asText()).contains(LARGE.substring(0, 16));
    }

    /** A conversation goes on where it was, and an id that was taken there is not taken again. */
    private void shouldTakeNewWork() {
        String next = submit("one more", "session-3");
        assertThat(api().awaitEnd(next, LIMIT).path("response").asText()).isEqualTo("You said one more");
        await().atMost(LIMIT).untilAsserted(() -> assertThat(said("session-3")).hasSize(8));
        for (int i = 0; i < 10; i++) {
            String task = api().submit("new " + i);
            assertThat(api().awaitEnd(task, LIMIT).path("response").asText()).isEqualTo("You said new " + i);
        }
    }

    private void prepare() throws IOException {
        Files.writeString(temp.resolve("script.yaml"), SCRIPT);
        Path workspace = Files.createDirectories(temp.resolve("workspace"));
        Files.writeString(workspace.resolve("large.txt"), LARGE);
        Path agent = Files.createDirectories(temp.resolve("agents").resolve("careful"));
        Files.writeString(agent.resolve("AGENT.md"), """
                ---
                name: careful
                description: Asks before it writes.
                tools: [write_file]
                approval:
                  write_file: always
                ---
                You are careful.
                """);
    }

    private ServiceProcess up(String data, Map<String, String> env) {
        port = FreePort.find();
        kafkaPort = FreePort.find();
        ServiceProcess.Builder builder = ServiceProcess.standalone(
                "up",
                "--port",
                Integer.toString(port),
                "--kafka-port",
                Integer.toString(kafkaPort),
                "--data",
                data,
                "--script",
                "script.yaml",
                "--toolsets",
                "orders");
        env.forEach(builder::env);
        return builder.start(temp).awaitReady(URI.create("http://127.0.0.1:" + port + "/q/health/ready"));
    }

    private String data(String name) {
        return temp.resolve(name).toString();
    }

    private String submit(String text, String session) {
        return submit(Map.of("text", text, "sessionId", session));
    }

    private String submit(String text, String session, String agent) {
        return submit(Map.of("text", text, "sessionId", session, "agent", agent));
    }

    /** The same each time, so that it is a task once. */
    private String submitOnce() {
        HttpApi.Answer accepted = api().post(
                        "/v1/tasks",
                        Map.of("Content-Type", "application/json", "Idempotency-Key", "only-once"),
                        Json.write(Map.of("text", "only once")));
        assertThat(accepted.status()).as(accepted.body()).isBetween(200, 202);
        return accepted.json().path("taskId").asText();
    }

    private String submit(Map<String, String> body) {
        HttpApi.Answer accepted = api().post("/v1/tasks", body);
        assertThat(accepted.status()).as(accepted.body()).isEqualTo(202);
        return accepted.json().path("taskId").asText();
    }

    private int put(String path, String mediaType, String body) {
        return api().put(path, mediaType, body.getBytes(StandardCharsets.UTF_8)).status();
    }

    private String state(String taskId) {
        return api().get("/v1/tasks/" + taskId).json().path("state").asText();
    }

    private String waitsFor(String taskId) {
        return api().get("/v1/tasks/" + taskId)
                .json()
                .path("waitingFor")
                .path("kind")
                .asText();
    }

    /** What was said in a session, and when; cursors are places in the journal, which are others. */
    private List<String> said(String session) {
        JsonNode messages =
                api().get("/v1/sessions/" + session + "/messages").json().path("messages");
        return StreamSupport.stream(messages.spliterator(), false)
                .map(message -> message.path("id") + " " + message.path("role") + " " + message.path("content") + " "
                        + message.path("timestamp"))
                .toList();
    }

    private static void shouldRefuse(String... argsAndReason) {
        String[] args = Arrays.copyOf(argsAndReason, argsAndReason.length - 1);
        CommandRun run = CommandRun.of(args);
        assertThat(run.exitCode()).isEqualTo(1);
        assertThat(run.err()).contains(argsAndReason[argsAndReason.length - 1]);
        assertThat(run.out()).isEmpty();
    }

    /** Everything in a file that is text. */
    private static List<String> texts(Path archive) throws IOException {
        try (InputStream unzipped = new GZIPInputStream(new ByteArrayInputStream(Files.readAllBytes(archive)))) {
            List<String> texts = new ArrayList<>();
            for (String line : new String(unzipped.readAllBytes(), StandardCharsets.UTF_8)
                    .lines()
                    .toList()) {
                JsonNode entry = Json.MAPPER.readTree(line);
                Stream.of("key", "value")
                        .filter(entry::hasNonNull)
                        .map(name -> new String(
                                Base64.getDecoder().decode(entry.path(name).asText()), StandardCharsets.UTF_8))
                        .forEach(texts::add);
            }
            return texts;
        }
    }

    private void defineOrders() throws Exception {
        ToolDefinition tool = new ToolDefinition(
                "find_order",
                "finds an order",
                JsonObject.of(Map.of("type", "object")),
                "orders",
                Duration.ofMinutes(30).toMillis(),
                ToolDefinition.SideEffects.READ_ONLY);
        try (KafkaProducer<String, byte[]> producer = new KafkaProducer<>(
                Map.of("bootstrap.servers", "127.0.0.1:" + kafkaPort),
                new StringSerializer(),
                new ByteArraySerializer())) {
            producer.send(new ProducerRecord<>(TOPICS.definitions(), ToolDefinition.key(tool.name()), tool.toJson()))
                    .get();
        }
        await().atMost(LIMIT).until(() -> api().get("/v1/tools").body().contains("find_order"));
    }

    /** A worker that comes after the move: the one request is there, and its answer is believed. */
    private void serveTheOrder() throws Exception {
        TopicPartition partition = new TopicPartition(TOPICS.requests("orders"), 0);
        List<ConsumerRecord<byte[], byte[]>> requests = new ArrayList<>();
        try (KafkaConsumer<byte[], byte[]> consumer = new KafkaConsumer<>(
                Map.of("bootstrap.servers", "127.0.0.1:" + kafkaPort, "isolation.level", "read_committed"),
                new ByteArrayDeserializer(),
                new ByteArrayDeserializer())) {
            consumer.assign(Set.of(partition));
            consumer.seekToBeginning(Set.of(partition));
            await().atMost(LIMIT).until(() -> {
                consumer.poll(Duration.ofMillis(200)).forEach(requests::add);
                return !requests.isEmpty();
            });
        }
        assertThat(requests).hasSize(1);
        ConsumerRecord<byte[], byte[]> request = requests.getFirst();
        String callId = Json.MAPPER.readTree(request.value()).path("callId").asText();
        ProducerRecord<byte[], byte[]> reply = new ProducerRecord<>(
                TOPICS.prefix() + "events.tool",
                "shop".getBytes(StandardCharsets.UTF_8),
                Json.write(Map.of(
                        "callId",
                        callId,
                        "toolName",
                        "find_order",
                        "result",
                        Map.of("state", "shipped"),
                        "durationMs",
                        3)));
        for (Header header : request.headers()) {
            if (!Set.of(EventCodec.CE_ID, EventCodec.CE_TYPE, "ce_priority", "ce_expirytime", "ce_causaldepth")
                    .contains(header.key())) {
                reply.headers().add(header);
            }
        }
        reply.headers().add(EventCodec.CE_TYPE, "TOOL_CALL_COMPLETED".getBytes(StandardCharsets.UTF_8));
        reply.headers()
                .add(
                        EventCodec.CE_ID,
                        Ids.hash(callId + "\nTOOL_CALL_COMPLETED")
                                .substring(0, 32)
                                .getBytes(StandardCharsets.UTF_8));
        try (KafkaProducer<byte[], byte[]> producer = new KafkaProducer<>(
                Map.of("bootstrap.servers", "127.0.0.1:" + kafkaPort),
                new ByteArraySerializer(),
                new ByteArraySerializer())) {
            producer.send(reply).get();
        }
    }
}
