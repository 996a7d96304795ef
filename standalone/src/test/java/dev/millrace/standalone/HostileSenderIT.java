package dev.millrace.standalone;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.millrace.schemas.Json;
import dev.millrace.schemas.Topics;
import dev.millrace.testing.FreePort;
import dev.millrace.testing.HostileRecords;
import dev.millrace.testing.HostileRecords.Hostile;
import dev.millrace.testing.HttpApi;
import dev.millrace.testing.ServiceProcess;
import dev.millrace.testing.StubModelServer;
import dev.millrace.testing.StubModelServer.Answer;
import dev.millrace.testing.StubModelServer.ToolCall;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.stream.Stream;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Whatever anybody sends costs the sender and nobody else. */
class HostileSenderIT {

    private static final int RECORDS = Integer.getInteger("millrace.test.hostile-records", 6_000);
    private static final int AT_ONCE = 100;
    private static final long SEED = Long.getLong("millrace.test.seed", 20_261_123L);
    private static final Topics TOPICS = new Topics(Topics.DEFAULT_PREFIX);
    private static final Duration LIMIT = Duration.ofSeconds(60);
    /** What a task takes beside others on a slow and busy machine; usual are some 50 ms. */
    private static final Duration USUAL = Duration.ofSeconds(15);

    /** What stands in the log when something has ended that should go on. */
    private static final List<String> ENDS = List.of(
            "A stream thread failed and is replaced",
            "A record broke its transaction",
            "A machine stops",
            "A machine could not start",
            "another one takes its place",
            "OutOfMemoryError");

    @TempDir
    Path folder;

    private final int port = FreePort.find();
    private final int kafkaPort = FreePort.find();
    private final HttpApi api = HttpApi.onPort(port);
    private final Set<Integer> bad = new HashSet<>();
    private final Set<String> acceptedOverHttp = new HashSet<>();
    private final Map<Integer, String> what = new HashMap<>();

    @Test
    @DisplayName("the largest legal events, the longest replies and 6 000 odd ones cost nobody else anything")
    void shouldGoOnWhateverIsSent() throws Exception {
        try (StubModelServer model = StubModelServer.start(HostileSenderIT::answer);
                ServiceProcess up = up(model);
                KafkaProducer<byte[], byte[]> producer = producer()) {
            long pid = up.pid();
            probe(up);

            // when: what is known to have stopped everything, and the largest legal event of each type, as a Kafka
            // client and over
            // HTTP
            HostileRecords records = new HostileRecords(TOPICS, SEED, HostileRecords.Kind.ALL);
            for (Hostile known : records.known()) {
                send(producer, List.of(known));
                postEvent(known);
                probe(up);
            }
            for (Hostile largest : records.largest()) {
                send(producer, List.of(largest));
                postEvent(largest);
            }
            probe(up);

            // when: the longest replies of models and tools
            for (String reply : LongReplies.NAMES) {
                String taskId = api.submit(reply);
                assertThat(api.awaitEnd(taskId, LIMIT).path("state").asText())
                        .as("the task whose model says " + reply)
                        .isIn("completed", "failed");
                probe(up);
            }

            // when: odd ones
            for (int sent = 0; sent < RECORDS; sent += AT_ONCE) {
                List<Hostile> hundred =
                        Stream.generate(records::next).limit(AT_ONCE).toList();
                send(producer, hundred);
                postEvent(hundred.getFirst());
                postOdd(hundred.getLast());
                probe(up);
            }

            // then
            awaitBadOnesAmongTheDeadLetters();
            assertThat(up.pid()).isEqualTo(pid);
            assertThat(up.output()).doesNotContain(ENDS);
        }
    }

    private ServiceProcess up(StubModelServer model) {
        return ServiceProcess.standalone(
                        "up",
                        "--port",
                        String.valueOf(port),
                        "--kafka-port",
                        String.valueOf(kafkaPort),
                        "--data",
                        folder.resolve("data").toString(),
                        "--workspace",
                        folder.resolve("workspace").toString())
                .env("OPENAI_BASE_URL", model.baseUrl().toString())
                .env("OPENAI_API_KEY", "none")
                // so that the topic of claims is read
                .jvm("-Dmillrace.llm.keys.openai.max-requests=1000000")
                // odd types reach an agent by the fallback: some are enough
                .jvm("-Dmillrace.agent.rules.per-rule=20")
                .jvm("-Xmx700m")
                .start(folder)
                .awaitReady(URI.create("http://127.0.0.1:" + port + "/q/health/ready"));
    }

    /** A fresh task of somebody else completes in usual time, and all is well. */
    private void probe(ServiceProcess up) {
        long begun = System.nanoTime();
        HttpApi.Answer answer = api.post("/v1/tasks?wait=30s", Map.of("text", "ping"));
        Duration took = Duration.ofNanos(System.nanoTime() - begun);
        assertThat(answer.status()).as(answer.body()).isEqualTo(200);
        assertThat(answer.json().path("state").asText()).as(answer.body()).isEqualTo("completed");
        assertThat(took).isLessThan(USUAL);
        assertThat(api.get("/q/health").status())
                .as(() -> api.get("/q/health").body())
                .isEqualTo(200);
        assertThat(up.isAlive()).isTrue();
    }

    private void send(KafkaProducer<byte[], byte[]> producer, List<Hostile> records) throws InterruptedException {
        Map<Hostile, Future<RecordMetadata>> sent = new LinkedHashMap<>();
        records.forEach(hostile -> sent.put(hostile, producer.send(hostile.record())));
        for (Map.Entry<Hostile, Future<RecordMetadata>> one : sent.entrySet()) {
            try {
                one.getValue().get();
                what.put(one.getKey().number(), one.getKey().what());
                if (one.getKey().bad()) {
                    bad.add(one.getKey().number());
                }
            } catch (ExecutionException e) {
                // the broker itself, or the sender's own client, has said no: that is an answer, too
                assertThat(e.getCause()).isInstanceOf(KafkaException.class);
            }
        }
    }

    /** The same over HTTP: taken, or a problem for the sender. */
    private void postEvent(Hostile hostile) {
        Map<String, String> headers = new HashMap<>();
        for (Header header : hostile.record().headers()) {
            String name = header.key().replace('_', '-');
            String text = new String(header.value(), StandardCharsets.ISO_8859_1);
            // what a client of HTTP refuses to send needs no answer
            if (text.chars().allMatch(c -> c >= ' ' && c < 127) && text.length() < 8_000) {
                headers.put(name, text);
            }
        }
        String id = "http-" + hostile.number();
        headers.computeIfPresent("ce-id", (name, before) -> id);
        byte[] body = hostile.record().value();
        HttpApi.Answer answer = api.post("/v1/events", headers, body == null ? new byte[0] : body);
        if (requireAnswer(hostile, answer) == 202) {
            acceptedOverHttp.add(id);
        }
    }

    /** The value alone, as if it were a request. */
    private void postOdd(Hostile hostile) {
        byte[] body = hostile.record().value();
        for (String path : List.of("/v1/tasks", "/v1/chat/completions", "/v1/forget", "/v1/approvals/h/1/1-0")) {
            requireAnswer(
                    hostile,
                    api.post(path, Map.of("content-type", "application/json"), body == null ? new byte[0] : body));
        }
    }

    private static int requireAnswer(Hostile hostile, HttpApi.Answer answer) {
        assertThat(answer.status())
                .as(() -> "record " + hostile.number() + ", " + hostile.what() + ": " + answer.body())
                .isBetween(200, 499);
        if (answer.status() >= 400) {
            assertThat(answer.body()).as(hostile.what()).startsWith("{");
        }
        return answer.status();
    }

    private void awaitBadOnesAmongTheDeadLetters() {
        Set<Integer> missing = new HashSet<>(bad);
        Set<String> missingEvents = new HashSet<>(acceptedOverHttp);
        try (KafkaConsumer<byte[], byte[]> consumer = consumer(TOPICS.deadLetters(), TOPICS.journal())) {
            await().atMost(LIMIT).pollInterval(Duration.ZERO).untilAsserted(() -> {
                for (ConsumerRecord<byte[], byte[]> letter : consumer.poll(Duration.ofMillis(500))) {
                    String number = header(letter, HostileRecords.NUMBER);
                    if (number != null && letter.topic().equals(TOPICS.deadLetters())) {
                        missing.remove(Integer.valueOf(number));
                    }
                    missingEvents.remove(String.valueOf(header(letter, "ce_id")));
                }
                assertThat(missing.stream().map(number -> number + ": " + what.get(number)))
                        .as("bad records (seed " + SEED + ") that are not among the dead letters")
                        .isEmpty();
                assertThat(missingEvents)
                        .as("events with a 202 that are neither in the journal nor among the dead letters")
                        .isEmpty();
            });
        }
    }

    private static @Nullable String header(ConsumerRecord<?, ?> record, String name) {
        Header header = record.headers().lastHeader(name);
        return header == null ? null : new String(header.value(), StandardCharsets.UTF_8);
    }

    private KafkaConsumer<byte[], byte[]> consumer(String... topics) {
        KafkaConsumer<byte[], byte[]> consumer = new KafkaConsumer<>(
                Map.of("bootstrap.servers", "127.0.0.1:" + kafkaPort, "isolation.level", "read_committed"),
                new ByteArrayDeserializer(),
                new ByteArrayDeserializer());
        List<TopicPartition> partitions = Stream.of(topics)
                .flatMap(topic -> consumer.partitionsFor(topic).stream())
                .map(partition -> new TopicPartition(partition.topic(), partition.partition()))
                .toList();
        consumer.assign(partitions);
        consumer.seekToBeginning(partitions);
        return consumer;
    }

    private KafkaProducer<byte[], byte[]> producer() {
        return new KafkaProducer<>(
                Map.of(
                        "bootstrap.servers",
                        "127.0.0.1:" + kafkaPort,
                        "max.request.size",
                        Topics.MAX_EVENT_BYTES,
                        "linger.ms",
                        5),
                new ByteArraySerializer(),
                new ByteArraySerializer());
    }

    private static Answer answer(StubModelServer.Request request) {
        String said = request.last("user");
        boolean first = request.last("tool").isEmpty();
        return first ? LongReplies.of(said) : Answer.text("done");
    }

    /** Replies as no model should give them. */
    private static final class LongReplies {

        private static final String X = "text of ";
        private static final String CONTROLS = "controls of ";
        private static final String SMILES = "smiles of ";
        private static final String ARGUMENTS = "arguments of ";
        private static final String DEEP = "arguments nested ";
        private static final String NUMBER = "a number of ";
        private static final String CALLS = "calls, ";
        private static final String SURROGATE = "half a character";
        private static final String FILE = "a file of ";

        static final List<String> NAMES = List.of(
                X + 100_000,
                X + 1_000_000,
                X + 1_048_576,
                X + 3_000_000,
                CONTROLS + 150_000,
                CONTROLS + 1_000_000,
                SMILES + 250_000,
                SMILES + 500_000,
                ARGUMENTS + 500_000,
                ARGUMENTS + 1_000_000,
                ARGUMENTS + 2_000_000,
                DEEP + 99,
                DEEP + 101,
                DEEP + 10_000,
                NUMBER + 308,
                NUMBER + 400,
                CALLS + 64,
                CALLS + 2_000,
                SURROGATE,
                FILE + 500_000,
                FILE + 1_000_000);

        private LongReplies() {}

        static Answer of(String said) {
            int size = said.matches(".* \\d+") ? Integer.parseInt(said.replaceFirst(".* ", "")) : 0;
            if (said.startsWith(X)) {
                return Answer.text("x".repeat(size));
            } else if (said.startsWith(CONTROLS)) {
                return Answer.text("\u0001".repeat(size));
            } else if (said.startsWith(SMILES)) {
                return Answer.text("\ud83d\ude00".repeat(size));
            } else if (said.startsWith(SURROGATE)) {
                return Answer.text("\ud83d and no more");
            } else if (said.startsWith(ARGUMENTS)) {
                return call("base64_encode", "{\"text\":\"" + "x".repeat(size) + "\"}");
            } else if (said.startsWith(DEEP)) {
                return call("base64_encode", "{\"text\":" + "[".repeat(size) + "]".repeat(size) + '}');
            } else if (said.startsWith(NUMBER)) {
                return call("base64_encode", "{\"text\":\"a\",\"n\":1e" + size + '}');
            } else if (said.startsWith(FILE)) {
                return call("base64_encode", Json.writeText(Map.of("text", "\u0001".repeat(size / 6))));
            } else if (said.startsWith(CALLS)) {
                List<ToolCall> calls = new ArrayList<>();
                for (int i = 0; i < size; i++) {
                    calls.add(new ToolCall("c" + i, "base64_encode", "{\"text\":\"a\"}"));
                }
                return Answer.toolCalls(calls.toArray(new ToolCall[0]));
            }
            return Answer.text("pong");
        }

        private static Answer call(String tool, String arguments) {
            return Answer.toolCalls(new ToolCall("c1", tool, arguments));
        }
    }
}
