package dev.millrace.reflection.topology;

import dev.millrace.engine.OpenStores;
import dev.millrace.engine.StoreSection;
import dev.millrace.reflection.core.Capacity;
import dev.millrace.schemas.DeadLetters;
import dev.millrace.schemas.Event;
import dev.millrace.schemas.EventCodec;
import dev.millrace.schemas.KnownEventType;
import dev.millrace.schemas.MalformedEventException;
import dev.millrace.schemas.Segment;
import dev.millrace.schemas.Topics;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.TestOutputTopic;
import org.apache.kafka.streams.TopologyTestDriver;
import org.apache.kafka.streams.state.KeyValueStore;
import org.apache.kafka.streams.test.TestRecord;

/** The whole topology without a broker. */
final class TestMemory implements AutoCloseable {

    static final Topics TOPICS = new Topics("test.");
    static final Instant START = Instant.parse("2026-11-21T12:00:00Z");

    final TopologyTestDriver driver;
    final RecordedCalls calls = new RecordedCalls();
    private final TestOutputTopic<String, byte[]> documents;

    TestMemory(Path stateDir, int keptVersions) {
        this(stateDir, keptVersions, 1);
    }

    TestMemory(Path stateDir, int keptVersions, int partitions) {
        this(stateDir, new MemorySettings(TOPICS, partitions, keptVersions, new Capacity(10_000, 1L << 26)));
    }

    TestMemory(Path stateDir, MemorySettings settings) {
        Properties config = new Properties();
        config.put(StreamsConfig.APPLICATION_ID_CONFIG, "test");
        config.put(StreamsConfig.BOOTSTRAP_SERVERS_CONFIG, "unused:1");
        config.put(StreamsConfig.STATE_DIR_CONFIG, stateDir.toString());
        driver = new TopologyTestDriver(
                MemoryTopology.build(settings, calls, new OpenStores(), new SimpleMeterRegistry()), config, START);
        documents = driver.createOutputTopic(TOPICS.memory(), new StringDeserializer(), new ByteArrayDeserializer());
    }

    static Event.Builder call(String callId, String tool, Map<String, Object> params) {
        return Event.root("e-" + callId, KnownEventType.TOOL_CALL_REQUESTED, START)
                .source("agent")
                .taskId("t1")
                .sessionId("s1")
                .payload(Map.of("callId", callId, "toolCallId", "p-" + callId, "toolName", tool, "params", params));
    }

    void send(Event event) {
        sendRaw(EventCodec.toRecord(TOPICS.memoryRequests(), event));
    }

    /** The same, on its topic since another time; its clock has to have come so far. */
    void send(Event event, Instant received) {
        sendRaw(EventCodec.toRecord(TOPICS.memoryRequests(), event), received);
    }

    void sendRaw(ProducerRecord<String, byte[]> encoded) {
        sendRaw(encoded, START);
    }

    private void sendRaw(ProducerRecord<String, byte[]> encoded, Instant received) {
        driver.createInputTopic(encoded.topic(), new ByteArraySerializer(), new ByteArraySerializer())
                .pipeInput(new TestRecord<>(
                        "unread".getBytes(StandardCharsets.UTF_8), encoded.value(), encoded.headers(), received));
    }

    /** Sends what is about reflections. */
    void reflect(Event event) {
        sendRaw(EventCodec.toRecord(TOPICS.reflectionRequests(), event));
    }

    /** Replies to calls since the last time. */
    List<Event> replies() {
        return events(Segment.TOOL);
    }

    /** What has come of reflections since the last time. */
    List<Event> completions() {
        return events(Segment.COGNITIVE);
    }

    private List<Event> events(Segment lane) {
        List<Event> events = new ArrayList<>();
        for (TestRecord<byte[], byte[]> reply : output(TOPICS.lane(lane)).readRecordsToList()) {
            try {
                events.add(EventCodec.fromRecord(reply.headers(), reply.value(), START));
            } catch (MalformedEventException e) {
                throw new AssertionError(e);
            }
        }
        return events;
    }

    /** Records of the memory topic since the last time. */
    List<TestRecord<String, byte[]>> documents() {
        return documents.readRecordsToList();
    }

    /** The reasons of the dead letters since the last time. */
    List<String> deadLetters() {
        return output(TOPICS.deadLetters()).readRecordsToList().stream()
                .map(dead ->
                        new String(dead.headers().lastHeader(DeadLetters.REASON).value(), StandardCharsets.UTF_8))
                .toList();
    }

    TestOutputTopic<byte[], byte[]> output(String topic) {
        return driver.createOutputTopic(topic, new ByteArrayDeserializer(), new ByteArrayDeserializer());
    }

    /** What is in a section of its store. */
    <V> KeyValueStore<String, V> rows(StoreSection<V> section) {
        return section.in(driver.getKeyValueStore(MemoryStores.ROWS));
    }

    @Override
    public void close() {
        driver.close();
    }
}
