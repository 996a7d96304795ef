package dev.millrace.tools.config;

import static org.assertj.core.api.Assertions.assertThat;

import dev.langchain4j.agent.tool.Tool;
import dev.millrace.kafka.ClientSettings;
import dev.millrace.kafka.TopicSettings;
import dev.millrace.requests.NoticeHandler;
import dev.millrace.requests.RequestWorker;
import dev.millrace.requests.WorkerSettings;
import dev.millrace.schemas.Event;
import dev.millrace.schemas.KnownEventType;
import dev.millrace.schemas.Segment;
import dev.millrace.schemas.Topics;
import dev.millrace.testing.RequiresBroker;
import dev.millrace.testing.TestBroker;
import dev.millrace.testing.TopicReader;
import dev.millrace.tool.api.ToolContext;
import dev.millrace.tools.CallGuards;
import dev.millrace.tools.ToolExecutor;
import dev.millrace.tools.ToolPolicies;
import dev.millrace.tools.ToolRegistry;
import dev.millrace.tools.content.LargeResults;
import dev.millrace.tools.content.TopicContent;
import dev.millrace.tools.java.JavaTools;
import dev.millrace.tools.java.ToolTerms;
import dev.millrace.tools.secrets.Secrets;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** A tool that takes several times as long as a request stays locked: as 15 minutes would be, with everything shorter. */
@RequiresBroker
class LongToolIT {

    private static final Duration LOCK = Duration.ofSeconds(3);
    private static final int WORK_MS = 8_000;

    private final TestBroker broker;
    private final Topics topics;
    private final Miller miller = new Miller();

    LongToolIT(TestBroker broker) {
        this.broker = broker;
        this.topics = broker.createTopics();
    }

    static class Miller {
        private final BlockingQueue<String> begun = new LinkedBlockingQueue<>();
        private final BlockingQueue<String> ended = new LinkedBlockingQueue<>();

        @Tool("Takes its time.")
        @ToolTerms(timeoutMs = 60_000)
        String grind(ToolContext context) throws InterruptedException {
            begun.add(context.callId());
            TimeUnit.MILLISECONDS.sleep(WORK_MS);
            ended.add(context.callId());
            return "flour";
        }
    }

    @Test
    @DisplayName(
            "a long tool survives a restart of tool-service: redelivered with the same idempotency key, answered once")
    void shouldSurviveARestart() throws InterruptedException {
        // given
        ToolRuntime first = start();
        broker.produce(topics.requests(Topics.BUILT_IN_TOOLSET), request());
        assertThat(miller.begun.poll(40, TimeUnit.SECONDS)).isEqualTo("task-1/1/0");
        // past its lock, which is renewed
        assertThat(miller.begun.poll(2 * LOCK.toMillis() + 500, TimeUnit.MILLISECONDS))
                .as("nobody else takes it while it runs")
                .isNull();
        // when
        first.close();
        try (TopicReader replies = broker.read(topics.lane(Segment.TOOL))) {
            long restarted = System.nanoTime();
            ToolRuntime second = start();
            // then
            Event reply = replies.event(event -> "task-1/1/0".equals(event.text("callId")), Duration.ofSeconds(40));
            assertThat(reply.type()).isEqualTo(KnownEventType.TOOL_CALL_COMPLETED);
            assertThat(reply.fields()).containsEntry("result", "flour");
            assertThat(Duration.ofNanos(System.nanoTime() - restarted)).isGreaterThan(Duration.ofMillis(WORK_MS));
            assertThat(miller.begun).containsExactly("task-1/1/0");
            assertThat(miller.ended).containsExactly("task-1/1/0");
            second.close();
        }
    }

    private ToolRuntime start() {
        ClientSettings kafka = ClientSettings.at(broker.bootstrapServers());
        ToolRegistry registry = new ToolRegistry(JavaTools.of(Miller.class, () -> miller));
        TopicContent content = new TopicContent(kafka, topics);
        ToolExecutor executor = new ToolExecutor(
                registry,
                new CallGuards(ToolPolicies.NONE, 5, Duration.ofSeconds(30)),
                new LargeResults(content, 10_000, 20_000),
                Secrets.NONE,
                new SimpleMeterRegistry());
        ToolRuntime runtime = new ToolRuntime(
                kafka,
                topics,
                new TopicSettings(TestBroker.DEFAULT_PARTITIONS, TopicSettings.BROKER_DEFAULT, false),
                registry,
                List.of(),
                () -> RequestWorker.start(
                        WorkerSettings.of(kafka, topics, Topics.BUILT_IN_TOOLSET, 3)
                                .with(LOCK, Duration.ZERO),
                        executor,
                        new SimpleMeterRegistry()),
                () -> RequestWorker.startNotices(
                        WorkerSettings.of(kafka, topics, "webhook", 1),
                        event -> new NoticeHandler.Outcome.Done(),
                        new SimpleMeterRegistry()));
        runtime.start();
        return runtime;
    }

    private static Event request() {
        return Event.root("request-1", KnownEventType.TOOL_CALL_REQUESTED, Instant.now())
                .taskId("task-1")
                .parentEventId("parent-1")
                .correlationId("root-1")
                .payload(Map.of("callId", "task-1/1/0", "toolName", "grind", "params", Map.of()))
                .build();
    }
}
