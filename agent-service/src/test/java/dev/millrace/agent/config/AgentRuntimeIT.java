package dev.millrace.agent.config;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.agent.core.DiscardReason;
import dev.millrace.agent.core.MachineLimits;
import dev.millrace.agent.files.BuiltInAgents;
import dev.millrace.agent.kafka.Definitions;
import dev.millrace.agent.kafka.InstanceEvents;
import dev.millrace.agent.thinker.LiveText;
import dev.millrace.agent.topology.AdmissionSettings;
import dev.millrace.agent.topology.Occupancy;
import dev.millrace.agent.topology.ShellMetrics;
import dev.millrace.agent.topology.TaskShellSettings;
import dev.millrace.agent.topology.TaskStreams;
import dev.millrace.llm.DispatcherLimits;
import dev.millrace.llm.FinishReason;
import dev.millrace.llm.LanguageModel;
import dev.millrace.llm.ModelCallException;
import dev.millrace.llm.ModelDispatcher;
import dev.millrace.llm.ModelErrorCode;
import dev.millrace.llm.ModelReply;
import dev.millrace.llm.ModelRequest;
import dev.millrace.schemas.Event;
import dev.millrace.schemas.EventSchemas;
import dev.millrace.schemas.EventType;
import dev.millrace.schemas.Ids;
import dev.millrace.schemas.KnownEventType;
import dev.millrace.schemas.StreamType;
import dev.millrace.schemas.Topics;
import dev.millrace.schemas.kafka.TopicSettings;
import dev.millrace.testing.RequiresBroker;
import dev.millrace.testing.TestBroker;
import dev.millrace.testing.TopicReader;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
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
            "a task that is waiting for its model when the service stops goes on after the start (F-124, X-17); who"
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
                    .satisfies(reply -> assertThat(reply.payload().get("usage"))
                            .isEqualTo(Map.of(
                                    "inputTokens", 0, "outputTokens", 0, "attempts", 2, "uncountedAttempts", 1)));
            assertThat(events).noneMatch(event -> event.type() instanceof StreamType);
            List<Event> live =
                    tokens.events(all -> !all.isEmpty() && all.getLast().type() == StreamType.COMPLETED, LIMIT);
            assertThat(live)
                    .extracting(event -> event.type() + " " + event.payload().get("attempt") + "/"
                            + event.payload().get("seq") + " " + event.payload().get("delta"))
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
            assertThat(String.valueOf(events.getLast().payload().get("result"))).contains("paid for");
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
                assertThat(String.valueOf(events.getLast().payload().get("result")))
                        .contains("done");
                assertThat(calls).hasValue(1);
                assertThat(events).extracting(Event::id).doesNotHaveDuplicates();
            }
        }
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

    private AgentRuntime start(LanguageModel model) {
        AgentRuntime runtime = new AgentRuntime(
                Map.of("bootstrap.servers", bootstrapServers),
                new AgentRuntime.Settings(
                        new TopicSettings(TestBroker.DEFAULT_PARTITIONS, TopicSettings.BROKER_DEFAULT, false),
                        MachineLimits.DEFAULT,
                        Duration.ofHours(1),
                        new Definitions.AgentFiles(state.resolve("agents"), Duration.ofMillis(100)),
                        new TaskShellSettings(
                                topics,
                                TestBroker.DEFAULT_PARTITIONS,
                                Duration.ofHours(24),
                                Duration.ofDays(30),
                                false,
                                new AdmissionSettings(5, AdmissionSettings.Policy.QUEUE),
                                Duration.ofDays(30),
                                true),
                        new TaskStreams.Settings(topics.prefix() + "agent", state, 1, Duration.ofMillis(20), true),
                        new InstanceEvents.Settings("test", "0", Duration.ofMinutes(1)),
                        shutdownGrace,
                        LiveText.Settings.DEFAULT),
                new AgentRuntime.Parts(
                        BuiltInAgents.agents(),
                        new ModelDispatcher(model, DispatcherLimits.DEFAULTS),
                        (namespace, taskId) -> Optional.empty(),
                        new NoMetrics(),
                        new Occupancy()));
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
        public void rerouted() {}

        @Override
        public void admittedOverLimit() {}
    }
}
