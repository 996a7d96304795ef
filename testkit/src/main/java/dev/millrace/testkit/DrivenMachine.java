package dev.millrace.testkit;

import dev.millrace.agent.ToolRouting;
import dev.millrace.agent.core.DiscardReason;
import dev.millrace.agent.core.TaskFsm;
import dev.millrace.agent.core.TranscriptEntry;
import dev.millrace.agent.rules.Rules;
import dev.millrace.agent.schedule.Schedules;
import dev.millrace.agent.thinker.ModelTurn;
import dev.millrace.agent.topology.AdmissionSettings;
import dev.millrace.agent.topology.LocalTools;
import dev.millrace.agent.topology.Occupancy;
import dev.millrace.agent.topology.OutstandingCall;
import dev.millrace.agent.topology.SessionLookup;
import dev.millrace.agent.topology.ShellMetrics;
import dev.millrace.agent.topology.StreamsTranscripts;
import dev.millrace.agent.topology.TaskShellSettings;
import dev.millrace.agent.topology.TaskStores;
import dev.millrace.agent.topology.TaskTopology;
import dev.millrace.engine.Inbox;
import dev.millrace.engine.ModelCalls;
import dev.millrace.engine.OpenStores;
import dev.millrace.requests.ReplyEvents;
import dev.millrace.requests.Request;
import dev.millrace.schemas.DeadLetters;
import dev.millrace.schemas.Event;
import dev.millrace.schemas.EventCodec;
import dev.millrace.schemas.EventType;
import dev.millrace.schemas.KnownEventType;
import dev.millrace.schemas.MalformedEventException;
import dev.millrace.schemas.Payload;
import dev.millrace.schemas.Topics;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Properties;
import java.util.Set;
import java.util.stream.LongStream;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.TestOutputTopic;
import org.apache.kafka.streams.TopologyTestDriver;
import org.apache.kafka.streams.state.KeyValueStore;
import org.apache.kafka.streams.test.TestRecord;

/**
 * The topology on Kafka Streams' test driver, with the model and the tools in the same thread: after each record it
 * makes the model calls and tool calls that were asked for, until nothing more follows.
 */
final class DrivenMachine implements AutoCloseable {

    private static final Topics TOPICS = new Topics("test.");
    /** What goes on for longer in one move goes on for ever. */
    private static final int MOST_ROUNDS = 10_000;

    private final TaskFsm machine;
    private final Definitions definitions;
    private final ModelTurn turns;
    private final TestModel model;
    private final Map<String, TestTool> tools;
    private final Calls calls = new Calls();
    private final Map<String, String> sessions = new HashMap<>();
    private final List<Event> journal = new ArrayList<>();
    private final List<String> deadLetters = new ArrayList<>();
    private final Set<String> called = new HashSet<>();
    private StoreFolder folder = StoreFolder.create();
    private TopologyTestDriver driver;
    private TestOutputTopic<byte[], byte[]> journalTopic;
    private TestOutputTopic<byte[], byte[]> deadLetterTopic;
    private Instant now = TestMillrace.START;

    /** What there is around the machine; may change between two moves. */
    record Definitions(ToolRouting routing, Rules rules, Schedules schedules) {}

    DrivenMachine(
            TaskFsm machine, Definitions definitions, ModelTurn turns, TestModel model, Map<String, TestTool> tools) {
        this.machine = machine;
        this.definitions = definitions;
        this.turns = turns;
        this.model = model;
        this.tools = tools;
        this.driver = open();
        this.journalTopic = output(TOPICS.journal());
        this.deadLetterTopic = output(TOPICS.deadLetters());
    }

    private TopologyTestDriver open() {
        Properties config = new Properties();
        config.put(StreamsConfig.APPLICATION_ID_CONFIG, "test");
        config.put(StreamsConfig.BOOTSTRAP_SERVERS_CONFIG, "unused:1");
        config.put(StreamsConfig.STATE_DIR_CONFIG, folder.path().toString());
        return new TopologyTestDriver(
                TaskTopology.build(
                        new TaskShellSettings(
                                TOPICS,
                                1,
                                Duration.ofHours(24),
                                Duration.ofDays(30),
                                false,
                                new AdmissionSettings(50, AdmissionSettings.Policy.QUEUE),
                                Duration.ofDays(30),
                                true),
                        machine,
                        new TaskTopology.Surroundings(
                                definitions.routing(),
                                calls,
                                new Inbox<>(),
                                new OpenStores(),
                                LocalTools.NONE,
                                definitions.schedules(),
                                known(),
                                new Uncounted(),
                                new Occupancy(),
                                false,
                                definitions.rules())),
                config,
                now);
    }

    /** Closes the topology, and opens another one on the stores as they are. */
    void restart() {
        // a driver that is closed removes its stores
        StoreFolder next = folder.copy();
        driver.close();
        folder.delete();
        folder = next;
        driver = open();
        journalTopic = output(TOPICS.journal());
        deadLetterTopic = output(TOPICS.deadLetters());
        settle();
    }

    private SessionLookup known() {
        return (namespace, taskId) -> Optional.ofNullable(sessions.get(taskId));
    }

    Instant now() {
        return now;
    }

    List<Event> journal() {
        return List.copyOf(journal);
    }

    List<String> deadLetters() {
        return List.copyOf(deadLetters);
    }

    void send(Event event) {
        pipe(event);
        settle();
    }

    /** Lets time pass, with a stop at each moment at which something is due. */
    void advanceTo(Instant to) {
        passUntil(to.toEpochMilli());
        jump(to);
    }

    /** Whether there was one. Moments of schedules on the way count; of those there is no end. */
    boolean jumpToNextTimer() {
        OptionalLong timer = nextTimer();
        timer.ifPresent(at -> {
            passUntil(at - 1);
            jump(Instant.ofEpochMilli(at));
        });
        return timer.isPresent();
    }

    private void passUntil(long lastMs) {
        for (OptionalLong due = nextDue(); due.isPresent() && due.getAsLong() <= lastMs; due = nextDue()) {
            jump(Instant.ofEpochMilli(due.getAsLong()));
        }
    }

    @Override
    public void close() {
        driver.close();
        folder.delete();
    }

    /** Timers are looked at by the tick, so the clock goes at least one further. */
    private void jump(Instant to) {
        Duration ahead = Duration.between(now, to);
        Duration step = ahead.compareTo(TaskTopology.TICK) < 0 ? TaskTopology.TICK : ahead;
        now = now.plus(step);
        driver.advanceWallClockTime(step);
        settle();
    }

    private OptionalLong nextDue() {
        LongStream moments = definitions.schedules().all().stream()
                .filter(schedule -> !schedule.paused())
                .flatMap(schedule -> schedule.timing().timetable().next(now).stream())
                .mapToLong(Instant::toEpochMilli);
        return LongStream.concat(moments, nextTimer().stream()).min();
    }

    private OptionalLong nextTimer() {
        KeyValueStore<Bytes, byte[]> rows = driver.getKeyValueStore(TaskStores.ROWS);
        return TaskStores.nextTimer(rows);
    }

    private void settle() {
        for (int round = 0; round < MOST_ROUNDS; round++) {
            note();
            if (!thinkOnce() && !runTools()) {
                note();
                return;
            }
        }
        throw new AssertionError("Expected an end of what follows, found more after " + MOST_ROUNDS + " rounds");
    }

    /** Reads what has come into the journal and to the dead letters. */
    private void note() {
        for (TestRecord<byte[], byte[]> entry : journalTopic.readRecordsToList()) {
            Event event = read(entry);
            journal.add(event);
            if (event.taskId() != null && event.sessionId() != null) {
                sessions.put(event.taskId(), event.sessionId());
            }
        }
        for (TestRecord<byte[], byte[]> dead : deadLetterTopic.readRecordsToList()) {
            Header reason = dead.headers().lastHeader(DeadLetters.REASON);
            deadLetters.add(reason == null ? "" : new String(reason.value(), StandardCharsets.UTF_8));
        }
    }

    private boolean thinkOnce() {
        OutstandingCall call = calls.waiting.poll();
        if (call == null) {
            return false;
        }
        KeyValueStore<Bytes, byte[]> rows = driver.getKeyValueStore(TaskStores.ROWS);
        List<TranscriptEntry> transcript = StreamsTranscripts.shown(rows, call)
                .orElseThrow(() -> new AssertionError("the transcript of task " + call.taskId() + " is not whole"));
        pipe(turns.answer(call, transcript, model.model(), now));
        return true;
    }

    /** Runs the tool calls that the journal says were asked for. */
    private boolean runTools() {
        boolean ran = false;
        for (Event event : journal()) {
            if (event.type() == KnownEventType.TOOL_CALL_REQUESTED
                    && event.payload() instanceof Payload.ToolCallRequested asked
                    && tools.containsKey(asked.toolName())
                    && called.add(asked.callId())) {
                Request request = request(event, asked);
                tools.get(asked.toolName())
                        .call(request)
                        .map(reply -> ReplyEvents.toEvent(request, reply, now))
                        .ifPresent(this::pipe);
                ran = true;
            }
        }
        return ran;
    }

    /** A call as the one who runs the tool gets it. */
    static Request request(Event event, Payload.ToolCallRequested asked) {
        return new Request(event, asked.callId(), asked.toolName(), asked.params(), asked.timeoutMs(), 1);
    }

    private void pipe(Event event) {
        ProducerRecord<String, byte[]> record = EventCodec.toRecord(TOPICS.lane(event.lane()), event);
        driver.createInputTopic(record.topic(), new ByteArraySerializer(), new ByteArraySerializer())
                .pipeInput(new TestRecord<>(
                        record.key().getBytes(StandardCharsets.UTF_8), record.value(), record.headers(), now));
    }

    private Event read(TestRecord<byte[], byte[]> entry) {
        try {
            return EventCodec.fromRecord(entry.headers(), entry.value(), now);
        } catch (MalformedEventException e) {
            throw new AssertionError(e);
        }
    }

    private TestOutputTopic<byte[], byte[]> output(String topic) {
        return driver.createOutputTopic(topic, new ByteArrayDeserializer(), new ByteArrayDeserializer());
    }

    /** Those that wait to be made; fences are for crashes, of which there are none. */
    private static final class Calls implements ModelCalls<OutstandingCall> {
        private final Deque<OutstandingCall> waiting = new ArrayDeque<>();

        @Override
        public void request(int partition, OutstandingCall call) {
            waiting.add(call);
        }

        @Override
        public void fence(int partition, String value) {}

        @Override
        public void settle(OutstandingCall call) {
            waiting.removeIf(other -> other.callId().equals(call.callId()));
        }
    }

    /** Nobody reads meters here. */
    private static final class Uncounted implements ShellMetrics {
        @Override
        public void accepted(EventType type) {}

        @Override
        public void discarded(EventType type, DiscardReason reason) {}

        @Override
        public void deadLettered(String reason) {}

        @Override
        public void rerouted() {}

        @Override
        public void processed(String processor, String outcome) {}

        @Override
        public void admittedOverLimit() {}
    }
}
