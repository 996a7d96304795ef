package dev.millrace.agent.topology;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.agent.AgentDefinition;
import dev.millrace.agent.Agents;
import dev.millrace.agent.SessionOrigin;
import dev.millrace.agent.ToolCatalogue;
import dev.millrace.agent.ToolRouting;
import dev.millrace.agent.approval.Approvals;
import dev.millrace.agent.core.DiscardReason;
import dev.millrace.agent.core.MachineLimits;
import dev.millrace.agent.core.TaskFsm;
import dev.millrace.agent.core.TranscriptEntry;
import dev.millrace.agent.files.AgentFile;
import dev.millrace.agent.files.BuiltInAgents;
import dev.millrace.agent.files.InvalidAgentException;
import dev.millrace.agent.rules.RuleSet;
import dev.millrace.agent.rules.Rules;
import dev.millrace.agent.schedule.Schedules;
import dev.millrace.engine.Inbox;
import dev.millrace.engine.OpenStores;
import dev.millrace.engine.Sender;
import dev.millrace.engine.StoreSection;
import dev.millrace.schemas.DeadLetters;
import dev.millrace.schemas.Event;
import dev.millrace.schemas.EventCodec;
import dev.millrace.schemas.EventType;
import dev.millrace.schemas.HeaderNames;
import dev.millrace.schemas.JsonObject;
import dev.millrace.schemas.KnownEventType;
import dev.millrace.schemas.MalformedEventException;
import dev.millrace.schemas.Segment;
import dev.millrace.schemas.ToolDefinition;
import dev.millrace.schemas.Topics;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Properties;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Consumer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.Headers;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.TestOutputTopic;
import org.apache.kafka.streams.Topology;
import org.apache.kafka.streams.TopologyTestDriver;
import org.apache.kafka.streams.state.KeyValueIterator;
import org.apache.kafka.streams.state.KeyValueStore;
import org.apache.kafka.streams.test.TestRecord;
import org.jspecify.annotations.Nullable;

/** The whole topology without a broker: events in, journal and dead letters out, the model played by the test. */
final class TestMachine implements AutoCloseable {

    static final Topics TOPICS = new Topics("test.");
    /** A tool that breaks who looks for it. */
    static final String DEFECT = "defect";

    static final Instant START = Instant.parse("2026-11-21T12:00:00Z");

    final RecordedModelCalls model = new RecordedModelCalls();
    final Map<String, String> sessions = new HashMap<>();
    /** Tasks of other partitions. */
    final Set<String> elsewhere = new HashSet<>();

    /** Sessions by what senders call where they are used from. */
    final Map<String, String> origins = new HashMap<>();

    /** By which replies come from hand to hand. */
    final Inbox<Event> inbox = new Inbox<>();
    /** Names of tools that run in the machine's process. */
    final Set<String> local = new HashSet<>();
    /** Requests that local tools were given. */
    final List<Event> calledHere = new ArrayList<>();

    /** None at first. */
    final Rules rules;

    final Schedules schedules = new Schedules();
    final Occupancy occupancy = new Occupancy();
    final Agents agents;
    final Map<String, ToolDefinition> tools = new TreeMap<>();
    TopologyTestDriver driver;
    private final Topology topology;
    private final ReplySecrets replies;
    private final Counted counted = new Counted();
    private TestOutputTopic<byte[], byte[]> journal;
    private TestOutputTopic<byte[], byte[]> deadLetters;

    TestMachine(Path stateDir, AdmissionSettings admission) {
        this(stateDir, admission, 1);
    }

    /** One in which events may begin sessions. */
    static TestMachine withNewSessions(Path stateDir) {
        return new TestMachine(
                stateDir,
                new AdmissionSettings(50, AdmissionSettings.Policy.QUEUE),
                1,
                START,
                List.of(),
                BuiltInAgents.agents(),
                RestartPolicy.RESUME,
                true,
                ReplySecrets.none(),
                MachineLimits.DEFAULT);
    }

    /** One with these limits. */
    TestMachine(Path stateDir, AdmissionSettings admission, MachineLimits limits) {
        this(
                stateDir,
                admission,
                1,
                START,
                List.of(),
                BuiltInAgents.agents(),
                RestartPolicy.RESUME,
                false,
                ReplySecrets.none(),
                limits);
    }

    /** One that signs its calls. */
    static TestMachine signing(Path stateDir, ReplySecrets secrets) {
        return new TestMachine(
                stateDir,
                new AdmissionSettings(50, AdmissionSettings.Policy.QUEUE),
                1,
                START,
                List.of(),
                BuiltInAgents.agents(),
                RestartPolicy.RESUME,
                false,
                secrets,
                MachineLimits.DEFAULT);
    }

    TestMachine(Path stateDir, AdmissionSettings admission, int partitions) {
        this(stateDir, admission, partitions, START);
    }

    /** One that begins at some other time than the events say. */
    TestMachine(Path stateDir, AdmissionSettings admission, int partitions, Instant start) {
        this(stateDir, admission, partitions, start, List.of(), BuiltInAgents.agents(), RestartPolicy.RESUME);
    }

    /** One that fails what was under way. */
    TestMachine(Path stateDir, AdmissionSettings admission, RestartPolicy onRestart) {
        this(stateDir, admission, 1, START, List.of(), BuiltInAgents.agents(), onRestart);
    }

    /** One with these tools, which has tasks reflected on. */
    TestMachine(Path stateDir, AdmissionSettings admission, List<ToolDefinition> tools) {
        this(stateDir, admission, 1, START, tools, BuiltInAgents.agents(), RestartPolicy.RESUME);
    }

    /** One with these agents. */
    TestMachine(Path stateDir, AdmissionSettings admission, Agents agents) {
        this(stateDir, admission, 1, START, List.of(), agents, RestartPolicy.RESUME);
    }

    private TestMachine(
            Path stateDir,
            AdmissionSettings admission,
            int partitions,
            Instant start,
            List<ToolDefinition> served,
            Agents agents,
            RestartPolicy onRestart) {
        this(
                stateDir,
                admission,
                partitions,
                start,
                served,
                agents,
                onRestart,
                false,
                ReplySecrets.none(),
                MachineLimits.DEFAULT);
    }

    private TestMachine(
            Path stateDir,
            AdmissionSettings admission,
            int partitions,
            Instant start,
            List<ToolDefinition> served,
            Agents agents,
            RestartPolicy onRestart,
            boolean newSessions,
            ReplySecrets replies,
            MachineLimits limits) {
        this.rules = new Rules(RuleSet.NONE, new Rules.Bounds(true, 3, 5, newSessions));
        this.agents = agents;
        this.replies = replies;
        served.forEach(tool -> tools.put(tool.name(), tool));
        topology = TaskTopology.build(
                new TaskShellSettings(
                                TOPICS,
                                partitions,
                                Duration.ofHours(24),
                                Duration.ofDays(30),
                                !served.isEmpty(),
                                admission,
                                Duration.ofDays(30),
                                true)
                        .onRestart(onRestart)
                        .signedBy(replies),
                new TaskFsm(limits),
                new TaskTopology.Surroundings(
                        new ToolRouting(agents, new Tools(tools), new Approvals(Duration.ofHours(1))),
                        model,
                        inbox,
                        new OpenStores(),
                        new HereTools(),
                        schedules,
                        new Sessions(sessions, elsewhere, origins),
                        counted,
                        occupancy,
                        false,
                        rules));
        driver = new TopologyTestDriver(topology, config(stateDir), start);
        journal = output(TOPICS.journal());
        deadLetters = output(TOPICS.deadLetters());
    }

    private static Properties config(Path stateDir) {
        Properties config = new Properties();
        config.put(StreamsConfig.APPLICATION_ID_CONFIG, "test");
        config.put(StreamsConfig.BOOTSTRAP_SERVERS_CONFIG, "unused:1");
        config.put(StreamsConfig.STATE_DIR_CONFIG, stateDir.toString());
        return config;
    }

    /**
     * The same process begins anew with no rows, as it does after a transaction was aborted.
     *
     * @param stateDir another one
     */
    void beginAnew(Path stateDir) {
        driver.close();
        driver = new TopologyTestDriver(topology, config(stateDir), START);
        journal = output(TOPICS.journal());
        deadLetters = output(TOPICS.deadLetters());
    }

    private final class HereTools implements LocalTools {
        @Override
        public boolean serves(String toolName) {
            return local.contains(toolName);
        }

        @Override
        public void call(Event request, Consumer<Event> reply) {
            calledHere.add(request);
        }
    }

    /** Has a tool served that only reads, in the machine's process. */
    void serveHere(String toolName) {
        local.add(toolName);
        tools.put(
                toolName,
                new ToolDefinition(
                        toolName, "d", JsonObject.empty(), "tool", 30_000, ToolDefinition.SideEffects.READ_ONLY));
    }

    /** Hands something over and lets the machine take it. */
    void hand(Event reply) {
        assertThat(inbox.offer(0, reply)).isTrue();
        driver.advanceWallClockTime(Duration.ofMillis(1));
    }

    /** Puts the copy on its lane of a reply to the newest call of a task that was handed over as well. */
    void sendHanded(String taskId, Event reply) {
        ProducerRecord<String, byte[]> encoded = EventCodec.toRecord(TOPICS.lane(reply.lane()), reply);
        encoded.headers().add(HeaderNames.HANDED, call(taskId).key().getBytes(StandardCharsets.UTF_8));
        send(encoded, START);
    }

    /** Has a tool served. */
    void serve(String toolName) {
        tools.put(
                toolName,
                new ToolDefinition(
                        toolName, "d", JsonObject.empty(), "tool", 30_000, ToolDefinition.SideEffects.DESTRUCTIVE));
    }

    /** Puts an agent in force, as a file would. */
    void use(String name, String file) {
        try {
            AgentDefinition agent = AgentFile.ofText(name, file).definition();
            agents.add(agent);
            agents.use(name, agent.version());
        } catch (InvalidAgentException e) {
            throw new AssertionError(e);
        }
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
        send(event, START);
    }

    void send(Event.Builder event, Instant received) {
        send(event.build(), received);
    }

    /** The same, on its lane since another time; its clock has to have come so far. */
    void send(Event event, Instant received) {
        send(EventCodec.toRecord(TOPICS.lane(event.lane()), event), received);
    }

    /** Sends an event with these bytes as its payload. */
    void sendRaw(Event event, byte[] payload) {
        ProducerRecord<String, byte[]> encoded = EventCodec.toRecord(TOPICS.lane(event.lane()), event);
        sendRaw(encoded.topic(), encoded.key().getBytes(StandardCharsets.UTF_8), payload, encoded.headers());
    }

    /** The same with a header that says since when it stood where it was sent on from. */
    void sendOn(Event event, Instant received, String header, Instant before) {
        ProducerRecord<String, byte[]> encoded = EventCodec.toRecord(TOPICS.lane(event.lane()), event);
        encoded.headers().add(header, Sender.date(before.toEpochMilli()));
        send(encoded, received);
    }

    /** Requests to cancel tasks that have not come. */
    List<Event> cancels() {
        List<Event> cancels = new ArrayList<>();
        try (KeyValueIterator<?, Event> all =
                driver.<String, Event>getWindowStore(TaskStores.CANCELS).all()) {
            all.forEachRemaining(cancel -> cancels.add(cancel.value));
        }
        return cancels;
    }

    private void send(ProducerRecord<String, byte[]> encoded, Instant received) {
        driver.createInputTopic(encoded.topic(), new ByteArraySerializer(), new ByteArraySerializer())
                .pipeInput(new TestRecord<>(
                        encoded.key().getBytes(StandardCharsets.UTF_8), encoded.value(), encoded.headers(), received));
    }

    /** Lets the model answer the newest call of a task. */
    void answer(String taskId) {
        send(answerTo(taskId));
    }

    /** The model's answer to the newest call of a task. */
    Event answerTo(String taskId) {
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
        return call.reply(KnownEventType.REASON_DONE, START).payload(payload).build();
    }

    /** Lets the newest model call of a task fail for good. */
    void fail(String taskId, String code, String error) {
        OutstandingCall call = call(taskId);
        send(call.reply(KnownEventType.MODEL_CALL_FAILED, START)
                .payload(Map.of("callId", call.callId(), "code", code, "error", error, "retryable", false)));
    }

    /** Lets the model call a tool. */
    void callTool(String taskId, String toolName) {
        callTool(taskId, toolName, Map.of());
    }

    /** The same with these arguments. */
    void callTool(String taskId, String toolName, Map<String, Object> arguments) {
        OutstandingCall call = call(taskId);
        send(replies.signed(call.reply(KnownEventType.REASON_DONE, START)
                .payload(Map.of(
                        "callId",
                        call.callId(),
                        "approach",
                        "tool_use",
                        "needsClarification",
                        false,
                        "toolCalls",
                        List.of(Map.of("toolCallId", "p1", "toolName", toolName, "arguments", arguments)),
                        "model",
                        "test",
                        "finishReason",
                        "tool_calls",
                        "usage",
                        Map.of("inputTokens", 3, "outputTokens", 2)))
                .build()));
    }

    /** Sends bytes that need not be an event. */
    void sendRaw(String topic, byte @Nullable [] key, byte @Nullable [] value, Headers headers) {
        driver.createInputTopic(topic, new ByteArraySerializer(), new ByteArraySerializer())
                .pipeInput(new TestRecord<>(key, value, headers, START));
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

    /** What became of those that have come into the journal since the last time; {@code ""} = what is usual. */
    List<String> outcomes() {
        return journal.readRecordsToList().stream()
                .map(entry -> entry.headers().lastHeader(HeaderNames.OUTCOME))
                .map(header -> header == null ? "" : text(header))
                .toList();
    }

    /** What the model of a task is shown. */
    List<TranscriptEntry> transcript(String taskId) {
        List<TranscriptEntry> entries = new ArrayList<>();
        try (KeyValueIterator<String, TranscriptEntry> found = rows(TaskStores.TRANSCRIPTS)
                .range(TaskStores.transcriptKey(taskId, 0), TaskStores.transcriptKey(taskId, -1))) {
            found.forEachRemaining(entry -> entries.add(entry.value));
        }
        return entries;
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
        return deadLetterRecords().stream()
                .map(dead -> text(dead.headers().lastHeader(DeadLetters.REASON)))
                .toList();
    }

    /** The dead letters since the last time, whole. */
    List<TestRecord<byte[], byte[]>> deadLetterRecords() {
        return deadLetters.readRecordsToList();
    }

    /** What processors have made of events, in order. */
    List<String> processed() {
        return counted.processed;
    }

    List<DiscardReason> discards() {
        return counted.discards;
    }

    /** Whether whatever is accepted breaks the machine from now on, after all was written. */
    void breakAccepting(boolean breaking) {
        counted.breaking = breaking;
    }

    /** Whatever is accepted next breaks the machine, and not when it is taken once more. */
    void breakAcceptingOnce() {
        counted.breakingOnce = true;
    }

    int admittedOverLimit() {
        return counted.overLimit;
    }

    TestOutputTopic<byte[], byte[]> output(String topic) {
        return driver.createOutputTopic(topic, new ByteArrayDeserializer(), new ByteArrayDeserializer());
    }

    /** What a toolset was asked for since the last time. */
    List<Event> requests(String toolset) {
        return events(TOPICS.requests(toolset));
    }

    private List<Event> events(String topic) {
        return output(topic).readRecordsToList().stream()
                .map(sent -> {
                    try {
                        return EventCodec.fromRecord(sent.headers(), sent.value(), START);
                    } catch (MalformedEventException e) {
                        throw new AssertionError(e);
                    }
                })
                .toList();
    }

    /** What the machine has put on a lane for other tasks since the last time. */
    List<Event> sent(Segment lane) {
        return events(TOPICS.lane(lane));
    }

    /** What is in a section of its store. */
    <V> KeyValueStore<String, V> rows(StoreSection<V> section) {
        return section.in(driver.getKeyValueStore(TaskStores.ROWS));
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

    private record Sessions(Map<String, String> sessions, Set<String> elsewhere, Map<String, String> origins)
            implements SessionLookup {
        @Override
        public Optional<String> newestOf(String namespace, SessionOrigin origin, String name) {
            return Optional.ofNullable(origins.get(namespace + ' ' + origin + ' ' + name));
        }

        @Override
        public Optional<String> sessionOf(String namespace, String taskId) {
            return Optional.ofNullable(sessions.get(taskId));
        }

        @Override
        public boolean isElsewhere(String namespace, String taskId, int partition) {
            return elsewhere.contains(taskId);
        }
    }

    private record Tools(Map<String, ToolDefinition> byName) implements ToolCatalogue {
        @Override
        public @Nullable ToolDefinition find(String toolName) {
            if (toolName.equals(DEFECT)) {
                throw new IllegalStateException("what a defect does");
            }
            return byName.get(toolName);
        }

        @Override
        public List<ToolDefinition> all() {
            return List.copyOf(byName.values());
        }
    }

    private static final class Counted implements ShellMetrics {
        private final List<String> processed = new ArrayList<>();
        private final List<DiscardReason> discards = new ArrayList<>();
        private int overLimit;
        private boolean breaking;
        private boolean breakingOnce;

        @Override
        public void accepted(EventType type) {
            boolean now = breaking || breakingOnce;
            breakingOnce = false;
            if (now) {
                throw new IllegalStateException("what a defect does");
            }
        }

        @Override
        public void discarded(EventType type, DiscardReason reason) {
            discards.add(reason);
        }

        @Override
        public void deadLettered(String reason) {}

        @Override
        public void rerouted() {}

        @Override
        public void processed(String processor, String outcome) {
            processed.add(processor + " " + outcome);
        }

        @Override
        public void admittedOverLimit() {
            overLimit++;
        }
    }
}
