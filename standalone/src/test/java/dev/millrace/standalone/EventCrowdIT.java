package dev.millrace.standalone;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.schemas.Event;
import dev.millrace.schemas.EventCodec;
import dev.millrace.schemas.Json;
import dev.millrace.schemas.MalformedEventException;
import dev.millrace.schemas.Segment;
import dev.millrace.schemas.Topics;
import dev.millrace.testing.FreePort;
import dev.millrace.testing.ServiceProcess;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Future;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Many events of many sessions at once, a schedule that goes on beside them, and a kill in the middle. With
 * {@code -Dmillrace.test.events-each=10 -Dmillrace.test.kills=10} it is 10 000 events and ten kills.
 */
class EventCrowdIT {

    private static final int SESSIONS = 1_000;
    private static final int EACH = Integer.getInteger("millrace.test.events-each", 4);
    /** Of every so many sessions an agent is told the last event. */
    private static final int AGENTS = 5;

    /** Every so many sessions have a rule that fails, too. */
    private static final int BROKEN = 10;

    private static final int KILLS = Integer.getInteger("millrace.test.kills", 1);
    private static final Duration LIMIT = Duration.ofMinutes(3);
    private static final Topics TOPICS = new Topics(Topics.DEFAULT_PREFIX);
    private static final String NUMBER = "number";

    private static final String RULES = """
            rules:
              steps: {on: crowd.step, priority: 60, log: {}}
              last:
                on: crowd.last
                priority: 60
                agent: {prompt: "That was all of {{payload.session}}."}
              broken:
                on: crowd.broken
                priority: 60
                agent: {prompt: "{{payload.not.there}}"}
            """;

    @TempDir
    Path folder;

    private final int port = FreePort.find();
    private final int kafkaPort = FreePort.find();

    @Test
    @DisplayName(
            "4 000 events to 1 000 sessions over a kill: in order within each, none lost, none twice, beside a rule"
                    + " that always fails; and a schedule of each second fires each second once")
    void shouldKeepCountAndOrder() throws Exception {
        Files.writeString(Files.createDirectories(folder.resolve("rules")).resolve("crowd.yaml"), RULES);
        Files.writeString(folder.resolve("script.yaml"), "rules:\n  - text: noted\n");
        Instant begun;
        try (ServiceProcess up = up()) {
            CommandRun set = CommandRun.of(
                    "schedules",
                    "set",
                    "tick",
                    "--cron",
                    "* * * * * *",
                    "--missed",
                    "all",
                    "--text",
                    "tick",
                    "--url",
                    url());
            assertThat(set.exitCode()).as(set.err()).isZero();
            begun = Instant.now();

            // when: what is stored takes seconds to be taken
            send();
            up.kill();
        }
        for (int i = 1; i < KILLS; i++) {
            try (ServiceProcess up = up()) {
                Thread.sleep(Duration.ofSeconds(2));
                up.kill();
            }
        }

        // then
        try (ServiceProcess up = up()) {
            List<Instant> seconds = seconds(begun.plusSeconds(2), Instant.now());
            Journal journal = new Journal();
            journal.read(seconds);

            assertThat(journal.steps)
                    .hasSize(SESSIONS)
                    .allSatisfy((session, numbers) -> assertThat(numbers)
                            .as("what the journal has of " + session)
                            .containsExactlyElementsOf(
                                    IntStream.range(0, EACH).boxed().toList()));
            assertThat(journal.broken).hasSize(SESSIONS / BROKEN).doesNotHaveDuplicates();
            assertThat(journal.tasks)
                    .as("sessions that an agent was told of")
                    .hasSize(SESSIONS / AGENTS)
                    .doesNotHaveDuplicates();
            assertThat(journal.failed).isEmpty();
            assertThat(journal.moments)
                    .as("seconds at which the schedule fired")
                    .doesNotHaveDuplicates()
                    .containsAll(seconds);
            assertThat(up.isAlive()).isTrue();
        }
    }

    /** Every event is stored when this returns. */
    private void send() throws Exception {
        List<Future<RecordMetadata>> sent = new ArrayList<>();
        try (KafkaProducer<String, byte[]> producer = new KafkaProducer<>(
                Map.of("bootstrap.servers", "127.0.0.1:" + kafkaPort, "linger.ms", 5),
                new StringSerializer(),
                new ByteArraySerializer())) {
            for (int number = 0; number < EACH; number++) {
                for (int i = 0; i < SESSIONS; i++) {
                    String session = "crowd-" + i;
                    if (number == EACH / 2 && i % BROKEN == 0) {
                        sent.add(producer.send(event("crowd.broken", session, 0)));
                    }
                    sent.add(producer.send(event(
                            number == EACH - 1 && i % AGENTS == 0 ? "crowd.last" : "crowd.step", session, number)));
                }
            }
            for (Future<RecordMetadata> one : sent) {
                one.get();
            }
        }
    }

    private static ProducerRecord<String, byte[]> event(String type, String session, int number) {
        ProducerRecord<String, byte[]> record = new ProducerRecord<>(
                TOPICS.lane(Segment.EXTERNAL), session, Json.write(Map.of(NUMBER, number, "session", session)));
        Map.of(
                        EventCodec.CE_ID,
                        type + '-' + session + '-' + number,
                        EventCodec.CE_TYPE,
                        type,
                        EventCodec.CE_SOURCE,
                        "/crowd",
                        "ce_" + EventCodec.SESSION_ID,
                        session)
                .forEach((name, value) -> record.headers().add(name, value.getBytes(StandardCharsets.UTF_8)));
        return record;
    }

    private static List<Instant> seconds(Instant from, Instant to) {
        return Stream.iterate(
                        from.truncatedTo(ChronoUnit.SECONDS),
                        moment -> moment.isBefore(to),
                        moment -> moment.plusSeconds(1))
                .toList();
    }

    private String url() {
        return "http://127.0.0.1:" + port;
    }

    private ServiceProcess up() {
        return ServiceProcess.standalone(
                        "up", "--port", String.valueOf(port), "--kafka-port", String.valueOf(kafkaPort))
                .env(
                        "MILLRACE_LLM_SCRIPTED_SCRIPT",
                        folder.resolve("script.yaml").toString())
                .env("MILLRACE_AGENT_RULES_NEW_SESSIONS", "true")
                .env("MILLRACE_AGENT_RULES_PER_RULE", "100000")
                .start(folder)
                .awaitReady(URI.create(url() + "/q/health/ready"));
    }

    /** What the journal tells of the crowd, as anyone reads it who sees what is committed. */
    private final class Journal {

        /** By session, in the order of the journal. */
        final Map<String, List<Integer>> steps = new HashMap<>();

        final List<String> broken = new ArrayList<>();
        /** Sessions whose agents have said something to the last event, each task once. */
        final List<String> tasks = new ArrayList<>();

        final List<String> failed = new ArrayList<>();
        final List<Instant> moments = new ArrayList<>();

        int crowd() {
            return steps.values().stream().mapToInt(List::size).sum();
        }

        /** Reads on until the crowd is whole and the schedule has fired at these moments. */
        void read(List<Instant> wanted) throws MalformedEventException {
            try (KafkaConsumer<String, byte[]> consumer = new KafkaConsumer<>(
                    Map.of("bootstrap.servers", "127.0.0.1:" + kafkaPort, "isolation.level", "read_committed"),
                    new StringDeserializer(),
                    new ByteArrayDeserializer())) {
                List<TopicPartition> partitions = consumer.partitionsFor(TOPICS.journal()).stream()
                        .map(partition -> new TopicPartition(partition.topic(), partition.partition()))
                        .toList();
                consumer.assign(partitions);
                consumer.seekToBeginning(partitions);
                long deadline = System.nanoTime() + LIMIT.toNanos();
                while (!isWhole(wanted)) {
                    assertThat(System.nanoTime() - deadline)
                            .as("events so far: " + crowd() + ", tasks: " + tasks.size())
                            .isNegative();
                    take(consumer.poll(Duration.ofMillis(200)));
                }
                // what comes now would be too much
                take(consumer.poll(Duration.ofSeconds(1)));
            }
        }

        private void take(ConsumerRecords<String, byte[]> records) throws MalformedEventException {
            for (ConsumerRecord<String, byte[]> record : records) {
                take(EventCodec.fromRecord(record.headers(), record.value(), Instant.ofEpochMilli(record.timestamp())));
            }
        }

        private boolean isWhole(List<Instant> wanted) {
            return crowd() >= SESSIONS * EACH
                    && broken.size() >= SESSIONS / BROKEN
                    && tasks.size() >= SESSIONS / AGENTS
                    && moments.containsAll(wanted);
        }

        private void take(Event event) {
            String session = String.valueOf(event.sessionId());
            switch (event.type().wireName()) {
                case "crowd.step", "crowd.last" ->
                    steps.computeIfAbsent(session, unused -> new ArrayList<>())
                            .add(((Number) Objects.requireNonNull(event.fields().get(NUMBER))).intValue());
                case "crowd.broken" -> broken.add(session);
                case "TASK_COMPLETED" -> {
                    if (session.startsWith("crowd-")) {
                        tasks.add(session);
                    }
                }
                case "TASK_FAILED" -> failed.add(event.toString());
                case "SCHEDULE_FIRED" ->
                    moments.add(Instant.parse(String.valueOf(
                            ((Map<?, ?>) Objects.requireNonNull(event.fields().get("metadata"))).get("scheduledAt"))));
                default -> {}
            }
        }
    }
}
