package dev.millrace.deploy;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import dev.millrace.schemas.Json;
import dev.millrace.schemas.Segment;
import dev.millrace.schemas.Topics;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.ExecutionException;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.errors.WakeupException;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.Headers;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;

/** A worker as a stranger writes one with Kafka's clients and docs/events.md: counts words in an ordinary group. */
final class Worker implements AutoCloseable {

    private static final List<String> COPIED =
            List.of("ce_subject", "ce_sessionid", "ce_namespace", "ce_correlationid", "ce_replytoken");
    private static final String DEFINITION = """
            {"name": "count_words", "description": "Counts the words of a text.", "toolset": "words",
             "parameters": {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]},
             "timeoutMs": 30000, "sideEffects": "READ_ONLY"}
            """;

    private final Topics topics;
    private final KafkaConsumer<String, String> consumer;
    private final KafkaProducer<String, String> producer;
    private final Thread thread;

    private Worker(Topics topics, Map<String, Object> client, String group) {
        this.topics = topics;
        Map<String, Object> settings = new HashMap<>(client);
        this.producer = new KafkaProducer<>(settings, new StringSerializer(), new StringSerializer());
        settings.putAll(Map.of("group.id", group, "auto.offset.reset", "earliest"));
        this.consumer = new KafkaConsumer<>(settings, new StringDeserializer(), new StringDeserializer());
        this.thread = Thread.ofPlatform().name("worker").unstarted(this::run);
    }

    /** Publishes the tool, and answers its calls until it is closed. */
    static Worker start(Topics topics, Map<String, Object> client, String group) {
        Worker worker = new Worker(topics, client, group);
        worker.send(new ProducerRecord<>(topics.definitions(), "tool/count_words", DEFINITION));
        worker.thread.start();
        return worker;
    }

    private void run() {
        consumer.subscribe(List.of(topics.requests("words")));
        try {
            while (true) {
                consumer.poll(Duration.ofSeconds(1)).forEach(this::answer);
                consumer.commitSync();
            }
        } catch (WakeupException e) {
            // closed
        }
    }

    private void answer(ConsumerRecord<String, String> call) {
        JsonNode request;
        try {
            request = Json.MAPPER.readTree(call.value());
        } catch (JsonProcessingException e) {
            ProducerRecord<String, String> letter =
                    new ProducerRecord<>(topics.deadLetters(), call.key(), call.value());
            add(letter.headers(), "millrace-reason", "bad_json");
            add(letter.headers(), "millrace-origin-topic", call.topic());
            send(letter);
            return;
        }
        int words = request.at("/params/text").asText().split("\\s+").length;
        ProducerRecord<String, String> reply = new ProducerRecord<>(
                topics.lane(Segment.TOOL),
                call.key(),
                "{\"callId\": \"%s\", \"toolName\": \"count_words\", \"result\": %d, \"durationMs\": 0}"
                        .formatted(request.path("callId").asText(), words));
        COPIED.stream()
                .map(name -> call.headers().lastHeader(name))
                .filter(header -> header != null)
                .forEach(reply.headers()::add);
        Header cause = call.headers().lastHeader("ce_id");
        reply.headers().add("ce_causationid", cause.value());
        add(reply.headers(), "ce_specversion", "1.0");
        add(reply.headers(), "ce_id", UUID.randomUUID().toString());
        add(reply.headers(), "ce_type", "TOOL_CALL_COMPLETED");
        add(reply.headers(), "ce_source", "words");
        add(reply.headers(), "ce_time", Instant.now().toString());
        send(reply);
    }

    private void send(ProducerRecord<String, String> event) {
        try {
            producer.send(event).get();
        } catch (ExecutionException e) {
            throw new IllegalStateException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private static void add(Headers headers, String name, String value) {
        headers.add(name, value.getBytes(StandardCharsets.UTF_8));
    }

    boolean isAlive() {
        return thread.isAlive();
    }

    @Override
    public void close() {
        consumer.wakeup();
        try {
            thread.join();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return;
        }
        consumer.close();
        producer.close();
    }
}
