package dev.millrace.agent.topology;

import dev.millrace.agent.ToolCatalogue;
import dev.millrace.agent.ToolRouting;
import dev.millrace.agent.approval.Approvals;
import dev.millrace.agent.core.DiscardReason;
import dev.millrace.agent.core.MachineLimits;
import dev.millrace.agent.core.TaskFsm;
import dev.millrace.agent.files.BuiltInAgents;
import dev.millrace.engine.StoreSection;
import dev.millrace.schemas.Event;
import dev.millrace.schemas.EventCodec;
import dev.millrace.schemas.EventType;
import dev.millrace.schemas.KnownEventType;
import dev.millrace.schemas.MalformedEventException;
import dev.millrace.schemas.ToolDefinition;
import dev.millrace.schemas.Topics;
import dev.millrace.schemas.kafka.DeadLetters;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Properties;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.TestOutputTopic;
import org.apache.kafka.streams.TopologyTestDriver;
import org.apache.kafka.streams.state.KeyValueIterator;
import org.apache.kafka.streams.state.KeyValueStore;
import org.apache.kafka.streams.test.TestRecord;
import org.jspecify.annotations.Nullable;

/** The whole topology without a broker: events in, journal and dead letters out, the model played by the test. */
final class TestMachine implements AutoCloseable {

    static final Topics TOPICS = new Topics("test.");
    static final Instant START = Instant.parse("2026-11-21T12:00:00Z");

    final RecordedModelCalls model = new RecordedModelCalls();
    final Map<String, String> sessions = new HashMap<>();
    final Occupancy occupancy = new Occupancy();
    final TopologyTestDriver driver;
    private final Counted counted = new Counted();
    private final TestOutputTopic<byte[], byte[]> journal;
    private final TestOutputTopic<byte[], byte[]> deadLetters;

    TestMachine(Path stateDir, AdmissionSettings admission) {
        this(stateDir, admission, 1);
    }

    TestMachine(Path stateDir, AdmissionSettings admission, int partitions) {
        this(stateDir, admission, partitions, START);
    }

    /** One that begins at some other time than the events say. */
    TestMachine(Path stateDir, AdmissionSettings admission, int partitions, Instant start) {
        this(stateDir, admission, partitions, start, List.of());
    }

    /** One with these tools, which has tasks reflected on. */
    TestMachine(Path stateDir, AdmissionSettings admission, List<ToolDefinition> tools) {
        this(stateDir, admission, 1, START, tools);
    }

    private TestMachine(
            Path stateDir, AdmissionSettings admission, int partitions, Instant start, List<ToolDefinition> tools) {
        Properties config = new Properties();
        config.put(StreamsConfig.APPLICATION_ID_CONFIG, "test");
        config.put(StreamsConfig.BOOTSTRAP_SERVERS_CONFIG, "unused:1");
        config.put(StreamsConfig.STATE_DIR_CONFIG, stateDir.toString());
        driver = new TopologyTestDriver(
                TaskTopology.build(
                        new TaskShellSettings(
                                TOPICS,
                                partitions,
                                Duration.ofHours(24),
                                Duration.ofDays(30),
                                !tools.isEmpty(),
                                admission,
                                Duration.ofDays(30),
                                true),
                        new TaskFsm(MachineLimits.DEFAULT),
                        new TaskTopology.Surroundings(
                                new ToolRouting(
                                        BuiltInAgents.agents(), new Tools(tools), new Approvals(Duration.ofHours(1))),
                                model,
                                (namespace, taskId) -> Optional.ofNullable(sessions.get(taskId)),
                                counted,
                                occupancy)),
                config,
                start);
        journal = output(TOPICS.journal());
        deadLetters = output(TOPICS.deadLetters());
    }

    static Event.Builder event(String id, EventType type) {
        return Event.root(id, type, START);
    }

    static Event.Builder message(String id) {
        return event(id, KnownEventType.MESSAGE_RECEIVED).source("user").payload(Map.of("text", "do " + id));
    }

    void send(Event.Builder event) {
        send(event.build());
    }

    void send(Event event) {
        sendRaw(event, null);
    }

    /** Sends an event with these bytes as its payload; {@code null} = its own. */
    void sendRaw(Event event, byte @Nullable [] payload) {
        ProducerRecord<String, byte[]> encoded = EventCodec.toRecord(TOPICS.lane(event.lane()), event);
        driver.createInputTopic(encoded.topic(), new ByteArraySerializer(), new ByteArraySerializer())
                .pipeInput(new TestRecord<>(
                        encoded.key().getBytes(StandardCharsets.UTF_8),
                        payload == null ? encoded.value() : payload,
                        encoded.headers(),
                        START));
    }

    /** Lets the model answer the newest call of a task. */
    void answer(String taskId) {
        OutstandingCall call = call(taskId);
        Map<String, @Nullable Object> payload = new LinkedHashMap<>();
        payload.put("callId", call.callId());
        payload.put("response", "done");
        payload.put("approach", "direct");
        payload.put("needsClarification", false);
        payload.put("toolCalls", List.of());
        payload.put("model", "test");
        payload.put("finishReason", "stop");
        payload.put("usage", Map.of("inputTokens", 3, "outputTokens", 2));
        send(call.reply(KnownEventType.REASON_DONE, START).payload(payload));
    }

    /** Lets the model ask the person something. */
    void ask(String taskId, String question) {
        OutstandingCall call = call(taskId);
        send(call.reply(KnownEventType.NEED_MORE_INFO, START)
                .payload(Map.of("callId", call.callId(), "question", question)));
    }

    private OutstandingCall call(String taskId) {
        return model.requested.stream()
                .filter(call -> call.taskId().equals(taskId))
                .reduce((first, second) -> second)
                .orElseThrow();
    }

    /** Tasks whose model was called, in order. */
    List<String> called() {
        return model.requested.stream().map(OutstandingCall::taskId).toList();
    }

    /** What has come into the journal since the last time. */
    List<Event> journal() {
        List<Event> events = new ArrayList<>();
        for (TestRecord<byte[], byte[]> entry : journal.readRecordsToList()) {
            try {
                events.add(EventCodec.fromRecord(entry.headers(), entry.value(), START));
            } catch (MalformedEventException e) {
                throw new AssertionError(e);
            }
        }
        return events;
    }

    /** The reasons of the dead letters since the last time. */
    List<String> deadLetters() {
        return deadLetters.readRecordsToList().stream()
                .map(dead -> text(dead.headers().lastHeader(DeadLetters.REASON)))
                .toList();
    }

    List<DiscardReason> discards() {
        return counted.discards;
    }

    int admittedOverLimit() {
        return counted.overLimit;
    }

    TestOutputTopic<byte[], byte[]> output(String topic) {
        return driver.createOutputTopic(topic, new ByteArrayDeserializer(), new ByteArrayDeserializer());
    }

    /** What is in a section of its store. */
    <V> KeyValueStore<String, V> rows(StoreSection<V> section) {
        return section.in(driver.getKeyValueStore(Stores.ROWS));
    }

    /** Has the rows of a section that another one had. */
    <V> void inherit(TestMachine before, StoreSection<V> section) {
        KeyValueStore<String, V> rows = rows(section);
        try (KeyValueIterator<String, V> left = before.rows(section).all()) {
            left.forEachRemaining(row -> rows.put(row.key, row.value));
        }
    }

    @Override
    public void close() {
        driver.close();
    }

    private static String text(Header header) {
        return new String(header.value(), StandardCharsets.UTF_8);
    }

    private record Tools(List<ToolDefinition> all) implements ToolCatalogue {
        @Override
        public @Nullable ToolDefinition find(String toolName) {
            return all.stream()
                    .filter(tool -> tool.name().equals(toolName))
                    .findFirst()
                    .orElse(null);
        }
    }

    private static final class Counted implements ShellMetrics {
        private final List<DiscardReason> discards = new ArrayList<>();
        private int overLimit;

        @Override
        public void accepted(EventType type) {}

        @Override
        public void discarded(EventType type, DiscardReason reason) {
            discards.add(reason);
        }

        @Override
        public void deadLettered(String reason) {}

        @Override
        public void rerouted() {}

        @Override
        public void admittedOverLimit() {
            overLimit++;
        }
    }
}
