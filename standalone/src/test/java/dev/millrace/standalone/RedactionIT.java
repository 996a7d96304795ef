package dev.millrace.standalone;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpServer;
import dev.millrace.schemas.DeadLetters;
import dev.millrace.schemas.Topics;
import dev.millrace.testing.FreePort;
import dev.millrace.testing.HttpApi;
import dev.millrace.testing.ServiceProcess;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class RedactionIT {

    private static final Duration LIMIT = Duration.ofSeconds(40);
    private static final Topics TOPICS = new Topics(Topics.DEFAULT_PREFIX);
    private static final String CARD = "4111 1111 1111 1111";
    private static final String LEFT = "[redacted:card]";

    @TempDir
    Path folder;

    @Test
    @DisplayName("a card's number is in the task, and in no log, span, dead letter or webhook")
    void shouldTellNobodyOutside() throws Exception {
        int port = FreePort.find();
        int kafkaPort = FreePort.find();
        Path agents = folder.resolve("agents");
        Path agent = Files.createDirectories(agents.resolve("broken")).resolve("AGENT.md");
        Files.writeString(agent, "---\n\"" + CARD + "\": 1\n---\nYou are helpful.\n");
        Path script = Files.writeString(folder.resolve("script.yaml"), "rules:\n  - text: \"You said {{user}}\"\n");
        try (Receiver receiver = Receiver.start();
                OtlpSink sink = OtlpSink.start();
                ServiceProcess up = ServiceProcess.standalone(
                                "up",
                                "--port",
                                String.valueOf(port),
                                "--kafka-port",
                                String.valueOf(kafkaPort),
                                "--agents",
                                agents.toString(),
                                "--script",
                                script.toString())
                        .env("MILLRACE_REDACTION_PATTERNS_CARD", "\\b[45]\\d{3}(?:[ -]?\\d{4}){3}\\b")
                        .env("MILLRACE_TELEMETRY_CONTENT", "true")
                        .env("MILLRACE_TOOLS_HTTP_ALLOW", "127.0.0.1")
                        .env("OTEL_EXPORTER_OTLP_ENDPOINT", sink.url())
                        .env("OTEL_BSP_SCHEDULE_DELAY", "200")
                        .start(folder)
                        .awaitOutput("Millrace is ready", ServiceProcess.START_LIMIT)) {
            HttpApi api = HttpApi.onPort(port);

            // when: the log has the agent's file that is no good; a task, and two records that nobody can take
            String taskId = api.post("/v1/tasks", Map.of("text", "charge " + CARD, "callbackUrl", receiver.url()))
                    .json()
                    .path("taskId")
                    .asText();
            List<ConsumerRecord<byte[], byte[]>> letters = deadLetters("127.0.0.1:" + kafkaPort);

            // then
            assertThat(api.awaitEnd(taskId, LIMIT).toString()).contains("You said charge " + CARD);
            assertThat(receiver.next()).contains("You said charge " + LEFT).doesNotContain(CARD);
            assertThat(letters).hasSize(2).allSatisfy(letter -> {
                assertThat(text(letter.value())).contains(LEFT).doesNotContain(CARD);
                assertThat(letter.headers())
                        .allSatisfy(header -> assertThat(text(header.value())).doesNotContain(CARD));
            });
            assertThat(sink.awaitContent("gen_ai.output.messages", LIMIT))
                    .contains("You said charge " + LEFT)
                    .doesNotContain(CARD);
            assertThat(up.output()).contains(LEFT).doesNotContain(CARD);
        }
    }

    /** What comes of a record on a lane, which a machine puts aside, and of one for tools, which a worker does. */
    private static List<ConsumerRecord<byte[], byte[]>> deadLetters(String kafka) {
        byte[] broken = ("{\"text\": \"charge " + CARD + "\"").getBytes(StandardCharsets.UTF_8);
        try (KafkaProducer<byte[], byte[]> producer = new KafkaProducer<>(
                Map.of("bootstrap.servers", kafka), new ByteArraySerializer(), new ByteArraySerializer())) {
            for (String topic : List.of(TOPICS.lanes().getFirst(), TOPICS.requests(Topics.BUILT_IN_TOOLSET))) {
                ProducerRecord<byte[], byte[]> sent = new ProducerRecord<>(topic, broken);
                sent.headers()
                        .add("ce_specversion", "1.0".getBytes(StandardCharsets.UTF_8))
                        .add("ce_id", "broken".getBytes(StandardCharsets.UTF_8))
                        .add("ce_source", "/test".getBytes(StandardCharsets.UTF_8))
                        .add("ce_type", "TOOL_CALL_REQUESTED".getBytes(StandardCharsets.UTF_8));
                var unused = producer.send(sent);
            }
        }
        List<ConsumerRecord<byte[], byte[]>> letters = new ArrayList<>();
        try (KafkaConsumer<byte[], byte[]> consumer = new KafkaConsumer<>(
                Map.of("bootstrap.servers", kafka, "isolation.level", "read_committed"),
                new ByteArrayDeserializer(),
                new ByteArrayDeserializer())) {
            List<TopicPartition> partitions = consumer.partitionsFor(TOPICS.deadLetters()).stream()
                    .map(info -> new TopicPartition(info.topic(), info.partition()))
                    .toList();
            consumer.assign(partitions);
            consumer.seekToBeginning(partitions);
            long end = System.nanoTime() + LIMIT.toNanos();
            while (letters.size() < 2) {
                assertThat(System.nanoTime())
                        .as("two dead letters in time, found " + letters)
                        .isLessThan(end);
                consumer.poll(Duration.ofMillis(100)).forEach(letters::add);
            }
        }
        assertThat(letters)
                .allSatisfy(letter -> assertThat(letter.headers().lastHeader(DeadLetters.REASON))
                        .isNotNull());
        return letters;
    }

    private static String text(byte[] bytes) {
        return new String(bytes, StandardCharsets.UTF_8);
    }

    /** Somebody who is told how tasks end. */
    private record Receiver(HttpServer server, BlockingQueue<String> bodies) implements AutoCloseable {

        static Receiver start() throws IOException {
            HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
            BlockingQueue<String> bodies = new LinkedBlockingQueue<>();
            server.createContext("/", exchange -> {
                bodies.add(text(exchange.getRequestBody().readAllBytes()));
                exchange.sendResponseHeaders(204, -1);
                exchange.close();
            });
            server.start();
            return new Receiver(server, bodies);
        }

        String url() {
            return "http://127.0.0.1:" + server.getAddress().getPort() + "/hook";
        }

        String next() throws InterruptedException {
            String body = bodies.poll(LIMIT.toSeconds(), TimeUnit.SECONDS);
            assertThat(body).as("a webhook in time").isNotNull();
            return body;
        }

        @Override
        public void close() {
            server.stop(0);
        }
    }
}
