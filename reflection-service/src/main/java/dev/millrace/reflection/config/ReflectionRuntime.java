package dev.millrace.reflection.config;

import dev.millrace.engine.LaneProducer;
import dev.millrace.engine.MachineRunner;
import dev.millrace.engine.MachineStreams;
import dev.millrace.engine.OpenStores;
import dev.millrace.engine.StoreReader;
import dev.millrace.kafka.ClientSettings;
import dev.millrace.kafka.ToolPublisher;
import dev.millrace.kafka.TopicSettings;
import dev.millrace.llm.ModelDispatcher;
import dev.millrace.reflection.thinker.Reflector;
import dev.millrace.reflection.tools.MemoryToolDefinitions;
import dev.millrace.reflection.topology.MemorySettings;
import dev.millrace.reflection.topology.MemoryStores;
import dev.millrace.reflection.topology.MemoryTopology;
import dev.millrace.schemas.Topics;
import io.micrometer.core.instrument.MeterRegistry;
import java.time.Clock;
import java.time.Duration;
import java.util.Optional;
import org.apache.kafka.common.KafkaException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The service as one object: waits for brokers and topics as long as it takes, publishes the memory tools, runs the
 * memory machine.
 */
public final class ReflectionRuntime implements AutoCloseable {

    private static final Logger LOGGER = LoggerFactory.getLogger(ReflectionRuntime.class);

    private final ClientSettings kafka;
    private final Settings settings;
    private final Parts parts;
    private final OpenStores rows = new OpenStores();
    private final LaneProducer producer;
    private final ToolPublisher publisher;
    private final MachineRunner runner;

    /**
     * What it is told from outside.
     *
     * @param shutdownGrace how long model calls that run may go on when it stops; zero = not at all
     */
    public record Settings(
            TopicSettings topicSettings,
            MemorySettings memory,
            MachineStreams.Settings streams,
            Reflector.Model model,
            Duration shutdownGrace) {}

    /**
     * What it works with.
     *
     * @param dispatcher makes model calls, perhaps for others too; closed with the runtime
     */
    public record Parts(ModelDispatcher dispatcher, MeterRegistry meters) {}

    /** Not started; {@code kafka} says how to reach the brokers. */
    public ReflectionRuntime(ClientSettings kafka, Settings settings, Parts parts) {
        this.kafka = kafka;
        this.settings = settings;
        this.parts = parts;
        this.producer = new LaneProducer(kafka, settings.memory().topics(), "millrace-reflection-replies");
        this.publisher = new ToolPublisher(this.kafka, settings.memory().topics(), Topics.MEMORY_TOOLSET);
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

    /**
     * Lets model calls that run come to their end within the grace period, while the machine still takes their replies;
     * the rest is made again after the next start. Then commits and leaves the group.
     */
    @Override
    public void close() {
        runner.stopStarting();
        parts.dispatcher().close(settings.shutdownGrace());
        runner.close();
        producer.close();
        publisher.close();
    }

    private final class Steps implements MachineRunner.Steps {
        @Override
        public @Nullable String prepare() throws InterruptedException {
            publisher.publish(MemoryToolDefinitions.all(), name -> false);
            return null;
        }

        @Override
        public MachineStreams machine() {
            Reflector reflector = new Reflector(new Reflector.Wiring(
                    parts.dispatcher(),
                    new StoreReader<>(rows, MemoryStores.REFLECTIONS),
                    producer,
                    settings.memory().topics().reflectionRequests(),
                    settings.model(),
                    Clock.systemUTC()));
            return new MachineStreams(
                    kafka,
                    settings.streams(),
                    MemoryTopology.build(settings.memory(), reflector, rows, parts.meters()));
        }

        @Override
        public void started() {}

        @Override
        public void lookAgain() throws InterruptedException {
            try {
                if (publisher.isOutdated()) {
                    publisher.publish(MemoryToolDefinitions.all(), name -> false);
                }
            } catch (KafkaException e) {
                LOGGER.atError()
                        .addKeyValue("cause", e.toString())
                        .log("The tools of memory could not be published; trying again");
            }
        }
    }
}
