package dev.millrace.reflection.config;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.engine.MachineStreams;
import dev.millrace.kafka.ClientSettings;
import dev.millrace.kafka.TopicSettings;
import dev.millrace.llm.DispatcherLimits;
import dev.millrace.llm.LanguageModel;
import dev.millrace.llm.ModelDispatcher;
import dev.millrace.llm.ModelReply;
import dev.millrace.llm.ModelRequest;
import dev.millrace.reflection.core.Capacity;
import dev.millrace.reflection.thinker.Reflector;
import dev.millrace.reflection.topology.MemorySettings;
import dev.millrace.schemas.Event;
import dev.millrace.schemas.EventCodec;
import dev.millrace.schemas.KnownEventType;
import dev.millrace.schemas.MalformedEventException;
import dev.millrace.schemas.MemoryDocument;
import dev.millrace.schemas.Segment;
import dev.millrace.schemas.Topics;
import dev.millrace.testing.RequiresBroker;
import dev.millrace.testing.TestBroker;
import dev.millrace.testing.TopicReader;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.stream.IntStream;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The memory machine on a real broker. */
@RequiresBroker
class MemoryIT {

    private static final Duration LIMIT = Duration.ofSeconds(40);
    private static final String PATH = "facts/memory.md";
    private static final int TASKS = 10;
    private static final int PATCHES_PER_TASK = 20;

    @TempDir
    Path state;

    @Test
    @DisplayName("200 concurrent patches of one document by 10 tasks lose none, and a restart forgets nothing")
    void shouldLoseNoPatch(TestBroker broker) throws Exception {
        Topics topics = broker.createTopics();
        try (TopicReader replies = broker.read(topics.lane(Segment.TOOL));
                TopicReader definitions = broker.read(topics.definitions())) {
            try (ReflectionRuntime first = start(broker, topics, "first")) {
                awaitReady(first);
                assertThat(definitions.untilCount(5, LIMIT))
                        .extracting(definition -> definition.key())
                        .containsExactlyInAnyOrder(
                                "tool/memory_list",
                                "tool/memory_read",
                                "tool/memory_write",
                                "tool/memory_patch",
                                "tool/memory_append");
                produce(
                        broker,
                        topics,
                        call("w", "t0", "memory_write", Map.of("path", PATH, "content", "# Count\nend")));

                // when: each adds a line of its own before the end, and each needs to find exactly one end
                try (ExecutorService tasks = Executors.newFixedThreadPool(TASKS)) {
                    IntStream.range(0, TASKS)
                            .forEach(task -> tasks.execute(() -> IntStream.range(0, PATCHES_PER_TASK)
                                    .forEach(i -> produce(broker, topics, patch(task, i)))));
                }

                // then
                List<Event> answers = replies.events(all -> all.size() > TASKS * PATCHES_PER_TASK, LIMIT);
                assertThat(answers)
                        .hasSize(TASKS * PATCHES_PER_TASK + 1)
                        .allMatch(answer -> answer.type() == KnownEventType.TOOL_CALL_COMPLETED);
            }
            // its state is lost, and is built again
            try (ReflectionRuntime second = start(broker, topics, "second")) {
                awaitReady(second);
                produce(broker, topics, call("r", "t0", "memory_read", Map.of("path", PATH)));
                Event read = replies.event(answer -> "r".equals(answer.text("callId")), LIMIT);
                List<String> lines = String.valueOf(read.text("result")).lines().toList();
                assertThat(lines)
                        .hasSize(TASKS * PATCHES_PER_TASK + 2)
                        .startsWith("# Count")
                        .endsWith("end");
                assertThat(lines).doesNotHaveDuplicates();
                for (int task = 0; task < TASKS; task++) {
                    String mine = "- " + task + '.';
                    assertThat(lines.stream().filter(line -> line.startsWith(mine)))
                            .as("a task's own patches are in the order in which it sent them")
                            .isEqualTo(IntStream.range(0, PATCHES_PER_TASK)
                                    .mapToObj(i -> mine + i)
                                    .toList());
                }
            }
        }
        try (TopicReader documents = broker.read(topics.memory())) {
            assertThat(documents.until(
                            all -> all.stream().anyMatch(document -> versionOf(document.value()) == 201), LIMIT))
                    .isNotEmpty();
        }
    }

    private ReflectionRuntime start(TestBroker broker, Topics topics, String folder) {
        ReflectionRuntime runtime = new ReflectionRuntime(
                ClientSettings.at(broker.bootstrapServers()),
                new ReflectionRuntime.Settings(
                        new TopicSettings(TestBroker.DEFAULT_PARTITIONS, TopicSettings.BROKER_DEFAULT, false),
                        new MemorySettings(topics, TestBroker.DEFAULT_PARTITIONS, 3, new Capacity(10_000, 1L << 26)),
                        new MachineStreams.Settings(
                                "memory machine",
                                topics,
                                topics.prefix() + "reflection",
                                state.resolve(folder),
                                1,
                                Duration.ofMillis(20)),
                        new Reflector.Model(null, 128_000),
                        Duration.ZERO),
                new ReflectionRuntime.Parts(
                        new ModelDispatcher(new UnaskedModel(), DispatcherLimits.DEFAULTS), new SimpleMeterRegistry()));
        runtime.start();
        return runtime;
    }

    /** No task has ended, so nothing is reflected on. */
    private static final class UnaskedModel implements LanguageModel {
        @Override
        public ModelReply chat(ModelRequest request) {
            throw new AssertionError("expected no model call, found " + request.callId());
        }

        @Override
        public String name() {
            return "unasked";
        }

        @Override
        public String description() {
            return "answers nothing";
        }
    }

    private static void awaitReady(ReflectionRuntime runtime) {
        Awaitility.await().atMost(LIMIT).until(() -> runtime.notReady().isEmpty());
    }

    private static Event patch(int task, int i) {
        String line = "- " + task + '.' + i;
        return call(
                task + "." + i,
                "t" + task,
                "memory_patch",
                Map.of("path", PATH, "old_str", "\nend", "new_str", '\n' + line + "\nend"));
    }

    private static Event call(String callId, String taskId, String tool, Map<String, Object> params) {
        return Event.root("e" + callId, KnownEventType.TOOL_CALL_REQUESTED, Instant.now())
                .source("agent")
                .taskId(taskId)
                .payload(Map.of("callId", callId, "toolCallId", "p", "toolName", tool, "params", params))
                .build();
    }

    private static void produce(TestBroker broker, Topics topics, Event event) {
        ProducerRecord<String, byte[]> encoded = EventCodec.toRecord(topics.memoryRequests(), event);
        broker.produce(new ProducerRecord<>(
                encoded.topic(),
                null,
                event.namespace().getBytes(StandardCharsets.UTF_8),
                encoded.value(),
                encoded.headers()));
    }

    private static long versionOf(byte[] value) {
        try {
            return value == null ? 0 : MemoryDocument.fromJson(value).version();
        } catch (MalformedEventException e) {
            throw new AssertionError(e);
        }
    }
}
