package dev.millrace.agent.topology;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.InstanceOfAssertFactories.MAP;

import dev.millrace.agent.AgentDefinition;
import dev.millrace.agent.AgentPin;
import dev.millrace.agent.Agents;
import dev.millrace.agent.ToolCatalogue;
import dev.millrace.agent.ToolRouting;
import dev.millrace.agent.approval.Approvals;
import dev.millrace.agent.core.DiscardReason;
import dev.millrace.agent.core.MachineLimits;
import dev.millrace.agent.core.TaskFsm;
import dev.millrace.agent.core.TaskState;
import dev.millrace.agent.core.TranscriptEntry;
import dev.millrace.agent.files.AgentFile;
import dev.millrace.agent.files.BuiltInAgents;
import dev.millrace.agent.files.InvalidAgentException;
import dev.millrace.engine.Sender;
import dev.millrace.schemas.DeadLetters;
import dev.millrace.schemas.Event;
import dev.millrace.schemas.EventCodec;
import dev.millrace.schemas.EventType;
import dev.millrace.schemas.HeaderNames;
import dev.millrace.schemas.Ids;
import dev.millrace.schemas.JsonObject;
import dev.millrace.schemas.KnownEventType;
import dev.millrace.schemas.MalformedEventException;
import dev.millrace.schemas.Segment;
import dev.millrace.schemas.StreamType;
import dev.millrace.schemas.ToolDefinition;
import dev.millrace.schemas.Topics;
import java.io.IOException;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Properties;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.common.utils.Utils;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.TestInputTopic;
import org.apache.kafka.streams.TestOutputTopic;
import org.apache.kafka.streams.TopologyTestDriver;
import org.apache.kafka.streams.state.KeyValueStore;
import org.apache.kafka.streams.test.TestRecord;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

class TaskTopologyTest {

    private static final Topics TOPICS = new Topics("test.");
    private static final Instant NOW = Instant.parse("2026-11-21T12:00:00Z");
    private static final ToolDefinition READ_FILE = new ToolDefinition(
            "read_file",
            "Reads a file.",
            JsonObject.of(Map.of("type", "object")),
            "tool",
            5_000,
            ToolDefinition.SideEffects.READ_ONLY);
    private static final ToolDefinition WRITE_FILE = new ToolDefinition(
            "write_file",
            "Writes a file.",
            JsonObject.of(Map.of("type", "object")),
            "files",
            5_000,
            ToolDefinition.SideEffects.DESTRUCTIVE);
    private static final ToolDefinition PAY = new ToolDefinition(
            "pay",
            "Pays.",
            JsonObject.of(Map.of("type", "object")),
            "tool",
            5_000,
            ToolDefinition.SideEffects.DESTRUCTIVE,
            new ToolDefinition.Approval.Always(),
            60_000L,
            ToolDefinition.OnExpiry.REJECT,
            null);
    private static final ToolDefinition TRANSFER = new ToolDefinition(
            "transfer",
            "Pays so much.",
            JsonObject.of(Map.of("type", "object", "properties", Map.of("amount", Map.of("type", "number")))),
            "tool",
            5_000,
            ToolDefinition.SideEffects.DESTRUCTIVE,
            new ToolDefinition.Approval.When("args.amount > 100"),
            60_000L,
            ToolDefinition.OnExpiry.REJECT,
            null);
    private static final ToolDefinition NOTIFY = new ToolDefinition(
            "notify",
            "Tells the owner.",
            JsonObject.of(Map.of("type", "object")),
            "tool",
            5_000,
            ToolDefinition.SideEffects.IDEMPOTENT);

    /** A list of names in the description, whose order means nothing. */
    private static final Pattern LIST = Pattern.compile(": \\[([^\\]]*)]");

    @TempDir
    Path stateDir;

    private final RecordedModelCalls model = new RecordedModelCalls();
    private final CountedShell counted = new CountedShell();
    private final List<Event> read = new ArrayList<>();
    private final Map<String, String> sessions = new HashMap<>();
    private final Occupancy occupancy = new Occupancy();
    private AdmissionSettings admission = new AdmissionSettings(5, AdmissionSettings.Policy.QUEUE);
    private TopologyTestDriver driver;
    private TestOutputTopic<byte[], byte[]> journal;
    private TestOutputTopic<byte[], byte[]> requests;
    private TestOutputTopic<byte[], byte[]> deadLetters;
    private final Agents agents = BuiltInAgents.agents();

    @BeforeEach
    @SuppressWarnings("NullAway") // fields of a test
    void start() {
        driver = new TopologyTestDriver(topology(1), config(), NOW);
        journal = output(TOPICS.journal());
        requests = output(TOPICS.requests("tool"));
        deadLetters = output(TOPICS.deadLetters());
    }

    private org.apache.kafka.streams.Topology topology(int partitions) {
        return TaskTopology.build(
                new TaskShellSettings(
                        TOPICS,
                        partitions,
                        Duration.ofHours(24),
                        Duration.ofDays(30),
                        true,
                        admission,
                        Duration.ofDays(30),
                        true),
                new TaskFsm(MachineLimits.DEFAULT),
                new TaskTopology.Surroundings(
                        new ToolRouting(
                                agents,
                                new FixedTools(List.of(READ_FILE, WRITE_FILE, NOTIFY, PAY, TRANSFER)),
                                new Approvals(Duration.ofHours(1))),
                        model,
                        (namespace, taskId) -> Optional.ofNullable(sessions.get(taskId)),
                        counted,
                        occupancy));
    }

    private Properties config() {
        Properties config = new Properties();
        config.put(StreamsConfig.APPLICATION_ID_CONFIG, "test");
        config.put(StreamsConfig.BOOTSTRAP_SERVERS_CONFIG, "unused:1");
        config.put(StreamsConfig.STATE_DIR_CONFIG, stateDir.toString());
        return config;
    }

    @AfterEach
    void stop() {
        driver.close();
    }

    @Test
    @DisplayName("F-053, F-054, F-092: a task with one tool call takes the canonical way, one chain by parentEventId")
    void shouldTakeTheCanonicalWay() throws MalformedEventException {
        // given
        Event message = message("m1", "Search for AI Agent papers");

        // when
        send(message);
        answerWithTool("read_file", "c1");
        TestRecord<byte[], byte[]> request = requests.readRecord();
        toolCompleted(request);
        answer("Here they are");

        // then
        assertThat(read(request).source()).isEqualTo("cognitive.act");
        assertThat(read(request).fields())
                .containsEntry("taskType", "general")
                .containsEntry("stepIndex", 0)
                .containsEntry("timeoutMs", (int) READ_FILE.timeoutMs());
        List<Event> events = journal();
        assertThat(events)
                .filteredOn(event -> event.type() == KnownEventType.MODEL_CALL_REQUESTED)
                .extracting(event -> event.fields().get("iteration"))
                .containsExactly(1, 2);
        List<Event> canonical = events.stream()
                .filter(event -> List.of(
                                KnownEventType.MESSAGE_RECEIVED,
                                KnownEventType.TASK_CREATED,
                                KnownEventType.REASON_DONE,
                                KnownEventType.TOOL_CALL_COMPLETED,
                                KnownEventType.STEP_COMPLETED,
                                KnownEventType.TASK_COMPLETED)
                        .contains(event.type()))
                .toList();
        assertThat(canonical)
                .extracting(Event::type)
                .containsExactly(
                        KnownEventType.MESSAGE_RECEIVED,
                        KnownEventType.TASK_CREATED,
                        KnownEventType.REASON_DONE,
                        KnownEventType.TOOL_CALL_COMPLETED,
                        KnownEventType.REASON_DONE,
                        KnownEventType.STEP_COMPLETED,
                        KnownEventType.TASK_COMPLETED);
        for (int i = 1; i < canonical.size(); i++) {
            assertThat(canonical.get(i).parentEventId())
                    .isEqualTo(canonical.get(i - 1).id());
        }
        assertThat(canonical).allSatisfy(event -> assertThat(event.taskId()).isEqualTo("m1"));
        assertThat(canonical)
                .allSatisfy(event -> assertThat(event.correlationId()).isEqualTo("m1"));
        assertThat(canonical.get(1).fields())
                .containsEntry("inputText", "Search for AI Agent papers")
                .containsEntry("source", "user")
                .containsEntry("taskType", "general");
        assertThat(canonical.get(5).source()).as("F-092").isEqualTo("cognitive.act");
        assertThat(canonical.get(5).fields()).as("F-092").isEqualTo(Map.of("stepIndex", 0, "actionsCount", 2));
        assertThat(canonical.getLast().fields())
                .extractingByKey("result")
                .isEqualTo(Map.of(
                        "taskId",
                        "m1",
                        "input",
                        "Search for AI Agent papers",
                        "response",
                        "Here they are",
                        "iterations",
                        2));
    }

    @Test
    @DisplayName(
            "F-125, F-138, F-259, X-07: every move is in the journal, and every event but the root has a parent there"
                    + " (X-08)")
    void shouldJournalEveryMove() throws MalformedEventException {
        // when
        send(message("m1", "hello"));
        answer("hi");

        // then
        List<Event> events = journal();
        assertThat(events)
                .filteredOn(event -> event.type() == KnownEventType.TASK_STATE_CHANGED)
                .extracting(event -> event.text("fromState") + ">" + event.text("toState"))
                .containsExactly("idle>reasoning", "reasoning>acting", "acting>completed");
        List<String> ids = events.stream().map(Event::id).toList();
        assertThat(ids).doesNotHaveDuplicates();
        assertThat(events.subList(1, events.size()))
                .allSatisfy(event -> assertThat(ids).contains(event.parentEventId()));
    }

    @Test
    @DisplayName("F-189, X-27: the same event id twice makes one task; another namespace has its own ids")
    void shouldTakeAnEventOnce() throws MalformedEventException {
        // when
        send(message("m1", "hello"));
        send(message("m1", "hello"));
        send(message("m1", "hello").toBuilder().namespace("acme").build());

        // then
        assertThat(journal())
                .filteredOn(event -> event.type() == KnownEventType.TASK_CREATED)
                .hasSize(2);
        assertThat(counted.discards).containsExactly(DiscardReason.DUPLICATE);
    }

    @Test
    @DisplayName("F-268, F-269, F-270, X-45: two tool calls of one reply make one model call, after both")
    void shouldJoinParallelToolCalls() throws MalformedEventException {
        // given
        send(message("m1", "two at once"));
        reply(Map.of("toolCalls", List.of(call("c1", "read_file"), call("c2", "read_file"))));
        TestRecord<byte[], byte[]> first = requests.readRecord();
        TestRecord<byte[], byte[]> second = requests.readRecord();

        // when
        toolCompleted(second);
        int before = model.requested.size();
        toolCompleted(first);

        // then
        assertThat(before).isEqualTo(1);
        assertThat(model.requested).hasSize(2);
        assertThat(first.getKey()).isNotEqualTo(second.getKey());
    }

    @Test
    @DisplayName("F-154: a call outside the agent's tools is refused before it runs, and the model sees the error")
    void shouldRefuseToolsOfOtherAgents() throws MalformedEventException {
        // given
        send(message("m1", "write something").toBuilder()
                .payload(Map.of("text", "write something", "taskType", "explore"))
                .build());

        // when
        reply(Map.of("toolCalls", List.of(call("c1", "write_file"))));

        // then
        assertThat(requests.isEmpty()).isTrue();
        assertThat(transcript("m1", 2))
                .isEqualTo(new TranscriptEntry.ToolResult(
                        "c1",
                        "write_file",
                        "Error: Tool \"write_file\" is not available for task type \"explore\"",
                        true));
        assertThat(model.requested).hasSize(2);
    }

    @Test
    @DisplayName("a task stays on the agent that it began with, prompt, tools, order and limits")
    void shouldStayOnTheAgent() throws Exception {
        // given
        use("""
                ---
                description: The first edition.
                tools: [read_file]
                sequential: true
                limits: { iterations: 3 }
                ---
                Since {{date}} for {{input.customer}} of {{namespace}}.
                """);
        send(message("m1", "hello").toBuilder()
                .payload(Map.of("text", "hello", "taskType", "clerk", "model", "powerful", "customer", "Ada"))
                .build());
        OutstandingCall first = model.last();

        // when
        use("---\ndescription: The second edition.\ntools: [write_file]\n---\nAnother.");
        reply(Map.of("toolCalls", List.of(call("c1", "read_file"), call("c2", "write_file"), call("c3", "read_file"))));

        // then
        assertThat(first.agent().model()).isEqualTo("powerful");
        assertThat(first.agent().fields())
                .isEqualTo(Map.of("date", "2026-11-21", "input.customer", "Ada", "namespace", "default"));
        TestRecord<byte[], byte[]> only = requests.readRecord();
        assertThat(requests.isEmpty()).as("one after the other").isTrue();
        toolCompleted(only);
        assertThat(journalled(KnownEventType.TOOL_CALL_FAILED))
                .singleElement()
                .extracting(event -> event.text("error"))
                .isEqualTo("Tool \"write_file\" is not available for task type \"clerk\"");
        assertThat(agents.of(first.agent().reference()).description()).isEqualTo("The first edition.");
        send(message("m2", "hello").toBuilder()
                .payload(Map.of("text", "hello", "taskType", "clerk"))
                .build());
        assertThat(model.last().agent())
                .isEqualTo(new AgentPin(agents.of("clerk").reference(), null, Map.of()));
    }

    private void use(String file) throws InvalidAgentException {
        AgentDefinition clerk = AgentFile.ofText("clerk", file).definition();
        agents.add(clerk);
        agents.use("clerk", clerk.version());
    }

    @Test
    @DisplayName("F-090: a tool that nobody serves is an error result with a suggestion")
    void shouldNameTheToolThatIsMissing() throws MalformedEventException {
        send(message("m1", "read"));
        reply(Map.of("toolCalls", List.of(call("c1", "readfile"))));

        assertThat(transcript("m1", 2))
                .isEqualTo(new TranscriptEntry.ToolResult(
                        "c1", "readfile", "Error: Tool \"readfile\" not found. Did you mean \"read_file\"?", true));
    }

    @Test
    @DisplayName("F-115, F-116: a notify call becomes TASK_NOTIFY while the task goes on")
    void shouldPassOnNotifications() throws MalformedEventException {
        send(message("m1", "tell me"));
        answerWithTool("notify", "c1");
        TestRecord<byte[], byte[]> request = requests.readRecord();
        send(toolReply(request, KnownEventType.TOOL_CALL_COMPLETED)
                .payload(Map.of(
                        "callId",
                        read(request).fields().get("callId"),
                        "toolName",
                        "notify",
                        "result",
                        Map.of("action", "notify", "message", "half way", "taskId", "m1"),
                        "durationMs",
                        1))
                .build());

        assertThat(journal())
                .filteredOn(event -> event.type() == KnownEventType.TASK_NOTIFY)
                .extracting(event -> event.text("message"))
                .containsExactly("half way");
        assertThat(model.requested).hasSize(2);
    }

    @Test
    @DisplayName("X-10, X-11: a question suspends the task, and the answer with the task's id continues it")
    void shouldAskAndGoOn() throws MalformedEventException {
        // given
        send(message("m1", "book a table"));
        send(model.last()
                .reply(KnownEventType.NEED_MORE_INFO, NOW)
                .payload(Map.of(
                        "callId",
                        model.last().callId(),
                        "question",
                        "For how many?",
                        "toolCallId",
                        "q1",
                        "toolCalls",
                        List.of(call("q1", "ask_user"))))
                .build());

        // when
        send(message("m2", "for four").toBuilder().taskId("m1").build());

        // then
        assertThat(journal())
                .filteredOn(event -> event.type() == KnownEventType.TASK_SUSPENDED)
                .extracting(event -> event.text("question"))
                .containsExactly("For how many?");
        assertThat(transcript("m1", 2)).isEqualTo(new TranscriptEntry.ToolResult("q1", "ask_user", "for four", false));
        assertThat(model.requested).hasSize(2);
    }

    @Test
    @DisplayName(
            "DESIGN §4: an approved call runs exactly as approved; who decided is in the journal; twice changes nothing")
    void shouldRunTheApprovedCall() throws MalformedEventException {
        // given
        send(message("m1", "pay"));
        answerWithTool("pay", "c1");
        Event asked = journalled(KnownEventType.APPROVAL_REQUESTED).getFirst();
        boolean ranBefore = !requests.isEmpty();

        // when
        send(decision(asked, "approve", Map.of("amount", 10)));
        send(decision(asked, "reject", Map.of()));

        // then
        assertThat(ranBefore).isFalse();
        Event request = read(requests.readRecord());
        assertThat(request.fields())
                .containsEntry("params", Map.of("amount", 10))
                .containsEntry("callId", asked.text("callId"));
        assertThat(requests.isEmpty()).isTrue();
        assertThat(model.requested).hasSize(1);
        assertThat(journalled(KnownEventType.APPROVAL_DECIDED))
                .extracting(event -> event.text("decision") + " " + event.text("decidedBy"))
                .containsExactly("approve ada");
        assertThat(counted.discards).contains(DiscardReason.DUPLICATE);
    }

    @Test
    @DisplayName("a decision with arguments that the tool cannot take is none; the call waits on")
    void shouldRefuseADecisionThatCannotRun() throws MalformedEventException {
        // given
        send(message("m1", "pay"));
        reply(Map.of(
                "toolCalls",
                List.of(Map.of("toolCallId", "c1", "toolName", "transfer", "arguments", Map.of("amount", 101)))));
        Event asked = journalled(KnownEventType.APPROVAL_REQUESTED).getFirst();

        // when
        send(decision(asked, "approve", Map.of("amount", "59.90")));
        TestRecord<byte[], byte[]> dead = deadLetters.readRecord();
        boolean ran = !requests.isEmpty();
        send(decision(asked, "approve", Map.of("amount", 59.9)));

        // then
        assertThat(asked.text("reason")).isEqualTo("condition `args.amount > 100` holds");
        assertThat(reason(dead)).isEqualTo("invalid_arguments");
        assertThat(header(dead, DeadLetters.DETAIL)).contains("params: ", "/amount string found, number expected");
        assertThat(ran).isFalse();
        assertThat(read(requests.readRecord()).fields())
                .containsEntry("params", Map.of("amount", new BigDecimal("59.9")));
    }

    @Test
    @DisplayName("a call that cannot run asks nobody, and the model hears why")
    void shouldAskNobodyAboutACallThatCannotRun() throws MalformedEventException {
        // when
        send(message("m1", "pay"));
        reply(Map.of(
                "toolCalls",
                List.of(Map.of("toolCallId", "c1", "toolName", "transfer", "arguments", Map.of("amount", "59.90")))));

        // then
        assertThat(journalled(KnownEventType.APPROVAL_REQUESTED)).isEmpty();
        assertThat(transcript("m1", 2))
                .isEqualTo(new TranscriptEntry.ToolResult(
                        "c1", "transfer", "Error: VALIDATION ERROR: /amount string found, number expected", true));
        assertThat(model.requested).hasSize(2);
    }

    @Test
    @DisplayName("a rejected call is an error that names who and why; the model sees it")
    void shouldTellTheModelOfARejection() throws MalformedEventException {
        send(message("m1", "pay"));
        answerWithTool("pay", "c1");
        send(decision(journalled(KnownEventType.APPROVAL_REQUESTED).getFirst(), "reject", Map.of()));

        assertThat(transcript("m1", 2))
                .isEqualTo(new TranscriptEntry.ToolResult("c1", "pay", "Error: rejected by ada: because", true));
        assertThat(model.requested).hasSize(2);
    }

    @Test
    @DisplayName("F-138: a move says what the task waits for and what it has used of its budget")
    void shouldSayWhatATaskWaitsFor() throws MalformedEventException {
        // when
        send(message("m1", "pay"));
        answerWithTool("pay", "c1");

        // then
        Event asked = journalled(KnownEventType.APPROVAL_REQUESTED).getFirst();
        assertThat(journalled(KnownEventType.TASK_STATE_CHANGED))
                .satisfiesExactly(
                        moved -> assertThat(moved.fields())
                                .containsEntry("toState", "reasoning")
                                .extractingByKey("waitingFor")
                                .asInstanceOf(MAP)
                                .containsEntry("kind", "model")
                                .containsKey("until"),
                        moved -> {
                            assertThat(moved.fields())
                                    .containsEntry("toState", "suspended")
                                    .extractingByKey("waitingFor")
                                    .asInstanceOf(MAP)
                                    .containsEntry("kind", "approval")
                                    .containsEntry("callIds", List.of(String.valueOf(asked.text("callId"))))
                                    .containsEntry("until", asked.text("expiresAt"));
                            assertThat(moved.fields())
                                    .extractingByKey("budget")
                                    .asInstanceOf(MAP)
                                    .containsEntry("iterations", 1)
                                    .containsEntry("maxIterations", 10)
                                    .containsKey("expiresAt");
                        });
    }

    @Test
    @DisplayName("F-114: who gave a callbackUrl is told what becomes of the task, in the same transaction")
    void shouldRequestNotifications() throws MalformedEventException {
        // given
        TestOutputTopic<byte[], byte[]> webhooks = output(TOPICS.webhookRequests());
        Map<String, @Nullable Object> payload = Map.of("text", "hi", "callbackUrl", "https://example.org/hook");

        // when
        send(message("m1", "hi").toBuilder().payload(payload).build());
        answerWithTool("pay", "c1");
        send(event("f1", KnownEventType.TASK_FAILED)
                .taskId("m1")
                .payload(Map.of("error", "no", "code", "declared_failed"))
                .build());

        // then
        List<TestRecord<byte[], byte[]>> sent = webhooks.readRecordsToList();
        assertThat(sent)
                .allSatisfy(record -> assertThat(record.getKey()).asString().isEqualTo("m1"));
        List<Event> told = new ArrayList<>();
        for (TestRecord<byte[], byte[]> record : sent) {
            told.add(read(record));
        }
        assertThat(told)
                .extracting(event -> event.text("callbackUrl") + " " + event.text("type"))
                .containsExactly("https://example.org/hook approval_needed", "https://example.org/hook failed");
    }

    @Test
    @DisplayName("X-12: a webhook's text comes from its template; without text and template it is refused")
    void shouldMakeTextFromPayload() throws MalformedEventException {
        send(event("w1", KnownEventType.WEBHOOK_TRIGGERED)
                .payload(Map.of(
                        "template",
                        "Look at {{ body.issue.title }} ({{body.n}})",
                        "body",
                        Map.of("issue", Map.of("title", "a crash"), "n", 7)))
                .build());
        send(event("w2", KnownEventType.WEBHOOK_TRIGGERED)
                .payload(Map.of("body", Map.of("a", 1)))
                .build());

        assertThat(transcript("w1", 0)).isEqualTo(new TranscriptEntry.UserText("Look at a crash (7)"));
        assertThat(reason(deadLetters.readRecord())).isIn("no_text", "schema_violation");
    }

    @Test
    @DisplayName("a path of a template that leads nowhere is a dead letter that names it and the nearest")
    void shouldRefuseATemplateThatLeadsNowhere() throws MalformedEventException {
        // given
        Map<String, Object> body = Map.of("order", Map.of("id", "X1"), "amount", "59.9");

        // when
        send(event("w1", KnownEventType.WEBHOOK_TRIGGERED)
                .payload(Map.of("template", "refund {{body.amount}} for order {{body.order.idd}}", "body", body))
                .build());
        send(event("w2", KnownEventType.SCHEDULE_FIRED)
                .payload(Map.of("template", "order {{body.order.idd | that nobody knows}}", "body", body))
                .build());

        // then
        TestRecord<byte[], byte[]> dead = deadLetters.readRecord();
        assertThat(reason(dead)).isEqualTo("bad_payload");
        assertThat(header(dead, DeadLetters.DETAIL))
                .contains("{{body.order.idd}}, which leads nowhere; did you mean {{body.order.id}}?");
        assertThat(transcript("w2", 0)).isEqualTo(new TranscriptEntry.UserText("order that nobody knows"));
        assertThat(model.requested).extracting(OutstandingCall::taskId).containsExactly("w2");
    }

    static Stream<String> lanes() {
        return TOPICS.lanes().stream();
    }

    @ParameterizedTest
    @MethodSource("lanes")
    @DisplayName("garbage on any lane goes to the dead letters with its reason and origin, and the next task completes")
    void shouldPutGarbageAside(String lane) throws MalformedEventException {
        // given
        byte[] garbage = {(byte) 0xff, 0x00, 0x13};

        // when
        input(lane).pipeInput(new TestRecord<>(null, garbage, new RecordHeaders(), NOW));
        send(message("m1", "hello"));
        answer("hi");

        // then
        TestRecord<byte[], byte[]> dead = deadLetters.readRecord();
        assertThat(dead.getValue()).isEqualTo(garbage);
        assertThat(reason(dead)).isEqualTo("not_a_cloud_event");
        assertThat(header(dead, DeadLetters.ORIGIN_TOPIC)).isEqualTo(lane);
        assertThat(journal()).extracting(Event::type).contains(KnownEventType.TASK_COMPLETED);
    }

    @ParameterizedTest
    @ValueSource(longs = {0, Long.MAX_VALUE, 253_402_300_800_000L})
    @DisplayName("a record with an odd date, of an event without a date, costs nobody anything")
    void shouldTakeRecordsWithOddDates(long timestamp) throws MalformedEventException {
        // when
        RecordHeaders headers = new RecordHeaders();
        headers.add("ce_id", "m1".getBytes(StandardCharsets.UTF_8));
        headers.add("ce_type", "MESSAGE_RECEIVED".getBytes(StandardCharsets.UTF_8));
        input(TOPICS.lane(Segment.EXTERNAL))
                .pipeInput(new TestRecord<>(
                        "m1".getBytes(StandardCharsets.UTF_8),
                        "{\"text\":\"hello\"}".getBytes(StandardCharsets.UTF_8),
                        headers,
                        timestamp));
        send(message("m2", "hello"));
        answer("hi");

        // then
        assertThat(journal())
                .filteredOn(event -> event.type() == KnownEventType.TASK_COMPLETED)
                .hasSize(1);
    }

    @Test
    @DisplayName("facts of the machine are taken from nobody else")
    void shouldRefuseForgedFacts() {
        send(event("x", KnownEventType.TASK_COMPLETED)
                .taskId("m1")
                .payload(Map.of(
                        "result",
                        Map.of("taskId", "m1", "input", "", "response", "forged", "iterations", 1),
                        "usage",
                        Map.of("inputTokens", 1, "outputTokens", 1)))
                .build());

        assertThat(reason(deadLetters.readRecord())).isEqualTo("not_accepted");
        assertThat(journal.isEmpty()).isTrue();
    }

    @Test
    @DisplayName("F-293: live text is taken from no lane, and never comes into the journal")
    void shouldNotTakeLiveTextFromALane() {
        String lane = TOPICS.lane(Segment.EXTERNAL);
        Event piece = Event.root("x", StreamType.TEXT, NOW)
                .source("llm")
                .taskId("m1")
                .payload(Map.of("callId", "c1", "attempt", 1, "seq", 0, "delta", "hello"))
                .build();
        ProducerRecord<String, byte[]> record = EventCodec.toRecord(lane, piece);
        input(lane)
                .pipeInput(new TestRecord<>(
                        record.key().getBytes(StandardCharsets.UTF_8), record.value(), record.headers(), NOW));

        assertThat(reason(deadLetters.readRecord())).isEqualTo("not_accepted");
        assertThat(journal.isEmpty()).isTrue();
    }

    @Test
    @DisplayName("F-184: a type that nobody knows is legal and recorded")
    void shouldRecordUnknownTypes() throws MalformedEventException {
        send(event("f1", EventType.of("file.changed"))
                .payload(Map.of("filePath", "a.txt"))
                .build());

        assertThat(journal()).extracting(event -> event.type().wireName()).containsExactly("file.changed");
    }

    @Test
    @DisplayName("F-287: a message that has expired on its lane is a task that has failed, which its owner is told")
    void shouldFailWhatExpiredOnItsLane() throws MalformedEventException {
        send(message("m1", "too late").toBuilder().expiry(NOW.minusSeconds(1)).build());

        assertThat(journal()).satisfiesExactly(start -> assertThat(start.id()).isEqualTo("m1"), failed -> {
            assertThat(failed.type()).isEqualTo(KnownEventType.TASK_FAILED);
            assertThat(failed.taskId()).isEqualTo("m1");
            assertThat(failed.text("code")).isEqualTo("expired");
        });
        assertThat(model.requested).isEmpty();
    }

    @Test
    @DisplayName("F-287: an event for a task past its expiry is recorded as expired and not processed")
    void shouldNotProcessExpiredEvents() {
        send(message("m1", "hello"));
        journal.readRecordsToList();

        send(event("r1", KnownEventType.TASK_CANCEL_REQUESTED)
                .taskId("m1")
                .payload(Map.of())
                .expiry(NOW.minusSeconds(1))
                .build());

        assertThat(header(journal.readRecord(), HeaderNames.OUTCOME)).isEqualTo("expired");
        assertThat(journal.isEmpty()).isTrue();
    }

    @Test
    @DisplayName("an event for a task that nobody knows goes to the dead letters, a late reply is dropped")
    void shouldNameTheTaskThatIsMissing() {
        send(event("r1", KnownEventType.TASK_RESUMED).taskId("nobody").build());
        send(event("r2", KnownEventType.MODEL_CALL_FAILED)
                .taskId("nobody")
                .payload(Map.of("callId", "nobody/1/0", "code", "timeout", "error", "late", "retryable", false))
                .build());

        assertThat(reason(deadLetters.readRecord())).isEqualTo("unknown_task");
        assertThat(deadLetters.isEmpty()).isTrue();
        assertThat(counted.discards).containsExactly(DiscardReason.UNKNOWN_TASK);
    }

    @Test
    @DisplayName(
            "a message that a task does not take goes to the dead letters with the reason, a second cancel changes nothing")
    void shouldNotDropSomebodysWords() {
        // given
        send(message("m1", "hello"));

        // when: one while the task runs, one after it has ended, and a cancel too many
        send(message("m2", "and be quick").toBuilder().taskId("m1").build());
        send(event("c1", KnownEventType.TASK_CANCEL_REQUESTED).taskId("m1").build());
        send(message("m3", "still there?").toBuilder().taskId("m1").build());
        send(event("c2", KnownEventType.TASK_CANCEL_REQUESTED).taskId("m1").build());

        // then
        assertThat(deadLetters.readRecordsToList())
                .extracting(TaskTopologyTest::reason)
                .containsExactly("not_waiting", "task_ended");
        assertThat(counted.discards).containsExactly(DiscardReason.TASK_ENDED);
    }

    @Test
    @DisplayName("TASK_CANCEL_REQUESTED ends the task and drops its model call")
    void shouldCancel() throws MalformedEventException {
        send(message("m1", "hello"));
        OutstandingCall call = model.last();
        send(event("c1", KnownEventType.TASK_CANCEL_REQUESTED).taskId("m1").build());

        assertThat(model.settled).containsExactly(call);
        assertThat(journal()).extracting(Event::type).contains(KnownEventType.TASK_CANCELLED);
    }

    @Test
    @DisplayName("F-100: a task that is worth it asks for a reflection, a trivial one does not")
    void shouldAskForReflection() throws MalformedEventException {
        TestOutputTopic<byte[], byte[]> reflections = output(TOPICS.reflectionRequests());
        send(message("m1", "hello"));
        answer("hi");
        assertThat(reflections.isEmpty()).isTrue();

        send(message("m2", "long"));
        answer("a".repeat(200));

        Event request = read(reflections.readRecord());
        assertThat(request.type()).isEqualTo(KnownEventType.REFLECTION_REQUESTED);
        assertThat(request.taskId()).isEqualTo("m2");
        assertThat(request.fields())
                .isEqualTo(Map.of(
                        "taskId",
                        "m2",
                        "input",
                        "long",
                        "response",
                        "a".repeat(200),
                        "iterations",
                        1,
                        "actionsCount",
                        1));
    }

    @Test
    @DisplayName("the names of nodes and stores stay: renaming one orphans its changelog")
    void shouldKeepItsShape() throws IOException {
        // given
        Path golden = Path.of("src/test/resources/topology.txt");

        // when
        String description =
                LIST.matcher(topology(1).describe().toString()).replaceAll(list -> ": [" + sorted(list.group(1)) + "]");

        // then
        if (Boolean.getBoolean("millrace.docs.write")) {
            Files.writeString(golden, description);
        }
        assertThat(description).isEqualTo(Files.readString(golden));
    }

    @Test
    @DisplayName("a record on the wrong partition is sent to its own once, and never in a loop")
    void shouldRerouteOnce() {
        // given: two partitions, of which the driver has the first, and a key that belongs on the second
        driver.close();
        driver = new TopologyTestDriver(topology(2), config(), NOW);
        deadLetters = output(TOPICS.deadLetters());
        String elsewhere = Stream.of("a", "b", "c", "d", "e")
                .filter(key -> Utils.toPositive(Utils.murmur2(key.getBytes(StandardCharsets.UTF_8))) % 2 == 1)
                .findFirst()
                .orElseThrow();

        // when: the driver feeds the rerouted record back to the same partition
        send(message(elsewhere, "hello"));

        // then
        TestRecord<byte[], byte[]> dead = deadLetters.readRecord();
        assertThat(reason(dead)).isEqualTo("wrong_partition");
        assertThat(dead.headers().lastHeader(Sender.REROUTED)).isNotNull();
        assertThat(model.requested).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 99, 100})
    @DisplayName("a task that is put on the lane of cancels, with or without their priority, waits on its own lane")
    void shouldLetNoTaskStandBeforeCancels(int priority) throws Exception {
        // given
        TestOutputTopic<byte[], byte[]> external = output(TOPICS.lane(Segment.EXTERNAL));
        Event message = message("m1", "hello").toBuilder()
                .priority(priority == 0 ? null : priority)
                .build();
        ProducerRecord<String, byte[]> encoded = EventCodec.toRecord(TOPICS.lane(Segment.SYSTEM), message);

        // when
        input(encoded.topic())
                .pipeInput(new TestRecord<>(
                        encoded.key().getBytes(StandardCharsets.UTF_8), encoded.value(), encoded.headers(), NOW));

        // then
        Event moved = read(external.readRecord());
        assertThat(moved).isEqualTo(message);
        assertThat(external.isEmpty()).isTrue();
        StoredTask task =
                TaskStores.TASKS.in(driver.getKeyValueStore(TaskStores.ROWS)).get("m1");
        assertThat(((TaskState.Existing) task.state()).context().priority()).isEqualTo(100);
        assertThat(model.requested).hasSize(1);
    }

    @Test
    @DisplayName("rows and transcripts of tasks that ended long ago are removed, those of running ones stay")
    void shouldRemoveEndedTasks() {
        // given
        send(message("m1", "hello"));
        answer("hi");
        send(message("m2", "hello"));

        // when
        driver.advanceWallClockTime(Duration.ofDays(31));

        // then
        KeyValueStore<String, StoredTask> tasks = TaskStores.TASKS.in(driver.getKeyValueStore(TaskStores.ROWS));
        assertThat(tasks.get("m1")).isNull();
        assertThat(tasks.get("m2")).isNotNull();
        assertThat(transcript("m1", 0)).isNull();
        assertThat(transcript("m2", 0)).isNotNull();
    }

    @Test
    @DisplayName("F-288, F-304: what could not be a task's key by its session is kept apart by namespace and id")
    void shouldKeepNamespacesApart() throws MalformedEventException {
        send(message("m1", "ours"));
        send(message("m1", "theirs").toBuilder().namespace("acme").build());

        assertThat(transcript("m1", 0)).isEqualTo(new TranscriptEntry.UserText("ours"));
        assertThat(transcript("acme/m1", 0)).isEqualTo(new TranscriptEntry.UserText("theirs"));
    }

    @Test
    @DisplayName("a reply whose payload makes no sense goes to the dead letters and the task still waits")
    void shouldNotFallForBrokenReplies() {
        send(message("m1", "hello"));
        send(model.last()
                .reply(KnownEventType.REASON_DONE, NOW)
                .payload(Map.of("callId", model.last().callId(), "toolCalls", List.of("nonsense")))
                .build());

        assertThat(reason(deadLetters.readRecord())).isEqualTo("schema_violation");
        answer("hi");
        assertThat(model.settled).hasSize(1);
    }

    private static String sorted(String names) {
        return Stream.of(names.split(", ", -1)).sorted().collect(Collectors.joining(", "));
    }

    private TestInputTopic<byte[], byte[]> input(String topic) {
        return driver.createInputTopic(topic, new ByteArraySerializer(), new ByteArraySerializer());
    }

    private TestOutputTopic<byte[], byte[]> output(String topic) {
        return driver.createOutputTopic(topic, new ByteArrayDeserializer(), new ByteArrayDeserializer());
    }

    private static Event.Builder event(String id, EventType type) {
        return Event.root(id, type, NOW);
    }

    /** By ada, because. */
    private static Event decision(Event asked, String decision, Map<String, ? extends @Nullable Object> params) {
        Map<String, @Nullable Object> payload = new java.util.LinkedHashMap<>();
        payload.put("callId", asked.text("callId"));
        payload.put("decision", decision);
        payload.put("reason", "because");
        payload.put("decidedBy", "ada");
        if (!params.isEmpty()) {
            payload.put("params", params);
        }
        return event("decision-" + decision, KnownEventType.APPROVAL_DECIDED)
                .taskId(asked.taskId())
                .payload(payload)
                .build();
    }

    private static Event message(String id, String text) {
        return event(id, KnownEventType.MESSAGE_RECEIVED)
                .source("user")
                .payload(Map.of("text", text))
                .build();
    }

    private void send(Event event) {
        ProducerRecord<String, byte[]> encoded = EventCodec.toRecord(TOPICS.lane(event.lane()), event);
        input(encoded.topic())
                .pipeInput(new TestRecord<>(
                        encoded.key().getBytes(StandardCharsets.UTF_8), encoded.value(), encoded.headers(), NOW));
    }

    private void reply(Map<String, ? extends @Nullable Object> payload) {
        Map<String, @Nullable Object> whole = new java.util.LinkedHashMap<>(payload);
        whole.put("callId", model.last().callId());
        whole.putIfAbsent("response", null);
        whole.putIfAbsent("approach", whole.containsKey("toolCalls") ? "tool_use" : "direct");
        whole.put("needsClarification", false);
        whole.putIfAbsent("toolCalls", List.of());
        whole.put("model", "test");
        whole.put("finishReason", "stop");
        whole.put("usage", Map.of("inputTokens", 3, "outputTokens", 2));
        send(model.last().reply(KnownEventType.REASON_DONE, NOW).payload(whole).build());
    }

    private void answer(String text) {
        reply(Map.of("response", text));
    }

    private void answerWithTool(String toolName, String toolCallId) {
        reply(Map.of("toolCalls", List.of(call(toolCallId, toolName))));
    }

    private static Map<String, Object> call(String toolCallId, String toolName) {
        return Map.of("toolCallId", toolCallId, "toolName", toolName, "arguments", Map.of("path", "notes.txt"));
    }

    private Event.Builder toolReply(TestRecord<byte[], byte[]> request, KnownEventType type)
            throws MalformedEventException {
        Event asked = read(request);
        return Event.root(Ids.hash(asked.fields().get("callId") + "\n" + type).substring(0, 32), type, NOW)
                .taskId(asked.taskId())
                .sessionId(asked.sessionId())
                .correlationId(asked.correlationId())
                .parentEventId(asked.parentEventId())
                .source("tools.executor");
    }

    private void toolCompleted(TestRecord<byte[], byte[]> request) throws MalformedEventException {
        send(toolReply(request, KnownEventType.TOOL_CALL_COMPLETED)
                .payload(Map.of(
                        "callId",
                        read(request).fields().get("callId"),
                        "toolName",
                        "read_file",
                        "result",
                        Map.of("content", "milk"),
                        "durationMs",
                        1))
                .build());
    }

    private @Nullable TranscriptEntry transcript(String task, int seq) {
        return TaskStores.TRANSCRIPTS
                .in(driver.getKeyValueStore(TaskStores.ROWS))
                .get(TaskStores.transcriptKey(task, seq));
    }

    /** All events of this type that the journal has so far. */
    private List<Event> journalled(KnownEventType type) throws MalformedEventException {
        read.addAll(journal());
        return read.stream().filter(event -> event.type() == type).toList();
    }

    private List<Event> journal() throws MalformedEventException {
        List<Event> events = new ArrayList<>();
        for (TestRecord<byte[], byte[]> entry : journal.readRecordsToList()) {
            events.add(read(entry));
        }
        return events;
    }

    private static Event read(TestRecord<byte[], byte[]> entry) throws MalformedEventException {
        return EventCodec.fromRecord(entry.headers(), entry.value(), NOW);
    }

    private static @Nullable String reason(TestRecord<byte[], byte[]> dead) {
        return header(dead, DeadLetters.REASON);
    }

    private static @Nullable String header(TestRecord<byte[], byte[]> entry, String name) {
        return entry.headers().lastHeader(name) == null
                ? null
                : new String(entry.headers().lastHeader(name).value(), StandardCharsets.UTF_8);
    }

    private record FixedTools(List<ToolDefinition> all) implements ToolCatalogue {
        @Override
        public @Nullable ToolDefinition find(String toolName) {
            return all.stream()
                    .filter(tool -> tool.name().equals(toolName))
                    .findFirst()
                    .orElse(null);
        }
    }

    private static final class CountedShell implements ShellMetrics {
        private final List<DiscardReason> discards = new ArrayList<>();

        @Override
        public void accepted(EventType type) {}

        @Override
        public void discarded(EventType type, DiscardReason reason) {
            discards.add(reason);
        }

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
