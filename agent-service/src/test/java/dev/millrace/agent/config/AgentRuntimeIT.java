package dev.millrace.agent.config;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.agent.Passages;
import dev.millrace.agent.Reserved;
import dev.millrace.agent.core.DiscardReason;
import dev.millrace.agent.core.MachineLimits;
import dev.millrace.agent.files.BuiltInAgents;
import dev.millrace.agent.kafka.Definitions;
import dev.millrace.agent.kafka.InstanceEvents;
import dev.millrace.agent.rules.Rules;
import dev.millrace.agent.schedule.Schedule;
import dev.millrace.agent.schedule.ScheduleBook;
import dev.millrace.agent.schedule.ScheduleLimits;
import dev.millrace.agent.thinker.LiveText;
import dev.millrace.agent.topology.AdmissionSettings;
import dev.millrace.agent.topology.LocalTools;
import dev.millrace.agent.topology.Occupancy;
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
import dev.millrace.llm.ModelDispatcher;
import dev.millrace.llm.ModelErrorCode;
import dev.millrace.llm.ModelReply;
import dev.millrace.llm.ModelRequest;
import dev.millrace.llm.ToolCallRequest;
import dev.millrace.llm.config.LanguageModels;
import dev.millrace.llm.config.LlmConfig;
import dev.millrace.schemas.DeadLetters;
import dev.millrace.schemas.Event;
import dev.millrace.schemas.EventSchemas;
import dev.millrace.schemas.EventType;
import dev.millrace.schemas.Ids;
import dev.millrace.schemas.Json;
import dev.millrace.schemas.JsonObject;
import dev.millrace.schemas.KnownEventType;
import dev.millrace.schemas.Payload;
import dev.millrace.schemas.StreamType;
import dev.millrace.schemas.ToolDefinition;
import dev.millrace.schemas.Topics;
import dev.millrace.telemetry.Telemetry;
import dev.millrace.testing.Configured;
import dev.millrace.testing.RequiresBroker;
import dev.millrace.testing.StubModelServer;
import dev.millrace.testing.TestBroker;
import dev.millrace.testing.TopicReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.apache.kafka.clients.admin.TransactionListing;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.assertj.core.api.InstanceOfAssertFactories;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The agent service's parts together on a real broker, stopped and started as a deployment would. */
@RequiresBroker
class AgentRuntimeIT {

    private static final Duration LIMIT = Duration.ofSeconds(40);

    @TempDir
    Path state;

    private Topics topics = new Topics("");
    private String bootstrapServers = "";
    private final AtomicInteger calls = new AtomicInteger();
    private Duration shutdownGrace = Duration.ofMillis(100);

    @BeforeEach
    void prepare(TestBroker broker) {
        topics = broker.createTopics();
        bootstrapServers = broker.bootstrapServers();
    }

    @Test
    @DisplayName(
            "F-265, F-293: a task that is waiting for its model when the service stops goes on after the start (F-124, X-17); who"
                    + " watches is told that the call begins anew (F-227), and the usage that one request is in no count")
    void shouldGoOnAfterARestart(TestBroker broker) throws Exception {
        // given
        CountDownLatch asked = new CountDownLatch(1);
        try (AgentRuntime first = start(new SlowModel(asked))) {
            awaitReady(first);
            broker.produce(topics, message("m1", "hello"));
            asked.await();
        }

        // when
        try (AgentRuntime second = start(new EchoModel());
                TopicReader journal = broker.read(topics.journal());
                TopicReader tokens = broker.read(topics.tokens())) {
            awaitReady(second);
            List<Event> events = awaitCompleted(journal, "m1");

            // then
            assertThat(events).extracting(Event::id).doesNotHaveDuplicates();
            assertThat(calls).hasValue(2);
            assertThat(events)
                    .filteredOn(event -> event.type() == KnownEventType.REASON_DONE)
                    .singleElement()
                    .satisfies(reply -> assertThat(reply.fields().get("usage"))
                            .isEqualTo(Map.of(
                                    "inputTokens", 0, "outputTokens", 0, "attempts", 2, "uncountedAttempts", 1)));
            assertThat(events).noneMatch(event -> event.type() instanceof StreamType);
            List<Event> live =
                    tokens.events(all -> !all.isEmpty() && all.getLast().type() == StreamType.COMPLETED, LIMIT);
            assertThat(live)
                    .extracting(event -> event.type() + " " + event.fields().get("attempt") + "/"
                            + event.fields().get("seq") + " " + event.fields().get("delta"))
                    .containsExactly(
                            "stream.start 1/0 null",
                            "stream.restart 101/0 null",
                            "stream.text 101/1 done",
                            "stream.completed 101/2 null");
            assertThat(live).allSatisfy(event -> {
                assertThat(event.taskId()).isEqualTo("m1");
                assertThat(EventSchemas.problems(event)).isEmpty();
            });
        }
    }

    @Test
    @DisplayName("F-204: the second prompt of a session knows the first, also on another instance that takes"
            + " over while it is under way and has nothing on disk")
    void shouldContinueASessionElsewhere(TestBroker broker, @TempDir Path elsewhere) throws Exception {
        // given
        try (AgentRuntime first = start(new EchoModel());
                TopicReader journal = broker.read(topics.journal())) {
            awaitReady(first);
            broker.produce(topics, inSession("m1", "my name is Ada"));
            awaitCompleted(journal, "m1");
        }
        CountDownLatch asked = new CountDownLatch(1);
        try (AgentRuntime second = start(new SlowModel(asked))) {
            awaitReady(second);
            broker.produce(topics, inSession("m2", "what is my name?"));
            asked.await();
        }

        // when
        state = elsewhere;
        WindowedModel model = new WindowedModel(1);
        try (AgentRuntime third = start(model);
                TopicReader journal = broker.read(topics.journal())) {
            awaitReady(third);
            awaitCompleted(journal, "m2");
            broker.produce(topics, inSession("m3", "and now?"));
            awaitCompleted(journal, "m3");
        }

        // then
        assertThat(model.requests).hasSize(2);
        assertThat(said(model.requests.getFirst())).containsExactly("my name is Ada", "done", "what is my name?");
        assertThat(said(model.requests.getLast()))
                .containsExactly("my name is Ada", "done", "what is my name?", "done", "and now?");
    }

    private static Event inSession(String id, String text) {
        return message(id, text).toBuilder().sessionId("ada").build();
    }

    /** What people and the model have said, as a request has it. */
    private static List<String> said(ModelRequest request) {
        return request.messages().stream()
                .flatMap(message -> switch (message) {
                    case ChatMessage.UserMessage user -> Stream.of(user.text());
                    case ChatMessage.AssistantMessage assistant -> Stream.ofNullable(assistant.text());
                    default -> Stream.<String>empty();
                })
                .toList();
    }

    @Test
    @DisplayName("a reply that is on the lane when the service starts is taken, and the call is not made again")
    void shouldNotRepeatACompletedCall(TestBroker broker) throws Exception {
        // given: stopped with one call out
        CountDownLatch asked = new CountDownLatch(1);
        try (AgentRuntime first = start(new SlowModel(asked))) {
            awaitReady(first);
            broker.produce(topics, message("m1", "hello"));
            asked.await();
        }
        Event requested;
        try (TopicReader journal = broker.read(topics.journal())) {
            requested = journal.event(event -> event.type() == KnownEventType.MODEL_CALL_REQUESTED, LIMIT);
        }

        // when: the answer arrives while nobody is there
        broker.produce(
                topics,
                Event.root(Ids.random(), KnownEventType.REASON_DONE, Instant.now())
                        .taskId("m1")
                        .correlationId("m1")
                        .parentEventId(requested.parentEventId())
                        .payload(reply(String.valueOf(requested.text("callId")), "paid for"))
                        .build());
        try (AgentRuntime second = start(new EchoModel());
                TopicReader journal = broker.read(topics.journal())) {
            awaitReady(second);
            List<Event> events = awaitCompleted(journal, "m1");

            // then
            assertThat(String.valueOf(events.getLast().fields().get("result"))).contains("paid for");
            assertThat(calls).hasValue(1);
        }
    }

    @Test
    @DisplayName("a model call that ends within the grace period of a stop is not made again after the start")
    void shouldKeepTheReplyOfACallThatRunsWhenItStops(TestBroker broker) throws Exception {
        // given
        shutdownGrace = Duration.ofSeconds(20);
        CountDownLatch asked = new CountDownLatch(1);
        CountDownLatch mayAnswer = new CountDownLatch(1);
        try (TopicReader journal = broker.read(topics.journal())) {
            AgentRuntime first = start(new GatedModel(asked, mayAnswer));
            awaitReady(first);
            broker.produce(topics, message("m1", "hello"));
            asked.await();

            // when
            Thread stop = Thread.ofVirtual().start(first::close);
            mayAnswer.countDown();
            stop.join();
            try (AgentRuntime second = start(new EchoModel())) {
                awaitReady(second);
                List<Event> events = awaitCompleted(journal, "m1");

                // then
                assertThat(String.valueOf(events.getLast().fields().get("result")))
                        .contains("done");
                assertThat(calls).hasValue(1);
                assertThat(events).extracting(Event::id).doesNotHaveDuplicates();
            }
        }
    }

    @Test
    @DisplayName(
            "F-179, C.7: a conversation that fills the window goes on from a summary; the prompt's beginning stays")
    void shouldCompactAConversationThatFillsTheWindow(TestBroker broker) throws Exception {
        WindowedModel model = new WindowedModel(7);
        try (AgentRuntime runtime = start(model);
                TopicReader journal = broker.read(topics.journal())) {
            awaitReady(runtime);
            broker.produce(topics, message("m1", "collect them all"));
            List<Event> events = awaitCompleted(journal, "m1");

            List<Event> compacted = events.stream()
                    .filter(event -> event.type() == KnownEventType.CONTEXT_COMPACTED)
                    .toList();
            assertThat(compacted).isNotEmpty().hasSameSizeAs(model.summaries);
            assertThat(compacted.getFirst().fields())
                    .containsEntry("summary", "what has been so far")
                    .containsEntry("request", "collect them all");
            assertThat(events).extracting(Event::id).doesNotHaveDuplicates();
            assertThat(events.getLast().fields().get("usage"))
                    .isEqualTo(Map.of(
                            "inputTokens",
                            (int) model.inputTokens.get(),
                            "outputTokens",
                            model.requests.size() + model.summaries.size()));

            // then: what the model is shown afterwards
            ChatMessage system = model.requests.getFirst().messages().getFirst();
            assertThat(model.requests)
                    .allSatisfy(
                            request -> assertThat(request.messages().getFirst()).isEqualTo(system));
            List<ChatMessage> last = model.requests.getLast().messages();
            assertThat(((ChatMessage.UserMessage) last.get(1)).text())
                    .startsWith("[Summary of the conversation so far]\nwhat has been so far")
                    .endsWith("[What the user has asked for, word for word]\ncollect them all");
            assertThat(last.get(2)).isInstanceOf(ChatMessage.AssistantMessage.class);
            assertThat(last.getLast()).isInstanceOf(ChatMessage.ToolMessage.class);
            assertThat(model.requests)
                    .allSatisfy(
                            request -> assertThat(WindowedModel.tokens(request)).isLessThan(WindowedModel.WINDOW));
        }
    }

    @Test
    @DisplayName("C.7, X-17: a crash while a conversation is summed up repeats the summary and nothing else")
    void shouldRepeatNothingButTheSummary(TestBroker broker) throws Exception {
        // given
        WindowedModel stopped = new WindowedModel(7);
        stopped.mayAnswerSummaries = new CountDownLatch(1);
        try (AgentRuntime first = start(stopped)) {
            awaitReady(first);
            broker.produce(topics, message("m1", "collect them all"));
            stopped.askedForSummary.await();
        }
        int before = stopped.requests.size();

        // when
        WindowedModel model = new WindowedModel(7 - before);
        try (AgentRuntime second = start(model);
                TopicReader journal = broker.read(topics.journal())) {
            awaitReady(second);
            List<Event> events = awaitCompleted(journal, "m1");

            // then
            assertThat(stopped.summaries).hasSize(1);
            assertThat(model.summaries).isNotEmpty();
            assertThat(model.summaries.getFirst().callId())
                    .isEqualTo(stopped.summaries.getFirst().callId());
            assertThat(events).extracting(Event::id).doesNotHaveDuplicates();
            assertThat(events.stream().filter(event -> event.type() == KnownEventType.REASON_DONE))
                    .hasSize(before + model.requests.size());
        }
    }

    @Test
    @DisplayName(
            "C.7: what the provider finds too long is compacted and asked again, and fails with its code if that is no use")
    void shouldRecoverFromAnOverflow(TestBroker broker) throws Exception {
        WindowedModel narrow = new WindowedModel(5);
        narrow.window = 1_000_000; // what we think; it takes less
        narrow.takes = 900;
        try (AgentRuntime runtime = start(narrow);
                TopicReader journal = broker.read(topics.journal())) {
            awaitReady(runtime);
            broker.produce(topics, message("m1", "collect them all"));
            List<Event> events = awaitCompleted(journal, "m1");

            assertThat(events)
                    .filteredOn(event -> event.type() == KnownEventType.MODEL_CALL_FAILED)
                    .isNotEmpty()
                    .allSatisfy(event -> assertThat(event.text("code")).isEqualTo("context_overflow"));
            assertThat(narrow.summaries).isNotEmpty();

            // when: nothing can be cut
            broker.produce(topics, message("m2", "x".repeat(5_000)));
            Event failed = journal.event(event -> event.type() == KnownEventType.TASK_FAILED, LIMIT);

            // then
            assertThat(failed.text("code")).isEqualTo("context_overflow");
            assertThat(failed.text("error")).contains("too long");
        }
    }

    @Test
    @DisplayName(
            "F-078: from one iteration to the next the request begins with the same bytes, the system prompt first")
    void shouldKeepTheBeginningOfRequests(TestBroker broker) throws Exception {
        try (StubModelServer server = StubModelServer.start(request -> request.number() < 4
                        ? StubModelServer.Answer.toolCalls(new StubModelServer.ToolCall(
                                "call_" + request.number(), "no_such_tool", "{\"page\":" + request.number() + "}"))
                        : StubModelServer.Answer.text("done"));
                AgentRuntime runtime = start(over(server));
                TopicReader journal = broker.read(topics.journal())) {
            awaitReady(runtime);
            broker.produce(topics, message("m1", "collect them all"));
            awaitCompleted(journal, "m1");

            List<StubModelServer.Request> requests = server.requests();
            assertThat(requests).hasSize(4);
            for (int i = 1; i < requests.size(); i++) {
                StubModelServer.Request before = requests.get(i - 1);
                List<Map<String, @Nullable Object>> messages = before.messages();
                assertThat(messages.getFirst()).containsEntry("role", "system");
                assertThat(requests.get(i).messages().subList(0, messages.size()))
                        .isEqualTo(messages);
                assertThat(requests.get(i).body().get("tools"))
                        .isEqualTo(before.body().get("tools"));
                // all bytes up to the end of the last message
                String last = Json.writeText(messages.getLast().get("content"));
                String same = before.text().substring(0, before.text().lastIndexOf(last) + last.length());
                assertThat(requests.get(i).text()).startsWith(same);
            }
        }
    }

    @Test
    @DisplayName(
            "a reading tool's call that was out when its process ended is asked for by its topic, and its task goes on")
    void shouldAskByTopicForCallsThatWereOut(TestBroker broker) throws Exception {
        ToolDefinition tool = new ToolDefinition(
                "look",
                "d",
                JsonObject.of(Map.of("type", "object")),
                "tool",
                60_000,
                ToolDefinition.SideEffects.READ_ONLY);
        broker.produce(new ProducerRecord<>(topics.definitions(), bytes(ToolDefinition.key("look")), tool.toJson()));
        SilentTools silent = new SilentTools();
        try (StubModelServer server = StubModelServer.start(request -> request.number() == 1
                        ? StubModelServer.Answer.toolCalls(new StubModelServer.ToolCall("call_1", "look", "{}"))
                        : StubModelServer.Answer.text("seen"));
                TopicReader requests = broker.read(topics.requests("tool"));
                TopicReader journal = broker.read(topics.journal())) {
            // given: a call that is made in the process, and never answered there
            try (AgentRuntime first = start(over(server), silent)) {
                awaitReady(first);
                broker.produce(topics, message("m1", "look around"));
                Awaitility.await().atMost(LIMIT).until(() -> silent.called.size() == 1);
                journal.event(event -> event.type() == KnownEventType.TOOL_CALL_REQUESTED, LIMIT);
            }

            // when
            try (AgentRuntime second = start(over(server), LocalTools.NONE)) {
                awaitReady(second);
                Event asked = requests.event(event -> event.type() == KnownEventType.TOOL_CALL_REQUESTED, LIMIT);

                // then: it is the same call, and whoever answers it lets the task end
                assertThat(asked.id()).isEqualTo(silent.called.getFirst().id());
                broker.produce(
                        topics,
                        asked.derive(KnownEventType.TOOL_CALL_COMPLETED, 0, Instant.now())
                                .payload(new Payload.ToolCallCompleted(
                                        String.valueOf(asked.text("callId")), "look", Map.of("found", 1), 1L, null))
                                .build());
                awaitCompleted(journal, "m1");
                assertThat(server.requests()).hasSize(2);
            }
        }
    }

    /** Serve everything and answer nothing. */
    private static final class SilentTools implements LocalTools {
        private final List<Event> called = new CopyOnWriteArrayList<>();

        @Override
        public boolean serves(String toolName) {
            return true;
        }

        @Override
        public void call(Event request, Consumer<Event> reply) {
            called.add(request);
        }
    }

    @Test
    @DisplayName("what the provider says no with is the code that the task fails with")
    void shouldFailWithTheCodeOfTheProvider(TestBroker broker) throws Exception {
        Map<String, StubModelServer.Answer> answers = Map.of(
                "auth_failed", StubModelServer.Answer.error(401, "invalid_api_key", "Incorrect API key provided"),
                "model_not_found", StubModelServer.Answer.error(404, "model_not_found", "no such model"),
                "context_overflow",
                        StubModelServer.Answer.error(400, "context_length_exceeded", "maximum context length is 8192"),
                "content_filtered", StubModelServer.Answer.error(400, "content_filter", "policy"),
                "refused",
                        StubModelServer.Answer.message(
                                "stop", Map.of("role", "assistant", "refusal", "I cannot help with that")),
                "bad_request", StubModelServer.Answer.error(422, "invalid_request_error", "no"));
        try (StubModelServer server =
                        StubModelServer.start(request -> Objects.requireNonNull(answers.get(request.last("user"))));
                AgentRuntime runtime = start(over(server));
                TopicReader journal = broker.read(topics.journal())) {
            awaitReady(runtime);
            answers.keySet().forEach(code -> broker.produce(topics, message(code, code)));

            List<Event> failed = journal.events(
                    events -> events.stream()
                                    .filter(event -> event.type() == KnownEventType.TASK_FAILED)
                                    .count()
                            == answers.size(),
                    LIMIT);
            assertThat(failed)
                    .filteredOn(event -> event.type() == KnownEventType.TASK_FAILED)
                    .allSatisfy(event -> assertThat(event.text("code")).isEqualTo(event.taskId()))
                    .filteredOn(event -> "auth_failed".equals(event.taskId()))
                    .singleElement()
                    .satisfies(event -> assertThat(event.text("error"))
                            .endsWith("it does not accept the key; check OPENAI_API_KEY")
                            .doesNotContain("sk-very-secret"));
            assertThat(server.calls()).isEqualTo(answers.size()); // none of it is tried again
        }
    }

    @Test
    @DisplayName("an answer that does not have its agent's form is asked for once more, then the task fails")
    void shouldHoldAnswersToTheFormOfTheAgent(TestBroker broker) throws Exception {
        Path agent = Files.createDirectories(state.resolve("agents/accountant"));
        Files.writeString(agent.resolve("AGENT.md"), """
                ---
                description: Adds up.
                tools: []
                output:
                  type: object
                  required: [total]
                  properties: { total: { type: number } }
                ---
                You add up.
                """);
        try (StubModelServer server = StubModelServer.start(request -> StubModelServer.Answer.text(
                        request.last("user").contains("does not have the required form")
                                        && request.text().contains("easy")
                                ? "```json\n{\"total\": 42}\n```"
                                : "about 40"));
                AgentRuntime runtime = start(over(server));
                TopicReader journal = broker.read(topics.journal())) {
            awaitReady(runtime);
            broker.produce(topics, message("easy", "easy", "accountant"));
            broker.produce(topics, message("hard", "hard", "accountant"));

            Event completed = journal.event(event -> event.type() == KnownEventType.TASK_COMPLETED, LIMIT);
            assertThat(completed.fields().get("result"))
                    .asInstanceOf(InstanceOfAssertFactories.MAP)
                    .containsEntry("response", "{\"total\": 42}");
            assertThat(completed.fields().get("usage")).isEqualTo(Map.of("inputTokens", 20, "outputTokens", 10));
            assertThat(server.requests())
                    .hasSize(4)
                    .allSatisfy(request -> assertThat(request.body().get("response_format"))
                            .asString()
                            .contains("json_schema", "total"));
        }
        try (TopicReader journal = broker.read(topics.journal())) {
            Event failed = journal.event(event -> event.type() == KnownEventType.TASK_FAILED, LIMIT);
            assertThat(failed.taskId()).isEqualTo("hard");
            assertThat(failed.text("code")).isEqualTo("output_mismatch");
        }
    }

    private static LanguageModel over(StubModelServer server) {
        return LanguageModels.fromEnvironment(
                Configured.of(LlmConfig.class, Map.of()),
                Map.of("OPENAI_BASE_URL", server.baseUrl().toString(), "OPENAI_API_KEY", "sk-very-secret"));
    }

    private static Event message(String id, String text, String taskType) {
        return Event.root(id, KnownEventType.MESSAGE_RECEIVED, Instant.now())
                .source("user")
                .payload(Map.of("text", text, "taskType", taskType))
                .build();
    }

    @Test
    @DisplayName("kcat without a key and with a wrong key: both tasks complete; garbage on every lane is put aside")
    void shouldServeStrangers(TestBroker broker) throws Exception {
        try (AgentRuntime runtime = start(new EchoModel());
                TopicReader journal = broker.read(topics.journal());
                TopicReader deadLetters = broker.read(topics.deadLetters())) {
            awaitReady(runtime);
            for (String lane : topics.lanes()) {
                broker.produceRaw(lane, null, Map.of(), new byte[] {1, 2, 3});
            }
            byte[] text = "{\"text\":\"hello\"}".getBytes(java.nio.charset.StandardCharsets.UTF_8);
            for (int i = 0; i < 6; i++) {
                broker.produceRaw(
                        topics.lane(dev.millrace.schemas.Segment.EXTERNAL),
                        i % 2 == 0 ? null : "wrong" + i,
                        Map.of("ce_id", "k" + i, "ce_type", "MESSAGE_RECEIVED"),
                        text);
            }

            for (int i = 0; i < 6; i++) {
                awaitCompleted(journal, "k" + i);
            }
            assertThat(deadLetters.untilCount(6, LIMIT)).hasSize(6);
        }
    }

    @Test
    @DisplayName("an agent of the folder is known before the first task; one that nobody knows is none")
    void shouldKnowItsAgentsBeforeItTakesTasks(TestBroker broker) throws Exception {
        // given
        Path clerk = Files.createDirectories(state.resolve("agents/clerk"));
        Files.writeString(clerk.resolve("AGENT.md"), "---\ndescription: d\ntools: []\n---\np");
        broker.produce(topics, message("early", "hello", "clerk"));
        broker.produce(topics, message("misspelt", "hello", "clrek"));

        try (AgentRuntime runtime = start(new EchoModel());
                TopicReader journal = broker.read(topics.journal());
                TopicReader deadLetters = broker.read(topics.deadLetters())) {
            // then
            awaitCompleted(journal, "early");
            assertThat(deadLetters.untilCount(1, LIMIT)).singleElement().satisfies(dead -> {
                assertThat(header(dead, DeadLetters.REASON)).isEqualTo("unknown_agent");
                assertThat(header(dead, DeadLetters.DETAIL)).contains("clrek", "clerk, explore, general, plan");
            });
            assertThat(runtime.readers()).allMatch(reader -> reader.problem().isEmpty());
        }
    }

    @Test
    @DisplayName("odd records among definitions and documents cost themselves, also at the next start")
    void shouldReadOverOddDefinitions(TestBroker broker) throws Exception {
        // given
        // a compacted topic takes no record without a key
        List<String> keys = List.of(
                "", "/", "tool", "tool/", "tool/x", "agent/", "agent/x", "agent/x@1", "agent/@", "a/b", "default/x.md");
        List<byte @Nullable []> values = Arrays.asList(
                null,
                new byte[0],
                new byte[] {-1, -2},
                bytes("null"),
                bytes("[]"),
                bytes("{}"),
                bytes("{\"name\":7,\"version\":[],\"parameters\":\"no\"}"),
                bytes("{\"name\":\"x\",\"version\":\"1\",\"tools\":{\"a\":null},\"description\":1e999}"),
                bytes("{\"a\":\"" + "x".repeat(1_000_000) + "\"}"));
        for (String topic : List.of(topics.definitions(), topics.memory())) {
            for (String key : keys) {
                for (byte @Nullable [] value : values) {
                    broker.produce(new ProducerRecord<>(topic, bytes(key), value));
                }
            }
        }
        ToolDefinition tool = new ToolDefinition(
                "late",
                "d",
                JsonObject.of(Map.of("type", "object")),
                "tool",
                1_000,
                ToolDefinition.SideEffects.READ_ONLY);
        broker.produce(new ProducerRecord<>(topics.definitions(), bytes(ToolDefinition.key("late")), tool.toJson()));

        // when
        for (int starts = 0; starts < 2; starts++) {
            try (AgentRuntime runtime = start(new EchoModel());
                    TopicReader journal = broker.read(topics.journal())) {
                broker.produce(topics, message("m" + starts, "hello"));

                // then
                awaitCompleted(journal, "m" + starts);
                Awaitility.await().atMost(LIMIT).until(() -> runtime.tools().find("late") != null);
                assertThat(runtime.skipped()).isPositive();
                assertThat(runtime.readers())
                        .allMatch(reader -> reader.problem().isEmpty());
            }
        }
    }

    @Test
    @DisplayName("definitions that were deleted under it are unknown, and its own are published again")
    void shouldBeginAnewWhenDefinitionsAreMadeAgain(TestBroker broker) throws Exception {
        // given
        Path clerk = Files.createDirectories(state.resolve("agents/clerk"));
        Files.writeString(clerk.resolve("AGENT.md"), "---\ndescription: d\ntools: []\n---\np");
        ToolDefinition tool = new ToolDefinition(
                "before",
                "d",
                JsonObject.of(Map.of("type", "object")),
                "tool",
                1_000,
                ToolDefinition.SideEffects.READ_ONLY);
        broker.produce(new ProducerRecord<>(topics.definitions(), bytes(ToolDefinition.key("before")), tool.toJson()));
        try (AgentRuntime runtime = start(new EchoModel());
                TopicReader journal = broker.read(topics.journal())) {
            awaitReady(runtime);
            Awaitility.await().atMost(LIMIT).until(() -> runtime.tools().find("before") != null);

            // when
            broker.makeAgain(topics, topics.definitions(), TestBroker.DEFAULT_PARTITIONS);

            // then
            Awaitility.await().atMost(LIMIT).until(() -> runtime.tools().find("before") == null);
            try (TopicReader definitions = broker.read(topics.definitions())) {
                assertThat(definitions.untilCount(5, LIMIT))
                        .extracting(ConsumerRecord::key)
                        .contains("agent/clerk")
                        .anyMatch(key -> key.startsWith("agent/general@"));
            }
            broker.produce(topics, message("after", "hello", "clerk"));
            awaitCompleted(journal, "after");
        }
    }

    @Test
    @DisplayName(
            "a schedule each second over ten aborted transactions and two restarts fires every second exactly once")
    void shouldFireEverySecondOnce(TestBroker broker) throws Exception {
        // given
        Schedule schedule;
        try (AgentRuntime first = start(new EchoModel())) {
            awaitReady(first);
            ScheduleBook book = first.scheduleBook(new ScheduleLimits(10, Duration.ofSeconds(1)));
            ScheduleBook.Outcome put = book.put(
                    "default", "tick", JsonObject.of(Map.of("cron", "* * * * * *", "text", "go", "missed", "all")));
            schedule = ((ScheduleBook.Done) put).schedule();

            // when: whoever has a transaction open loses it, as if it had been killed
            abortTransactions(broker, 5, schedule.changedAt().plusSeconds(1));
        }
        try (AgentRuntime second = start(new EchoModel());
                TopicReader journal = broker.read(topics.journal())) {
            awaitReady(second);
            abortTransactions(broker, 5, Instant.now());
            // ten moments, one for each transaction, however little time the restart takes
            Instant tenth = schedule.changedAt().plusSeconds(11);
            Instant soon = Instant.now().plusSeconds(2);
            Instant end = soon.isAfter(tenth) ? soon : tenth;
            // of two partitions the later moment may be read first
            List<Instant> wanted = Stream.iterate(
                            schedule.changedAt().plusSeconds(1).truncatedTo(ChronoUnit.SECONDS),
                            moment -> moment.isBefore(end),
                            moment -> moment.plusSeconds(1))
                    .toList();
            List<Instant> fired =
                    moments(journal.events(events -> moments(events).containsAll(wanted), LIMIT));

            // then
            assertThat(fired).doesNotHaveDuplicates();
        }
    }

    /** Has all open transactions of this test's machine end as those of a killed one do, one time after the other. */
    private void abortTransactions(TestBroker broker, int times, Instant from) throws Exception {
        Instant next = from;
        for (int i = 0; i < times; i++) {
            Instant due = next;
            Awaitility.await().atMost(LIMIT).until(() -> Instant.now().isAfter(due));
            List<String> open = broker.admin().listTransactions().all().get().stream()
                    .map(TransactionListing::transactionalId)
                    .filter(id -> id.startsWith(topics.prefix() + "agent"))
                    .toList();
            assertThat(open).isNotEmpty();
            broker.admin().fenceProducers(open).all().get();
            next = Instant.now().plusMillis(700);
        }
    }

    /** Which moments the events of schedules are about, in order. */
    private static List<Instant> moments(List<Event> events) {
        return events.stream()
                .filter(event -> event.type() == KnownEventType.SCHEDULE_FIRED)
                .map(event -> event.fields().get("metadata") instanceof Map<?, ?> metadata
                        ? Instant.parse(String.valueOf(metadata.get("scheduledAt")))
                        : Instant.EPOCH)
                .sorted()
                .toList();
    }

    private static String header(ConsumerRecord<String, byte[]> dead, String name) {
        return new String(dead.headers().lastHeader(name).value(), StandardCharsets.UTF_8);
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    private AgentRuntime start(LanguageModel model) {
        return start(model, LocalTools.NONE);
    }

    private AgentRuntime start(LanguageModel model, LocalTools localTools) {
        AgentRuntime runtime = new AgentRuntime(
                ClientSettings.at(bootstrapServers),
                new AgentRuntime.Settings(
                        new TopicSettings(TestBroker.DEFAULT_PARTITIONS, TopicSettings.BROKER_DEFAULT, false),
                        MachineLimits.DEFAULT,
                        Duration.ofHours(1),
                        new Definitions.AgentFiles(state.resolve("agents"), Duration.ofMillis(100)),
                        16_384,
                        new TaskShellSettings(
                                topics,
                                TestBroker.DEFAULT_PARTITIONS,
                                Duration.ofHours(24),
                                Duration.ofDays(30),
                                false,
                                new AdmissionSettings(5, AdmissionSettings.Policy.QUEUE),
                                Duration.ofDays(30),
                                true),
                        new TaskStreams.Settings(
                                topics, topics.prefix() + "agent", state, 1, Duration.ofMillis(20), true),
                        new InstanceEvents.Settings("test", "0", Duration.ofMinutes(1)),
                        shutdownGrace,
                        LiveText.Settings.DEFAULT),
                new AgentRuntime.Parts(
                        BuiltInAgents.agents(),
                        new ModelDispatcher(model, DispatcherLimits.DEFAULTS),
                        localTools,
                        (namespace, taskId) -> Optional.empty(),
                        new NoMetrics(),
                        new Occupancy(),
                        new AgentRuntime.Tracing(Telemetry.OFF, false),
                        Rules.off(),
                        Passages.NONE,
                        Reserved.NOTHING));
        runtime.start();
        return runtime;
    }

    private static void awaitReady(AgentRuntime runtime) {
        Awaitility.await().atMost(LIMIT).until(() -> runtime.notReady().isEmpty());
    }

    private static Event message(String id, String text) {
        return Event.root(id, KnownEventType.MESSAGE_RECEIVED, Instant.now())
                .source("user")
                .payload(Map.of("text", text))
                .build();
    }

    private static Map<String, @Nullable Object> reply(String callId, String text) {
        return Map.of(
                "callId",
                callId,
                "response",
                text,
                "approach",
                "direct",
                "needsClarification",
                false,
                "toolCalls",
                List.of(),
                "model",
                "by hand",
                "finishReason",
                "stop",
                "usage",
                Map.of("inputTokens", 1, "outputTokens", 1));
    }

    private static List<Event> awaitCompleted(TopicReader journal, String taskId) {
        return journal
                .events(
                        events -> events.stream()
                                .anyMatch(event ->
                                        event.type() == KnownEventType.TASK_COMPLETED && taskId.equals(event.taskId())),
                        LIMIT)
                .stream()
                .filter(event -> taskId.equals(event.taskId()))
                .toList();
    }

    /** Answers at once. */
    private class EchoModel implements LanguageModel {
        @Override
        public ModelReply chat(ModelRequest request) throws ModelCallException {
            calls.incrementAndGet();
            return new ModelReply("done", null, List.of(), FinishReason.STOP, ModelReply.Usage.NONE, name());
        }

        @Override
        public String name() {
            return "echo";
        }

        @Override
        public String description() {
            return "answers at once";
        }
    }

    /** Takes little, asks for a tool that there is not, some times, and then answers. */
    private final class WindowedModel extends EchoModel {
        static final int WINDOW = 2_000;

        private final int rounds;
        final List<ModelRequest> requests = new CopyOnWriteArrayList<>();
        final List<ModelRequest> summaries = new CopyOnWriteArrayList<>();
        final AtomicLong inputTokens = new AtomicLong();
        final CountDownLatch askedForSummary = new CountDownLatch(1);
        CountDownLatch mayAnswerSummaries = new CountDownLatch(0);
        int window = WINDOW;
        int takes = Integer.MAX_VALUE;

        WindowedModel(int rounds) {
            this.rounds = rounds;
        }

        /** As this model counts them: four characters each. */
        static int tokens(ModelRequest request) {
            return request.messages().stream()
                            .mapToInt(message -> message.toString().length())
                            .sum()
                    / 4;
        }

        @Override
        public int contextWindow(@Nullable String model) {
            return window;
        }

        @Override
        public ModelReply chat(ModelRequest request) throws ModelCallException {
            boolean summary = request.tools().isEmpty();
            int tokens = tokens(request);
            if (!summary && tokens > takes) {
                throw new ModelCallException(ModelErrorCode.CONTEXT_OVERFLOW, "the prompt is too long");
            }
            (summary ? summaries : requests).add(request);
            if (summary) {
                askedForSummary.countDown();
                try {
                    mayAnswerSummaries.await();
                } catch (InterruptedException e) {
                    Thread.currentThread().interrupt();
                    throw new ModelCallException(ModelErrorCode.CANCELLED, "interrupted");
                }
            }
            inputTokens.addAndGet(tokens);
            String text = summary ? "what has been so far" : requests.size() < rounds ? null : "done";
            return new ModelReply(
                    text,
                    null,
                    text == null
                            ? List.of(new ToolCallRequest(
                                    "p" + requests.size(), "no_such_tool", Map.of("page", "x".repeat(1_000))))
                            : List.of(),
                    text == null ? FinishReason.TOOL_CALLS : FinishReason.STOP,
                    new ModelReply.Usage(tokens, 1),
                    name());
        }
    }

    /** Answers when it may. */
    private final class GatedModel extends EchoModel {
        private final CountDownLatch asked;
        private final CountDownLatch mayAnswer;

        GatedModel(CountDownLatch asked, CountDownLatch mayAnswer) {
            this.asked = asked;
            this.mayAnswer = mayAnswer;
        }

        @Override
        public ModelReply chat(ModelRequest request) throws ModelCallException {
            asked.countDown();
            try {
                mayAnswer.await();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new ModelCallException(ModelErrorCode.CANCELLED, "interrupted");
            }
            return super.chat(request);
        }
    }

    /** Never answers. */
    private final class SlowModel extends EchoModel {
        private final CountDownLatch asked;

        SlowModel(CountDownLatch asked) {
            this.asked = asked;
        }

        @Override
        public ModelReply chat(ModelRequest request) throws ModelCallException {
            calls.incrementAndGet();
            asked.countDown();
            try {
                new CountDownLatch(1).await();
                throw new IllegalStateException("unreachable");
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new ModelCallException(ModelErrorCode.CANCELLED, "interrupted");
            }
        }
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
