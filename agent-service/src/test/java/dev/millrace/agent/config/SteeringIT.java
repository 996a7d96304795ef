package dev.millrace.agent.config;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.agent.core.DiscardReason;
import dev.millrace.agent.core.MachineLimits;
import dev.millrace.agent.core.TaskLimits;
import dev.millrace.agent.files.BuiltInAgents;
import dev.millrace.agent.kafka.Definitions;
import dev.millrace.agent.kafka.InstanceEvents;
import dev.millrace.agent.thinker.LiveText;
import dev.millrace.agent.topology.AdmissionSettings;
import dev.millrace.agent.topology.Occupancy;
import dev.millrace.agent.topology.ReplySecrets;
import dev.millrace.agent.topology.ShellMetrics;
import dev.millrace.agent.topology.TaskShellSettings;
import dev.millrace.agent.topology.TaskStreams;
import dev.millrace.kafka.ClientSettings;
import dev.millrace.kafka.TopicSettings;
import dev.millrace.llm.ChatMessage;
import dev.millrace.llm.DispatcherLimits;
import dev.millrace.llm.FinishReason;
import dev.millrace.llm.LanguageModel;
import dev.millrace.llm.ModelCallException;
import dev.millrace.llm.ModelDelta;
import dev.millrace.llm.ModelDispatcher;
import dev.millrace.llm.ModelErrorCode;
import dev.millrace.llm.ModelReply;
import dev.millrace.llm.ModelRequest;
import dev.millrace.llm.StreamListener;
import dev.millrace.llm.ToolCallRequest;
import dev.millrace.llm.config.LanguageModels;
import dev.millrace.llm.config.LlmConfig;
import dev.millrace.schemas.DeadLetters;
import dev.millrace.schemas.Event;
import dev.millrace.schemas.EventType;
import dev.millrace.schemas.Extensions;
import dev.millrace.schemas.Ids;
import dev.millrace.schemas.JsonObject;
import dev.millrace.schemas.KnownEventType;
import dev.millrace.schemas.Segment;
import dev.millrace.schemas.ToolDefinition;
import dev.millrace.schemas.Topics;
import dev.millrace.testing.Configured;
import dev.millrace.testing.RequiresBroker;
import dev.millrace.testing.StubModelServer;
import dev.millrace.testing.StubModelServer.Answer;
import dev.millrace.testing.TestBroker;
import dev.millrace.testing.TopicReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.Node;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tasks under control on a real broker: whose turn it is, how a cancel ends each stage, and that nothing waits for ever. */
@RequiresBroker
class SteeringIT {

    private static final Duration LIMIT = Duration.ofSeconds(60);
    private static final Duration CANCEL_LIMIT = Duration.ofSeconds(2);
    private static final Duration NEVER = Duration.ofMinutes(10);

    @TempDir
    Path state;

    private final AtomicInteger calls = new AtomicInteger();
    private final CountDownLatch mayAnswer = new CountDownLatch(1);
    private TestBroker broker;
    private Topics topics;
    private TopicReader journal;

    private ModelDispatcher running;

    private int places = 5;
    private MachineLimits limits = MachineLimits.DEFAULT;
    private ReplySecrets replies = ReplySecrets.none();

    @BeforeEach
    @SuppressWarnings("NullAway") // fields of a test
    void prepare(TestBroker shared) {
        broker = shared;
        topics = broker.createTopics();
        journal = broker.read(topics.journal());
    }

    @AfterEach
    void finish() {
        journal.close();
    }

    @Test
    @DisplayName(
            "X-13, F-045: 100 tasks of mixed priority on one busy agent start by priority, then arrival, per partition")
    void shouldStartInOrder() throws Exception {
        // given: one place per partition, taken by the first task there
        places = 1;
        Random random = new Random(3);
        try (AgentRuntime runtime = start(this::answerWhenAllowed)) {
            awaitReady(runtime);
            for (int i = 0; i < 100; i++) {
                broker.produce(
                        topics,
                        message("t" + i).priority(101 + random.nextInt(20)).build());
            }
            journal.events(events -> count(events, KnownEventType.MESSAGE_RECEIVED) == 100, LIMIT);

            // when
            mayAnswer.countDown();
            List<ConsumerRecord<String, byte[]>> records =
                    journal.until(all -> count(TopicReader.events(all), KnownEventType.TASK_COMPLETED) == 100, LIMIT);

            // then
            for (int partition = 0; partition < TestBroker.DEFAULT_PARTITIONS; partition++) {
                List<Event> events = ofPartition(records, partition);
                List<Event> arrived = ofType(events, KnownEventType.MESSAGE_RECEIVED);
                List<String> expected = new ArrayList<>(arrived.stream()
                        .skip(1)
                        .sorted(Comparator.comparingInt(Event::effectivePriority))
                        .map(Event::id)
                        .toList());
                expected.addFirst(arrived.getFirst().id());
                assertThat(ofType(events, KnownEventType.TASK_CREATED))
                        .extracting(Event::taskId)
                        .containsExactlyElementsOf(expected);
            }
        }
    }

    @Test
    @DisplayName("two messages of one session never overlap, and two sessions never block each other")
    void shouldKeepSessionsApart() throws Exception {
        try (AgentRuntime runtime = start(
                request -> lastUserText(request).startsWith("slow") ? answerWhenAllowed(request) : reply("done"))) {
            awaitReady(runtime);
            for (int i = 0; i < 3; i++) {
                broker.produce(topics, message("slow" + i).sessionId("slow").build());
                broker.produce(topics, message("quick" + i).sessionId("quick").build());
            }
            journal.events(events -> ended(events, "quick2"), LIMIT);
            assertThat(journal.events(events -> true, LIMIT))
                    .filteredOn(event -> event.type() == KnownEventType.TASK_COMPLETED)
                    .extracting(Event::taskId)
                    .containsExactly("quick0", "quick1", "quick2");

            mayAnswer.countDown();
            List<Event> events = journal.events(all -> ended(all, "slow2"), LIMIT);

            assertThat(events)
                    .filteredOn(event -> "slow".equals(event.sessionId())
                            && (event.type() == KnownEventType.TASK_CREATED
                                    || event.type() == KnownEventType.TASK_COMPLETED))
                    .extracting(event -> event.taskId() + " " + event.type().wireName())
                    .containsExactly(
                            "slow0 TASK_CREATED",
                            "slow0 TASK_COMPLETED",
                            "slow1 TASK_CREATED",
                            "slow1 TASK_COMPLETED",
                            "slow2 TASK_CREATED",
                            "slow2 TASK_COMPLETED");
        }
    }

    @Test
    @DisplayName("cancel behind admission: the task never gets a place")
    void shouldCancelInLine() throws Exception {
        places = 1;
        try (AgentRuntime runtime = start(this::answerWhenAllowed)) {
            awaitReady(runtime);
            broker.produce(topics, message("first").sessionId("s").build());
            broker.produce(topics, message("second").sessionId("s").build());
            await("second", KnownEventType.MESSAGE_RECEIVED);

            cancelTwice("second", "s");

            mayAnswer.countDown();
            await("first", KnownEventType.TASK_COMPLETED);
            assertThat(calls).hasValue(1);
        }
    }

    @Test
    @DisplayName("cancel while reasoning: the model's server sees its connection closed")
    void shouldCancelAModelCall() throws Exception {
        try (StubModelServer server =
                        StubModelServer.start(request -> Answer.text("too late").after(NEVER));
                AgentRuntime runtime = start(openAi(server))) {
            awaitReady(runtime);
            broker.produce(topics, message("m1").build());
            assertThat(server.awaitCalls(1, LIMIT)).isTrue();

            cancelTwice("m1", null);

            assertThat(server.awaitAbandoned(1, CANCEL_LIMIT)).isTrue();
        }
    }

    @Test
    @DisplayName("F-257: what a model had said when it was interrupted is kept, and shown to the next prompt")
    void shouldKeepWhatAModelHadSaid() throws Exception {
        SpeakingModel model = new SpeakingModel();
        try (AgentRuntime runtime = start(model)) {
            awaitReady(runtime);
            broker.produce(topics, message("m1").sessionId("s").build());
            assertThat(model.speaks.await(LIMIT.toSeconds(), TimeUnit.SECONDS)).isTrue();

            broker.produce(
                    topics,
                    Event.root(Ids.random(), KnownEventType.TASK_CANCEL_REQUESTED, Instant.now())
                            .taskId("m1")
                            .sessionId("s")
                            .source("user")
                            .payload(Map.of("interrupt", true))
                            .build());
            Event cancelled = await("m1", KnownEventType.TASK_CANCELLED);
            broker.produce(topics, message("m2").sessionId("s").build());
            await("m2", KnownEventType.TASK_COMPLETED);

            assertThat(cancelled.text("response")).isEqualTo("The answer is\n\n(interrupted)");
            assertThat(model.shown)
                    .containsExactly("m1", "The answer is\n\n(interrupted)", "[Session interrupted by user]", "m2");
        }
    }

    /** Says the beginning of its first answer and no more; remembers what it was shown before the second. */
    private static final class SpeakingModel implements LanguageModel {
        final CountDownLatch speaks = new CountDownLatch(1);
        final List<String> shown = new CopyOnWriteArrayList<>();

        @Override
        public ModelReply chat(ModelRequest request) {
            throw new AssertionError("expected to be asked for a stream");
        }

        @Override
        public ModelReply stream(ModelRequest request, StreamListener listener) throws ModelCallException {
            if (speaks.getCount() == 0) {
                for (ChatMessage message : request.messages()) {
                    switch (message) {
                        case ChatMessage.UserMessage said -> shown.add(said.text());
                        case ChatMessage.AssistantMessage said -> shown.add(String.valueOf(said.text()));
                        default -> {
                            // the system prompt
                        }
                    }
                }
                return reply("done");
            }
            listener.onDelta(new ModelDelta.Text("The answer"));
            listener.onDelta(new ModelDelta.Text(" is"));
            speaks.countDown();
            try {
                Thread.sleep(NEVER);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
            throw new ModelCallException(ModelErrorCode.CANCELLED, "interrupted");
        }

        @Override
        public String name() {
            return "test";
        }

        @Override
        public String description() {
            return "speaks as the test says";
        }

        @Override
        public int contextWindow(@Nullable String model) {
            return 1_000_000;
        }
    }

    @Test
    @DisplayName("cancel in the pause before another attempt at the model: there is none")
    void shouldCancelARetry() throws Exception {
        try (StubModelServer server = StubModelServer.start(
                        request -> Answer.error(429, "rate_limit", "slow down").with("Retry-After", "60"));
                AgentRuntime runtime = start(openAi(server))) {
            awaitReady(runtime);
            broker.produce(topics, message("m1").build());
            assertThat(server.awaitCalls(1, LIMIT)).isTrue();

            cancelTwice("m1", null);

            Awaitility.await().atMost(CANCEL_LIMIT).until(() -> running.running() == 0);
            assertThat(server.calls()).isEqualTo(1);
        }
    }

    @Test
    @DisplayName("cancel while acting: the tool's late result changes nothing")
    void shouldCancelAToolCall() throws Exception {
        define(tool("slow_tool", 60_000, new ToolDefinition.Approval.Never()));
        try (AgentRuntime runtime = start(this::callToolOnce)) {
            awaitReady(runtime);
            broker.produce(topics, message("slow_tool").build());
            Event request = await("slow_tool", KnownEventType.TOOL_CALL_REQUESTED);

            cancelTwice("slow_tool", null);
            broker.produce(
                    topics,
                    Event.root(Ids.random(), KnownEventType.TOOL_CALL_COMPLETED, Instant.now())
                            .taskId("slow_tool")
                            .payload(Map.of(
                                    "callId",
                                    String.valueOf(request.text("callId")),
                                    "toolName",
                                    "slow_tool",
                                    "result",
                                    Map.of("a", 1),
                                    "durationMs",
                                    1))
                            .build());
            broker.produce(topics, message("after").build());

            await("after", KnownEventType.TASK_COMPLETED);
            assertThat(calls).hasValue(2);
        }
    }

    @Test
    @DisplayName("cancel while suspended, and while waiting for approval: the call never runs")
    void shouldCancelWhatWaits() throws Exception {
        define(tool("pay", 60_000, new ToolDefinition.Approval.Always()));
        try (AgentRuntime runtime = start(
                request -> lastUserText(request).equals("pay") ? callToolOnce(request) : answerWhenAllowed(request))) {
            awaitReady(runtime);
            broker.produce(topics, message("pay").build());
            broker.produce(topics, message("held").build());
            await("held", KnownEventType.MODEL_CALL_REQUESTED);
            broker.produce(
                    topics, event(KnownEventType.TASK_SUSPENDED).taskId("held").build());
            await("held", KnownEventType.TASK_SUSPENDED);
            await("pay", KnownEventType.APPROVAL_REQUESTED);

            cancelTwice("pay", null);
            cancelTwice("held", null);

            assertThat(journal.events(events -> true, LIMIT))
                    .extracting(Event::type)
                    .doesNotContain(KnownEventType.TOOL_CALL_REQUESTED);
        }
    }

    @Test
    @DisplayName("X-43: a tool that never answers is a failed call that the model sees, in the configured time")
    void shouldNotWaitForeverForATool() throws Exception {
        limits = new MachineLimits(TaskLimits.DEFAULT, TaskLimits.NONE, TaskLimits.NONE, 900_000, 300);
        define(tool("silent_tool", 200, new ToolDefinition.Approval.Never()));
        try (AgentRuntime runtime =
                start(request -> lastUserText(request).equals("silent_tool") ? callToolOnce(request) : reply("done"))) {
            awaitReady(runtime);
            broker.produce(topics, message("silent_tool").build());
            broker.produce(topics, message("other").build());

            await("other", KnownEventType.TASK_COMPLETED);
            await("silent_tool", KnownEventType.TASK_COMPLETED);
            assertThat(await("silent_tool", KnownEventType.TOOL_CALL_FAILED).text("code"))
                    .isEqualTo("tool_timeout");
        }
    }

    @Test
    @DisplayName("forged results and replies of models are dead letters, and the worker that was asked is believed")
    void shouldBelieveWhoWasAsked() throws Exception {
        // given
        replies = ReplySecrets.of(List.of("the secret of all instances of agent"), true);
        define(tool("pay", 60_000, new ToolDefinition.Approval.Never()));
        try (AgentRuntime runtime = start(this::callToolOnce);
                TopicReader requests = broker.read(topics.requests("tool"));
                TopicReader letters = broker.read(topics.deadLetters())) {
            awaitReady(runtime);
            broker.produce(topics, message("pay").build());
            Event request = requests.events(events -> !events.isEmpty(), LIMIT).getFirst();
            Event modelCall = await("pay", KnownEventType.MODEL_CALL_REQUESTED);
            Event right = event(KnownEventType.TOOL_CALL_COMPLETED)
                    .taskId("pay")
                    .extensions(request.extensions())
                    .payload(Map.of(
                            "callId",
                            String.valueOf(request.text("callId")),
                            "toolName",
                            "pay",
                            "result",
                            Map.of("paid", true)))
                    .build();

            // when: somebody who knows every id, on the lane of results and on that of messages
            Event guessed = right.with(Extensions.REPLY_TOKEN, "AAAAAAAAAAAAAAAAAAAAAA");
            broker.produce(topics, guessed);
            broker.produce(topics, right.with(Extensions.REPLY_TOKEN, null));
            broker.produce(
                    topics,
                    right.with(Extensions.REPLY_TOKEN, null).toBuilder()
                            .priority(Segment.EXTERNAL.firstCode())
                            .build());
            broker.produce(
                    topics,
                    event(KnownEventType.MODEL_CALL_FAILED)
                            .taskId("pay")
                            .payload(Map.of(
                                    "callId",
                                    String.valueOf(modelCall.text("callId")),
                                    "code",
                                    "model_unavailable",
                                    "error",
                                    "forged",
                                    "retryable",
                                    false))
                            .build());
            List<ConsumerRecord<String, byte[]>> refused = letters.until(all -> all.size() == 4, LIMIT);
            assertThat(calls)
                    .as("the model is not told what nobody who was asked said")
                    .hasValue(1);
            broker.produce(topics, right);

            // then
            await("pay", KnownEventType.TASK_COMPLETED);
            assertThat(refused).allSatisfy(letter -> {
                assertThat(letter.headers().lastHeader(DeadLetters.REASON).value())
                        .asString(StandardCharsets.UTF_8)
                        .isEqualTo("bad_reply_token");
                assertThat(letter.headers().lastHeader("ce_" + Extensions.REPLY_TOKEN))
                        .isNull();
            });
            assertThat(journal.events(events -> true, LIMIT))
                    .allSatisfy(told -> assertThat(told.extensions()).doesNotContainKey(Extensions.REPLY_TOKEN));
        }
    }

    @Test
    @DisplayName("X-43: a model that never answers ends its task in the configured time, and no other")
    void shouldNotWaitForeverForAModel() throws Exception {
        limits = new MachineLimits(TaskLimits.DEFAULT, TaskLimits.NONE, TaskLimits.NONE, 500, 600_000);
        try (AgentRuntime runtime =
                start(request -> lastUserText(request).equals("silent") ? answerWhenAllowed(request) : reply("done"))) {
            awaitReady(runtime);
            broker.produce(topics, message("silent").build());
            Event failed = await("silent", KnownEventType.TASK_FAILED);
            broker.produce(topics, message("other").build());

            await("other", KnownEventType.TASK_COMPLETED);
            assertThat(failed.text("code")).isEqualTo("timeout");
            Awaitility.await().atMost(CANCEL_LIMIT).until(() -> running.running() == 0);
        }
    }

    @Test
    @DisplayName("X-06: a model that asks for tools for ever stops at the budget")
    void shouldStopALoopAtTheBudget() throws Exception {
        try (AgentRuntime runtime = start(request -> {
            int n = calls.incrementAndGet();
            return reply(List.of(new ToolCallRequest("c" + n, "no_such_tool", Map.of(), null)));
        })) {
            awaitReady(runtime);
            broker.produce(topics, message("loop").build());

            Event failed = await("loop", KnownEventType.TASK_FAILED);

            assertThat(failed.text("code")).isEqualTo("iteration_limit");
            assertThat(calls).hasValue(TaskLimits.DEFAULT.maxIterations());
        }
    }

    @Test
    @DisplayName(
            "X-07, M2: an instance says that it starts, lives and stops; a drain reaches every partition and outlives a restart")
    void shouldTellAndDrain() throws Exception {
        try (AgentRuntime runtime = start(request -> {
            calls.incrementAndGet();
            return reply("done");
        })) {
            awaitReady(runtime);
            journal.events(events -> count(events, KnownEventType.SYSTEM_STARTED) == 1, LIMIT);
            Event beat = journal.event(event -> event.type() == KnownEventType.HEARTBEAT, LIMIT);
            assertThat(beat.fields()).containsKeys("instance", "version", "uptimeMs", "activeTasks", "waitingTasks");
            broker.produce(topics, event(KnownEventType.SYSTEM_SHUTTING_DOWN).build());
            journal.events(events -> count(events, KnownEventType.SYSTEM_SHUTTING_DOWN) == 1, LIMIT);
            for (int i = 0; i < 10; i++) {
                broker.produce(topics, message("t" + i).build());
            }
            journal.events(events -> count(events, KnownEventType.MESSAGE_RECEIVED) == 10, LIMIT);
            assertThat(calls).hasValue(0);
        }
        try (AgentRuntime runtime = start(request -> {
            calls.incrementAndGet();
            return reply("done");
        })) {
            awaitReady(runtime);
            journal.events(events -> count(events, KnownEventType.SYSTEM_STARTED) == 2, LIMIT);
            broker.produce(topics, message("t10").build());
            journal.events(events -> count(events, KnownEventType.MESSAGE_RECEIVED) == 11, LIMIT);
            assertThat(calls).as("a start ends no drain").hasValue(0);
            broker.produce(topics, event(KnownEventType.SYSTEM_STARTED).build());

            journal.events(events -> count(events, KnownEventType.TASK_COMPLETED) == 11, LIMIT);
        }
        // nobody is left to put this into the journal before the next start
        try (TopicReader lane = broker.read(topics.lane(Segment.SYSTEM))) {
            Event farewell = lane.event(
                    event -> event.type() == KnownEventType.SYSTEM_SHUTTING_DOWN
                            && "test".equals(event.text("instance")),
                    LIMIT);
            assertThat(farewell.text("reason")).isNotNull();
        }
    }

    /** Cancels, sees that it is done in time, cancels again, sees that nothing more happens. */
    private void cancelTwice(String taskId, @Nullable String session) {
        long begun = System.nanoTime();
        broker.produce(
                topics,
                event(KnownEventType.TASK_CANCEL_REQUESTED)
                        .taskId(taskId)
                        .sessionId(session)
                        .build());
        await(taskId, KnownEventType.TASK_CANCELLED);
        assertThat(Duration.ofNanos(System.nanoTime() - begun)).isLessThan(CANCEL_LIMIT);
        broker.produce(
                topics,
                event(KnownEventType.TASK_CANCEL_REQUESTED)
                        .taskId(taskId)
                        .sessionId(session)
                        .build());
        Event mark = event(KnownEventType.HEARTBEAT)
                .taskId(taskId)
                .sessionId(session)
                .payload(Map.of("instance", "mark"))
                .build();
        broker.produce(topics, mark);
        List<Event> events =
                journal.events(all -> all.stream().anyMatch(event -> event.id().equals(mark.id())), LIMIT);
        assertThat(events)
                .filteredOn(event -> event.type() == KnownEventType.TASK_CANCELLED && taskId.equals(event.taskId()))
                .hasSize(1);
    }

    @Test
    @DisplayName("content is written as often at the 100th tool call of a long chat as at the first, and never again")
    void shouldWriteContentOnce() throws Exception {
        int steps = 100;
        int resultChars = 5_000;
        TaskLimits d = TaskLimits.DEFAULT;
        limits = MachineLimits.of(new TaskLimits(
                steps + 1,
                d.maxToolCallsPerStep(),
                d.maxTranscriptChars(),
                d.maxTokens(),
                d.maxCostMicros(),
                d.maxLifeTimeMs(),
                d.maxCausalDepth()));
        define(tool("lookup", 60_000, new ToolDefinition.Approval.Never()));
        try (AgentRuntime runtime = start(request -> {
            int n = calls.incrementAndGet();
            return n > steps
                    ? reply("done")
                    : reply(List.of(new ToolCallRequest("c" + n, "lookup", Map.of("n", n), null)));
        })) {
            awaitReady(runtime);
            String chat = "c".repeat(100_000);
            broker.produce(topics, message("long").payload(Map.of("text", chat)).build());
            long start = 0;
            long half = 0;
            for (int step = 1; step <= steps; step++) {
                int asked = step;
                Event request = ofType(
                                journal.events(
                                        events -> count(events, KnownEventType.TOOL_CALL_REQUESTED) == asked, LIMIT),
                                KnownEventType.TOOL_CALL_REQUESTED)
                        .getLast();
                start = step == 1 ? bytesWritten() : start;
                half = step == steps / 2 + 1 ? bytesWritten() : half;
                broker.produce(topics, result(request, "r".repeat(resultChars)));
            }
            await("long", KnownEventType.TASK_COMPLETED);

            long end = bytesWritten();
            assertThat(end - half).isBetween((half - start) * 8 / 10, (half - start) * 12 / 10);
            // three times the content, and what a step costs whatever its content is; docs/guarantees.md has the
            // figures
            assertThat(end).isLessThan(3L * (chat.length() + steps * resultChars) + steps * 13_000L);
        }
    }

    private static Event result(Event request, String result) {
        return Event.root(Ids.random(), KnownEventType.TOOL_CALL_COMPLETED, Instant.now())
                .taskId(request.taskId())
                .payload(Map.of(
                        "callId",
                        String.valueOf(request.text("callId")),
                        "toolName",
                        String.valueOf(request.text("toolName")),
                        "result",
                        result,
                        "durationMs",
                        1))
                .build();
    }

    /** What is in the logs of all topics of this test, changelogs among them, but for live text, which goes soon. */
    private long bytesWritten() throws Exception {
        Admin admin = broker.admin();
        List<Integer> brokers =
                admin.describeCluster().nodes().get().stream().map(Node::id).toList();
        return admin.describeLogDirs(brokers).allDescriptions().get().values().stream()
                .flatMap(dirs -> dirs.values().stream())
                .flatMap(dir -> dir.replicaInfos().entrySet().stream())
                .filter(replica -> replica.getKey().topic().startsWith(topics.prefix()))
                .filter(replica -> !replica.getKey().topic().equals(topics.tokens()))
                .mapToLong(replica -> replica.getValue().size())
                .sum();
    }

    private Event await(String taskId, KnownEventType type) {
        return journal.event(event -> event.type() == type && taskId.equals(event.taskId()), LIMIT);
    }

    private static long count(List<Event> events, KnownEventType type) {
        return events.stream().filter(event -> event.type() == type).count();
    }

    private static boolean ended(List<Event> events, String taskId) {
        return events.stream()
                .anyMatch(event -> event.type() == KnownEventType.TASK_COMPLETED && taskId.equals(event.taskId()));
    }

    private static List<Event> ofType(List<Event> events, KnownEventType type) {
        return events.stream().filter(event -> event.type() == type).toList();
    }

    private static List<Event> ofPartition(List<ConsumerRecord<String, byte[]>> records, int partition) {
        return TopicReader.events(
                records.stream().filter(entry -> entry.partition() == partition).toList());
    }

    private static Event.Builder event(EventType type) {
        return Event.root(Ids.random(), type, Instant.now()).source("user");
    }

    /** A task of this id that says its own id. */
    private static Event.Builder message(String id) {
        return Event.root(id, KnownEventType.MESSAGE_RECEIVED, Instant.now())
                .source("user")
                .payload(Map.of("text", id));
    }

    private void define(ToolDefinition tool) {
        broker.produce(new ProducerRecord<>(
                topics.definitions(), ToolDefinition.key(tool.name()).getBytes(StandardCharsets.UTF_8), tool.toJson()));
    }

    private static ToolDefinition tool(String name, long timeoutMs, ToolDefinition.Approval approval) {
        return new ToolDefinition(
                name,
                "A tool that nobody serves.",
                JsonObject.of(Map.of("type", "object")),
                "tool",
                timeoutMs,
                ToolDefinition.SideEffects.DESTRUCTIVE,
                approval,
                600_000L,
                ToolDefinition.OnExpiry.REJECT,
                null);
    }

    private static LanguageModel openAi(StubModelServer server) {
        return LanguageModels.fromEnvironment(
                Configured.of(LlmConfig.class, Map.of()),
                Map.of("OPENAI_BASE_URL", server.baseUrl().toString(), "MILLRACE_MODEL", "stub"));
    }

    private ModelReply answerWhenAllowed(ModelRequest request) throws ModelCallException {
        calls.incrementAndGet();
        try {
            mayAnswer.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new ModelCallException(ModelErrorCode.CANCELLED, "interrupted");
        }
        return reply("done");
    }

    /** Calls the tool that the message names, then answers. */
    private ModelReply callToolOnce(ModelRequest request) {
        calls.incrementAndGet();
        String tool = lastUserText(request);
        return tool.equals("after") || request.messages().getLast() instanceof ChatMessage.ToolMessage
                ? reply("done")
                : reply(List.of(new ToolCallRequest("c1", tool, Map.of("a", 1), null)));
    }

    private static String lastUserText(ModelRequest request) {
        return request.messages().stream()
                .filter(ChatMessage.UserMessage.class::isInstance)
                .map(message -> ((ChatMessage.UserMessage) message).text())
                .reduce("", (first, second) -> second);
    }

    private static ModelReply reply(String text) {
        return new ModelReply(text, null, List.of(), FinishReason.STOP, ModelReply.Usage.NONE, "test");
    }

    private static ModelReply reply(List<ToolCallRequest> toolCalls) {
        return new ModelReply(null, null, toolCalls, FinishReason.TOOL_CALLS, ModelReply.Usage.NONE, "test");
    }

    /** What a model answers. */
    private interface Answering {
        ModelReply to(ModelRequest request) throws ModelCallException;
    }

    private AgentRuntime start(Answering answering) {
        return start(new LanguageModel() {
            @Override
            public ModelReply chat(ModelRequest request) throws ModelCallException {
                return answering.to(request);
            }

            @Override
            public String name() {
                return "test";
            }

            @Override
            public String description() {
                return "answers as the test says";
            }

            @Override
            public int contextWindow(@Nullable String model) {
                return 1_000_000; // so that nothing here is summed up
            }
        });
    }

    private AgentRuntime start(LanguageModel model) {
        running = new ModelDispatcher(model, DispatcherLimits.DEFAULTS);
        AgentRuntime runtime = new AgentRuntime(
                ClientSettings.at(broker.bootstrapServers()),
                new AgentRuntime.Settings(
                        new TopicSettings(TestBroker.DEFAULT_PARTITIONS, TopicSettings.BROKER_DEFAULT, false),
                        limits,
                        Duration.ofHours(1),
                        new Definitions.AgentFiles(state.resolve("agents"), Duration.ofSeconds(1)),
                        16_384,
                        new TaskShellSettings(
                                        topics,
                                        TestBroker.DEFAULT_PARTITIONS,
                                        Duration.ofHours(24),
                                        Duration.ofDays(30),
                                        false,
                                        new AdmissionSettings(places, AdmissionSettings.Policy.QUEUE),
                                        Duration.ofDays(30),
                                        true)
                                .signedBy(replies),
                        new TaskStreams.Settings(
                                topics, topics.prefix() + "agent", state, 1, Duration.ofMillis(20), true),
                        new InstanceEvents.Settings("test", "0", Duration.ofSeconds(1)),
                        Duration.ZERO,
                        LiveText.Settings.DEFAULT),
                new AgentRuntime.Parts(
                        BuiltInAgents.agents(),
                        running,
                        (namespace, taskId) -> Optional.empty(),
                        new NoMetrics(),
                        new Occupancy()));
        runtime.start();
        return runtime;
    }

    private static void awaitReady(AgentRuntime runtime) {
        Awaitility.await().atMost(LIMIT).until(() -> runtime.notReady().isEmpty());
    }

    private static final class NoMetrics implements ShellMetrics {
        @Override
        public void accepted(EventType type) {}

        @Override
        public void discarded(EventType type, DiscardReason reason) {}

        @Override
        public void deadLettered(String reason) {}

        @Override
        public void processed(String processor, String outcome) {}

        @Override
        public void rerouted() {}

        @Override
        public void admittedOverLimit() {}
    }
}
