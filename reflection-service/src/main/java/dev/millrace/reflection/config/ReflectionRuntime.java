package dev.millrace.reflection.config;

import dev.millrace.engine.MachineRunner;
import dev.millrace.engine.MachineStreams;
import dev.millrace.reflection.tools.MemoryToolDefinitions;
import dev.millrace.reflection.topology.MemorySettings;
import dev.millrace.reflection.topology.MemoryTopology;
import dev.millrace.schemas.Topics;
import dev.millrace.schemas.kafka.ToolPublisher;
import dev.millrace.schemas.kafka.TopicSettings;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The service as one object: waits for brokers and topics as long as it takes, publishes the memory tools, runs the memory
 * machine.
 */
public final class ReflectionRuntime implements AutoCloseable {

    private final Map<String, Object> kafka;
    private final Settings settings;
    private final MachineRunner runner;

    /** What it is told from outside. */
    public record Settings(TopicSettings topicSettings, MemorySettings memory, MachineStreams.Settings streams) {}

    /** Not started; {@code kafka} says how to reach the brokers. */
    public ReflectionRuntime(Map<String, Object> kafka, Settings settings) {
        this.kafka = Map.copyOf(kafka);
        this.settings = settings;
        this.runner = new MachineRunner(
                this.kafka,
                "reflection-start",
                new MachineRunner.Installation(settings.memory().topics(), settings.topicSettings()),
                new Steps());
    }

    /** Begins to start and returns at once. Once. */
    public void start() {
        runner.start();
    }

    /** Empty if requests are taken; else what it waits for or why it stopped, for people. */
    public Optional<String> notReady() {
        return runner.notReady();
    }

    /** Why the machine stopped for good; empty while it runs or may still recover. */
    public Optional<Throwable> fatal() {
        return runner.fatal();
    }

    @Override
    public void close() {
        runner.close();
    }

    private final class Steps implements MachineRunner.Steps {
        @Override
        public @Nullable String prepare() throws InterruptedException {
            new ToolPublisher(kafka, settings.memory().topics(), Topics.MEMORY_TOOLSET)
                    .publish(MemoryToolDefinitions.all(), name -> false);
            return null;
        }

        @Override
        public MachineStreams machine() {
            return new MachineStreams(kafka, settings.streams(), MemoryTopology.build(settings.memory()));
        }

        @Override
        public void started() {}
    }
}
