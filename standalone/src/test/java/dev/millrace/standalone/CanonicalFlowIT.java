package dev.millrace.standalone;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.millrace.schemas.Event;
import dev.millrace.schemas.EventCodec;
import dev.millrace.schemas.Json;
import dev.millrace.schemas.KnownEventType;
import dev.millrace.schemas.MalformedEventException;
import dev.millrace.schemas.Topics;
import dev.millrace.testing.FreePort;
import dev.millrace.testing.HttpApi;
import dev.millrace.testing.ServiceProcess;
import io.opentelemetry.proto.common.v1.KeyValue;
import io.opentelemetry.proto.trace.v1.Span;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The canonical flow on a real broker, seen over HTTP and by a plain Kafka consumer. */
class CanonicalFlowIT {

    private static final Duration LIMIT = Duration.ofSeconds(40);
    private static final Topics TOPICS = new Topics(Topics.DEFAULT_PREFIX);
    private static final List<String> CANONICAL = List.of(
            "MESSAGE_RECEIVED",
            "TASK_CREATED",
            "REASON_DONE",
            "TOOL_CALL_COMPLETED",
            "REASON_DONE",
            "STEP_COMPLETED",
            "TASK_COMPLETED",
            "REFLECTION_COMPLETE");

    private static final String TRACE = "0af7651916cd43dd8448eb211c80319c";
    private static final String CALLER = "b7ad6b7169203331";

    @TempDir
    Path folder;

    @Test
    @DisplayName(
            "F-053, F-054, F-189, F-262, X-08: the eight events in order, one chain by parentEventId, and one trace of"
                    + " spans")
    void shouldTakeTheCanonicalWay() throws Exception {
        int port = FreePort.find();
        int kafkaPort = FreePort.find();
        try (OtlpSink sink = OtlpSink.start();
                ServiceProcess up = ServiceProcess.standalone(
                                "up", "--port", String.valueOf(port), "--kafka-port", String.valueOf(kafkaPort))
                        .env("MILLRACE_AGENT_REFLECTION_ENABLED", "true")
                        .env("OTEL_EXPORTER_OTLP_ENDPOINT", sink.url())
                        .env("OTEL_BSP_SCHEDULE_DELAY", "200")
                        .env("OTEL_METRIC_EXPORT_INTERVAL", "500")
                        .start(folder)) {
            up.awaitReady(URI.create("http://127.0.0.1:" + port + "/q/health/ready"));
            HttpApi api = HttpApi.onPort(port);

            // when: a task with one tool call, which is worth a reflection
            String taskId = submitTraced(port, "What does notes.txt say?");
            api.awaitEnd(taskId, LIMIT);
            assertOneTrace(sink, taskId);
            journal("127.0.0.1:" + kafkaPort, taskId);

            // and the same message once more (F-189): accepted, and nothing happens
            assertThat(api.post("/v1/tasks", Map.of("text", "What does notes.txt say?", "id", taskId))
                            .status())
                    .isEqualTo(202);

            // then
            List<Event> journal = journal("127.0.0.1:" + kafkaPort, taskId);
            List<Event> canonical = journal.stream()
                    .filter(event -> CANONICAL.contains(event.type().wireName()))
                    .toList();
            assertThat(canonical).extracting(event -> event.type().wireName()).isEqualTo(CANONICAL);
            for (int i = 1; i < canonical.size(); i++) {
                assertThat(canonical.get(i).parentEventId())
                        .as("parent of " + canonical.get(i).type())
                        .isEqualTo(canonical.get(i - 1).id());
            }
            assertThat(journal).extracting(Event::id).doesNotHaveDuplicates();
            assertThat(api.events(taskId))
                    .extracting(event -> event.path("id").asText())
                    .isEqualTo(journal.stream().map(Event::id).toList());
            assertThat(chain(api, canonical.getLast().id()))
                    .isEqualTo(canonical.stream().map(Event::id).toList());
        }
    }

    /** A task from somebody who is in a trace. */
    private static String submitTraced(int port, String text) throws Exception {
        try (HttpClient http = HttpClient.newHttpClient()) {
            HttpResponse<String> accepted = http.send(
                    HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + "/v1/tasks"))
                            .header("content-type", "application/json")
                            .header("traceparent", "00-" + TRACE + "-" + CALLER + "-01")
                            .POST(HttpRequest.BodyPublishers.ofString("{\"text\": \"" + text + "\"}"))
                            .build(),
                    HttpResponse.BodyHandlers.ofString());
            assertThat(accepted.statusCode()).isEqualTo(202);
            return Json.MAPPER.readTree(accepted.body()).path("taskId").asText();
        }
    }

    /** From the caller over HTTP and Kafka to the answer, with the names of the conventions. */
    private static void assertOneTrace(OtlpSink sink, String taskId) {
        List<Span> spans = sink.awaitSpans(TRACE, "invoke_agent", LIMIT);
        Map<String, Span> bySpanId =
                spans.stream().collect(Collectors.toMap(span -> OtlpSink.hex(span.getSpanId()), span -> span));
        Span request = only(spans, "POST /v1/tasks");
        assertThat(OtlpSink.hex(request.getParentSpanId())).isEqualTo(CALLER);
        assertThat(OtlpSink.text(request, "http.route")).isEqualTo("/v1/tasks");
        Span agent = only(spans, "invoke_agent");
        assertThat(agent.getParentSpanId()).isEqualTo(request.getSpanId());
        assertThat(OtlpSink.text(agent, "gen_ai.operation.name")).isEqualTo("invoke_agent");
        assertThat(OtlpSink.text(agent, "gen_ai.conversation.id")).isEqualTo(taskId);
        Span tool = only(spans, "execute_tool read_file");
        assertThat(tool.getParentSpanId()).isEqualTo(agent.getSpanId());
        assertThat(OtlpSink.text(tool, "gen_ai.tool.name")).isEqualTo("read_file");
        assertThat(OtlpSink.text(tool, "gen_ai.tool.call.id")).isNotEmpty();
        List<Span> chats = spans.stream()
                .filter(span -> span.getName().startsWith("chat "))
                .toList();
        assertThat(chats).hasSize(2).allSatisfy(chat -> {
            assertThat(chat.getParentSpanId()).isEqualTo(agent.getSpanId());
            assertThat(OtlpSink.text(chat, "gen_ai.operation.name")).isEqualTo("chat");
            assertThat(OtlpSink.text(chat, "gen_ai.provider.name")).isEqualTo("scripted");
            assertThat(OtlpSink.text(chat, "gen_ai.response.model")).isNotEmpty();
            assertThat(chat.getAttributesList())
                    .extracting(KeyValue::getKey)
                    .contains("gen_ai.usage.input_tokens", "gen_ai.usage.output_tokens", "gen_ai.request.model")
                    .doesNotContain("gen_ai.input.messages", "gen_ai.output.messages");
        });
        assertThat(bySpanId).hasSize(spans.size());
        assertThat(sink.awaitMetric("gen_ai.client.token.usage", LIMIT)).isTrue();
        assertThat(sink.awaitMetric("gen_ai.client.operation.duration", LIMIT)).isTrue();
    }

    private static Span only(List<Span> spans, String name) {
        List<Span> found =
                spans.stream().filter(span -> span.getName().startsWith(name)).toList();
        assertThat(found).as(name).hasSize(1);
        return found.getFirst();
    }

    private static List<String> chain(HttpApi api, String eventId) {
        List<String> ids = new ArrayList<>();
        JsonNode chain = api.get("/v1/events/" + eventId + "/chain").json().path("chain");
        chain.forEach(event -> ids.add(event.path("id").asText()));
        return ids;
    }

    private static List<Event> journal(String kafka, String taskId) throws MalformedEventException {
        return read(
                        kafka,
                        TOPICS.journal(),
                        events -> events.stream().anyMatch(event -> event.type() == KnownEventType.REFLECTION_COMPLETE))
                .stream()
                .filter(event -> taskId.equals(event.taskId()))
                .toList();
    }

    private static List<Event> read(String kafka, String topic, Predicate<List<Event>> enough)
            throws MalformedEventException {
        List<Event> events = new ArrayList<>();
        try (KafkaConsumer<String, byte[]> consumer = new KafkaConsumer<>(
                Map.of("bootstrap.servers", kafka, "isolation.level", "read_committed"),
                new StringDeserializer(),
                new ByteArrayDeserializer())) {
            List<TopicPartition> partitions = consumer.partitionsFor(topic).stream()
                    .map(info -> new TopicPartition(info.topic(), info.partition()))
                    .toList();
            consumer.assign(partitions);
            consumer.seekToBeginning(partitions);
            long deadline = System.nanoTime() + LIMIT.toNanos();
            while (!enough.test(events)) {
                assertThat(System.nanoTime())
                        .as("in time on " + topic + ", read " + events)
                        .isLessThan(deadline);
                for (var entry : consumer.poll(Duration.ofMillis(100))) {
                    events.add(EventCodec.fromRecord(
                            entry.headers(), entry.value(), Instant.ofEpochMilli(entry.timestamp())));
                }
            }
        }
        return List.copyOf(events);
    }
}
